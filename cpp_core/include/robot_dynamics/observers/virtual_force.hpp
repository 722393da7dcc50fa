// Virtual force sensor by direct subtraction [Simoni2017 16-20], with the filters of its Table II:
//   tau_J = model torque [20], tau_o = tau - tau_J [19], dtau = tau_o - tau_f [18], F = J^-T dtau [17] (wrench.hpp).
#pragma once

#include "robot_dynamics/signals/lowpass.hpp"

namespace robot_dynamics {

class VirtualForce {
 public:
  static constexpr double cutoff = 150.0;  // rad/s, of drive torque, model torque and friction [Simoni2017 Table II]

  // extra_torque: cut-off of the difference [rad/s], 1 in the source.
  VirtualForce(int n, double extra_torque)
      : n_(n), current_(n, cutoff), inertial_(n, cutoff), friction_(n, cutoff), extra_(n, extra_torque) {}

  // Inputs (n), finite: drive torque, model torque, friction. r(): torque of the robot on the environment (n).
  void step(double dt, const double* tau, const double* model, const double* friction) noexcept {
    double t[max_joints], j[max_joints], f[max_joints], delta[max_joints];
    current_.step(dt, tau, t);
    inertial_.step(dt, model, j);
    friction_.step(dt, friction, f);
    for (int i = 0; i < n_; ++i) delta[i] = t[i] - j[i] - f[i];  // [Simoni2017 18-19]
    extra_.step(dt, delta, r_.data());
  }
  // Start with r = r0 (n), zero but for a tared sensor: the first acceleration is not known yet.
  void start(const double* r0) noexcept {
    for (LowPass* filter : {&current_, &inertial_, &friction_}) filter->reset();
    extra_.start(r0);
    for (int i = 0; i < n_; ++i) r_[i] = r0[i];
  }
  const double* r() const noexcept { return r_.data(); }

 private:
  int n_;
  LowPass current_, inertial_, friction_, extra_;
  std::array<double, max_joints> r_{};
};

}  // namespace robot_dynamics
