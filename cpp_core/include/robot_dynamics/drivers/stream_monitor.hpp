// State of the robot's stream: judged by controller time and by content, not by the connection alone.
// accept() looks at every sample in the receiving thread; condition() may be called from any thread, with any clock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/drivers/rtde_sample.hpp"

namespace robot_dynamics::rtde {

enum class StreamState : int {
  ok = 0,
  degraded = 1,  // late or damaged data: estimates are flagged, adaptation is frozen
  safe = 2,      // stale, frozen or unsafe: torque contribution goes to zero
  fault = 3,     // no connection
};

struct MonitorLimits {
  static constexpr int bad_samples = 3;  // non-finite samples in a row until safe
  double rate = 500.0;                   // nominal samples per second
  double degraded_gap = 0.020;           // silence until degraded [s]
  double safe_gap = 0.040;               // silence until safe [s]
  int frozen_repeats = 10;               // exact repeats of q, qd and current, while motion is commanded, until safe
};

inline void validate(const MonitorLimits& m) {
  require_range("rate", m.rate, 1.0, 8000.0);
  require_range("safe_gap", m.safe_gap, 0.0, 10.0);
  require(0.0 < m.degraded_gap && m.degraded_gap <= m.safe_gap, "degraded_gap", m.degraded_gap, "in (0, safe_gap]");
  require(m.frozen_repeats >= 1, "frozen_repeats", m.frozen_repeats, ">= 1");
}

// s, largest magnitude of a controller's clock: in ns, its difference from any other clock fits 64 bits.
constexpr double largest_time = 4294967296.0;

struct StreamCounts {
  std::atomic<std::uint64_t> samples{0};     // accepted
  std::atomic<std::uint64_t> missed{0};      // by controller time
  std::atomic<std::uint64_t> duplicates{0};  // same controller time again: dropped
  std::atomic<std::uint64_t> frozen{0};      // same measured values with advancing time
  std::atomic<std::uint64_t> backwards{0};   // controller time went back
  std::atomic<std::uint64_t> non_finite{0};  // NaN or Inf: in q, qd, current or time the sample is
                                             // dropped, elsewhere the values are absent
  std::atomic<std::uint64_t> stalls{0};      // gaps in controller time beyond degraded_gap
};

// What the rules look at in one sample, whatever the robot and its protocol.
struct Observed {
  static constexpr int max_measured = 64;
  double time;             // s, controller clock
  const double* measured;  // values that repeat when a controller is frozen
  int count;               // of them, at most max_measured
  bool moving;             // motion is commanded
  int safety_mode;         // 1 normal, 2 reduced, 0 not reported, others: stopped
};

class StreamMonitor {
 public:
  explicit StreamMonitor(const MonitorLimits& limits) : limits_(limits) { validate(limits_); }

  // New connection: the next sample has no predecessor.
  void restart() noexcept { has_last_ = false; }

  // Judges one sample received at steady time `now_ns`; sets its flags and missed count. False: drop it.
  bool accept(Sample& s, std::int64_t now_ns) noexcept {
    const double mode = s.values[at_safety_mode];
    const Observed o{s.values[at_timestamp], s.values.data() + measured_begin, measured_end - measured_begin, moving(s),
                     std::fabs(mode) <= 1e6 ? static_cast<int>(mode) : -1};
    return accept(o, now_ns, s.flags, s.missed);
  }

  bool accept(const Observed& o, std::int64_t now_ns, std::uint32_t& flags, std::uint32_t& missed) noexcept {
    if (!finite(o)) return reject_non_finite();
    bad_run_.store(0, std::memory_order_relaxed);
    if (has_last_ && o.time == last_time_) return count(counts_.duplicates), false;
    flags = 0;
    missed = 0;
    judge_time(o.time, flags, missed);
    judge_content(o, flags);
    latch(condition(now_ns));  // the silence before this sample
    safety_mode_.store(o.safety_mode, std::memory_order_relaxed);
    arrival_ns_.store(now_ns, std::memory_order_release);
    last_time_ = o.time;
    std::copy_n(o.measured, o.count, last_.begin());
    has_last_ = true;
    latch(condition(now_ns));
    count(counts_.samples);
    return true;
  }

  // Values beside the measured ones that were not finite and are absent from their sample.
  void count_damaged(std::uint64_t values) noexcept { count(counts_.non_finite, values); }

  void set_connected(bool connected) noexcept {
    if (!connected && connected_.load(std::memory_order_acquire)) latch(StreamState::fault);
    connected_.store(connected, std::memory_order_release);
  }

  // State at steady time `now_ns`, not latched.
  StreamState condition(std::int64_t now_ns) const noexcept {
    if (!connected_.load(std::memory_order_acquire)) return StreamState::fault;
    const double quiet = silence(now_ns);
    const int bad = bad_run_.load(std::memory_order_relaxed);
    if (!(quiet <= limits_.safe_gap) || bad >= limits_.bad_samples || frozen() || !safety_normal()) {
      return StreamState::safe;
    }
    return quiet > limits_.degraded_gap || bad > 0 || late() ? StreamState::degraded : StreamState::ok;
  }

  // Worst state since the last rearm(): safe and fault stay until then, also when condition() was not called meanwhile.
  StreamState latched(std::int64_t now_ns) noexcept {
    const StreamState now = condition(now_ns);
    latch(now);
    return std::max(now, static_cast<StreamState>(latch_.load(std::memory_order_relaxed)));
  }

  // Seconds since the last accepted sample, at steady time `now_ns`.
  double silence(std::int64_t now_ns) const noexcept {
    return seconds_between(now_ns, arrival_ns_.load(std::memory_order_acquire));
  }

  void rearm() noexcept { latch_.store(0); }

  bool frozen() const noexcept { return repeats_.load(std::memory_order_relaxed) >= limits_.frozen_repeats; }
  int safety_mode() const noexcept { return safety_mode_.load(std::memory_order_relaxed); }
  const StreamCounts& counts() const noexcept { return counts_; }

 private:
  void latch(StreamState now) noexcept {
    int held = latch_.load(std::memory_order_relaxed);
    if (now < StreamState::safe || !connected_.load(std::memory_order_acquire)) return;
    while (held < static_cast<int>(now) && !latch_.compare_exchange_weak(held, static_cast<int>(now))) continue;
  }

  static void count(std::atomic<std::uint64_t>& c, std::uint64_t by = 1) noexcept {
    c.fetch_add(by, std::memory_order_relaxed);
  }

  static bool finite(const Observed& o) noexcept {
    bool good = std::fabs(o.time) <= largest_time && 0 <= o.count && o.count <= Observed::max_measured;
    for (int i = 0; good && i < o.count; ++i) good = std::isfinite(o.measured[i]);
    return good;
  }

  bool reject_non_finite() noexcept {
    count(counts_.non_finite);
    if (bad_run_.fetch_add(1, std::memory_order_relaxed) + 1 >= limits_.bad_samples) latch(StreamState::safe);
    return false;
  }

  void judge_time(double time, std::uint32_t& flags, std::uint32_t& missed) noexcept {
    late_.store(false, std::memory_order_relaxed);
    if (!has_last_) {
      flags |= first_after_connect;
      return;
    }
    const double dt = time - last_time_;
    if (dt < 0.0) {
      flags |= clock_backwards;
      count(counts_.backwards);
      return;
    }
    missed = static_cast<std::uint32_t>(std::clamp(std::round(dt * limits_.rate) - 1.0, 0.0, 4e9));
    count(counts_.missed, missed);
    if (dt <= limits_.degraded_gap) return;
    flags |= SampleFlag::late;
    late_.store(true, std::memory_order_relaxed);
    count(counts_.stalls);
  }

  void judge_content(const Observed& o, std::uint32_t& flags) noexcept {
    const bool same = has_last_ && std::equal(o.measured, o.measured + o.count, last_.begin());
    if (same) count(counts_.frozen);
    const bool suspicious = same && o.moving;
    repeats_.store(suspicious ? repeats_.load(std::memory_order_relaxed) + 1 : 0, std::memory_order_relaxed);
    if (frozen()) flags |= SampleFlag::frozen;
  }

  bool moving(const Sample& s) const noexcept {
    bool any = false;
    for (int i = 0; i < 6; ++i) any = any || std::abs(s.values[at_target_qd + i]) > commanded;
    return any;
  }

  bool late() const noexcept { return late_.load(std::memory_order_relaxed); }

  // 1 normal, 2 reduced; 0: not reported.
  bool safety_normal() const noexcept { return safety_mode() >= 0 && safety_mode() <= 2; }

  static constexpr double commanded = 1e-3;  // rad/s, |target_qd| above which motion is commanded
  MonitorLimits limits_;
  StreamCounts counts_;
  double last_time_ = 0.0;
  std::array<double, Observed::max_measured> last_{};
  bool has_last_ = false;
  std::atomic<bool> connected_{false}, late_{false};
  std::atomic<int> repeats_{0}, bad_run_{0}, safety_mode_{0}, latch_{0};
  std::atomic<std::int64_t> arrival_ns_{0};
};

}  // namespace robot_dynamics::rtde
