// The plant's parameters and signals by name: what Python passes in and reads out.
#pragma once

#include <map>
#include <string>

#include "robot_dynamics/plant/plant.hpp"

namespace robot_dynamics::plant {

struct Field {  // a per-joint number, or a row of `width` numbers per joint
  double* data;
  int width;
};

// The parameters of one joint.
inline std::map<std::string, Field> fields(JointParameters& joint) {
  std::map<std::string, Field> table;
  JointParameters::visit(joint, [&](auto& value, const char* name, const auto&) {
    if constexpr (std::is_same_v<decltype(value), double&>)
      table[name] = {&value, 1};
    else
      table[name] = {value.data(), static_cast<int>(value.size())};
  });
  return table;
}

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
