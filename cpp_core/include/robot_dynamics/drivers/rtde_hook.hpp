// What runs in the receiving thread with every RTDE sample, and the clocks that stamp it.
#pragma once

#include <time.h>

#include <cstdint>

#include "robot_dynamics/drivers/rtde_sample.hpp"

namespace robot_dynamics::rtde {

// What runs in the receiving thread for every sample, and at least every `hook_period` without one.
class SampleHook {
 public:
  virtual ~SampleHook() = default;
  virtual void sample(const Sample& sample, std::int64_t steady_ns) noexcept = 0;
  virtual void idle(std::int64_t steady_ns) noexcept = 0;
  virtual void lost() noexcept = 0;
  virtual bool run() const noexcept = 0;              // the script must go on
  virtual const double* torque() const noexcept = 0;  // (6), Nm
};
inline std::int64_t clock_ns(clockid_t id) noexcept {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}
inline double seconds_until(std::int64_t end) noexcept {
  return 1e-9 * static_cast<double>(end - clock_ns(CLOCK_MONOTONIC));
}

}  // namespace robot_dynamics::rtde
