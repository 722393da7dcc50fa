// Friction torque and its standard deviation from measured motion, temperature and model joint torque, by the model of
// the robot file; or from both encoders by the observer of [Madsen2020 appB fig. 11]:
//   dw^/dt = (tau_m - f^ - tau_J)/B,  f^ = L B (w^ - w)
// With this sign e = w^ - w obeys de/dt = (f - f^)/B = f/B - L e and settles at f^ = f; the opposite sign diverges.
// Between samples w is a straight line and the torques their mean: f^ = L B e then has the exact solution
//   f^+ = E f^ + (1 - E) (tau_m - tau_J - B (w+ - w)/dt),  E = exp(-L dt), stable for any dt.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

class RotorFrictionObserver {
 public:
  static constexpr double deviation = 1.0;  // Nm, of motor minus joint torque
  // B [kg m2] reflected rotor inertia, L [1/s] observer bandwidth, of n joints
  RotorFrictionObserver(std::vector<double> B, std::vector<double> L, double max_gap = 0.1)
      : B_(std::move(B)), L_(std::move(L)), omega_(B_.size(), 0.0), torque_(omega_), friction_(omega_) {
    if (B_.empty() || B_.size() != L_.size()) throw std::invalid_argument("B and L differ in the number of joints");
    require_positive("B", B_.data(), joints());
    require_positive("L", L_.data(), joints());
    require(max_gap > 0, "max_gap", max_gap, "> 0");
    clock_.max_gap = max_gap;
  }
  int joints() const { return static_cast<int>(B_.size()); }
  void reset() noexcept { clock_.reset(); }

  // omega [rad/s], tau_m and tau_J [Nm] -> friction and its standard deviation [Nm]
  Status step(std::int64_t stamp_ns, const double* omega, const double* tau_m, const double* tau_J, double* friction,
              double* std) noexcept {
    const int n = joints();
    if (absent(omega, n) || absent(tau_m, n) || absent(tau_J, n)) return Status::unavailable;
    if (!all_finite(omega, n) || !all_finite(tau_m, n) || !all_finite(tau_J, n)) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    const bool start = tick != Tick::ok;
    for (int i = 0; i < joints(); ++i) {
      const double torque = tau_m[i] - tau_J[i];
      if (start) {
        friction_[i] = 0;
      } else {
        const double E = std::exp(-L_[i] * dt), mean = 0.5 * (torque + torque_[i]);
        friction_[i] = E * friction_[i] + (1 - E) * (mean - B_[i] * (omega[i] - omega_[i]) / dt);
      }
      omega_[i] = omega[i];
      torque_[i] = torque;
      friction[i] = friction_[i];
      std[i] = deviation;
    }
    if (!start) return Status::ok;
    return tick == Tick::first ? Status::warming_up : Status::reset;
  }

 private:
  std::vector<double> B_, L_, omega_, torque_, friction_;
  SampleClock clock_;
};

}  // namespace robot_dynamics
