// Which joints' torque signals are valid: one that stays exactly constant while the joint moves, or leaves the
// range of the drive, is isolated for a hold time; the estimators then give it no weight (faults of the sensor itself).
#pragma once

#include <array>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

struct TorqueHealthParameters {
  double stuck_time = 0.5;                 // s of exactly equal torque while moving
  double stuck_speed = speeds::sliding;    // rad/s that counts as moving
  double hold_time = 0.5;                  // s a joint stays isolated after the last fault
  std::array<double, max_joints> bound{};  // Nm beyond which a torque is invalid
};

class TorqueHealth {
 public:
  TorqueHealth(int n, const TorqueHealthParameters& p) : n_(n), p_(p) {
    require_range("stuck_time", p.stuck_time, 1e-3, 1e3);
    require_range("stuck_speed", p.stuck_speed, 0.0, 1e3);
    require_range("hold_time", p.hold_time, 0.0, 1e3);
    require_each("torque_bound", p.bound.data(), n, 1e-6, 1e9);
  }

  // True when the signal of every joint is valid.
  bool step(double dt, const double* tau, const double* qd) noexcept {
    bool good = true;
    for (int i = 0; i < n_; ++i) {
      const bool still = tau[i] == last_[i] && std::abs(qd[i]) > p_.stuck_speed;
      stuck_[i] = still ? stuck_[i] + dt : 0.0;
      const bool bad = stuck_[i] >= p_.stuck_time || !(std::abs(tau[i]) <= p_.bound[i]);
      hold_[i] = bad ? p_.hold_time : std::max(hold_[i] - dt, 0.0);
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
  TorqueHealthParameters p_;
  std::array<double, max_joints> last_{}, stuck_{}, hold_{};
  std::array<bool, max_joints> isolated_{};
};

}  // namespace robot_dynamics
