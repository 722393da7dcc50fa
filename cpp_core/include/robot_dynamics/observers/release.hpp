// The end of a push: a fast change after which less is left, in another direction. What is left then is friction, which
// a push takes to another place, and which may keep the significance of a contact until the next motion.
//
//   d = tau - tau before 0.25 to 0.3 s    |x|^2 = x'Wx    W = diag(1/std^2)
//   over:  |d| > least    |tau'Wd| < 0.9 |tau| |d|    |tau|^2 < 0.6 |d|^2, |tau - d|^2     for as long as `time`
//
// A contact whose flag falls while |tau| > |d| was not seen to end: its deviation grew.
//
// What is left of a push that becomes smaller is parallel to the change, and the push goes on. Friction that stays lies
// in a joint or two. A push that turns keeps its size (source: own).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class Release {
 public:
  static constexpr std::int64_t slot_time = 50'000'000;  // ns, on the clock of the stamps: a later replay sees the same
  static constexpr int kept = 6;                         // slots; a push ends within 0.2 s
  static constexpr double cosine = 0.9, left = 0.6;

  // least [deviations] of the change, time [s]
  Release(int n, double least, double time) : n_(n), least_(least), time_(time) { reset(); }

  void reset() noexcept { known_ = 0, lasts_ = 0.0, lasting_ = false; }

  // tau, std (n) -> a contact is over; once
  bool step(std::int64_t stamp_ns, double dt, const double* tau, const double* std, bool contact) noexcept {
    if (const std::int64_t slot = stamp_ns / slot_time; known_ == 0 || slot != slot_) turn(slot, tau);
    const auto& before = past_[next_];
    double change = 0.0, rest = 0.0, whole = 0.0;
    for (int i = 0; i < n_; ++i) {
      const double w = 1.0 / (std[i] * std[i]), d = tau[i] - before[i];
      change += w * d * d, rest += w * d * tau[i], whole += w * tau[i] * tau[i];
    }
    lasting_ = whole > change;
    const bool less =
        contact && known_ == kept && change > least_ * least_ && whole < left * change && 2.0 * rest < change;
    const double lasted = lasts_;
    lasts_ = less && rest * rest < cosine * cosine * whole * change ? lasts_ + dt : 0.0;
    return lasts_ >= time_ && lasted < time_;
  }

  // The torque has not changed by as much as it is.
  bool lasting() const noexcept { return lasting_; }

 private:
  void turn(std::int64_t slot, const double* tau) noexcept {
    known_ = slot == slot_ + 1 ? std::min(known_ + 1, kept) : 1;
    slot_ = slot;
    std::copy_n(tau, n_, past_[next_].begin());
    next_ = (next_ + 1) % kept;
  }

  int n_;
  double least_, time_, lasts_ = 0.0;
  std::int64_t slot_ = 0;  // stamp over slot_time
  std::size_t next_ = 0;   // place of the oldest slot
  int known_ = 0;          // slots
  bool lasting_ = false;
  std::array<std::array<double, max_joints>, kept> past_{};  // tau at the beginning of each slot
};

}  // namespace robot_dynamics
