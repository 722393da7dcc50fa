// The plant's parameters and signals by name: what Python passes in and reads out.
#pragma once

#include <map>
#include <string>

#include "robot_dynamics/plant/plant.hpp"

namespace robot_dynamics::plant {

struct Field {  // a per-joint number, or a row of `width` numbers per joint
  double* (*at)(JointParameters&);
  int width;
};
#define SCALAR(block, name) {#block "." #name, {[](JointParameters& p) { return &p.block.name; }, 1}}
#define ROW(block, name, count)                                     \
  {                                                                 \
    #block "." #name, {                                             \
      [](JointParameters& p) { return p.block.name.data(); }, count \
    }                                                               \
  }

inline const std::map<std::string, Field>& fields() {
  static const std::map<std::string, Field> table = {SCALAR(drive, rotor_inertia),
                                                     SCALAR(drive, torque_constant),
                                                     SCALAR(drive, torque_limit),
                                                     SCALAR(drive, current_lag),
                                                     ROW(drive, ripple_amplitude, ripple_orders),
                                                     ROW(drive, ripple_phase, ripple_orders),
                                                     SCALAR(friction, coulomb),
                                                     SCALAR(friction, stribeck),
                                                     SCALAR(friction, stribeck_velocity),
                                                     SCALAR(friction, load),
                                                     SCALAR(friction, load_torque),
                                                     SCALAR(friction, attraction),
                                                     SCALAR(friction, presliding),
                                                     SCALAR(friction, viscous),
                                                     SCALAR(friction, shear_velocity),
                                                     SCALAR(friction, viscosity_rate),
                                                     SCALAR(friction, boundary_rate),
                                                     SCALAR(friction, reference_temperature),
                                                     SCALAR(friction, family),
                                                     SCALAR(friction, load_saturation),
                                                     SCALAR(friction, load_on_stiffness),
                                                     SCALAR(friction, additive_stribeck),
                                                     SCALAR(friction, viscous_exponent),
                                                     SCALAR(friction, micro_damping),
                                                     SCALAR(friction, dahl_exponent),
                                                     SCALAR(friction, creep_velocity),
                                                     SCALAR(friction, elastic_share),
                                                     ROW(friction, span, friction_elements),
                                                     ROW(friction, share, friction_elements),
                                                     SCALAR(transmission, stiffness),
                                                     SCALAR(transmission, hardening),
                                                     SCALAR(transmission, damping),
                                                     SCALAR(transmission, backlash),
                                                     SCALAR(transmission, backlash_variation),
                                                     SCALAR(transmission, backlash_phase),
                                                     SCALAR(transmission, soft_windup),
                                                     SCALAR(transmission, gear_ratio),
                                                     SCALAR(transmission, bearing_friction),
                                                     SCALAR(transmission, bearing_presliding),
                                                     ROW(transmission, error_amplitude, harmonics),
                                                     ROW(transmission, error_phase, harmonics),
                                                     SCALAR(thermal, lubricant_capacity),
                                                     SCALAR(thermal, housing_capacity),
                                                     SCALAR(thermal, inner_conductance),
                                                     SCALAR(thermal, outer_conductance),
                                                     SCALAR(thermal, copper_loss),
                                                     SCALAR(thermal, idle_power),
                                                     SCALAR(sensing, link_quantum),
                                                     SCALAR(sensing, rotor_quantum),
                                                     SCALAR(sensing, link_offset),
                                                     SCALAR(sensing, velocity_bandwidth),
                                                     SCALAR(sensing, encoder_skew),
                                                     SCALAR(sensing, current_noise),
                                                     SCALAR(sensing, current_offset),
                                                     SCALAR(sensing, current_ripple),
                                                     SCALAR(sensing, pole_pairs),
                                                     SCALAR(sensing, temperature_quantum),
                                                     SCALAR(sensing, temperature_noise),
                                                     SCALAR(sensing, torque_noise),
                                                     SCALAR(sensing, torque_gain),
                                                     SCALAR(sensing, torque_offset),
                                                     SCALAR(sensing, torque_delay),
                                                     SCALAR(control, rotor_inertia),
                                                     SCALAR(control, torque_constant),
                                                     SCALAR(control, transmission_stiffness),
                                                     SCALAR(control, stiffness_gain),
                                                     SCALAR(control, damping_gain),
                                                     SCALAR(control, integral_gain),
                                                     SCALAR(control, integral_limit),
                                                     SCALAR(control, viscous),
                                                     SCALAR(control, coulomb),
                                                     SCALAR(control, torque_feedback)};
  return table;
}
#undef SCALAR
#undef ROW

// Signals of one cycle by name, (n,) unless stated.
struct Output {
  const double* (*at)(const Plant&);
  int width;  // 0 = joints
};
#define MEASURED(name) {#name, {[](const Plant& p) { return p.measurement().name.data(); }, 0}}
#define TRUTH(name) {"true_" #name, {[](const Plant& p) { return p.truth().name.data(); }, 0}}

inline const std::map<std::string, Output>& outputs() {
  static const std::map<std::string, Output> table = {
      MEASURED(q),
      MEASURED(qd),
      MEASURED(theta),
      MEASURED(omega),
      MEASURED(current),
      MEASURED(effort),
      MEASURED(joint_torque),
      MEASURED(temperature),
      MEASURED(q_d),
      MEASURED(qd_d),
      MEASURED(qdd_d),
      MEASURED(target_moment),
      MEASURED(target_current),
      TRUTH(q),
      TRUTH(qd),
      TRUTH(theta),
      TRUTH(omega),
      TRUTH(motor_torque),
      TRUTH(joint_torque),
      TRUTH(friction_torque),
      TRUTH(rotor_friction_torque),
      TRUTH(link_friction_torque),
      TRUTH(external_joint_torque),
      TRUTH(deflection),
      TRUTH(lubricant_temperature),
      TRUTH(housing_temperature),
      TRUTH(friction_power),
      {"true_external_wrench", {[](const Plant& p) { return p.truth().external_wrench.data(); }, 6}},
      {"true_tcp_position", {[](const Plant& p) { return p.truth().tcp.p.data(); }, 3}},
      {"true_tcp_rotation", {[](const Plant& p) { return p.truth().tcp.R.data(); }, 9}},
      {"true_penetration", {[](const Plant& p) { return &p.truth().penetration; }, 1}}};
  return table;
}
#undef MEASURED
#undef TRUTH

template <class Table>
const typename Table::mapped_type& named(const Table& table, const std::string& name) {
  const auto found = table.find(name);
  if (found == table.end()) throw std::invalid_argument("unknown name " + name);
  return found->second;
}

template <class Table>
std::map<std::string, int> widths(const Table& table) {
  std::map<std::string, int> result;
  for (const auto& [name, entry] : table) result[name] = entry.width;
  return result;
}

}  // namespace robot_dynamics::plant
