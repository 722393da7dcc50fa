// The guard: every torque that is sent to a robot passes it. Order of checks: finite -> semantics -> magnitude -> rate
// -> age -> enable. For any input the output is finite and inside every limit, and every fault path ends at zero.
//
// Every deadline runs on two clocks, the robot's (stamps) and the host's (pass()), and is over when either says so: a
// robot clock that slows or stops does not prolong a torque.
//
// A command is held for 3 cycles and then fades to zero, so that a late sender causes neither a step nor a lasting
// torque.
// States: idle (disabled) -> ok -> degraded (flagged, contribution kept) -> safe (ramped to zero, latched)
// -> fault (zero at once, latched). Only rearm() leaves safe and fault, and it leads to idle, never to ok.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/control/guard_limits.hpp"

namespace robot_dynamics {

class Guard {
 public:
  explicit Guard(const GuardLimits& limits) : limits_(limits) { validate(limits); }

  // Seconds of the host's clock since the last call: first in every cycle, before observe(), command() and step().
  void pass(double host_seconds) noexcept {
    host_passed_ += host_seconds;
    host_ += host_seconds;
  }

  // One measured state: call on every new sample, before step(). Nanoseconds on the guard's clock.
  void observe(std::int64_t stamp_ns, const double* q, const double* qd) noexcept;

  // One command from the only allowed sender, with the stamp of the state it answers.
  void command(std::int64_t stamp_ns, const double* torque, TorqueSemantics semantics) noexcept;

  // One control cycle: writes the torque that may leave, finite and inside every limit. Returns the state.
  // A ramp to zero takes no longer than `ramp` by either clock, also when stamps stand still or step back. Until then
  // the torque changes by at most torque_rate times one cycle from one output to the next.
  GuardState step(std::int64_t now_ns, double* torque) noexcept;

  bool enable(std::int64_t now_ns) noexcept;   // idle -> ok; false: latched, no fresh state, switch not held
  void refresh(std::int64_t now_ns) noexcept;  // the dead-man switch is still held
  bool held(std::int64_t now_ns) const noexcept {
    return !(limits_.enable_timeout > 0) || (held_ && since(now_ns, held_at_) <= limits_.enable_timeout);
  }
  void disable() noexcept;                            // ramps out, then idle
  bool rearm() noexcept;                              // safe, fault -> idle
  void trip(GuardReason reason, bool hard) noexcept;  // a fault found elsewhere (second publisher, protective stop)

  GuardState state() const noexcept { return state_; }
  GuardReason reason() const noexcept { return reason_; }
  std::uint64_t count(GuardReason reason) const noexcept { return counts_[static_cast<int>(reason)]; }
  const GuardLimits& limits() const noexcept { return limits_; }
  bool ramping() const noexcept { return ramping_; }
  bool clamped() const noexcept { return clamped_; }    // the last command was cut
  double command_age() const noexcept { return age_; }  // s, of the command used last; -1 before the first

 private:
  struct Instant {  // on both clocks
    std::int64_t robot_ns = 0;
    double host = 0;  // s
  };

  // s since then, by the clock that says more.
  double since(std::int64_t now_ns, const Instant& then) const noexcept {
    return std::max(seconds_between(now_ns, then.robot_ns), host_ - then.host);
  }

  double hold() const noexcept { return (limits_.hold_cycles + 0.5) * limits_.cycle; }  // s
  bool active() const noexcept { return state_ == GuardState::ok || state_ == GuardState::degraded; }
  void note(GuardReason reason) noexcept { ++counts_[static_cast<int>(reason)]; }
  bool apart(std::int64_t stamp_ns, const double* q, const double* qd) noexcept;
  void check_freshness(std::int64_t now_ns) noexcept;
  void fade() noexcept;
  double limited(int i, double wanted, double step_limit) noexcept;
  GuardReason beyond(int i, double wanted) const noexcept;
  double leaving(int i, double share, double step_limit) const noexcept;
  static double toward_zero(double from, double to) noexcept;

  GuardLimits limits_;
  GuardState state_ = GuardState::idle;
  GuardReason reason_ = GuardReason::none;
  std::array<std::uint64_t, static_cast<int>(GuardReason::count)> counts_{};
  std::array<double, max_joints> q_{}, qd_{}, wanted_{}, out_{}, ramp_from_{};
  std::array<double, max_joints> apart_{};  // rad by which each joint has lately moved farther than its speed says
  std::int64_t now_ns_ = 0;
  Instant state_at_, command_at_, held_at_;
  double host_ = 0, host_passed_ = 0;  // s: since the start, since the last step
  bool held_ = false, have_state_ = false, have_command_ = false, clamped_ = false, ramping_ = false, stepped_ = false;
  int frozen_ = 0, clamped_cycles_ = 0, bad_states_ = 0;
  double ramp_left_ = 0, age_ = -1, fresh_share_ = 1;
};

inline void Guard::trip(GuardReason reason, bool hard) noexcept {
  note(reason);
  if (reason == GuardReason::enable_lost) held_ = false;
  if (reason == GuardReason::enable_lost && !active()) return;  // without torque a released switch is no fault
  if (state_ == GuardState::fault || (state_ == GuardState::safe && !hard)) return;
  if (hard) {
    out_.fill(0.0);
    ramping_ = false;
  } else if (!ramping_) {  // a second fault does not prolong the ramp to zero
    ramp_from_ = out_;
    ramp_left_ = limits_.ramp;
    ramping_ = std::any_of(out_.begin(), out_.end(), [](double x) { return x != 0; });  // none: it is over
  }
  state_ = hard ? GuardState::fault : GuardState::safe;
  reason_ = reason;
  have_command_ = false;
}

inline void Guard::observe(std::int64_t stamp_ns, const double* q, const double* qd) noexcept {
  bool finite = true, same = have_state_, moving = false;
  for (int i = 0; i < limits_.n; ++i) {
    finite = finite && std::isfinite(q[i]) && std::isfinite(qd[i]);
    same = same && q[i] == q_[i] && qd[i] == qd_[i];
    moving = moving || std::fabs(qd[i]) > 0.01;  // rad/s: a joint this fast cannot repeat exactly
  }
  if (!finite) {
    note(GuardReason::state_not_finite);
    if (++bad_states_ > limits_.hold_cycles && active()) trip(GuardReason::state_not_finite, false);
    return;
  }
  bad_states_ = 0;
  if (have_state_ && stamp_ns == state_at_.robot_ns) return;  // duplicate
  if (have_state_ && stamp_ns < state_at_.robot_ns) {
    if (active())
      trip(GuardReason::state_clock, false);
    else
      note(GuardReason::state_clock);
  }
  if (have_state_ && active() && !(seconds_between(stamp_ns, state_at_.robot_ns) <= limits_.safe_gap))
    trip(GuardReason::state_gap, false);  // a gap in the robot's own time, independent of the host's clock
  frozen_ = same && moving ? frozen_ + 1 : 0;
  if (frozen_ >= limits_.frozen_cycles && active()) trip(GuardReason::state_frozen, false);
  if (apart(stamp_ns, q, qd) && active()) trip(GuardReason::state_inconsistent, false);
  std::copy(q, q + limits_.n, q_.begin());
  std::copy(qd, qd + limits_.n, qd_.begin());
  state_at_ = {stamp_ns, host_};
  have_state_ = true;
}

// Position and speed of a joint that contradict each other: one of them is stuck, or the speed has the wrong sign.
inline bool Guard::apart(std::int64_t stamp_ns, const double* q, const double* qd) noexcept {
  const double dt = have_state_ ? seconds_between(stamp_ns, state_at_.robot_ns) : -1.0;
  if (!(dt >= 0.0 && dt <= limits_.safe_gap)) {
    apart_.fill(0.0);
    return false;
  }
  bool found = false;
  for (int i = 0; i < limits_.n; ++i) {
    apart_[i] = (1.0 - dt / limits_.lately) * (apart_[i] + q[i] - q_[i] - 0.5 * (qd[i] + qd_[i]) * dt);
    found = found || std::fabs(apart_[i]) > limits_.apart;
  }
  return found;
}

inline void Guard::command(std::int64_t stamp_ns, const double* torque, TorqueSemantics semantics) noexcept {
  if (!active()) return;
  for (int i = 0; i < limits_.n; ++i)
    if (!std::isfinite(torque[i])) return trip(GuardReason::command_not_finite, true);
  if (!(semantics == limits_.semantics)) return trip(GuardReason::semantics, false);
  const std::int64_t newest = stepped_ ? std::max(state_at_.robot_ns, now_ns_) : state_at_.robot_ns;
  if (!(seconds_between(stamp_ns, newest) <= hold()))
    return note(GuardReason::command_age);  // no state was ever stamped so
  std::copy(torque, torque + limits_.n, wanted_.begin());
  command_at_ = {std::min(stamp_ns, newest), host_};
  have_command_ = true;
}

inline bool Guard::enable(std::int64_t now_ns) noexcept {
  const bool fresh = have_state_ && now_ns >= state_at_.robot_ns && since(now_ns, state_at_) <= limits_.degraded_gap;
  if (state_ != GuardState::idle || ramping_ || !fresh || !held(now_ns)) return false;
  state_ = GuardState::ok;
  reason_ = GuardReason::none;
  have_command_ = false;
  fresh_share_ = 1.0;
  command_at_ = {now_ns, host_};
  clamped_cycles_ = frozen_ = 0;
  return true;
}

inline void Guard::refresh(std::int64_t now_ns) noexcept {
  held_at_ = {now_ns, host_};
  held_ = true;
}

inline void Guard::disable() noexcept {
  if (!active()) return;
  trip(GuardReason::none, false);
  state_ = GuardState::idle;
}

inline bool Guard::rearm() noexcept {
  if (ramping_ || (state_ != GuardState::safe && state_ != GuardState::fault)) return false;
  state_ = GuardState::idle;
  return true;
}

// Gap of the state, age of the command, dead-man switch, a clock that runs backwards.
inline void Guard::check_freshness(std::int64_t now_ns) noexcept {
  if (!active()) return;
  const double gap = since(now_ns, state_at_);
  age_ = since(now_ns, command_at_);
  if (stepped_ && now_ns < now_ns_) return trip(GuardReason::state_clock, false);
  if (!(gap <= limits_.safe_gap)) return trip(GuardReason::state_gap, false);
  if (!held(now_ns)) return trip(GuardReason::enable_lost, false);
  const double max_age = have_command_ ? limits_.safe_gap : limits_.first_command;
  if (!(age_ <= max_age)) return trip(GuardReason::command_age, false);
  fade();
  if (gap > limits_.degraded_gap) {
    if (state_ == GuardState::ok) note(GuardReason::state_gap);
    state_ = GuardState::degraded;
  } else if (state_ == GuardState::degraded) {
    state_ = GuardState::ok;
  }
}

// A command is held for hold_cycles; older, it fades at the pace of the ramp until a fresh one comes or safe_gap ends
// it.
inline void Guard::fade() noexcept {
  const bool late = have_command_ && !(age_ <= hold());
  if (late && fresh_share_ == 1.0) note(GuardReason::command_age);
  fresh_share_ = late ? std::max(0.0, 1.0 - (age_ - hold()) / limits_.ramp) : 1.0;
}

// The limit that a torque would drive the joint past: velocity, position after braking, or none.
inline GuardReason Guard::beyond(int i, double wanted) const noexcept {
  const double v = qd_[i], stop = q_[i] + v * std::fabs(v) / (2 * limits_.deceleration[i]);
  if (std::fabs(v) >= limits_.velocity[i] && wanted * v > 0) return GuardReason::velocity;
  if ((stop >= limits_.position_upper[i] && wanted > 0) || (stop <= limits_.position_lower[i] && wanted < 0))
    return GuardReason::position;
  return GuardReason::none;
}

// Torque while ramping to zero: the ramp or, past a limit, the fastest decrease that the rate allows, whichever is
// less; its size never increases.
inline double Guard::leaving(int i, double share, double step_limit) const noexcept {
  const double along = share * ramp_from_[i];
  double size = std::min(std::fabs(along), std::fabs(out_[i]));
  if (beyond(i, along) != GuardReason::none) size = std::min(size, std::max(0.0, std::fabs(out_[i]) - step_limit));
  return std::copysign(size, ramp_from_[i]);
}

inline double Guard::limited(int i, double wanted, double step_limit) noexcept {
  const GuardReason limit = beyond(i, wanted);
  if (limit != GuardReason::none) {
    note(limit);
    clamped_ = true;
  }
  const double allowed = limit == GuardReason::none ? wanted : 0.0;
  const double cut = fresh_share_ * std::clamp(allowed, -limits_.torque[i], limits_.torque[i]);
  if (std::fabs(wanted) > limits_.torque[i]) {
    note(GuardReason::magnitude);
    clamped_ = true;
  }
  const double near = std::clamp(cut, out_[i] - step_limit, out_[i] + step_limit);
  if (near != cut) note(GuardReason::rate);
  return near;
}

// `to`, if it lies between `from` and zero; else what of the way there does not grow or change sign.
inline double Guard::toward_zero(double from, double to) noexcept {
  return from >= 0 ? std::clamp(to, 0.0, from) : std::clamp(to, from, 0.0);
}

inline GuardState Guard::step(std::int64_t now_ns, double* torque) noexcept {
  check_freshness(now_ns);
  const double passed = stepped_ ? seconds_between(now_ns, now_ns_) : limits_.cycle;
  const double host_passed = host_passed_;
  now_ns_ = now_ns;
  host_passed_ = 0;
  stepped_ = true;
  if (active()) {
    const double dt = std::clamp(passed, 0.0, limits_.cycle);  // no burst after a late call
    clamped_ = false;
    const std::array<double, max_joints> before = out_;
    for (int i = 0; i < limits_.n; ++i)
      out_[i] = limited(i, have_command_ ? wanted_[i] : 0.0, limits_.torque_rate[i] * dt);
    clamped_cycles_ = clamped_ ? clamped_cycles_ + 1 : 0;
    if (clamped_cycles_ >= limits_.sustained_cycles) {
      for (int i = 0; i < limits_.n; ++i) out_[i] = toward_zero(before[i], out_[i]);
      trip(GuardReason::magnitude, false);
    }
  } else if (ramping_) {
    const double robot_seconds = passed > 0 ? std::max(passed, 0.5 * limits_.cycle) : limits_.cycle;
    ramp_left_ -= host_passed > robot_seconds ? host_passed : robot_seconds;
    const double share = std::max(0.0, ramp_left_ / limits_.ramp);
    const double fall = std::max(std::min(passed, limits_.degraded_gap), limits_.cycle);
    for (int i = 0; i < limits_.n; ++i) out_[i] = leaving(i, share, limits_.torque_rate[i] * fall);
    ramping_ = share > 0;
  } else {
    out_.fill(0.0);
  }
  std::copy(out_.begin(), out_.begin() + limits_.n, torque);
  return state_;
}

}  // namespace robot_dynamics
