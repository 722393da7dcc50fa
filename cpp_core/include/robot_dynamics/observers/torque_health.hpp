// Which joints' torque signals are valid: one that stays exactly constant while the joint moves, or leaves the
// range of the drive, is isolated for a hold time; the estimators then give it no weight (faults of the sensor itself).
// Where no drive carries anything and gravity is more than friction can hold, brakes are closed and no signal is valid.
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
  static constexpr double idle = 0.01 / 3;                // share of bound, 1 % of the limit: a drive without power

  // bound (n) [Nm]: beyond it a torque is invalid; holds (n) [Nm]: what friction holds at most.
  TorqueHealth(int n, const double* bound, const double* holds) : n_(n) {
    require_each("torque_bound", bound, n, 1e-6, 1e9);
    std::copy_n(bound, n, bound_.begin());
    std::copy_n(holds, n, holds_.begin());
  }

  // True behind closed brakes. model (n) [Nm]: what the drives would have to carry.
  bool braked(const double* tau, const double* qd, const double* model) const noexcept {
    bool falls = false;
    for (int i = 0; i < n_; ++i) {
      const double noise = idle * bound_[i];
      if (std::abs(tau[i]) > noise || std::abs(qd[i]) > speeds::sliding) return false;
      falls = falls || std::abs(model[i]) > holds_[i] + noise;
    }
    return falls;
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
  std::array<double, max_joints> bound_{}, holds_{}, last_{}, stuck_{}, hold_{};
  std::array<bool, max_joints> isolated_{};
};

}  // namespace robot_dynamics
