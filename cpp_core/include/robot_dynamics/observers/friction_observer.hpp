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
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/signals/sample_clock.hpp"

namespace robot_dynamics {

class RotorFrictionObserver {
 public:
  // B [kg m2] reflected rotor inertia, L [1/s] observer bandwidth, of n joints
  RotorFrictionObserver(std::vector<double> B, std::vector<double> L, double max_gap = 0.1)
      : B_(std::move(B)), L_(std::move(L)), omega_(B_.size(), 0.0), torque_(omega_), friction_(omega_) {
    if (B_.empty() || B_.size() != L_.size()) throw std::invalid_argument("B and L differ in the number of joints");
    for (std::size_t i = 0; i < B_.size(); ++i) {
      if (!(B_[i] > 0)) throw std::invalid_argument("B = " + std::to_string(B_[i]) + " is not > 0");
      if (!(L_[i] > 0)) throw std::invalid_argument("L = " + std::to_string(L_[i]) + " is not > 0");
    }
    if (!(max_gap > 0)) throw std::invalid_argument("max_gap = " + std::to_string(max_gap) + " is not > 0");
    clock_.max_gap = max_gap;
  }
  int joints() const { return static_cast<int>(B_.size()); }
  void reset() noexcept { clock_.reset(); }

  // omega [rad/s], tau_m and tau_J [Nm] -> friction [Nm]
  Status step(std::int64_t stamp_ns, const double* omega, const double* tau_m, const double* tau_J,
              double* friction) noexcept {
    for (int i = 0; i < joints(); ++i)
      if (!(std::isfinite(omega[i]) && std::isfinite(tau_m[i]) && std::isfinite(tau_J[i]))) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    const bool start = tick != SampleClock::Tick::ok;
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
    }
    if (!start) return Status::ok;
    return tick == SampleClock::Tick::first ? Status::warming_up : Status::reset;
  }

 private:
  std::vector<double> B_, L_, omega_, torque_, friction_;
  SampleClock clock_;
};

// Health of a friction model per joint: how far measured friction (drive torque - model torque) lies from the model
// along the direction of motion, over a slow average of the samples that move freely.
class FrictionHealth {
 public:
  FrictionHealth(int n, double time_constant, double moving)
      : joint_(n > 0 ? n : 0), tau_(time_constant), moving_(moving) {
    if (!(n >= 1)) throw std::invalid_argument("n = " + std::to_string(n) + " is not >= 1");
    if (!(time_constant > 0)) throw std::invalid_argument("time_constant = " + std::to_string(tau_) + " is not > 0");
    if (!(moving > 0)) throw std::invalid_argument("moving = " + std::to_string(moving) + " is not > 0");
  }
  int joints() const { return static_cast<int>(joint_.size()); }
  void reset() noexcept {
    clock_.reset();
    std::fill(joint_.begin(), joint_.end(), Joint{});
  }

  // v (n) [rad/s]; drive, model and friction torque (n) [Nm]; contact (n + 1). Contact, or not knowing of any, freezes.
  Status step(std::int64_t stamp_ns, const double* v, const double* drive, const double* model, const double* friction,
              const double* contact) noexcept {
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    if (tick == SampleClock::Tick::backwards) std::fill(joint_.begin(), joint_.end(), Joint{});
    if (!(v && drive && model && friction)) return Status::unavailable;
    bool free = contact != nullptr;
    for (int i = 0; free && i <= joints(); ++i) free = contact[i] == 0;
    for (int i = 0; free && dt > 0 && i < joints(); ++i)
      if (std::abs(v[i]) > moving_) update(joint_[i], (drive[i] - model[i] - friction[i]) * (v[i] > 0 ? 1 : -1), dt);
    return tick == SampleClock::Tick::backwards || tick == SampleClock::Tick::gap ? Status::reset : Status::ok;
  }

  double drift(int i) const { return joint_.at(i).bias; }                   // [Nm] friction above that of the model
  double scatter(int i) const { return std::sqrt(joint_.at(i).variance); }  // [Nm]
  double seen(int i) const { return joint_.at(i).seen; }                    // [s] of free motion

 private:
  struct Joint {
    double bias = 0, variance = 0, seen = 0;
  };
  void update(Joint& j, double residual, double dt) noexcept {
    if (!std::isfinite(residual)) return;
    j.seen += dt;
    const double w = dt / std::min(std::max(j.seen, dt), tau_), e = residual - j.bias;
    j.bias += w * e;
    j.variance = (1 - w) * (j.variance + w * e * e);
  }

  std::vector<Joint> joint_;
  double tau_, moving_;
  SampleClock clock_;
};

}  // namespace robot_dynamics
