// Friction and torque that differ from what the robot file says: the lubricant has another temperature, gears have
// worn, warm magnets give less torque per ampere.
//
//   external torque of a free robot = a v + k f + m (tau + f) + c s + noise
//
// and, for each joint, the Kalman filter of x = (a / std, k / share, m / gain_std, c / reach), whose deviations
// before measuring are 1, to which they return over `time`. f is the friction of the law, presliding included: k holds
// at rest, too; tau is the model torque: m scales what is expected of the drive, so that a push keeps its size. c, a
// constant error in deviations s of the friction, is not taken off: without it, it would be learned as friction. The
// noise has the deviation s, which grows beyond the recorded speeds, and is correlated over `correlation`. Samples of
// one slot are applied together when the next slot has ended without contact, so that the onset of a push is not in
// them (source: own).
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
  double share = 0.07;                   // deviation of k
  std::array<double, max_joints> std{};  // of a [Nm s/rad]
};

class FrictionDrift {
 public:
  static constexpr std::int64_t slot_length = 200'000'000;  // ns
  static constexpr double viscous_std = 0.3;                // of a, as share of viscous friction: 1.5 % per kelvin
  static constexpr double gain_std = 0.03;                  // of m: magnets lose 0.1 % per kelvin
  static constexpr double correlation = 1.0;                // s, of the residuals: as long as a motion
  static constexpr double largest = 4.5;                    // deviations that a sample counts: the rest is a weak push
  static constexpr double reach = 3.0;                      // deviations that are learned at most

  static constexpr int taken = 3;  // a, k and m, but not c

  FrictionDrift(int n, const FrictionDriftParameters& p) : n_(n), p_(p) {
    require_range("friction_drift", p.time, 0.0, 1e6);
    require_range("drift_share", p.share, 1e-6, 1.0);
    require_each("drift_std", p.std.data(), n, 0.0, 1e6);
    reset();
  }

  void reset() noexcept {
    joint_.fill({{}, p_.time > 0.0 ? identity : Square{}});
    base_ = 0.0;
    pause();
  }

  // Start with what `other` has learned, by the settings of this one; with nothing where one of them is off.
  void take_over(const FrictionDrift& other) noexcept {
    if (p_.time <= 0.0 || other.p_.time <= 0.0) return;
    const FrictionDriftParameters own = p_;
    *this = other;
    p_ = own;
  }

  // Forget the samples that are not applied yet.
  void pause() noexcept {
    slot_ = std::numeric_limits<std::int64_t>::min();
    blocked_ = true;
    shape_.fill({});
    filling_.fill({});
    waiting_.fill({});
  }

  // f (n): friction of the law; tau (n): model torque; left (n): what is left of it after model, friction and
  // torque(), with friction's sign, low-passed with the weight `lag`; std (n): deviation of friction; free: `left` is
  // an error (no contact or payload, sensors trusted).
  void step(std::int64_t stamp_ns, double dt, double lag, const double* v, const double* f, const double* tau,
            const double* left, const double* std, bool free) noexcept {
    if (p_.time <= 0.0) return;
    if (const std::int64_t slot = stamp_ns / slot_length; slot != slot_) turn(slot);
    blocked_ = blocked_ || !free;
    for (int i = 0; i < n_; ++i) {
      Joint& joint = joint_[i];
      const Vector now = shape(i, v[i], f[i], tau[i]);
      Vector row{0.0, 0.0, 0.0, reach};
      double known = 0.0;
      for (int k = 0; k < size; ++k) joint.P[(size + 1) * k] = std::min(joint.P[(size + 1) * k] + dt / p_.time, 1.0);
      for (int k = 0; k < taken; ++k) {
        shape_[i][k] += lag * (now[k] - shape_[i][k]);
        row[k] = shape_[i][k] / std[i];
        known += row[k] * joint.x[k];
      }
      if (std::abs(v[i]) < speeds::sliding || !(std[i] > 0.0)) continue;  // presliding; no friction is taken off
      const double seen = std::clamp(left[i] / std[i], -largest, largest);
      filling_[i].add(dt / (2.0 * correlation), row, seen + known);
    }
  }

  // Friction of all joints differs by another share of the law's, about which k is learned from now on.
  void shift(double share) noexcept {
    base_ = std::max(base_ + share, -1.0);  // friction takes energy
    pause();
  }
  double friction(int i) const noexcept { return shape_[i][1] / p_.share; }  // of the law, as late as `left`

  double torque(int i, double v, double f, double tau) const noexcept {
    const Vector row = shape(i, v, f, tau);
    double sum = base_ * f;
    for (int k = 0; k < taken; ++k) sum += row[k] * joint_[i].x[k];
    return sum;
  }
  // Of a and k; that of k as far as the joint slides: at rest its error stays what it is, and rest_bias.hpp takes it.
  double variance(int i, double v, double f) const noexcept {
    const Vector row = shape(i, v, f * std::min(std::abs(v) / speeds::sliding, 1.0), 0.0);
    const Square& P = joint_[i].P;
    return std::max(row[0] * row[0] * P[0] + 2.0 * row[0] * row[1] * P[1] + row[1] * row[1] * P[size + 1], 0.0);
  }
  // a [Nm s/rad], k, m and their covariance (3, 3)
  void state(int i, double* value, double* covariance) const noexcept {
    const double unit[taken] = {p_.std[i], p_.share, gain_std};
    for (int k = 0; k < taken; ++k) {
      value[k] = unit[k] * joint_[i].x[k] + (k == 1 ? base_ : 0.0);
      for (int l = 0; l < taken; ++l) covariance[taken * k + l] = unit[k] * unit[l] * joint_[i].P[size * k + l];
    }
  }

 private:
  static constexpr int size = 4;
  using Vector = std::array<double, size>;
  using Square = std::array<double, size * size>;
  static constexpr Square identity{1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0};
  struct Joint {
    Vector x;
    Square P;  // covariance
  };
  struct Sums {  // over the variance of the noise: of row row' and of row y
    Square square{};
    Vector product{};
    void add(double weight, const Vector& row, double y) noexcept {
      for (int k = 0; k < size; ++k) {
        product[k] += weight * row[k] * y;
        for (int l = 0; l < size; ++l) square[size * k + l] += weight * row[k] * row[l];
      }
    }
  };

  // Torque per unit of a, k and m; that of c follows the noise.
  Vector shape(int i, double v, double f, double tau) const noexcept {
    return {p_.std[i] * v, p_.share * f, gain_std * (tau + f), 0.0};
  }

  // A slot has ended: the one before it is applied unless there was a contact in either.
  void turn(std::int64_t slot) noexcept {
    const bool broken = blocked_ || slot != slot_ + 1;
    for (int i = 0; i < n_ && !broken; ++i) apply(joint_[i], waiting_[i]);
    waiting_ = broken ? decltype(waiting_){} : filling_;
    filling_.fill({});
    blocked_ = false;
    slot_ = slot;
  }

  // P <- (P^-1 + H)^-1, x <- x + P (y - H x)
  static void apply(Joint& joint, const Sums& s) noexcept {
    Square information = inverse(joint.P);
    Vector left = s.product;
    for (int k = 0; k < size * size; ++k) {
      information[k] += s.square[k];
      left[k / size] -= s.square[k] * joint.x[k % size];
    }
    joint.P = inverse(information);
    for (int k = 0; k < size * size; ++k) joint.x[k / size] += joint.P[k] * left[k % size];
    for (int k = 0; k < taken; ++k) joint.x[k] = std::clamp(joint.x[k], -reach, reach);
  }
  static Square inverse(const Square& A) noexcept {
    Cholesky<size> factored;
    Square B = identity;
    if (!factored.factor(A)) return B;
    for (int k = 0; k < size; ++k) factored.solve(&B[size * k]);
    return B;
  }

  int n_;
  FrictionDriftParameters p_;
  std::array<Joint, max_joints> joint_{};
  double base_ = 0.0;                       // share of friction about which k is learned
  std::array<Vector, max_joints> shape_{};  // as late as tau
  std::array<Sums, max_joints> filling_{}, waiting_{};
  std::int64_t slot_ = 0;  // stamp over slot_length
  bool blocked_ = true;    // a contact in the present slot, or its beginning is missing
};

}  // namespace robot_dynamics
