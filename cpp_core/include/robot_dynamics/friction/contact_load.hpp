// What a contact adds to the load of the gears, for the friction of the next sample.
//
// It changes at instants `hold` apart on the clock of the stamps, so that a replay that starts later or lacks samples
// changes it at the same ones, and is exactly zero without contact.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class ContactLoad {
 public:
  static constexpr std::int64_t hold = 20'000'000;  // ns

  // torque (n): of the robot on the environment; bound (n) [Nm]: friction that rises faster than its load cannot run
  // away; load (n): out.
  void step(std::int64_t stamp_ns, int n, bool contact, const double* torque, const double* bound,
            double* load) noexcept {
    const std::int64_t slot = stamp_ns / hold;
    if (!contact) {
      reset();
    } else if (slot != slot_) {
      for (int i = 0; i < n; ++i) held_[i] = std::min(std::max(torque[i], -bound[i]), bound[i]);
      slot_ = slot;
    }
    std::copy_n(held_.begin(), n, load);
  }
  double held(int i) const noexcept { return held_[i]; }
  void reset() noexcept {
    held_.fill(0.0);
    slot_ = none;
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  std::array<double, max_joints> held_{};
  std::int64_t slot_ = none;  // stamp over hold when held_ was taken
};

}  // namespace robot_dynamics
