// The clocks of the host, and differences of stamps that come from outside: they may be anything, and the difference
// must not overflow.
#pragma once

#include <time.h>

#include <cstdint>

namespace robot_dynamics {

// later - earlier [ns]; the largest or smallest number where it does not fit.
inline std::int64_t ns_between(std::int64_t later, std::int64_t earlier) noexcept {
  std::int64_t ns = 0;
  if (__builtin_sub_overflow(later, earlier, &ns)) return later > earlier ? INT64_MAX : INT64_MIN;
  return ns;
}

// stamp + offset [ns]; the largest or smallest number where it does not fit.
inline std::int64_t ns_later(std::int64_t stamp, std::int64_t offset) noexcept {
  std::int64_t ns = 0;
  if (__builtin_add_overflow(stamp, offset, &ns)) return offset > 0 ? INT64_MAX : INT64_MIN;
  return ns;
}

inline double seconds_between(std::int64_t later, std::int64_t earlier) noexcept {
  return 1e-9 * static_cast<double>(ns_between(later, earlier));
}

inline std::int64_t clock_ns(clockid_t id) noexcept {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// From now, by the monotonic clock.
inline double seconds_until(std::int64_t end) noexcept {
  return 1e-9 * static_cast<double>(end - clock_ns(CLOCK_MONOTONIC));
}

}  // namespace robot_dynamics
