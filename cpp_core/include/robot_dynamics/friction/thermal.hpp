// Heat balance of a joint [Simoni2017 7]: friction power warms the lubricant, the housing and the air cool it.
//   one node:  C dT/dt = P - K (T - T_env)                       exact exponential for P held over dt
//   two nodes: C dT/dt = P - K (T - T_h),  C_h dT_h/dt = K (T - T_h) - K_h (T_h - T_env)   trapezoidal, any dt stable
#pragma once

#include <cmath>

#include "robot_dynamics/common/check.hpp"

namespace robot_dynamics {

struct HeatParameters {
  double capacity = 0;          // C [J/K]
  double transfer = 0;          // K [W/K], >= 0
  double housing_capacity = 0;  // C_h [J/K]; 0: one node
  double housing_transfer = 0;  // K_h [W/K]
  bool two_nodes() const { return housing_capacity > 0; }
};

inline void validate(const HeatParameters& p, int joint) {
  const auto check = [joint](bool good, const char* name, double x, const char* bound) {
    require_of_joint(good && std::isfinite(x), joint, name, x, bound);
  };
  check(p.capacity > 0, "heat_capacity", p.capacity, "> 0");
  check(p.transfer >= 0, "heat_transfer", p.transfer, ">= 0");
  check(p.housing_capacity >= 0, "housing_capacity", p.housing_capacity, ">= 0");
  if (p.two_nodes()) check(p.housing_transfer >= 0, "housing_transfer", p.housing_transfer, ">= 0");
}

// Temperature after dt [s] with power [W] [Simoni2017 8].
inline double one_node(const HeatParameters& p, double T, double power, double ambient, double dt) noexcept {
  if (!(p.transfer > 0)) return T + power * dt / p.capacity;
  const double settled = ambient + power / p.transfer;
  return settled + (T - settled) * std::exp(-p.transfer * dt / p.capacity);
}

struct TwoTemperatures {
  double lubricant, housing;
};

// x+ = F x + u of the trapezoidal rule; F is row-major 2 x 2.
struct TwoNodeStep {
  double F[4], u[2];

  TwoNodeStep(const HeatParameters& p, double power, double ambient, double dt) noexcept {
    const double h = 0.5 * dt, a = p.transfer / p.capacity, b = p.transfer / p.housing_capacity;
    const double c = p.housing_transfer / p.housing_capacity;
    // (I - hA) x+ = (I + hA) x + dt g, A = [[-a, a], [b, -b - c]], g = [P/C, c T_env]
    const double m00 = 1 + h * a, m01 = -h * a, m10 = -h * b, m11 = 1 + h * (b + c), det = m00 * m11 - m01 * m10;
    const double r00 = 1 - h * a, r01 = h * a, r10 = h * b, r11 = 1 - h * (b + c);
    const double g0 = dt * power / p.capacity, g1 = dt * c * ambient;
    F[0] = (m11 * r00 - m01 * r10) / det;
    F[1] = (m11 * r01 - m01 * r11) / det;
    F[2] = (m00 * r10 - m10 * r00) / det;
    F[3] = (m00 * r11 - m10 * r01) / det;
    u[0] = (m11 * g0 - m01 * g1) / det;
    u[1] = (m00 * g1 - m10 * g0) / det;
  }
  TwoTemperatures operator()(TwoTemperatures x) const noexcept {
    return {F[0] * x.lubricant + F[1] * x.housing + u[0], F[2] * x.lubricant + F[3] * x.housing + u[1]};
  }
};

// Either model over dt; one node keeps both temperatures equal.
inline TwoTemperatures advance(const HeatParameters& p, TwoTemperatures x, double power, double ambient,
                               double dt) noexcept {
  if (p.two_nodes()) return TwoNodeStep(p, power, ambient, dt)(x);
  const double T = one_node(p, x.lubricant, power, ambient, dt);
  return {T, T};
}

// Friction power [W] at T from its base and Stribeck parts at T0; factors: T0, alpha, beta, gamma, delta [Simoni2017
// 6].
inline double heat_power(double base, double stribeck, const double* factors, double T) noexcept {
  const double dT = T - factors[0];
  const double power = base * (factors[1] * dT + factors[2]) + stribeck * (factors[3] * dT + factors[4]);
  return power > 0 ? power : 0.0;
}

}  // namespace robot_dynamics
