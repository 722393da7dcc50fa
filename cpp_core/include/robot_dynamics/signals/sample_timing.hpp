// Time step of a stage: dt comes from the stamps, never from an assumed rate.
//
// SampleClock has a fixed longest gap. SampleTiming learns the period, so that the same limits serve 94 Hz logs and
// 1 kHz robots: a step of more than `late_periods` is clamped and flagged, one of more than `gap_periods` (and of
// min_gap) restarts the stage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "robot_dynamics/common/time.hpp"

namespace robot_dynamics {

// A sample with larger values is dropped like NaN.
constexpr double plausible_position = 1e4;  // rad
constexpr double plausible_velocity = 1e3;  // rad/s
constexpr double plausible_torque = 1e6;    // Nm

enum class Tick { first, ok, late, duplicate, backwards, gap };

struct SampleClock {
  double max_gap = 0.1;  // [s] longer silence counts as a restart
  std::int64_t last = 0;
  bool running = false;
  double silence = 0.0;  // [s] from the sample before to the last one, also of a gap

  // dt [s] is set to 0 unless the result is ok.
  Tick tick(std::int64_t stamp_ns, double& dt) noexcept {
    dt = 0;
    const std::int64_t step = ns_between(stamp_ns, last);
    if (running && step == 0) return Tick::duplicate;
    last = stamp_ns;
    silence = running ? 1e-9 * static_cast<double>(step) : 0.0;
    if (!running) {
      running = true;
      return Tick::first;
    }
    if (step < 0) return Tick::backwards;
    if (!(silence <= max_gap)) return Tick::gap;
    dt = silence;
    return Tick::ok;
  }
  void reset() noexcept { running = false; }
};

// Steps that take more than five typical ones: samples are missing. Those that go on become typical.
class StepJumps {
 public:
  bool step(double dt) noexcept {
    const double most = 5.0 * typical_;
    const bool jump = typical_ > 0.0 && dt > most;
    if (dt > 0.0) typical_ = typical_ > 0.0 ? typical_ + 0.02 * (std::min(dt, most) - typical_) : dt;
    return jump;
  }

 private:
  double typical_ = 0.0;  // s
};

class SampleTiming {
 public:
  static constexpr double late_periods = 5.0;
  static constexpr double gap_periods = 10.0;
  static constexpr double min_gap = 0.020;      // s, ten samples at 500 Hz
  static constexpr double adaptation = 0.02;    // share of the newest step, of late_periods at most, in the period
  static constexpr double longest_first = 0.2;  // s, a first step longer than this is no period

  // dt [s]: 0 unless ok or late; late: clamped to late_periods.
  Tick tick(std::int64_t stamp_ns, double& dt) noexcept {
    dt = 0.0;
    if (!running_) return restart(stamp_ns, Tick::first);
    if (stamp_ns == last_) return Tick::duplicate;
    const double step = silence_ = seconds_between(stamp_ns, last_);
    if (stamp_ns < last_) return restart(stamp_ns, Tick::backwards);
    if (!(period_ > 0.0)) period_ = std::min(step, longest_first);
    const bool gap = !(step <= std::max(min_gap, gap_periods * period_));
    const bool late = step > late_periods * period_;
    missed_ += gap ? 0 : static_cast<int>(step / period_ + 0.5) - 1;  // -1 where the stamp before was late
    dt = late ? late_periods * period_ : step;
    period_ += adaptation * (std::min(step, late_periods * period_) - period_);
    if (gap) {
      dt = 0.0;
      return restart(stamp_ns, Tick::gap);
    }
    last_ = stamp_ns;
    return late ? Tick::late : Tick::ok;
  }

  double silence() const noexcept { return silence_; }      // s from the sample before to the last one, also of a gap
  double period() const noexcept { return period_; }        // s, learned
  std::int64_t missed() const noexcept { return missed_; }  // samples that never came, gaps excluded
  void reset() noexcept { *this = SampleTiming(); }

 private:
  Tick restart(std::int64_t stamp_ns, Tick why) noexcept {
    running_ = true;
    last_ = stamp_ns;
    return why;
  }

  bool running_ = false;
  std::int64_t last_ = 0, missed_ = 0;
  double period_ = 0.0, silence_ = 0.0;
};

}  // namespace robot_dynamics
