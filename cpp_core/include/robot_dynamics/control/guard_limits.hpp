// States, reasons and limits of the guard (guard.hpp), and the check of the limits.
#pragma once

#include <array>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

enum class GuardState : int { idle = 0, ok = 1, degraded = 2, safe = 3, fault = 4 };

// Why the guard last left ok; index of its counters.
enum class GuardReason : int {
  none = 0,
  command_not_finite,
  semantics,
  magnitude,
  rate,
  command_age,
  state_not_finite,
  state_gap,
  state_frozen,
  state_clock,
  velocity,
  position,
  publisher,
  robot_stopped,
  enable_lost,
  external,
  program_ended,
  tracking,
  state_inconsistent,
  count
};

// What a torque means; a command must declare the same as the robot file or it is refused.
struct TorqueSemantics {
  bool includes_gravity = false;  // true: the sender added g(q)
  bool link_side = false;         // true: torque behind the transmission
  bool operator==(const TorqueSemantics& o) const noexcept {
    return includes_gravity == o.includes_gravity && link_side == o.link_side;
  }
};

struct GuardLimits {
  static constexpr double first_command = 5.0;  // s that an enabled guard waits for the first command
  static constexpr int hold_cycles = 3;         // cycles an old command may be held
  static constexpr int frozen_cycles = 10;      // exact repeats of a moving state
  // rad by which position and speed disagree, within about 0.5 s: filters that lag by 20 ms at 2 rad/s stay below
  static constexpr double apart = 0.05, lately = 0.5;
  static constexpr int sustained_cycles = 50;  // clamped cycles in a row before safe
  int n = 0;
  std::array<double, max_joints> torque{};          // Nm
  std::array<double, max_joints> torque_rate{};     // Nm/s
  std::array<double, max_joints> velocity{};        // rad/s
  std::array<double, max_joints> position_lower{};  // rad
  std::array<double, max_joints> position_upper{};  // rad
  std::array<double, max_joints> deceleration{};    // rad/s2 that braking can count on
  TorqueSemantics semantics{};
  double cycle = 0.002;         // s, nominal control period
  double degraded_gap = 0.020;  // s without a new state
  double safe_gap = 0.040;      // s without a new state
  double ramp = 0.100;          // s from any torque to zero
  double enable_timeout = 0;    // s after which an unrefreshed enable is lost; 0: no dead-man switch
};

inline void validate(const GuardLimits& limits) {
  require_range("n_joints", limits.n, 1, max_joints);
  require_positive("torque", limits.torque.data(), limits.n);
  require_positive("torque_rate", limits.torque_rate.data(), limits.n);
  require_positive("velocity", limits.velocity.data(), limits.n);
  require_positive("deceleration", limits.deceleration.data(), limits.n);
  for (int i = 0; i < limits.n; ++i)
    require(limits.position_lower[i] < limits.position_upper[i], element("position_lower", i), limits.position_lower[i],
            "below position_upper");
  require_positive("cycle", limits.cycle);
  require(limits.ramp > 0 && limits.ramp <= 0.1, "ramp", limits.ramp, "in (0, 0.1] s");
  require_positive("safe_gap", limits.safe_gap);
  require(limits.safe_gap >= limits.degraded_gap && limits.degraded_gap > 0, "safe_gap", limits.safe_gap,
          ">= degraded_gap > 0");
  require(limits.enable_timeout >= 0, "enable_timeout", limits.enable_timeout, ">= 0");
}

}  // namespace robot_dynamics
