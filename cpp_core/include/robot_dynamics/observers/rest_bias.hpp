// External joint torque that a standing robot shows without contact: an error of presliding friction, absorbed slowly.
//
// The error b of a joint's friction model is a random process over travel s and time, with the deviation `std` that the
// residuals of the robot file show at rest and the span over which a gear forgets:
//
//   b(s + ds) = d b(s) + sqrt(1 - d^2) std w    d = exp(-ds / span)         while it moves
//   db/dt = std sqrt(share / time) w                                        while it stands
//
// and the scalar Kalman filter of it, which measures the external torque with the intensity share time std^2 while the
// joint stands and no contact is flagged: its time constant tends to `time`, its variance to share std^2 (source: own).
// |b| <= reach std, so a lasting push beyond that stays visible. What is subtracted is `delay` old, so that the onset
// of a push is not in it; a contact keeps it. Where the joint has left the place where it stood by `far` it begins
// anew: a replay that begins later has the same bits from there on.
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
  static constexpr double share = 0.5;                // of the variance that stays after long rest
  static constexpr double reach = 1.4;                // deviations that are absorbed at most
  static constexpr double far = 5.0 * span;           // rad
  static constexpr double gone = 15.0 * span;         // rad after which nothing is left of a push

  struct Bias {
    double mean = 0.0, variance = 0.0;  // Nm, Nm2
  };

  RestBias(int n, const RestBiasParameters& p) : n_(n), p_(p) {
    require_each("rest_time", p.time.data(), n, 0.0, 1e3);
    require_each("rest_std", p.std.data(), n, 0.0, 1e6);
    reset();
  }

  void reset() noexcept {
    slot_ = none;
    for (int i = 0; i < n_; ++i) now_[i] = older_[i] = newer_[i] = used_[i] = {0.0, full(i)};
    pushed_.fill(0.0);
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
      const Bias late{older_[i].mean + phase * (newer_[i].mean - older_[i].mean),
                      older_[i].variance + phase * (newer_[i].variance - older_[i].variance)};
      used_[i] = moved(late, i, q);
      if (contact && !held_) now_[i] = older_[i] = newer_[i] = late;
      if (contact) pushed_[i] = std::max(pushed_[i], std::abs(tau[i] - used_[i].mean));
    }
    held_ = contact;
    for (int i = 0; i < n_; ++i) advance(i, dt, free && stands(qd[i]) ? tau : nullptr);
  }

  double mean(int i) const noexcept { return used_[i].mean; }
  double variance(int i) const noexcept { return used_[i].variance; }
  double pushed(int i) const noexcept { return pushed_[i]; }  // largest of the contacts at this place
  double full(int i) const noexcept {                         // variance where nothing is absorbed; 0: nothing ever is
    return p_.time[i] > 0.0 ? p_.std[i] * p_.std[i] : 0.0;
  }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();

  // Travel since the slot began makes the bias forget; at its end that becomes part of the state.
  Bias moved(const Bias& b, int i, const double* q) const noexcept {
    const double d = std::exp(-std::abs(q[i] - anchor_[i]) / span);
    return {d * b.mean, full(i) - d * d * (full(i) - b.variance)};
  }

  static bool stands(double qd) noexcept { return std::abs(qd) < speeds::standing; }

  // Far from where the joint stood nothing is known; `still`: it stands here.
  void leave(int i, double q, bool still, bool contact) noexcept {
    const double distance = std::abs(q - stood_[i]);
    if (distance > far) now_[i] = older_[i] = newer_[i] = {0.0, full(i)};
    if (distance > gone && !contact) pushed_[i] = 0.0;
    if (still) stood_[i] = q;
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
    Bias& b = now_[i];
    if (full(i) <= 0.0) return;
    b.variance = std::min(full(i), b.variance + share * full(i) * dt / p_.time[i]);
    if (!tau) return;
    const double gain = b.variance * dt / (b.variance * dt + share * p_.time[i] * full(i));
    const double most = reach * p_.std[i];
    b.mean = std::min(std::max(b.mean + gain * (tau[i] - b.mean), -most), most);
    b.variance *= 1.0 - gain;
  }

  int n_;
  RestBiasParameters p_;
  std::array<Bias, max_joints> now_{}, older_{}, newer_{}, used_{};
  std::array<double, max_joints> pushed_{};
  std::array<double, max_joints> anchor_{}, stood_{};  // q at the beginning of the slot, and where the joint last stood
  std::int64_t slot_ = none;                           // stamp over delay
  bool held_ = false;                                  // by a contact
};

}  // namespace robot_dynamics
