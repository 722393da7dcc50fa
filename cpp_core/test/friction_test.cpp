// Presliding friction: viscosity over temperature, joints side by side, no allocation (its law:
// test/models/test_presliding.py).
#include "robot_dynamics/friction/friction.hpp"

#include <cmath>
#include <random>

#include "arm.hpp"
#include "check.hpp"
#include "robot_dynamics/observers/friction_stage.hpp"

using namespace robot_dynamics;

namespace {

constexpr std::int64_t ms = 1000000;
constexpr double spans[] = {1e-4, 1e-3, 1e-2};
constexpr double levels[] = {1.0, 2.0, 3.0}, loads[] = {0.02, 0.0, 0.05};

Friction one(SlidingJoint joint = {}) {
  return Friction(viscous_coulomb(1), Elements(1, 3, spans, levels, loads, {}, 1e9), &joint);
}

// Only what grows with speed follows the viscous slope, and it never drives.
void viscosity_falls_with_temperature() {
  SlidingJoint joint;
  joint.fv1 = 5.0, joint.fv0 = 2.0;
  const auto at = [&](double slope, double T, double v) {
    joint.viscous_slope = slope;
    Friction model = one(joint);
    const double theta[] = {0.0, 1.0};
    double f = 0.0;
    for (int k = 0; k < 2; ++k) model.step(k * ms, theta + k, &v, nullptr, &T, &f);
    return f;
  };
  const double reference = one().map().reference(0), v = 0.5;
  const double viscous = at(0.0, reference, v) - at(0.0, reference, 0.0);
  for (const double warmer : {-10.0, 10.0}) {
    const double T = reference + warmer, change = at(-0.015, T, v) - at(0.0, T, v);
    CHECK(std::abs(change + 0.015 * warmer * viscous) < 1e-9);
    CHECK(at(-0.015, T, 0.0) == at(0.0, T, 0.0));
  }
  CHECK(std::abs(at(-1.0, reference + 10.0, v) - at(0.0, reference + 10.0, 0.0)) < 1e-9);
}

// Five different joints, one without levels, with load, temperature and positions that the velocity drives.
void joints_side_by_side_equal_each_alone() {
  constexpr int n = 5;
  std::vector<double> span, level, load;
  SlidingJoint joints[n];
  for (int i = 0; i < n; ++i) {
    const double factor = 1.0 + 0.3 * i, present = i == 3 ? 0.0 : 1.0;
    for (int e = 0; e < 3; ++e) {
      span.push_back(spans[e] * factor);
      level.push_back(levels[e] * factor * present);
      load.push_back(loads[e] * factor * present);
    }
    joints[i] = {
        30.0,    i % 2 ? 2.0 : 1.0, 0.5 + 0.1 * i, 0.05 * factor,      2.0 + i,   0.1 * i, 1.0,     0.3 * factor,
        0.1 * i, 0.2 * i,           2e-3 * factor, i % 3 ? 0.0 : 0.02, -0.01 * i, 0.0,     0.3 * i, 1e-4 * factor};
  }
  const auto part = [&](int first, int count) {
    const int at = 3 * first;
    return Friction(viscous_coulomb(count), Elements(count, 3, &span[at], &level[at], &load[at]), joints + first);
  };
  Friction all = part(0, n);
  std::vector<Friction> alone;
  for (int i = 0; i < n; ++i) alone.push_back(part(i, 1));
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  double theta[n] = {}, v[n], tau[n], T[n], f[n], one;
  for (int k = 0; k < 2000; ++k) {
    const bool slide = k / 100 % 2;  // of all: a joint that slides begins the rotor's integral of the others anew
    for (int i = 0; i < n; ++i) {
      const double x = normal(random);
      v[i] = Friction::slides_at * (slide ? std::copysign(1.0 + 50.0 * std::abs(x), x) : std::tanh(x));
      theta[i] += 2e-3 * v[i], tau[i] = 30.0 * normal(random), T[i] = 20.0 + k % 7;
    }
    const std::int64_t stamp = k * ms + (k > 900 ? 500 * ms : 0);
    const Status together = all.step(stamp, theta, v, tau, k % 3 ? T : nullptr, f);
    bool known = true;
    for (int i = 0; i < n; ++i) {
      const Status single = alone[i].step(stamp, theta + i, v + i, tau + i, k % 3 ? T + i : nullptr, &one);
      CHECK(one == f[i] && alone[i].valid(0) == all.valid(i) && all.valid(i) <= (i != 3));
      known = known && single == Status::ok;
    }
    CHECK(together == Status::reset || (together == Status::ok) == known);
  }
  CHECK(all.valid(0) && all.valid(4));
}

// Joint 2 has no levels: it follows its law. A stage around it does not allocate, with every fault in the stream.
void a_stage_allocates_nothing() {
  std::vector<double> span, level, load;
  for (int i = 0; i < 2; ++i) {
    span.insert(span.end(), spans, spans + 3);
    for (int e = 0; e < 3; ++e) {
      level.push_back(i == 0 ? levels[e] : 0.0);
      load.push_back(i == 0 ? loads[e] : 0.0);
    }
  }
  const SlidingJoint joints[2];
  const Elements elements(2, 3, span.data(), level.data(), load.data());
  FrictionStage stage(Friction(viscous_coulomb(2), elements, joints), {});
  const FrictionMap alone = viscous_coulomb(2);
  double f[2], std[2];
  const long count = allocations_of([&] {
    for (int k = 0; k < 3000; ++k) {
      const double x = 0.3 * std::sin(0.01 * k), v[2] = {3.0 * std::cos(0.01 * k), k % 97 ? 0.4 : 1e300};
      const double q[2] = {k % 89 == 3 ? std::nan("") : x, x}, tau[2] = {k % 83 ? 20.0 : 1e300, 5.0};
      const std::int64_t stamp = k % 101 == 5 ? (k - 1) * ms : k > 1500 ? k * ms + 500 * ms : k * ms;
      const Status status = stage.step(stamp, k % 79 ? q : nullptr, v, tau, tau, nullptr, nullptr, f, std);
      if (status == Status::dropped) continue;
      CHECK(std::isfinite(f[0]) && std[0] > 0.0);
      CHECK(f[1] == alone.torque_at(1, v[1], 10.0, alone.reference(1)));
    }
    stage.reset();
  });
  CHECK(count == 0);
}

}  // namespace

int main() {
  viscosity_falls_with_temperature();
  joints_side_by_side_equal_each_alone();
  a_stage_allocates_nothing();
  return failures ? 1 : 0;
}
