// Time of a stage: dt comes from the stamps, never from an assumed rate.
#pragma once

#include <cstdint>

#include "robot_dynamics/common/time.hpp"

namespace robot_dynamics {

struct SampleClock {
  enum class Tick { first, ok, duplicate, backwards, gap };
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

}  // namespace robot_dynamics
