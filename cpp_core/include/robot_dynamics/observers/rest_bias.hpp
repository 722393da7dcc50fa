// External joint torque that a standing robot shows without contact: an error of presliding friction, absorbed slowly.
//
// The error b of a joint's friction model keeps over travel s what the gear has not forgotten, and follows the external
// torque with a time constant while the joint stands and no contact is flagged:
//
//   b(s + ds) = exp(-ds / span) b(s)            while it moves
//   db/dt = (tau - b) (1 / time + w / eager)    while it stands; w falls from 1 to 0 over `afterwards` after a contact
//
// What is left when a push ends is friction that it changed: the next push does not follow at once. Where the end is
// seen (release.hpp) b takes it whole. |b| <= reach std,
// so a lasting push beyond that stays visible. The deviation stays that at rest: what was absorbed is wrong by as much
// once the joint creeps on or a push has passed (source: own). What is subtracted is `delay` old, so that the onset of
// a push is not in it; a contact keeps it. Where the joint has left the place where it stood by `far` it begins anew: a
// replay that begins later has the same bits from there on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

struct RestBiasParameters {
  std::array<double, max_joints> time{};  // s
  std::array<double, max_joints> std{};   // Nm, of the error of friction at rest; 0 of either: nothing is absorbed
};

class RestBias {
 public:
  static constexpr std::int64_t delay = 100'000'000;  // ns
  static constexpr double span = 2e-3;                // rad over which the error of presliding friction changes
  static constexpr double reach = 1.4;                // deviations that are absorbed at most
  static constexpr double far = 5.0 * span;           // rad; nothing is left of a push either
  static constexpr double eager = 0.2;                // s, two delays: what came of a push is absorbed before the next
  static constexpr double afterwards = 1.0;           // s

  RestBias(int n, const RestBiasParameters& p) : n_(n), p_(p) {
    require_each("rest_time", p.time.data(), n, 0.0, 1e3);
    require_each("rest_std", p.std.data(), n, 0.0, 1e6);
    for (int i = 0; i < n; ++i) absorbs_ = absorbs_ || p.time[i] * p.std[i] > 0.0;
    reset();
  }

  void reset() noexcept {
    slot_ = none, fresh_ = still_ = 0.0, settled_ = false;
    for (auto* all : {&now_, &older_, &newer_, &used_, &pushed_}) all->fill(0.0);
  }

  // tau (n): external torque; `free`: tau may be absorbed (no contact, sensors trusted).
  void step(std::int64_t stamp_ns, double dt, const double* q, const double* qd, const double* tau, bool free,
            bool contact) noexcept {
    if (slot_ == none) std::copy_n(q, n_, stood_.begin());
    for (int i = 0; i < n_; ++i) leave(i, q[i], stands(qd[i]), contact);
    const std::int64_t slot = stamp_ns / delay;
    if (slot != slot_) turn(slot, q);
    const double phase = static_cast<double>(stamp_ns - slot * delay) / static_cast<double>(delay);
    for (int i = 0; i < n_; ++i) {
      const double late = older_[i] + phase * (newer_[i] - older_[i]);
      used_[i] = moved(late, i, q);
      if (contact && !held_) now_[i] = older_[i] = newer_[i] = late;
      if (contact) pushed_[i] = std::max(pushed_[i], std::abs(tau[i] - used_[i]));
    }
    held_ = contact;
    fresh_ = contact ? 1.0 : std::max(fresh_ - dt / afterwards, 0.0);
    for (int i = 0; i < n_; ++i) advance(i, dt, free && stands(qd[i]) ? tau : nullptr);
    settle(dt, qd, contact);
  }

  // A push is over: what is left of tau (n) in joints that stand is friction that it changed.
  void take(const double* qd, const double* tau) noexcept {
    for (int i = 0; i < n_; ++i)
      if (stands(qd[i])) now_[i] = older_[i] = newer_[i] = within(i, tau[i]);
  }

  // Also when a dry joint slides: what was absorbed was an error of what it kept while it was stuck.
  void forget(int i) noexcept { now_[i] = older_[i] = newer_[i] = 0.0; }

  double bias(int i) const noexcept { return used_[i]; }
  // The robot has stood for `delay`, no contact was in the last `afterwards`, and errors are absorbed: what is left of
  // tau - b is small. A push may move joints: it ends when one of them slides, or with the contact.
  bool settled() const noexcept { return settled_; }
  bool slides() const noexcept { return slides_; }            // a joint does
  double pushed(int i) const noexcept { return pushed_[i]; }  // largest of the contacts at this place

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  // Travel since the slot began makes the bias forget; at its end that becomes part of the state.
  double moved(double b, int i, const double* q) const noexcept {
    return std::exp(-std::abs(q[i] - anchor_[i]) / span) * b;
  }

  double within(int i, double b) const noexcept { return std::clamp(b, -reach * p_.std[i], reach * p_.std[i]); }

  static bool stands(double qd) noexcept { return std::abs(qd) < speeds::standing; }

  // Far from where the joint stood nothing is known; `still`: it stands here.
  void leave(int i, double q, bool still, bool contact) noexcept {
    const double distance = std::abs(q - stood_[i]);
    if (distance > far) {
      forget(i);
      if (!contact) pushed_[i] = 0.0;
    }
    if (still) stood_[i] = q;
  }

  void settle(double dt, const double* qd, bool contact) noexcept {
    double fastest = 0.0;
    for (int i = 0; i < n_; ++i) fastest = std::max(fastest, std::abs(qd[i]));
    still_ = stands(fastest) ? still_ + dt : 0.0;
    slides_ = fastest > speeds::sliding;
    if (slides_ || (fresh_ > 0.0 && !contact))
      settled_ = false;
    else if (absorbs_ && still_ >= 1e-9 * static_cast<double>(delay) && !contact)
      settled_ = true;
  }

  void turn(std::int64_t slot, const double* q) noexcept {
    const bool next = slot == slot_ + 1;
    for (int i = 0; i < n_; ++i) {
      if (slot_ == none) anchor_[i] = q[i];
      now_[i] = moved(now_[i], i, q);
      older_[i] = next ? moved(newer_[i], i, q) : now_[i];
      newer_[i] = now_[i];
      anchor_[i] = q[i];
    }
    slot_ = slot;
  }

  void advance(int i, double dt, const double* tau) noexcept {
    if (!tau || !(p_.time[i] > 0.0)) return;
    const double steps = dt / p_.time[i] + dt * fresh_ / eager;
    now_[i] = within(i, now_[i] + steps / (1.0 + steps) * (tau[i] - now_[i]));
  }

  int n_;
  RestBiasParameters p_;
  std::array<double, max_joints> now_{}, older_{}, newer_{}, used_{}, pushed_{};  // Nm
  std::array<double, max_joints> anchor_{}, stood_{};  // q at the beginning of the slot, and where the joint last stood
  std::int64_t slot_ = none;                           // stamp over delay
  double fresh_ = 0.0, still_ = 0.0;                   // w; s for which the robot stands
  bool held_ = false;                                  // b by a contact
  bool settled_ = false, slides_ = false;
  bool absorbs_ = false;
};

}  // namespace robot_dynamics
