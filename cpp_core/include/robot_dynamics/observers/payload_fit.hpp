// An unmodelled payload (mass m, first moments mX mY mZ in the last link frame) by least squares over pieces of
// evidence.
//
//   tau = Y(q, qd, qdd) theta + e    theta = (m, mX, mY, mZ)    W = diag(1/std^2)
//   H = sum w Y' W Y    b = sum w Y' W tau    theta = H^-1 b    P = k H^-1
//   k = max(1, sum w e' W e / (n sum w - 4))    w = 1 / (1 + e' W e / (4 n))^2: a piece with a push hardly
//                                               counts; they minimise sum e' W e / (1 + e' W e / (4 n)) (source: own)
//
// A constant torque b of every joint has the same weights, from the median of the pieces on; and so has a share k of
// the friction f of all joints, with a payload or without, from equal ones on: tau = Y theta + k f + e.
#pragma once

#include <algorithm>
#include <cmath>

#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

struct PayloadLoad {  // m [kg], mX, mY, mZ [kg m]: excess over the model, with their covariance
  std::array<double, 4> theta{};
  std::array<double, 16> covariance{};
  double mass_std() const noexcept { return std::sqrt(covariance[0]); }
  double first_moment() const noexcept {
    return std::sqrt(theta[1] * theta[1] + theta[2] * theta[2] + theta[3] * theta[3]);
  }
};

struct FrictionShare {  // k of the friction of all joints, beside a payload
  double k = 0.0;
  std::array<double, 4> theta{};
  int alike = 0;  // joints whose own share is 0.4 to 1.6 of it, where that is more than a deviation
};

struct PayloadEvidence {  // sums over samples
  // root mean square over the samples, of the root sum square over the joints of torque / std, above which it shows
  static constexpr double significance = 3.0;
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
  double noise() const noexcept { return significance * significance * amount; }
  bool shows() const noexcept { return energy > noise(); }
  bool explained_by(const PayloadLoad& load) const noexcept { return explained(load.theta) > explained_share * energy; }
  // Nothing explains it clearly better than the payload does.
  bool contradicts(const PayloadLoad& load) const noexcept {
    return explained(load.theta) < -significance * significance;
  }
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
  explicit PayloadModel(const Chain& chain) : chain_(chain), last_mass_(chain.inertia[chain.n - 1][9]) {
    for (auto& X : chain_.inertia) X.fill(0.0);
  }
  int joints() const noexcept { return chain_.n; }
  double last_mass() const noexcept { return last_mass_; }  // kg, of the last body with its declared load

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
  double last_mass_;
};

// Root of the weight of a piece of n joints of which `rest` = e' W e is left.
inline double root_of_weight(double rest, int n) noexcept { return 1.0 / (1.0 + rest / (4.0 * n)); }

// From weights of equal size, or of `fit`: the share of the energy of `count` pieces of n joints that it explains.
inline double improve_payload(const PayloadEvidence* piece, int count, int n, PayloadLoad& fit, bool known) noexcept {
  constexpr int rounds = 4;
  std::array<double, 4>& theta = fit.theta;
  Cholesky<4> factored;
  double left = 0.0, energy = 0.0, weight = 0.0;
  for (int round = 0; round < rounds; ++round) {
    PayloadEvidence sum;
    left = energy = weight = 0.0;
    for (int k = 0; k < count; ++k) {
      const double rest = round || known ? piece[k].unexplained(theta) : 0.0;
      const double root = root_of_weight(rest, n), w = root * root;
      sum.add(w, piece[k]);
      weight += w;
    }
    if (!sum.solve(factored, theta)) return 0.0;
    left = sum.energy - sum.explained(theta), energy = sum.energy;
  }
  const double scale = std::max(1.0, left / std::max(n * weight - 4.0, 1.0));
  for (int k = 0; k < 4; ++k) {
    double* column = fit.covariance.data() + 4 * k;
    std::fill_n(column, 4, 0.0);
    column[k] = scale;
    factored.solve(column);
  }
  return 1.0 - std::max(left, 0.0) / energy;
}

// The better of both: pieces of a push, once most of them are, would replace the payload that was found before.
inline double fit_payload(const PayloadEvidence* piece, int count, int n, PayloadLoad& fit) noexcept {
  const auto loss = [&](const PayloadLoad& load) {
    double sum = 0.0;
    for (int k = 0; k < count; ++k) {
      const double rest = piece[k].unexplained(load.theta);
      sum += rest * root_of_weight(rest, n);
    }
    return sum;
  };
  PayloadLoad anew;
  const double share = improve_payload(piece, count, n, anew, false);
  const double again = improve_payload(piece, count, n, fit, true);
  if (loss(fit) < loss(anew)) return again;
  fit = anew;
  return share;
}

// A constant torque of every joint from `count` pieces, at most `capacity`; false where one is not finite.
template <int capacity>
bool fit_bias(const PayloadEvidence* piece, int count, int n, std::array<double, max_joints>& bias) noexcept {
  constexpr int rounds = 4;
  for (int i = 0; i < n; ++i) {
    std::array<double, capacity> mean;
    for (int k = 0; k < count; ++k) {
      mean[k] = piece[k].weighted[i] / piece[k].weight[i];
      if (!std::isfinite(mean[k])) return false;
    }
    std::nth_element(mean.begin(), mean.begin() + count / 2, mean.begin() + count);
    bias[i] = mean[count / 2];
  }
  for (int round = 0; round < rounds; ++round) {
    PayloadEvidence sum;
    for (int k = 0; k < count; ++k) {
      const double root = root_of_weight(piece[k].beside(bias), n);
      sum.add(root * root, piece[k]);
    }
    for (int i = 0; i < n; ++i) bias[i] = sum.weighted[i] / sum.weight[i];
  }
  return true;
}

// From `count` pieces of n joints; 0 without friction.
inline FrictionShare fit_friction(const PayloadEvidence* piece, int count, int n, bool loaded) noexcept {
  constexpr int rounds = 5;
  FrictionShare x;
  PayloadEvidence sum;
  for (int round = 0; round < rounds; ++round) {
    sum = {};
    for (int p = 0; p < count; ++p) {
      const double root = round ? root_of_weight(piece[p].beside(x), n) : 1.0;
      sum.add(root * root, piece[p]);
    }
    if (!sum.solve(loaded, x)) return {};
  }
  for (int i = 0; i < n; ++i) {
    const double own = std::abs(sum.rubbed_beside(x.theta, i) - x.k * sum.friction[i]);
    x.alike += x.k * x.k * sum.friction[i] > sum.amount && own < std::abs(0.6 * x.k) * sum.friction[i];
  }
  return x;
}

struct Alternative {  // to a payload
  double explained;   // share of the pieces that show a torque that it explains, at least
  double left;        // it leaves of what a payload leaves, at most
  double rest;        // share of a piece's squared torque that may be left where it explains it, beside noise
};
constexpr Alternative other_bias{0.6, 0.5, 0.0};  // in similar poses a payload explains it, too
// Pushes, drags, and tools that polish leave 0.34 to 1; with a payload beside it a drag leaves 0.17 of some nine pieces
// and 0.36 of 36, other friction 0.05 to 0.25 and 0.1 (source: own).
constexpr Alternative more_friction{0.3, 0.4, 0.1}, friction_and_payload{0.3, 0.15, 0.1};

// Whether a torque x is the better alternative to a payload, by at least `least` pieces that show a torque: those of a
// push change with the pose.
template <class Torque>
bool better(const PayloadEvidence* piece, int count, int n, int least, const PayloadLoad& fit, const Torque& x,
            const Alternative& to) noexcept {
  double beside_payload = 0.0, beside = 0.0;
  int shown = 0, explained = 0;
  for (int k = 0; k < count; ++k) {
    const double payloads = piece[k].unexplained(fit.theta), own = piece[k].beside(x);
    const double root = root_of_weight(std::min(payloads, own), n);
    beside_payload += root * root * payloads;
    beside += root * root * own;
    if (!piece[k].shows()) continue;
    ++shown;
    explained += own <= std::max(piece[k].noise(), to.rest * piece[k].energy);
  }
  return shown >= least && explained >= to.explained * shown && beside < to.left * beside_payload;
}

}  // namespace robot_dynamics
