// Two-node thermal network of one joint: lubricant and gear (heated by friction), housing (heated by the lubricant and
// by the copper loss of the motor, cooled by the ambient air). The joint's sensor sits on the housing.
//   C_l dT_l/dt = P_friction - G_lh (T_l - T_h)
//   C_h dT_h/dt = P_idle + P_copper + G_lh (T_l - T_h) - G_ha (T_h - T_ambient)
// One node of it is [Simoni2017, eq. 7].
#pragma once

#include "robot_dynamics/plant/math.hpp"

namespace robot_dynamics::plant {

struct ThermalParameters {          // of one joint
  double lubricant_capacity = 100;  // C_l [J/K]
  double housing_capacity = 2000;   // C_h [J/K]
  double inner_conductance = 1;     // G_lh [W/K]
  double outer_conductance = 1;     // G_ha [W/K]
  double idle_power = 0;            // [W], electronics and brake of the joint, on the housing
  double copper_loss = 0;           // [W/Nm^2], P_copper = copper_loss tau_m^2 (= 1/(r k_m)^2)

  template <class P, class F>
  static void visit(P& p, F f) {
    f(p.lubricant_capacity, "thermal.lubricant_capacity", positive);
    f(p.housing_capacity, "thermal.housing_capacity", positive);
    f(p.inner_conductance, "thermal.inner_conductance", non_negative);
    f(p.outer_conductance, "thermal.outer_conductance", non_negative);
    f(p.idle_power, "thermal.idle_power", non_negative);
    f(p.copper_loss, "thermal.copper_loss", non_negative);
  }
};

struct ThermalState {
  double lubricant = 20;  // T_l [deg C]
  double housing = 20;    // T_h [deg C]
};

// One step of dt [s] with constant powers [W], implicit midpoint: second order and stable for any dt.
inline void advance(const ThermalParameters& p, ThermalState& state, double friction_power, double copper_power,
                    double ambient, double dt) noexcept {
  const double flow = p.inner_conductance * (state.lubricant - state.housing);
  const double rate_l = friction_power - flow;
  const double rate_h = p.idle_power + copper_power + flow - p.outer_conductance * (state.housing - ambient);
  // (C + dt/2 G) dT = dt rate, 2 x 2
  const double h = 0.5 * dt;
  const double a = p.lubricant_capacity + h * p.inner_conductance, b = -h * p.inner_conductance;
  const double d = p.housing_capacity + h * (p.inner_conductance + p.outer_conductance);
  const double scale = dt / (a * d - b * b);
  state.lubricant += scale * (d * rate_l - b * rate_h);
  state.housing += scale * (a * rate_h - b * rate_l);
}

}  // namespace robot_dynamics::plant
