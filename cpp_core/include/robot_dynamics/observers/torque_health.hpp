// Which joints' torque signals are valid: one that stays exactly constant while the joint moves, or leaves the
// range of the drive, is isolated for a hold time; the estimators then give it no weight (faults of the sensor itself).
#pragma once

#include <algorithm>
#include <array>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class TorqueHealth {
 public:
  static constexpr double stuck_time = 0.5;               // s of exactly equal torque while moving
  static constexpr double stuck_speed = speeds::sliding;  // rad/s that counts as moving
  static constexpr double hold_time = 0.5;                // s a joint stays isolated after the last fault

  // bound (n) [Nm]: beyond it a torque is invalid.
  TorqueHealth(int n, const double* bound) : n_(n) {
    require_each("torque_bound", bound, n, 1e-6, 1e9);
    std::copy_n(bound, n, bound_.begin());
  }

  // True when the signal of every joint is valid.
  bool step(double dt, const double* tau, const double* qd) noexcept {
    bool good = true;
    for (int i = 0; i < n_; ++i) {
      const bool still = tau[i] == last_[i] && std::abs(qd[i]) > stuck_speed;
      stuck_[i] = still ? stuck_[i] + dt : 0.0;
      const bool bad = stuck_[i] >= stuck_time || !(std::abs(tau[i]) <= bound_[i]);
      hold_[i] = bad ? hold_time : std::max(hold_[i] - dt, 0.0);
      isolated_[i] = bad || hold_[i] > 0.0;
      last_[i] = tau[i];
      good = good && !isolated_[i];
    }
    return good;
  }
  bool isolated(int i) const noexcept { return isolated_[i]; }
  void reset() noexcept {
    last_.fill(std::nan(""));
    stuck_.fill(0.0);
    hold_.fill(0.0);
    isolated_.fill(false);
  }

 private:
  int n_;
  std::array<double, max_joints> bound_{}, last_{}, stuck_{}, hold_{};
  std::array<bool, max_joints> isolated_{};
};

}  // namespace robot_dynamics
