// What the bindings of the torque loop share: arguments of n joints, and the record of a cycle.
#pragma once

#include "bindings.hpp"
#include "robot_dynamics/control/torque_loop.hpp"

namespace bindings::torque {
using namespace robot_dynamics;

using Joints = std::array<double, max_joints>;

inline Array joints(const Joints& values, int n) { return Array(n, values.data()); }

inline const double* input(const Array& values, const char* name, int n) {
  require_shape(values, name, {n});
  return values.data();
}

inline const double* optional(const py::object& values, const char* name, int n, Array& keep) {
  if (values.is_none()) return nullptr;
  if (!py::isinstance<Array>(values)) throw py::type_error(std::string(name) + " is not a float64 array");
  keep = py::reinterpret_borrow<Array>(values);
  return input(keep, name, n);
}

// A record with its number of joints: the attributes are arrays (n,).
struct Record {
  TorqueRecord value;
  int n;
};

}  // namespace bindings::torque
