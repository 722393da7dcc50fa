// Does the robot's clock run at the pace of the host's? What one is ahead of the other by, less what a clock of half to
// one and a half times the pace would explain: a burst of late states balances itself, a slow clock does not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/common/time.hpp"

namespace robot_dynamics {

class ClockBalance {
 public:
  static constexpr double tolerance = 0.5;  // of the nominal rate
  static constexpr double bound = 0.1;      // s

  // Seconds of the host's clock, in those of the robot's.
  void host(double seconds) noexcept {
    if (seconds > 0 && last_ns_ != 0) add(seconds, tolerance * seconds);
  }

  // Stamp of a state.
  void state(std::int64_t stamp_ns) noexcept {
    if (last_ns_ != 0) add(-seconds_between(stamp_ns, last_ns_), 0);
    last_ns_ = stamp_ns;
  }

  bool slow() const noexcept { return ahead_ > bound; }
  bool fast() const noexcept { return ahead_ < -bound; }

 private:
  void add(double ahead, double explained) noexcept {
    ahead_ += ahead;
    ahead_ = std::copysign(std::max(std::fabs(ahead_) - explained, 0.0), ahead_);
    ahead_ = std::clamp(ahead_, -2 * bound, 2 * bound);
  }

  std::int64_t last_ns_ = 0;  // 0: no state yet
  double ahead_ = 0;          // s, of the host's clock
};

}  // namespace robot_dynamics
