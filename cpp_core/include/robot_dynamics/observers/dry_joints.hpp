// Joints of dry friction: a stuck one has whatever friction balances it, within the f that it slid with. So until it
// slides again it keeps the external torque r of the moment in which it stopped, as far as that can be:
//   r <- clip(r, d -+ f)    d: mean over 20 ms of drive torque less model torque
//
// It slides while its mean speed w over 20 ms has the direction of the elastic travel z that it would have to turn:
//   w' = (v - w) / 20 ms    z <- clip(z + v dt, span)    w z > slowest span
// What the torque has changed by since is anywhere within f, after about `time`:
//   var = f^2/3 (1 - exp(-t/time))
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/signals/lowpass.hpp"

namespace robot_dynamics {

class DryJoints {
 public:
  static constexpr double span = 3e-5;     // rad; an element that gives way within it shows no travel before breakaway
  static constexpr double slowest = 5e-4;  // rad/s; slower a position of 10 µrad steps does not show motion
  static constexpr double memory = 0.02;   // s
  static constexpr double time = 0.5;      // s in which a push comes or goes

  // dry (n): 1 where friction is dry, else 0; level (n): breakaway, which holds what has not slid yet.
  DryJoints(int n, const double* dry, const double* level) : n_(n) {
    require_each("dry", dry, n, 0.0, 1.0);
    for (int i = 0; i < n; ++i) dry_[i] = dry[i] > 0.0, level_[i] = dry_[i] ? level[i] : 0.0;
    reset();
  }

  void reset() noexcept {
    for (auto* all : {&speed_, &travel_, &balance_}) all->fill(0.0);
    friction_ = level_;
    share_.fill(1.0);
    stuck_.fill(false);
  }

  // v, friction, balance (n): velocity, friction of the law, drive torque less that of the model.
  void step(double dt, const double* v, const double* friction, const double* balance) noexcept {
    for (int i = 0; i < n_; ++i) {
      if (!dry_[i]) continue;
      const double recent = lowpass_weight(1.0 / memory, dt);
      speed_[i] += recent * (v[i] - speed_[i]);
      balance_[i] += recent * (balance[i] - balance_[i]);
      travel_[i] = std::clamp(travel_[i] + v[i] * dt, -span, span);
      stuck_[i] = speed_[i] * travel_[i] <= slowest * span;
      if (!stuck_[i]) friction_[i] = std::abs(friction[i]);
      share_[i] = stuck_[i] ? share_[i] + lowpass_weight(1.0 / time, dt) * (1.0 - share_[i]) : 0.0;
    }
  }

  bool stuck(int i) const noexcept { return stuck_[i]; }
  bool slides(int i) const noexcept { return dry_[i] && !stuck_[i]; }
  double kept(int i, double r) const noexcept {
    const double f = friction_[i];
    return f > 0.0 ? std::clamp(r, balance_[i] - f, balance_[i] + f) : r;
  }
  double variance(int i) const noexcept { return share_[i] * friction_[i] * friction_[i] / 3.0; }

 private:
  int n_;
  std::array<bool, max_joints> dry_{}, stuck_{};
  std::array<double, max_joints> speed_{}, travel_{}, balance_{}, friction_{}, share_{}, level_{};
};

}  // namespace robot_dynamics
