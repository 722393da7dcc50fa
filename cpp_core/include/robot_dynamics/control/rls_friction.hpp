// Friction by recursive least squares with exponential forgetting [Madsen2020 appB eq. 14-20; ch2 2.62]: per joint
//   f = [sgn w, w] . [f_C, f_v],  residual f_meas = tau_m - B wd - tau_J.
// Forgetting without excitation winds the covariance up: nothing is learned below omega_min, and P is capped.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/control/snapshots.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class RlsFriction {
 public:
  // time_constant s of forgetting (lambda = exp(-dt/T)), omega_min rad/s, P0 initial and largest covariance.
  RlsFriction(int n, double time_constant, double omega_min, double P0)
      : n_(n), time_constant_(time_constant), omega_min_(omega_min), P0_(P0) {
    require_range("n_joints", n, 1, max_joints);
    require_positive("time_constant", time_constant);
    require_positive("omega_min", omega_min);
    require_positive("P0", P0);
    reset();
  }

  void reset() noexcept {
    for (Joint& joint : joints_) joint = {0, 0, P0_, 0, P0_};
    snapshots_.fill(joints_);
  }

  // Back to the values of at least one snapshot period ago.
  void restore() noexcept { snapshots_.fill(joints_ = snapshots_.oldest()); }

  // Values kept from an earlier run, with a deviation of about 1 Nm; refused when not finite.
  bool set(const double* coulomb, const double* viscous) noexcept {
    if (!all_finite(coulomb, n_) || !all_finite(viscous, n_)) return false;
    const double P = std::min(P0_, 1.0);
    for (int i = 0; i < n_; ++i) joints_[i] = {coulomb[i], viscous[i], P, 0, P};
    snapshots_.fill(joints_);
    return true;
  }

  Status step(double dt, const double* omega, const double* f_meas, bool frozen) noexcept {
    if (!(dt > 0)) return Status::dropped;
    if (!all_finite(omega, n_) || !all_finite(f_meas, n_)) return Status::dropped;
    if (frozen) return Status::degraded;
    const double lambda = std::exp(-dt / time_constant_);
    for (int i = 0; i < n_; ++i)
      if (std::fabs(omega[i]) >= omega_min_) update(joints_[i], lambda, omega[i], f_meas[i]);
    snapshots_.keep(dt, joints_);
    return Status::ok;
  }

  void friction(const double* omega, double* f) const noexcept {
    for (int i = 0; i < n_; ++i) {
      const double sign = (omega[i] > 0) - (omega[i] < 0);
      f[i] = joints_[i].coulomb * sign + joints_[i].viscous * omega[i];
    }
  }

  void parameters(double* coulomb, double* viscous) const noexcept {
    for (int i = 0; i < n_; ++i) {
      coulomb[i] = joints_[i].coulomb;
      viscous[i] = joints_[i].viscous;
    }
  }

 private:
  struct Joint {
    double coulomb, viscous;
    double P11, P12, P22;
  };

  void update(Joint& j, double lambda, double w, double f) noexcept {
    const double s = w > 0 ? 1.0 : -1.0;
    const double x1 = j.P11 * s + j.P12 * w, x2 = j.P12 * s + j.P22 * w;  // P psi
    const double gain = 1.0 / (lambda + s * x1 + w * x2);                 // [ch2 2.62]
    const double e = f - (j.coulomb * s + j.viscous * w);
    j.coulomb += gain * x1 * e;
    j.viscous += gain * x2 * e;
    j.P11 = (j.P11 - gain * x1 * x1) / lambda;
    j.P12 = (j.P12 - gain * x1 * x2) / lambda;
    j.P22 = (j.P22 - gain * x2 * x2) / lambda;
    const double largest = std::max(j.P11, j.P22);
    if (largest > P0_) {  // scaling keeps P positive definite
      const double shrink = P0_ / largest;
      j.P11 *= shrink;
      j.P12 *= shrink;
      j.P22 *= shrink;
    }
  }

  int n_;
  double time_constant_, omega_min_, P0_;
  using Joints = std::array<Joint, max_joints>;
  Joints joints_{};
  Snapshots<Joints> snapshots_;
};

}  // namespace robot_dynamics
