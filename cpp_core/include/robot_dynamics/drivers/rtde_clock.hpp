// Controller time to host time: stamp = t_c + min over a sliding window of (t_receive - t_c). The window slides by host
// time: a controller clock that slows does not keep an old offset alive.
// The least delayed package bounds the offset from above. The offset is found before the first stamp is given, then
// follows the drift of the two crystals at a limited slew, so that stamp differences stay controller time to 0.05 %
// (to 2 % while an offset that was wrong by many milliseconds is worked off, as after a pause of either clock).
// Stamps increase strictly. The one exception is a host clock set back: the map re-anchors and reports it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/common/time.hpp"

namespace robot_dynamics::rtde {

class ClockMap {
 public:
  static constexpr int settle_samples = 25;                      // packages listened to before the first stamp
  static constexpr std::int64_t half_window_ns = 1'000'000'000;  // offset memory 1..2 s
  static constexpr double slew = 5e-4;                           // offset moves by at most 0.5 ms per second ...
  static constexpr double recovery = 0.1;                        // ... plus this share of its error per second ...
  static constexpr double max_slew = 0.02;                       // ... up to 20 ms per second
  static constexpr std::int64_t jump_ns = 250'000'000;           // clocks farther apart than this are re-anchored

  // follow false: the offset found while settling is kept for good, stamp differences are exactly controller time.
  explicit ClockMap(bool follow = true) : follow_(follow) {}

  // Forget the offset: new connection, or the controller restarted.
  void anchor() noexcept { settled_ = 0; }

  // One package with controller time t_c received at `receive` [ns]. False while the offset is still being found.
  bool observe(std::int64_t t_c, std::int64_t receive) noexcept {
    const std::int64_t observed = ns_between(receive, t_c);
    reanchored_ = false;
    if (settled_ < settle_samples) return settle(t_c, receive, observed);
    slide(receive, observed);
    const std::int64_t target = std::min(current_, previous_);
    const std::int64_t error = ns_between(target, offset_);
    if (follow_ && (error > jump_ns || error < -jump_ns)) return jump(t_c, receive, observed);
    if (follow_) follow(error, std::max<std::int64_t>(ns_between(t_c, last_), 0));
    last_ = t_c;
    return true;
  }

  // Host time of controller time t_c [ns].
  std::int64_t stamp(std::int64_t t_c) const noexcept { return ns_later(t_c, offset_); }

  bool reanchored() const noexcept { return reanchored_; }

 private:
  bool settle(std::int64_t t_c, std::int64_t receive, std::int64_t observed) noexcept {
    offset_ = settled_ == 0 ? observed : std::min(offset_, observed);
    current_ = previous_ = offset_;
    half_start_ = receive;
    last_ = t_c;
    return ++settled_ == settle_samples;
  }

  void follow(std::int64_t error, std::int64_t elapsed) noexcept {
    const double rate = std::min(slew + recovery * 1e-9 * std::fabs(static_cast<double>(error)), max_slew);
    const auto limit = static_cast<std::int64_t>(rate * static_cast<double>(elapsed));
    offset_ = ns_later(offset_, std::clamp(error, -limit, limit));
  }

  void slide(std::int64_t receive, std::int64_t observed) noexcept {
    if (ns_between(receive, half_start_) > half_window_ns) {
      previous_ = current_;
      current_ = observed;
      half_start_ = receive;
    }
    current_ = std::min(current_, observed);
  }

  bool jump(std::int64_t t_c, std::int64_t receive, std::int64_t observed) noexcept {
    reanchored_ = true;
    offset_ = current_ = previous_ = observed;
    half_start_ = receive;
    last_ = t_c;
    return true;
  }

  bool follow_, reanchored_ = false;
  int settled_ = 0;
  std::int64_t offset_ = 0, current_ = 0, previous_ = 0, half_start_ = 0, last_ = 0;
};

}  // namespace robot_dynamics::rtde
