// Readings that are wrong for one or two samples: they jump and come back. What lasts is a change, and what jumps
// again and again a vibration (source: own).
#pragma once

#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class Spikes {
 public:
  static constexpr int longest = 2;    // samples: interpolation spreads one over two
  static constexpr double calm = 0.1;  // s without a change by more than the limit, before one may be a spike

  Spikes() noexcept { reset(); }

  // Whether `value` of channel i is one: farther than `limit` from last(i).
  bool step(int i, double dt, double value, double limit) noexcept {
    const bool off = std::abs(value - last_[i]) > limit;
    calm_[i] += dt;
    if (off && count_[i] < longest && (count_[i] > 0 || calm_[i] > calm)) {
      ++count_[i];
      return true;
    }
    if (off) calm_[i] = 0.0;
    count_[i] = 0;
    last_[i] = value;
    return false;
  }
  bool now(int i) const noexcept { return count_[i] > 0; }  // in the last sample
  double last(int i) const noexcept { return last_[i]; }    // newest value that was none; NaN before the first
  void reset() noexcept {
    last_.fill(std::nan(""));
    calm_.fill(calm);
    count_.fill(0);
  }

 private:
  std::array<double, max_joints> last_{}, calm_{};
  std::array<int, max_joints> count_{};
};

}  // namespace robot_dynamics
