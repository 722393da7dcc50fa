// Velocities that are reported in coarse steps, put right by the positions (source: own). Rounded to steps of h, v is
// known to h/2, and w = dq/dt behind a low-pass is inside of that:
//   qd = least(greatest(w, v - h/2), v + h/2)
// So creep that v shows as zero moves the friction at rest, and a rotor that stands while its link is pushed stays.
// No bit of a finer velocity changes.
#pragma once

#include <algorithm>

#include "robot_dynamics/signals/lowpass.hpp"
#include "robot_dynamics/signals/step_size.hpp"

namespace robot_dynamics {

class VelocitySteps {
 public:
  static constexpr double cutoff = 150.0;  // rad/s
  static constexpr double finest = 3e-3;   // rad/s; with steps of 2 mrad/s force estimates lose next to nothing

  explicit VelocitySteps(int n) : n_(n), slope_(n, cutoff), size_(finest) {}

  // q [rad], v [rad/s] (n) -> qd (n), which may be v. dt = 0: the first sample, or that behind a gap; h stays known.
  void step(double dt, const double* q, const double* v, double* qd) noexcept {
    double w[max_joints] = {};
    if (!(dt > 0.0)) slope_.reset();
    for (int i = 0; i < n_; ++i) {
      if (dt > 0.0) w[i] = (q[i] - q_[i]) / dt;
      q_[i] = q[i];
      size_.look(i, v[i]);
    }
    if (size_.coarse()) slope_.step(dt, w, w);
    for (int i = 0; i < n_; ++i) {
      const double h = size(i);
      qd[i] = h > 0.0 ? std::clamp(w[i], v[i] - 0.5 * h, v[i] + 0.5 * h) : v[i];
    }
  }
  double size(int i) const noexcept { return size_.of(i); }  // h [rad/s]
  void reset() noexcept {
    slope_.reset();
    size_.reset();
  }

 private:
  int n_;
  LowPass slope_;
  StepSize size_;
  std::array<double, max_joints> q_{};
};

}  // namespace robot_dynamics
