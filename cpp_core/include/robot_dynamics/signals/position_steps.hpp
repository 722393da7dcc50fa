// Positions that are reported in steps of h, put right by the velocities (source: own): x goes on by the velocity and
// stays within half a step of the reading q,
//   x = least(greatest(x + v dt, q - h/2), q + h/2)
// So friction that turns round within a step follows the motion. No bit of a finer position changes.
#pragma once

#include <algorithm>

#include "robot_dynamics/signals/step_size.hpp"

namespace robot_dynamics {

class PositionSteps {
 public:
  static constexpr double finest = 1e-5;  // rad; presliding elements have spans from 50 urad on

  explicit PositionSteps(int n) : n_(n), size_(finest) {}

  // q [rad], v [rad/s] (n) -> x (n), which may be q. dt = 0: the first sample.
  void step(double dt, const double* q, const double* v, double* x) noexcept {
    for (int i = 0; i < n_; ++i) {
      size_.look(i, q[i]);
      const double h = size(i), moved = 0.5 * (v[i] + v_[i]) * dt, reading = q[i];
      x_[i] = dt > 0.0 && h > 0.0 ? std::clamp(x_[i] + moved, reading - 0.5 * h, reading + 0.5 * h) : reading;
      v_[i] = v[i];
      x[i] = x_[i];
    }
  }
  double size(int i) const noexcept { return size_.of(i); }  // h [rad]
  void reset() noexcept { size_.reset(); }

 private:
  int n_;
  StepSize size_;
  std::array<double, max_joints> x_{}, v_{};
};

}  // namespace robot_dynamics
