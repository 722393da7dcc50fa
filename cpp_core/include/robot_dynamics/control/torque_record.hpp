// What enters and leaves the torque loop (torque_loop.hpp): a state, a request and its result, the record of a cycle.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/control/guard_limits.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

// One state as the loop needs it; T, theta, omega, joint_torque null: not measured. payload_kg NaN: not reported.
struct TorqueState {
  std::int64_t stamp_ns = 0, steady_ns = 0;
  const double *q = nullptr, *qd = nullptr, *tau = nullptr, *T = nullptr;
  const double *theta = nullptr, *omega = nullptr, *joint_torque = nullptr;  // rotor side, sensor
  double payload_kg = std::nan("");
  bool stopped = false;  // protective stop, e-stop, power off
  bool program = true;   // false: the program that takes torques on the robot has ended
  bool gap = false;      // derivatives and integrals must restart here
  bool backwards = false;
};

// What a cycle aims at: desired motion, and the torques of model, friction and transmission that belong to it.
struct TorqueAim {
  std::array<double, max_joints> q_d{}, qd_d{}, tau_d{}, friction{}, joint_torque{}, correction{};
};

// Record of one cycle.
struct TorqueRecord : TorqueAim {
  std::int64_t stamp_ns = 0;
  int state = 0, reason = 0, mode = 0, status = 0;
  std::uint32_t frozen = 0;
  bool run = false;  // torque mode must go on
  double age = -1;   // s, of the command when it left
  std::array<double, max_joints> q{}, qd{}, torque{}, wanted{}, a1{}, a2{}, tau{};
};

// Requests wait in a ring until they are processed. disable() and trip() bypass it: they never fail and never wait.
enum class LoopRequest : int { enable, rearm, refresh, command, contact, freeze, restore };

struct TorqueTrajectory;
struct TorqueRequest {
  LoopRequest what = LoopRequest::refresh;
  std::int64_t stamp_ns = 0;
  TorqueSemantics meaning{};
  int number = 0;
  std::uint32_t ends = 0;  // how often torque had been ended at the time of the request
  const TorqueTrajectory* trajectory = nullptr;
  std::array<double, 2 * max_joints> values{};
};

// Result of an enable, or why it was refused.
enum class EnableResult : int {
  pending = -1,
  done = 0,
  latched = 1,
  no_state = 2,
  start_mismatch = 3,
  not_smooth = 4,
  ramping = 5,     // the previous torque is still being ramped to zero
  stopped = 6,     // protective stop, e-stop, power off
  no_program = 7,  // the program that takes torques does not run on the robot
  withdrawn = 8,   // disabled, tripped or stopped before the request was processed
  not_held = 9,    // the dead-man switch is not held
};

}  // namespace robot_dynamics
