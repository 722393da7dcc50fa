// Friction maps, temperature, stiffness and friction observers allocate nothing in step() and survive bad input.
#include <cmath>
#include <limits>

#include "check.hpp"
#include "robot_dynamics/observers/friction_observer.hpp"
#include "robot_dynamics/observers/friction_stage.hpp"
#include "robot_dynamics/observers/temperature_observer.hpp"
#include "robot_dynamics/transmission/stiffness.hpp"

using namespace robot_dynamics;

namespace {

constexpr int n = 6;
const double nan_ = std::numeric_limits<double>::quiet_NaN();
using Row = std::vector<double>;

std::vector<double> repeated(std::initializer_list<double> row) {
  std::vector<double> all;
  for (int i = 0; i < n; ++i) all.insert(all.end(), row);
  return all;
}

FrictionMap map_of(FrictionLaw law) {
  const Row T0(n, 25.0);
  const auto size = static_cast<std::size_t>(FrictionMap::parameter_count(law));
  Row p;
  for (int i = 0; i < n; ++i) {
    Row one(size, 1.0);  // every own parameter 1; tail: offset, eps, alpha, beta, gamma, delta
    const double tail[friction_tail] = {0.1, 1e-3, -0.01, 1, 0.01, 1};
    std::copy(tail, tail + friction_tail, one.end() - friction_tail);
    p.insert(p.end(), one.begin(), one.end());
  }
  return FrictionMap(law, n, p.data(), T0.data());
}

// Steps f(stamp, k) through motion, duplicates, gaps, NaN and a clock that runs backwards, counting allocations.
template <class F>
void survives(const char* name, F&& step) {
  const long count = allocations_of([&] {
    std::int64_t stamp = 0;
    for (int k = 0; k < 3000; ++k) {
      stamp += k % 500 == 7 ? 0 : k % 700 == 3 ? 2000000000 : k == 2000 ? -900000000 : 2000000;
      step(stamp, k);
    }
  });
  if (count) std::printf("%s\n", name);
  CHECK(count == 0);
}

double wave(int k) { return k % 313 == 5 ? nan_ : 0.8 * std::sin(0.01 * k); }

void maps() {
  for (const char* name : friction_law_names) {
    const FrictionMap map = map_of(friction_law(name));
    Row v(n), out(n, 0.0);
    survives(name, [&](std::int64_t, int k) {
      for (auto& x : v) x = 0.5 * std::sin(0.01 * k);
      map.torque(v.data(), v.data(), nullptr, out.data());
      CHECK(std::isfinite(out[0]));
    });
  }
}

void temperature(bool two_nodes) {
  const HeatParameters heat{300, 0.9, two_nodes ? 2000.0 : 0.0, 0.5};
  TemperatureObserver observer(map_of(FrictionLaw::simoni), std::vector<HeatParameters>(n, heat), Row(n, 0.0), {});
  Row v(n), friction(n), housing(n), contact(n + 1, 0.0), T(n, 0.0), variance(n, 0.0);
  survives("temperature", [&](std::int64_t stamp, int k) {
    for (int i = 0; i < n; ++i) {
      v[i] = wave(k);
      friction[i] = k % 101 == 0 ? nan_ : 3 * v[i];
      housing[i] = k % 97 == 0 ? -273.0 : 30.0;
    }
    contact[2] = k % 400 < 50;
    observer.step(stamp, v.data(), nullptr, friction.data(), housing.data(), contact.data(), T.data(), variance.data());
    CHECK(std::isfinite(T[0]) && variance[0] >= 0);
  });
}

void stiffness() {
  const Row zero(n, 0.0), baseline = repeated({2e4, 3e9});
  StiffnessEstimator estimator(std::vector<StiffnessJoint>(n), 20.0, {}, PeriodicTable(n, 1, zero.data()));
  estimator.set_baseline(baseline.data(), nan_, {});
  Row theta(n), q(n), omega(n), motor(n), k(n, 0.0), sigma(n, 0.0);
  survives("stiffness", [&](std::int64_t stamp, int step) {
    for (int i = 0; i < n; ++i) {
      const double phi = 1e-3 * std::sin(0.03 * step);
      q[i] = 0.5 * std::sin(0.01 * step);
      theta[i] = step % 211 == 0 ? nan_ : q[i] + phi;
      omega[i] = 2.5 * std::cos(0.01 * step);
      motor[i] = step % 157 == 0 ? nan_ : 2e4 * phi;
    }
    const StiffnessInputs in{theta.data(), q.data(), omega.data(), motor.data(),
                             zero.data(),  nullptr,  nullptr,      nullptr};
    estimator.step(stamp, in, k.data(), sigma.data());
  });
  CHECK(std::abs(estimator.rls(0).stiffness(0) / 2e4 - 1) < 0.05);
}

void rotor_observer() {
  RotorFrictionObserver observer(Row(n, 1.7), Row(n, 100.0));
  Row omega(n), tau_m(n), tau_J(n, 0.0), f(n, 0.0), sigma(n, 0.0);
  survives("rotor observer", [&](std::int64_t stamp, int k) {
    for (int i = 0; i < n; ++i) {
      omega[i] = wave(k);
      tau_m[i] = 5.0;
    }
    observer.step(stamp, omega.data(), tau_m.data(), tau_J.data(), f.data(), sigma.data());
    CHECK(std::isfinite(f[0]));
  });
}

}  // namespace

int main() {
  maps();
  temperature(false);
  temperature(true);
  stiffness();
  rotor_observer();
  return failures ? 1 : 0;
}
