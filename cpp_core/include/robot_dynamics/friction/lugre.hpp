// LuGre with temperature-dependent coefficients, as Simoni2017 proposes [Madsen2020 2.35-2.36, Simoni2017 6].
//   dz/dt = v - sigma0 |v| z / g(v, T),  F = sigma0 z + sigma1 dz/dt + (sigma2 v)(T),  g = the law's Coulomb and
//   Stribeck level
// z is integrated with the exact exponential for a velocity held over dt, so any dt is stable.
#pragma once

#include <cstdint>

#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/signals/sample_clock.hpp"

namespace robot_dynamics {

class LuGre {
 public:
  explicit LuGre(FrictionMap map, double max_gap = 0.1) : map_(std::move(map)), z_(map_.joints(), 0.0) {
    if (map_.law() != FrictionLaw::lugre) throw std::invalid_argument("law is not lugre");
    if (!(max_gap > 0)) throw std::invalid_argument("max_gap = " + std::to_string(max_gap) + " is not > 0");
    clock_.max_gap = max_gap;
  }

  int joints() const { return map_.joints(); }
  double max_gap() const { return clock_.max_gap; }
  void reset() noexcept {
    clock_.reset();
    std::fill(z_.begin(), z_.end(), 0.0);
  }

  // v [rad/s], T [deg C] or null -> friction [Nm]
  Status step(std::int64_t stamp_ns, const double* v, const double* T, double* friction) noexcept {
    for (int i = 0; i < joints(); ++i)
      if (!std::isfinite(v[i])) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    const bool restart = tick == SampleClock::Tick::backwards || tick == SampleClock::Tick::gap;
    if (restart) std::fill(z_.begin(), z_.end(), 0.0);
    for (int i = 0; i < joints(); ++i) friction[i] = joint_step(i, v[i], T ? T[i] : map_.reference(i), dt);
    return restart ? Status::reset : tick == SampleClock::Tick::first ? Status::warming_up : Status::ok;
  }

  const std::vector<double>& state() const { return z_; }

 private:
  double joint_step(int i, double v, double T, double dt) noexcept {
    const double* p = map_.joint(i);  // fc fs vs sigma2 sigma0 sigma1 | tail
    const HeatFactors heat(p + LuGreSteady::size, map_.used_temperature(i, T) - map_.reference(i));
    const double x = v / p[2];
    const double g = std::max(p[0] * heat.base + (p[1] - p[0]) * std::exp(-x * x) * heat.stribeck, 1e-6);
    const double s0 = p[4], rate = s0 * std::abs(v) / g;  // [1/s]
    const double z_end = v == 0 ? z_[i] : (v > 0 ? g : -g) / s0;
    z_[i] = z_end + (z_[i] - z_end) * std::exp(-rate * dt);
    return s0 * z_[i] + p[5] * (v - rate * z_[i]) + p[3] * heat.base * v + p[LuGreSteady::size];
  }

  FrictionMap map_;
  std::vector<double> z_;
  SampleClock clock_;
};

}  // namespace robot_dynamics
