// Velocities that are reported in coarse steps, put right by the positions (source: own). Rounded to steps of h, v is
// known to h/2, and w = dq/dt behind a low-pass is inside of that:
//   qd = least(greatest(w, v - h/2), v + h/2)
// So creep that v shows as zero moves the friction at rest, and a rotor that stands while its link is pushed stays.
// h: what divides all changes of v, enough of which follow a repeated reading. No bit of a finer velocity changes.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/lowpass.hpp"

namespace robot_dynamics {

class VelocitySteps {
 public:
  static constexpr double cutoff = 150.0;  // rad/s
  static constexpr double finest = 3e-3;   // rad/s; with steps of 2 mrad/s force estimates lose next to nothing
  static constexpr double alike = 0.1;     // of h: a change that is so near to a multiple of it is one
  static constexpr int enough = 10;        // changes that h divides; a steady acceleration makes equal ones, too

  explicit VelocitySteps(int n) : n_(n), slope_(n, cutoff) { reset(); }

  // q [rad], v [rad/s] (n) -> qd (n), which may be v. dt = 0: the first sample.
  void step(double dt, const double* q, const double* v, double* qd) noexcept {
    double w[max_joints] = {};
    for (int i = 0; i < n_; ++i) {
      if (dt > 0.0) w[i] = (q[i] - q_[i]) / dt;
      q_[i] = q[i];
      look(i, v[i]);
    }
    if (coarse_) slope_.step(dt, w, w);
    for (int i = 0; i < n_; ++i) {
      const double h = size(i);
      qd[i] = h > 0.0 ? std::clamp(w[i], v[i] - 0.5 * h, v[i] + 0.5 * h) : v[i];
    }
  }
  // h [rad/s] of joint i; 0 where it is finer, or not known yet.
  double size(int i) const noexcept { return count_[i] < enough ? 0.0 : size_[i]; }
  void reset() noexcept {
    slope_.reset();
    size_.fill(unknown);
    count_.fill(0);
    coarse_ = false;
  }

 private:
  static constexpr double unknown = 1e9;  // rad/s

  void look(int i, double v) noexcept {
    const double change = std::abs(v - last_[i]);
    const bool same = change < 1e-9, before = same_[i];
    last_[i] = v, same_[i] = same;
    if (same || count_[i] < 0) return;
    const double times = std::round(change / size_[i]), rest = std::abs(change - times * size_[i]);
    if (times == 0.0 || rest > alike * size_[i])
      size_[i] = rest, count_[i] = rest < finest ? -1 : 0;  // -1: fine
    else if (before)
      ++count_[i];
    coarse_ = coarse_ || count_[i] == enough;
  }

  int n_;
  LowPass slope_;
  std::array<double, max_joints> q_{}, last_{}, size_{};
  std::array<int, max_joints> count_{};
  std::array<bool, max_joints> same_{};
  bool coarse_ = false;
};

}  // namespace robot_dynamics
