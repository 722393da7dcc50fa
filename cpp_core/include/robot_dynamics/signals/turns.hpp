// Positions of joints that turn without end, made continuous: drivers let them begin again after a turn, or count turns
// anew after a restart. Whoever takes differences of positions uses these. Without such jumps no bit changes.
#pragma once

#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class Turns {
 public:
  // q (n) [rad] as reported, finite -> counted on from the positions before; valid until the next call.
  const double* step(int n, const double* q) noexcept {
    for (int i = 0; i < n; ++i) {
      const double count = known_ ? std::round((q[i] + ahead_[i] - last_[i]) / turn) : 0.0;
      if (count != 0.0) ahead_[i] -= count * turn;
      last_[i] = q[i] + ahead_[i];
    }
    known_ = true;
    return last_.data();
  }
  void reset() noexcept { *this = Turns(); }

 private:
  static constexpr double turn = 6.283185307179586476925286766559;  // rad

  std::array<double, max_joints> ahead_{}, last_{};  // rad; whole turns, and the position before
  bool known_ = false;
};

}  // namespace robot_dynamics
