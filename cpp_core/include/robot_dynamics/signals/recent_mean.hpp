// Mean of a value over the last moments. The slots are on the clock of the stamps: a replay that begins later has the
// same bits as soon as its slots are filled.
//
//   m = (sum of slot means + weight N expected) / (k + weight N)
//
// over the k of the last N slots that hold values. The newest `late` slots are left out.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "robot_dynamics/common/check.hpp"

namespace robot_dynamics {

class RecentMean {
 public:
  static constexpr std::int64_t slot_time = 50'000'000;  // ns
  static constexpr int late = 2, most_slots = 40;        // slots
  static constexpr double weight = 0.2;                  // of what is expected, beside all slots

  // time [s], 0: off. Throws std::invalid_argument.
  RecentMean(double time, double expected) : expected_(expected) {
    require_range("recent_error", time, 0.0, 1e-9 * slot_time * most_slots);
    slots_ = static_cast<int>(time * 1e9 / slot_time + 0.5);
    reset();
  }

  bool used() const noexcept { return slots_ > 0; }
  bool known() const noexcept { return known_; }  // the mean is of values
  void reset() noexcept {
    slot_ = none;
    count_.fill(0);
    sum_.fill(0.0);
    mean_ = expected_;
    known_ = false;
  }

  // The mean before this value; one that does not count moves the clock only.
  double step(std::int64_t stamp_ns, double value, bool counts) noexcept {
    const std::int64_t slot = stamp_ns / slot_time;
    if (slot != slot_) turn(slot);
    if (counts) ++count_[place(slot)], sum_[place(slot)] += value;
    return mean_;
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  static constexpr int ring = most_slots + late;
  static std::size_t place(std::int64_t slot) noexcept { return static_cast<std::size_t>((slot % ring + ring) % ring); }

  void turn(std::int64_t slot) noexcept {
    const bool known = slot_ != none && slot > slot_ && slot - slot_ < ring;
    for (std::int64_t k = known ? slot_ + 1 : slot - ring + 1; k <= slot; ++k)
      count_[place(k)] = 0, sum_[place(k)] = 0.0;
    slot_ = slot;
    double sum = 0.0, seen = 0.0;
    for (int k = late; k < late + slots_; ++k) {
      const std::size_t at = place(slot - k);
      if (count_[at] > 0) sum += sum_[at] / count_[at], seen += 1.0;
    }
    known_ = seen > 0.0;
    mean_ = (sum + weight * expected_ * slots_) / (seen + weight * slots_);
  }

  int slots_ = 0;
  double expected_, mean_ = 0.0;
  bool known_ = false;
  std::int64_t slot_ = none;
  std::array<int, ring> count_{};
  std::array<double, ring> sum_{};
};

}  // namespace robot_dynamics
