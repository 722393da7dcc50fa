// What the external torque of samples says of an unmodelled payload, a constant torque, and other friction: sums over
// them, of which payload_fit.hpp fits.
//
//   tau = Y(q, qd, qdd) theta + b + k f + e    theta = (m, mX, mY, mZ) in the last link frame    W = diag(1/std^2)
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

struct PayloadLoad {  // m [kg], mX, mY, mZ [kg m]: excess over the model, with their covariance
  static constexpr double sure = 4.0, longest_lever = 0.5;  // standard deviations; m
  std::array<double, 4> theta{};
  std::array<double, 16> covariance{};
  double mass_std() const noexcept { return std::sqrt(covariance[0]); }
  double first_moment_std() const noexcept { return std::sqrt(covariance[5] + covariance[10] + covariance[15]); }
  double first_moment() const noexcept {
    return std::sqrt(theta[1] * theta[1] + theta[2] * theta[2] + theta[3] * theta[3]);
  }
  // A mass that is sure, and where a gripper can hold it.
  bool hangs() const noexcept {
    const double mass = std::abs(theta[0]);
    return mass > sure * mass_std() && first_moment() <= longest_lever * mass;
  }
};

struct FrictionShare {                    // k of the friction of all joints, beside a payload
  static constexpr double least = 0.15;   // below, free motion shows it (friction_drift.hpp)
  static constexpr double doubled = 1.0;  // more, and a payload, are another robot
  double k = 0.0;
  std::array<double, 4> theta{};
  int alike = 0;  // joints whose own share is 0.4 to 1.6 of it, where that is more than a deviation

  // By two thirds of n joints.
  bool shown(int n, bool loaded) const noexcept {
    return std::abs(k) > least && !(loaded && std::abs(k) > doubled) && 3 * alike >= 2 * n;
  }
};

struct PayloadEvidence {  // sums over samples
  // root mean square over the samples, of the root sum square over the joints of torque / std, above which it shows
  static constexpr double significance = 3.0;
  static constexpr double certain = significance * significance;
  static constexpr double explained_share = 0.7;            // of the squared torque that a payload must explain
  static constexpr double well_posed = 1e-4;                // 1/(100 kg)^2, with one pose
  double amount = 0.0;                                      // sum of the shares
  double energy = 0.0;                                      // tau' W tau
  std::array<double, 16> H{};                               // Y' W Y
  std::array<double, 4> b{};                                // Y' W tau
  std::array<double, max_joints> weight{}, weighted{};      // diag W, W tau
  std::array<double, max_joints> friction{}, rubbed{};      // of each joint: f W f, f W tau
  std::array<std::array<double, 4>, max_joints> carried{};  // and f W Y

  void add(double share, const PayloadEvidence& s) noexcept {
    amount += share * s.amount;
    energy += share * s.energy;
    for (int k = 0; k < 16; ++k) H[k] += share * s.H[k];
    for (int k = 0; k < 4; ++k) b[k] += share * s.b[k];
    for (int i = 0; i < max_joints; ++i) {
      weight[i] += share * s.weight[i], weighted[i] += share * s.weighted[i];
      friction[i] += share * s.friction[i], rubbed[i] += share * s.rubbed[i];
      for (int k = 0; k < 4; ++k) carried[i][k] += share * s.carried[i][k];
    }
  }

  // Energy that theta explains: 2 theta' b - theta' H theta.
  double explained(const std::array<double, 4>& theta) const noexcept {
    double sum = 0.0;
    for (int r = 0; r < 4; ++r) {
      sum += 2.0 * theta[r] * b[r];
      for (int c = 0; c < 4; ++c) sum -= theta[r] * H[4 * r + c] * theta[c];
    }
    return sum;
  }
  double noise() const noexcept { return certain * amount; }
  bool shows() const noexcept { return energy > noise(); }
  bool explained_by(const PayloadLoad& load) const noexcept { return explained(load.theta) > explained_share * energy; }
  // Nothing explains it clearly better than the payload does.
  bool contradicts(const PayloadLoad& load) const noexcept { return explained(load.theta) < -certain; }
  double unexplained(const std::array<double, 4>& theta) const noexcept {
    return std::max(energy - explained(theta), 0.0);
  }

  // What a constant torque of every joint leaves of the energy.
  double beside(const std::array<double, max_joints>& bias) const noexcept {
    double left = energy;
    for (int i = 0; i < max_joints; ++i) left -= bias[i] * (2.0 * weighted[i] - bias[i] * weight[i]);
    return std::max(left, 0.0);
  }

  // What a payload leaves of f W tau of joint i.
  double rubbed_beside(const std::array<double, 4>& theta, int i) const noexcept {
    double left = rubbed[i];
    for (int k = 0; k < 4; ++k) left -= carried[i][k] * theta[k];
    return left;
  }
  // What a share of the friction and a payload leave of the energy.
  double beside(const FrictionShare& x) const noexcept {
    double left = energy - explained(x.theta);
    for (int i = 0; i < max_joints; ++i) left -= x.k * (2.0 * rubbed_beside(x.theta, i) - x.k * friction[i]);
    return std::max(left, 0.0);
  }

  // theta = H^-1 b; false where H is not finite.
  bool solve(Cholesky<4>& factored, std::array<double, 4>& theta) const noexcept {
    std::array<double, 16> A = H;
    for (int k = 0; k < 4; ++k) A[5 * k] += well_posed;
    if (!factored.factor(A)) return false;
    theta = b;
    factored.solve(theta.data());
    return true;
  }
  // k, and theta where a payload may be carried, else zero; false without friction.
  bool solve(bool loaded, FrictionShare& x) const noexcept {
    std::array<double, 25> A{};
    std::array<double, 5> y{};
    if (loaded) std::copy(b.begin(), b.end(), y.begin());
    for (int k = 0; k < 16; ++k) A[k + k / 4] = H[k];
    for (int k = 0; k < 4; ++k) A[6 * k] += well_posed;
    for (int i = 0; i < max_joints; ++i) {
      A[24] += friction[i], y[4] += rubbed[i];
      for (int k = 0; loaded && k < 4; ++k) A[20 + k] = A[5 * k + 4] += carried[i][k];
    }
    Cholesky<5> factored;
    if (!factored.factor(A)) return false;
    factored.solve(y.data());
    x.theta = {y[0], y[1], y[2], y[3]};
    x.k = y[4];
    return true;
  }
};

class PayloadModel {
 public:
  explicit PayloadModel(const Chain& chain) : chain_(chain) {
    declare(chain);
    for (auto& X : chain_.inertia) X.fill(0.0);
  }
  // The last body with the load that is known.
  void declare(const Chain& chain) noexcept {
    const auto& X = chain.inertia[chain.n - 1];
    last_ = {X[9], X[6], X[7], X[8]};
  }
  int joints() const noexcept { return chain_.n; }
  double last_mass() const noexcept { return last_[0]; }  // kg
  // It hangs, or has a sure moment with which the last body does: a known load may hang elsewhere than was said.
  bool hangs(PayloadLoad load) const noexcept {
    if (load.hangs()) return true;
    if (load.first_moment() <= PayloadLoad::sure * load.first_moment_std()) return false;
    for (int k = 0; k < 4; ++k) load.theta[k] += last_[k];
    return load.hangs();
  }

  // External torque of an unmodelled payload: it hangs, so the environment seems to pull with minus its model torque.
  void torque(const double* q, const double* qd, const double* qdd, const double* theta, double* tau) noexcept {
    auto& X = chain_.inertia[chain_.n - 1];
    X[9] = theta[0];
    for (int k = 0; k < 3; ++k) X[6 + k] = theta[1 + k];
    rnea(chain_, q, qd, qdd, tau);
    for (int i = 0; i < chain_.n; ++i) tau[i] = -tau[i];
  }

  // Torque of a payload and its variance (n).
  void torque(const double* q, const double* qd, const double* qdd, const PayloadLoad& load, double* tau,
              double* var) noexcept {
    double Y[4][max_joints];
    regressor(q, qd, qdd, Y);
    for (int i = 0; i < chain_.n; ++i) {
      tau[i] = var[i] = 0.0;
      for (int k = 0; k < 4; ++k) tau[i] += Y[k][i] * load.theta[k];
      for (int k = 0; k < 16; ++k) var[i] += Y[k / 4][i] * load.covariance[k] * Y[k % 4][i];
    }
  }

  // What one sample says. f (n): friction.
  PayloadEvidence seen(const double* q, const double* qd, const double* qdd, const double* tau, const double* std,
                       const double* f) noexcept {
    PayloadEvidence s;
    s.amount = 1.0;
    double Y[4][max_joints];
    regressor(q, qd, qdd, Y);
    for (int i = 0; i < chain_.n; ++i) {
      const double w = 1.0 / (std[i] * std[i]);
      s.weight[i] = w;
      s.weighted[i] = w * tau[i];
      s.energy += w * tau[i] * tau[i];
      s.friction[i] = w * f[i] * f[i];
      s.rubbed[i] = w * f[i] * tau[i];
      for (int k = 0; k < 4; ++k) s.carried[i][k] = w * f[i] * Y[k][i];
      for (int r = 0; r < 4; ++r) {
        s.b[r] += Y[r][i] * w * tau[i];
        for (int c = 0; c < 4; ++c) s.H[4 * r + c] += Y[r][i] * w * Y[c][i];
      }
    }
    return s;
  }

 private:
  void regressor(const double* q, const double* qd, const double* qdd, double (*Y)[max_joints]) noexcept {
    for (int k = 0; k < 4; ++k) {
      double unit[4] = {};
      unit[k] = 1.0;
      torque(q, qd, qdd, unit, Y[k]);
    }
  }

  Chain chain_;  // geometry and gravity; the payload as the only mass
  std::array<double, 4> last_{};
};

}  // namespace robot_dynamics
