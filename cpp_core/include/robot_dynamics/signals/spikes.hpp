// Readings that are wrong for one or two samples: they jump and come back, and what is expected by other signals does
// not jump. What lasts is a change, what jumps again and again a vibration (source: own).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

// Change of a velocity [rad/s] within dt [s], beyond which a reading is wrong.
inline double implausible_change(double dt) noexcept { return 0.3 + 100.0 * dt; }

class Spikes {
 public:
  static constexpr int longest = 2;                   // samples: interpolation spreads one over two
  static constexpr double calm = 0.1;                 // s without a jump that lasts, before one may be a spike
  static constexpr double often = 0.1, recent = 0.4;  // share of the last 0.4 s: more of them are no reading errors

  Spikes() noexcept { reset(); }

  // Whether `value` of channel i is one: by more than `limit` farther from the last that was none than what is
  // expected.
  bool step(int i, double dt, double value, double expected, double limit) noexcept {
    const bool off = std::abs(value - last_[i]) > limit + std::abs(expected - expected_[i]);
    calm_[i] += dt;
    const bool found = off && share_[i] < often && count_[i] < longest && (count_[i] > 0 || calm_[i] > calm);
    share_[i] += std::min(dt / recent, 1.0) * ((found ? 1.0 : 0.0) - share_[i]);
    if (found) {
      ++count_[i];
      return true;
    }
    if (off) calm_[i] = 0.0;
    count_[i] = 0;
    last_[i] = value;
    expected_[i] = expected;
    return false;
  }
  bool now(int i) const noexcept { return count_[i] > 0; }  // in the last sample
  double last(int i) const noexcept { return last_[i]; }    // newest value that was none; NaN before the first
  void reset() noexcept {
    last_.fill(std::nan(""));
    expected_.fill(std::nan(""));
    calm_.fill(calm);
    share_.fill(0.0);
    count_.fill(0);
  }

 private:
  std::array<double, max_joints> last_{}, expected_{}, calm_{}, share_{};
  std::array<int, max_joints> count_{};
};

}  // namespace robot_dynamics
