// Record of a cycle of the torque loop, as the bindings hand it out.
#pragma once

#include "arguments.hpp"
#include "robot_dynamics/control/torque_loop.hpp"

namespace bindings::torque {
using namespace robot_dynamics;

// A record with its number of joints: the attributes are arrays (n,).
struct Record {
  TorqueRecord value;
  int n;
};

}  // namespace bindings::torque
