// Viscous friction that differs from the robot file's, mostly because the lubricant has another temperature.
//
//   external torque of a free robot = a h(v) + c s + noise    h = v / (1 + |v| / knee)    da/dt = std w / sqrt(time)
//
// and, for each joint, the Kalman filter of a, whose deviation before measuring is `std`, and of a constant error c in
// deviations s of the friction. c is not taken off: without it, it would be learned as viscosity. The noise has the
// deviation s, which grows beyond the recorded speeds, and is correlated over `correlation`. Samples of one slot are
// applied together when the next slot has ended without contact, so that neither the onset nor the end of a push is in
// them; at rest a has no effect (source: own; a second term in proportion to sgn v spoils the hold).
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

struct ViscousDriftParameters {
  double time = 0.0;                     // s over which a may change by std; 0: off
  std::array<double, max_joints> std{};  // Nm s/rad; 0: nothing is learned at the joint
};

class ViscousDrift {
 public:
  static constexpr std::int64_t slot_length = 200'000'000;  // ns
  static constexpr double knee = 1.0 / 0.15;                // rad/s, viscosity falls with shear
  static constexpr double correlation = 1.0;                // s, of the residuals: as long as a motion
  static constexpr double reach = 3.0;                      // standard deviations that are learned at most; of c

  ViscousDrift(int n, const ViscousDriftParameters& p) : n_(n), p_(p) {
    require_range("viscous_drift", p.time, 0.0, 1e6);
    require_each("drift_std", p.std.data(), n, 0.0, 1e6);
    reset();
  }

  void reset() noexcept {
    for (int i = 0; i < n_; ++i) joint_[i] = {0.0, 0.0, before(i), 0.0, reach * reach};
    keep();
    pause();
  }

  // Evidence for a payload begins here: what is learned from now on contains the payload, if there is one.
  void keep() noexcept {
    kept_ = joint_;
    kept_time_ = 0.0;
  }
  void revert() noexcept {
    if (p_.time <= 0.0) return;
    joint_ = kept_;
    for (int i = 0; i < n_; ++i) age(i, kept_time_);
    keep();
    pause();
  }

  // Forget the samples that are not applied yet.
  void pause() noexcept {
    slot_ = std::numeric_limits<std::int64_t>::min();
    blocked_ = true;
    shape_.fill(0.0);
    filling_.fill({});
    waiting_.fill({});
  }

  // tau (n): what is left of the torque after friction and torque(), with friction's sign, low-passed with the weight
  // `lag`; std (n): deviation of friction; free: it is an error of friction (no contact, sensors trusted).
  void step(std::int64_t stamp_ns, double dt, double lag, const double* v, const double* tau, const double* std,
            bool free) noexcept {
    if (p_.time <= 0.0) return;
    if (const std::int64_t slot = stamp_ns / slot_length; slot != slot_) turn(slot);
    blocked_ = blocked_ || !free;
    kept_time_ += dt;
    for (int i = 0; i < n_; ++i) {
      shape_[i] += lag * (shape(v[i]) - shape_[i]);
      age(i, dt);
      if (std::abs(v[i]) < speeds::sliding || !(std[i] > 0.0)) continue;  // presliding; no friction is taken off
      const double h = shape_[i] / std[i], y = tau[i] / std[i] + joint_[i].drift * h;
      Sums& s = filling_[i];
      s.time += dt;
      s.shape += h * dt;
      s.torque += y * dt;
      s.square += h * h * dt;
      s.product += h * y * dt;
    }
  }

  double drift(int i) const noexcept { return joint_[i].drift; }              // a [Nm s/rad]
  double std(int i) const noexcept { return std::sqrt(joint_[i].variance); }  // its deviation
  double torque(int i, double v) const noexcept { return joint_[i].drift * shape(v); }
  double variance(int i, double v) const noexcept { return joint_[i].variance * shape(v) * shape(v); }

 private:
  struct Joint {
    double drift = 0.0, offset = 0.0;                     // a [Nm s/rad], c
    double variance = 0.0, covariance = 0.0, wide = 0.0;  // of a, of both, of c
  };
  struct Sums {
    double time = 0.0, shape = 0.0, torque = 0.0;  // of dt, h dt and tau dt, over the deviation of friction
    double square = 0.0, product = 0.0;            // of h h dt and h tau dt over its variance
  };

  double before(int i) const noexcept { return p_.time > 0.0 ? p_.std[i] * p_.std[i] : 0.0; }
  // How much less is known of a after dt.
  void age(int i, double dt) noexcept {
    joint_[i].variance = std::min(joint_[i].variance + before(i) * dt / p_.time, before(i));
    joint_[i].wide = std::min(joint_[i].wide + reach * reach * dt / p_.time, reach * reach);
  }
  static double shape(double v) noexcept { return v / (1.0 + std::abs(v) / knee); }

  // A slot has ended: the one before it is applied unless there was a contact in either; one after a contact is left
  // out.
  void turn(std::int64_t slot) noexcept {
    const bool broken = blocked_ || slot != slot_ + 1;
    for (int i = 0; i < n_ && !broken; ++i) apply(i, waiting_[i]);
    waiting_ = broken || after_ ? decltype(waiting_){} : filling_;
    filling_.fill({});
    after_ = broken;
    blocked_ = false;
    slot_ = slot;
  }

  void apply(int i, const Sums& s) noexcept {
    Joint& x = joint_[i];
    if (!(x.variance > 0.0)) return;
    const double n = 2.0 * correlation, det = x.variance * x.wide - x.covariance * x.covariance;
    const double aa = x.wide / det + s.square / n, ac = s.shape / n - x.covariance / det;  // inverse of the covariance
    const double cc = x.variance / det + s.time / n, scale = 1.0 / (aa * cc - ac * ac);
    const double of_a = (s.product - s.square * x.drift - s.shape * x.offset) / n;
    const double of_c = (s.torque - s.shape * x.drift - s.time * x.offset) / n;
    x.variance = cc * scale, x.covariance = -ac * scale, x.wide = aa * scale;
    const double most = reach * p_.std[i];
    x.drift = std::clamp(x.drift + x.variance * of_a + x.covariance * of_c, -most, most);
    x.offset += x.covariance * of_a + x.wide * of_c;
  }

  int n_;
  ViscousDriftParameters p_;
  std::array<Joint, max_joints> joint_{}, kept_{};
  double kept_time_ = 0.0;                  // s since keep()
  std::array<double, max_joints> shape_{};  // h, as late as tau
  std::array<Sums, max_joints> filling_{}, waiting_{};
  std::int64_t slot_ = 0;  // stamp over slot_length
  bool blocked_ = true;    // a contact in the present slot, or its beginning is missing
  bool after_ = true;      // the same in the slot before
};

}  // namespace robot_dynamics
