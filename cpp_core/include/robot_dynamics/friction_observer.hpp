// Friction torque and its standard deviation from measured motion, temperature and model joint torque, by the model of
// the robot file; or from both encoders by the observer of [Madsen2020 appB fig. 11]:
//   dw^/dt = (tau_m - f^ - tau_J)/B,  f^ = L B (w^ - w)
// With this sign the error obeys de/dt = (f - f^)/B = f/B - L e and settles at f^ = f; the opposite sign diverges.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics/sample_clock.hpp"
#include "robot_dynamics/status.hpp"

namespace robot_dynamics {

class RotorFrictionObserver {
 public:
  // B [kg m2] reflected rotor inertia, L [1/s] observer bandwidth, of n joints
  RotorFrictionObserver(std::vector<double> B, std::vector<double> L, double max_gap = 0.1)
      : B_(std::move(B)), L_(std::move(L)), omega_(B_.size(), 0.0) {
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
      if (start) omega_[i] = omega[i];
      // w^ over dt with w, tau held: exact exponential, so any dt is stable
      const double settled = omega[i] + (tau_m[i] - tau_J[i]) / (L_[i] * B_[i]);
      omega_[i] = settled + (omega_[i] - settled) * std::exp(-L_[i] * dt);
      friction[i] = L_[i] * B_[i] * (omega_[i] - omega[i]);
    }
    if (!start) return Status::ok;
    return tick == SampleClock::Tick::first ? Status::warming_up : Status::reset;
  }

 private:
  std::vector<double> B_, L_, omega_;
  SampleClock clock_;
};

// Health of a friction model per joint: how far the measured friction lies from the model, over a slow average.
class FrictionHealth {
 public:
  FrictionHealth(int n, double time_constant) : bias_(n, 0.0), variance_(n, 0.0), seen_(n, 0.0), tau_(time_constant) {
    if (!(n >= 1)) throw std::invalid_argument("n = " + std::to_string(n) + " is not >= 1");
    if (!(time_constant > 0)) throw std::invalid_argument("time_constant is not > 0");
  }
  void reset() noexcept {
    std::fill(bias_.begin(), bias_.end(), 0.0);
    std::fill(variance_.begin(), variance_.end(), 0.0);
    std::fill(seen_.begin(), seen_.end(), 0.0);
  }
  // measured - model along the direction of motion [Nm], dt [s]; not finite: no change.
  void update(int i, double residual, double dt) noexcept {
    if (!(std::isfinite(residual) && dt > 0)) return;
    seen_[i] += dt;
    const double w = dt / std::min(std::max(seen_[i], dt), tau_);
    const double e = residual - bias_[i];
    bias_[i] += w * e;
    variance_[i] = (1 - w) * (variance_[i] + w * e * e);
  }
  double drift(int i) const noexcept { return bias_[i]; }                   // [Nm] more friction than the model says
  double scatter(int i) const noexcept { return std::sqrt(variance_[i]); }  // [Nm]
  double seen(int i) const noexcept { return seen_[i]; }                    // [s] of usable motion

 private:
  std::vector<double> bias_, variance_, seen_;
  double tau_;
};

}  // namespace robot_dynamics
