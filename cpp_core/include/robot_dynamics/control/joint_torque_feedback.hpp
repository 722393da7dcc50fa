// Joint-torque feedback [Madsen2020 appB eq. 3-6, fig. 10]: the torque behind the transmission, from its deformation
// tau_J = a1 phi + a2 phi^3 + D phid or from a sensor, is held at the torque the desired motion needs:
//   u = u_ff + K_P (tau_Jd - tau_J) + K_I int (tau_Jd - tau_J) dt.
// It acts only while both are known; a missing joint torque leaves only the feedforward and is reported.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

// Source of the torque behind the transmission.
enum class JointTorqueSource : int { none = 0, deflection = 1, sensor = 2 };

// tau_J (Nm) of one joint from its deformation phi = theta - q (rad) and its rate.
inline double joint_torque(double a1, double a2, double damping, double phi, double phid) noexcept {
  return (a1 + a2 * phi * phi) * phi + damping * phid;
}

class JointTorqueFeedback {
 public:
  // kp (1), ki (1/s) per joint; correction_limit Nm bounds what feedback may add.
  JointTorqueFeedback(int n, const std::array<double, max_joints>& kp, const std::array<double, max_joints>& ki,
                      const std::array<double, max_joints>& correction_limit)
      : n_(n), kp_(kp), ki_(ki), limit_(correction_limit) {
    require_range("n_joints", n, 1, max_joints);
    require_not_negative("kp", kp.data(), n);
    require_not_negative("ki", ki.data(), n);
    require_positive("correction_limit", limit_.data(), n);
  }

  int n() const noexcept { return n_; }
  void reset() noexcept { integral_.fill(0.0); }

  // tau_Jd and tau_J (Nm) of one instant; writes the correction to add to the feedforward.
  Status step(double dt, const double* tau_Jd, const double* tau_J, double* correction) noexcept {
    if (!(dt > 0)) return Status::dropped;
    Status status = Status::ok;
    for (int i = 0; i < n_; ++i) {
      const double e = tau_Jd[i] - tau_J[i];
      if (!std::isfinite(e)) {
        correction[i] = integral_[i] = 0.0;
        status = Status::unavailable;
        continue;
      }
      integral_[i] = std::clamp(integral_[i] + ki_[i] * dt * e, -limit_[i], limit_[i]);
      const double wanted = kp_[i] * e + integral_[i];
      correction[i] = std::clamp(wanted, -limit_[i], limit_[i]);
      if (correction[i] != wanted && status == Status::ok) status = Status::saturated;
    }
    return status;
  }

 private:
  int n_;
  std::array<double, max_joints> kp_, ki_, limit_, integral_{};
};

}  // namespace robot_dynamics
