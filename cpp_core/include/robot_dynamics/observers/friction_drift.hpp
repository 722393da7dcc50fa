// Friction that differs from the robot file's: the lubricant has another temperature, or the gears have worn.
//
//   external torque of a free robot = a h(v) + k f + c s + noise    h = v / (1 + |v| / knee)
//
// and, for each joint, the Kalman filter of x = (a / std, k / scale_std, c / reach), whose deviations before measuring
// are 1, to which they return over `time`. f is the friction of the law, presliding included: k holds at rest, too. c,
// a constant error in deviations s of the friction, is not taken off: without it, it would be learned as friction. The
// noise has the deviation s, which grows beyond the recorded speeds, and is correlated over `correlation`. Samples of
// one slot are applied together when the next slot has ended without contact, so that neither the onset nor the end of
// a push is in them (source: own).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

struct FrictionDriftParameters {
  double time = 0.0;                     // s over which x may change by 1; 0: off
  std::array<double, max_joints> std{};  // of a [Nm s/rad]
};

class FrictionDrift {
 public:
  static constexpr std::int64_t slot_length = 200'000'000;  // ns
  static constexpr double knee = 1.0 / 0.15;                // rad/s, viscosity falls with shear
  static constexpr double scale_std = 0.07;                 // of k: more hides payloads (bench/results/force.md)
  static constexpr double correlation = 1.0;                // s, of the residuals: as long as a motion
  static constexpr double reach = 3.0;                      // deviations of a and k that are learned at most

  FrictionDrift(int n, const FrictionDriftParameters& p) : n_(n), p_(p) {
    require_range("friction_drift", p.time, 0.0, 1e6);
    require_each("drift_std", p.std.data(), n, 0.0, 1e6);
    reset();
  }

  void reset() noexcept {
    joint_.fill({{}, p_.time > 0.0 ? identity : Square{}});
    pause();
  }

  // Forget the samples that are not applied yet.
  void pause() noexcept {
    slot_ = std::numeric_limits<std::int64_t>::min();
    blocked_ = true;
    shape_.fill({});
    filling_.fill({});
    waiting_.fill({});
  }

  // f (n): friction of the law; tau (n): what is left of the torque after it and torque(), with friction's sign,
  // low-passed with the weight `lag`; std (n): deviation of friction; free: tau is an error of friction (no contact or
  // payload, sensors trusted).
  void step(std::int64_t stamp_ns, double dt, double lag, const double* v, const double* f, const double* tau,
            const double* std, bool free) noexcept {
    if (p_.time <= 0.0) return;
    if (const std::int64_t slot = stamp_ns / slot_length; slot != slot_) turn(slot);
    blocked_ = blocked_ || !free;
    for (int i = 0; i < n_; ++i) {
      Joint& joint = joint_[i];
      Vector row = shape(i, v[i], f[i]);
      for (int k = 0; k < 3; ++k) {
        row[k] = shape_[i][k] += lag * (row[k] - shape_[i][k]);
        joint.P[4 * k] = std::min(joint.P[4 * k] + dt / p_.time, 1.0);
      }
      if (std::abs(v[i]) < speeds::sliding || !(std[i] > 0.0)) continue;  // presliding; no friction is taken off
      row = {row[0] / std[i], row[1] / std[i], reach};
      filling_[i].add(dt / (2.0 * correlation), row, tau[i] / std[i] + row[0] * joint.x[0] + row[1] * joint.x[1]);
    }
  }

  double torque(int i, double v, double f) const noexcept {
    const Vector row = shape(i, v, f);
    return row[0] * joint_[i].x[0] + row[1] * joint_[i].x[1];
  }
  // That of k as far as the joint slides: at rest its error stays what it is, and rest_bias.hpp takes it.
  double variance(int i, double v, double f) const noexcept {
    const Vector row = shape(i, v, f * std::min(std::abs(v) / speeds::sliding, 1.0));
    const Square& P = joint_[i].P;
    return std::max(row[0] * row[0] * P[0] + 2.0 * row[0] * row[1] * P[1] + row[1] * row[1] * P[4], 0.0);
  }
  // a [Nm s/rad] and k, and their covariance (2, 2)
  void state(int i, double* value, double* covariance) const noexcept {
    const double unit[2] = {p_.std[i], scale_std};
    for (int k = 0; k < 2; ++k) {
      value[k] = unit[k] * joint_[i].x[k];
      for (int l = 0; l < 2; ++l) covariance[2 * k + l] = unit[k] * unit[l] * joint_[i].P[3 * k + l];
    }
  }

 private:
  using Vector = std::array<double, 3>;
  using Square = std::array<double, 9>;
  static constexpr Square identity{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
  struct Joint {
    Vector x;
    Square P;  // covariance
  };
  struct Sums {  // over the variance of the noise: of row row' and of row y
    Square square{};
    Vector product{};
    void add(double weight, const Vector& row, double y) noexcept {
      for (int k = 0; k < 3; ++k) {
        product[k] += weight * row[k] * y;
        for (int l = 0; l < 3; ++l) square[3 * k + l] += weight * row[k] * row[l];
      }
    }
  };

  // Torque per unit of a and k; that of c follows the noise.
  Vector shape(int i, double v, double f) const noexcept {
    return {p_.std[i] * v / (1.0 + std::abs(v) / knee), scale_std * f, 0.0};
  }

  // A slot has ended: the one before it is applied unless there was a contact in either; one after a contact is left
  // out.
  void turn(std::int64_t slot) noexcept {
    const bool broken = blocked_ || slot != slot_ + 1;
    for (int i = 0; i < n_ && !broken; ++i) apply(joint_[i], waiting_[i]);
    waiting_ = broken || after_ ? decltype(waiting_){} : filling_;
    filling_.fill({});
    after_ = broken;
    blocked_ = false;
    slot_ = slot;
  }

  // P <- (P^-1 + H)^-1, x <- x + P (y - H x)
  static void apply(Joint& joint, const Sums& s) noexcept {
    Square information = inverse(joint.P);
    Vector left = s.product;
    for (int k = 0; k < 9; ++k) {
      information[k] += s.square[k];
      left[k / 3] -= s.square[k] * joint.x[k % 3];
    }
    joint.P = inverse(information);
    for (int k = 0; k < 9; ++k) joint.x[k / 3] += joint.P[k] * left[k % 3];
    for (int k = 0; k < 2; ++k) joint.x[k] = std::clamp(joint.x[k], -reach, reach);
  }
  static Square inverse(const Square& A) noexcept {
    Cholesky<3> factored;
    Square B = identity;
    if (!factored.factor(A)) return B;
    for (int k = 0; k < 3; ++k) factored.solve(&B[3 * k]);
    return B;
  }

  int n_;
  FrictionDriftParameters p_;
  std::array<Joint, max_joints> joint_{};
  std::array<Vector, max_joints> shape_{};  // as late as tau
  std::array<Sums, max_joints> filling_{}, waiting_{};
  std::int64_t slot_ = 0;  // stamp over slot_length
  bool blocked_ = true;    // a contact in the present slot, or its beginning is missing
  bool after_ = true;      // the same in the slot before
};

}  // namespace robot_dynamics
