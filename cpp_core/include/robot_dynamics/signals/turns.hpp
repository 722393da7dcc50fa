// Positions made continuous: drivers let joints that turn without end begin again after a turn, or count turns anew
// after a restart, and readings jump for a sample or two (spikes.hpp), in which the joint goes on as before. Whoever
// takes differences of positions uses these. Without such jumps no bit changes.
#pragma once

#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/spikes.hpp"

namespace robot_dynamics {

class Turns {
 public:
  // q (n) [rad] as reported dt [s] after the positions before (0: after a gap), finite, qd (n) [rad/s] or null ->
  // counted on from them; valid until the next call.
  const double* step(int n, double dt, const double* q, const double* qd) noexcept {
    for (int i = 0; i < n; ++i) {
      const double v = qd ? qd[i] : v_[i], count = known_ ? std::round((q[i] + ahead_[i] - last_[i]) / turn) : 0.0;
      const double next = q[i] + (ahead_[i] - count * turn), limit = std::max(least, dt * implausible_change(dt));
      travel_[i] += std::abs(v) * dt;
      if (dt > 0.0 && (qd || moved_) && spikes_.step(i, dt, next, travel_[i], limit)) {
        last_[i] += v * dt;
        continue;
      }
      if (count != 0.0) ahead_[i] -= count * turn;
      v_[i] = dt > 0.0 ? (next - last_[i]) / dt : 0.0;
      last_[i] = next;
    }
    known_ = true;
    moved_ = dt > 0.0;
    return last_.data();
  }
  void reset() noexcept { *this = Turns(); }

 private:
  static constexpr double turn = 6.283185307179586476925286766559;  // rad
  static constexpr double least = 0.01;                             // rad: finer jumps may be steps of the encoder

  std::array<double, max_joints> ahead_{}, last_{}, v_{}, travel_{};  // rad; whole turns, the position before; rad/s
  Spikes spikes_;
  bool known_ = false, moved_ = false;
};

}  // namespace robot_dynamics
