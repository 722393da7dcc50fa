// Joints of dry friction: one that stands has whatever friction balances it, so that its motor says nothing about the
// external torque. Until it slides again it keeps the external torque of the moment in which it stopped.
//
// It slides while its mean speed w over 20 ms has the direction of the elastic travel z that it would have to turn:
//   w' = (v - w) / 20 ms    z <- clip(z + v dt, span)    w z > slowest span
// What the torque has changed by since is anywhere within the friction f that it slid with, after about `time`:
//   var = f^2/3 (1 - exp(-t/time))
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class StuckJoints {
 public:
  static constexpr double span = 3e-5;     // rad, of the elements of a law without travel before breakaway
  static constexpr double slowest = 5e-4;  // rad/s; slower a position of 10 µrad steps does not show motion
  static constexpr double memory = 0.02;   // s
  static constexpr double time = 0.5;      // s in which a push comes or goes

  // stuck (n): 1 where friction is dry.
  StuckJoints(int n, const double* stuck) : n_(n) {
    require_each("stuck", stuck, n, 0.0, 1.0);
    std::copy_n(stuck, n, dry_.begin());
    reset();
  }

  void reset() noexcept {
    speed_.fill(0.0), travel_.fill(0.0), friction_.fill(0.0), share_.fill(0.0), slides_.fill(true);
  }

  // v, friction (n): velocity and friction of the law.
  void step(double dt, const double* v, const double* friction) noexcept {
    for (int i = 0; i < n_; ++i) {
      if (!(dry_[i] > 0.0)) continue;
      speed_[i] += dt / (memory + dt) * (v[i] - speed_[i]);
      travel_[i] = std::clamp(travel_[i] + v[i] * dt, -span, span);
      slides_[i] = speed_[i] * travel_[i] > slowest * span;
      if (slides_[i]) friction_[i] = friction[i];
      share_[i] = slides_[i] ? 0.0 : share_[i] + dt / (time + dt) * (1.0 - share_[i]);
    }
  }

  bool holds(int i) const noexcept { return !slides_[i]; }
  double variance(int i) const noexcept { return share_[i] * friction_[i] * friction_[i] / 3.0; }

 private:
  int n_;
  std::array<double, max_joints> dry_{}, speed_{}, travel_{}, friction_{}, share_{};
  std::array<bool, max_joints> slides_{};
};

}  // namespace robot_dynamics
