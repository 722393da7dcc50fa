// Friction of a static law with its standard deviation, as the force stage needs both.
//
//   var f = (share f)^2 + (fc/sqrt(3) exp(-(v/vs)^2))^2 + (f(T + sigma_T) - f(T))^2
//
// share: relative error of the law while sliding; the second term is stiction: at rest friction is anywhere in
// [-fc, fc], uniformly, so its standard deviation is fc/sqrt(3); the third is what an uncertain temperature is worth.
#pragma once

#include "robot_dynamics/check.hpp"
#include "robot_dynamics/friction_map.hpp"

namespace robot_dynamics {

struct FrictionStageParameters {
  double relative_error = 0.1;   // share
  double stiction_speed = 0.02;  // vs, rad/s
  double stiction = 1.0;         // share of the stiction term; less where a hysteresis model knows pre-sliding
  double unknown_spread = 15.0;  // sigma_T, K, when no temperature is given
};

class FrictionStage {
 public:
  FrictionStage(FrictionMap map, const FrictionStageParameters& p) : map_(std::move(map)), p_(p) {
    require_range("relative_error", p.relative_error, 0.0, 10.0);
    require_range("stiction_speed", p.stiction_speed, 1e-6, 10.0);
    require_range("stiction", p.stiction, 0.0, 1.0);
    require_range("unknown_spread", p.unknown_spread, 0.0, 200.0);
  }

  int joints() const noexcept { return map_.joints(); }

  // v (n); load, T, variance (n) may be null or NaN = absent. degraded: a temperature is outside the identified range.
  Status step(const double* v, const double* load, const double* T, const double* variance, double* friction,
              double* std) const noexcept {
    const int n = map_.joints();
    if (absent(v, n)) return Status::unavailable;
    if (!all_finite(v, n)) return Status::dropped;
    Status status = Status::ok;
    for (int i = 0; i < n; ++i) {
      const double tau = load && std::isfinite(load[i]) ? load[i] : 0.0;
      const double given = T ? T[i] : std::nan(""), t = map_.used_temperature(i, given);
      if (std::isfinite(given) && t != given) status = Status::degraded;
      const bool known = std::isfinite(given) && variance && variance[i] >= 0.0;
      const double sigma = known ? std::sqrt(variance[i]) : std::isfinite(given) ? 0.0 : p_.unknown_spread;
      const double f = map_.torque_at(i, v[i], tau, t), x = v[i] / p_.stiction_speed;
      const double stiction = p_.stiction * map_.coulomb(i, v[i], t) / std::sqrt(3.0) * std::exp(-x * x);
      const double warm = map_.torque_at(i, v[i], tau, t + sigma) - f, slide = p_.relative_error * f;
      if (!std::isfinite(f)) return Status::dropped;
      friction[i] = f;
      std[i] = std::sqrt(slide * slide + stiction * stiction + (std::isfinite(warm) ? warm * warm : 0.0));
    }
    return status;
  }

 private:
  FrictionMap map_;
  FrictionStageParameters p_;
};

}  // namespace robot_dynamics
