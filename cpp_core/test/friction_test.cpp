// Presliding friction keeps its bounds, does not depend on rate, dissipates over closed cycles, keeps its level while
// creeping, and allocates nothing in step().
#include "robot_dynamics/friction/friction.hpp"

#include <cmath>
#include <random>

#include "check.hpp"
#include "robot_dynamics/observers/friction_stage.hpp"

using namespace robot_dynamics;

namespace {

constexpr double pi = 3.14159265358979323846;
constexpr std::int64_t ms = 1000000;
constexpr double spans[] = {1e-4, 1e-3, 1e-2};
constexpr double levels[] = {1.0, 2.0, 3.0}, loads[] = {0.02, 0.0, 0.05};
constexpr double coulomb = 6.0, loaded = 0.07;  // sums of levels and of loads

FrictionMap law(int n) {
  std::vector<double> p, T0(static_cast<std::size_t>(n), 20.0);
  for (int i = 0; i < n; ++i) {
    const double row[] = {5.0, 2.0, 0.0, 0.01, -0.01, 1.0, 0.0, 1.0};
    p.insert(p.end(), row, row + FrictionMap::parameter_count(FrictionLaw::viscous_coulomb));
  }
  return FrictionMap(FrictionLaw::viscous_coulomb, n, p.data(), T0.data());
}

Friction one(SlidingJoint joint = {}) {
  return Friction(law(1), Elements(1, 3, spans, levels, loads, {}, 1e9), &joint);
}

// Friction after each of the positions, at this velocity and load, `step` apart.
std::vector<double> along(Friction model, const std::vector<double>& theta, double v = 0.0, double tau = 0.0,
                          std::int64_t step = ms) {
  std::vector<double> f(theta.size());
  for (std::size_t k = 0; k < theta.size(); ++k)
    model.step(static_cast<std::int64_t>(k) * step, &theta[k], &v, &tau, nullptr, &f[k]);
  return f;
}

void bounded() {
  std::mt19937 random(1);
  for (const double scale : {1e-6, 1e-4, 1e-2, 3.0}) {
    std::normal_distribution<double> stride(0.0, scale);
    Friction model = one();
    double theta = 0.0, f;
    const double v = 0.0, tau = 40.0;
    for (int k = 0; k < 5000; ++k) {
      theta += stride(random);
      model.step(k * ms, &theta, &v, &tau, nullptr, &f);
      CHECK(std::abs(f) <= coulomb + loaded * tau + 1e-9);
    }
  }
}

void independent_of_rate() {
  const std::vector<double> knots = {0.0, 3e-4, -2e-4, 5e-3, 1e-4, 8e-3, -9e-3, 0.0};
  const std::vector<double> fast = along(one(), knots), slow = along(one(), knots, 0.0, 0.0, 17 * ms);
  std::vector<double> fine;
  for (std::size_t k = 0; k + 1 < knots.size(); ++k)
    for (int j = 0; j < 100; ++j) fine.push_back(knots[k] + 0.01 * j * (knots[k + 1] - knots[k]));
  const std::vector<double> many = along(one(), fine);
  for (std::size_t k = 0; k < knots.size(); ++k) {
    CHECK(fast[k] == slow[k]);
    if (k + 1 < knots.size()) CHECK(std::abs(many[100 * k] - fast[k]) < 1e-9);
  }
}

// Work over a cycle, after two cycles have made the past irrelevant: positive once an element slips.
void closed_cycles_dissipate() {
  for (const double amplitude : {4e-5, 2e-4, 3e-3, 0.1}) {
    std::vector<double> theta;
    for (int k = 0; k <= 9000; ++k) theta.push_back(amplitude * std::sin(2 * pi * k / 3000.0));
    const std::vector<double> f = along(one(), theta);
    double work = 0.0;
    for (int k = 6000; k < 9000; ++k) work += 0.5 * (f[k] + f[k + 1]) * (theta[k + 1] - theta[k]);
    CHECK(work > (amplitude > spans[0] ? 0.0 : -1e-12));
    if (amplitude > 2 * spans[2]) CHECK(work > 4 * coulomb * (amplitude - spans[2]) * 0.9);
  }
}

void creeping_keeps_the_level() {
  std::vector<double> theta;
  for (int k = 0; k < 100000; ++k) theta.push_back(3e-7 * k);  // 0.3 mrad/s
  CHECK(std::abs(along(one(), theta, 3e-4).back() - coulomb) < 1e-9);
  CHECK(std::abs(along(one(), theta, 3e-4, -50.0).back() - (coulomb + 50.0 * loaded)) < 1e-9);
}

void load_counts_up_to_its_limit() {
  SlidingJoint joint;
  joint.load_limit = 30.0;
  for (const double power : {1.0, 2.0}) {
    joint.power = power;
    const double largest = coulomb + loaded * (power == 1.0 ? 30.0 : 900.0);
    for (const double tau : {30.0, 31.0, -1e6, 1e300})
      CHECK(std::abs(along(one(joint), {0.0, 1.0}, 0.0, tau).back() - largest) < 1e-9);
    const double absent = along(one(joint), {0.0, 1.0}, 0.0, std::nan("")).back();
    CHECK(std::abs(absent - coulomb) < 1e-9);
  }
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

// What is unknown shrinks with the range of motion and is zero beyond twice the largest span.
void unknown_until_slipped() {
  Friction model = one();
  const double v = 0.0, tau = 0.0;
  double f, before = coulomb;
  for (int k = 0; k < 300; ++k) {
    const double theta = 1e-4 * k;
    model.step(k * ms, &theta, &v, &tau, nullptr, &f);
    const double now = model.unknown_level(0, 0.0);
    CHECK(now <= before && (now == 0.0) == model.valid(0));
    CHECK(model.valid(0) == (theta > 2 * spans[2]));
    before = now;
  }
  CHECK(before == 0.0);
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
    joints[i] = {30.0,    i % 2 ? 2.0 : 1.0, 0.5 + 0.1 * i, 0.05 * factor,      2.0 + i,  0.1 * i, 1.0, 0.3 * factor,
                 0.1 * i, 0.2 * i,           2e-3 * factor, i % 3 ? 0.0 : 0.02, -0.01 * i};
  }
  const auto part = [&](int first, int count) {
    const int at = 3 * first;
    return Friction(law(count), Elements(count, 3, &span[at], &level[at], &load[at]), joints + first);
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
  FrictionStage stage(Friction(law(2), elements, joints), {});
  const FrictionMap alone = law(2);
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
  bounded();
  independent_of_rate();
  closed_cycles_dissipate();
  creeping_keeps_the_level();
  load_counts_up_to_its_limit();
  viscosity_falls_with_temperature();
  unknown_until_slipped();
  joints_side_by_side_equal_each_alone();
  a_stage_allocates_nothing();
  return failures ? 1 : 0;
}
