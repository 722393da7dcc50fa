// An unmodelled payload (mass m, first moments mX mY mZ in the last link frame) by least squares over pieces of
// evidence (payload_evidence.hpp).
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
#include <array>
#include <cmath>

#include "robot_dynamics/observers/payload_evidence.hpp"

namespace robot_dynamics {

// Root of the weight of a piece of n joints of which `rest` = e' W e is left.
inline double root_of_weight(double rest, int n) noexcept { return 1.0 / (1.0 + rest / (4.0 * n)); }

struct Explained {  // of the energy of pieces
  double share = 0.0;
  double beyond_noise = 0.0;  // the same where errors of one deviation need not be explained
};

// From weights of equal size, or of `fit`: what it explains of `count` pieces of n joints.
inline Explained improve_payload(const PayloadEvidence* piece, int count, int n, PayloadLoad& fit,
                                 bool known) noexcept {
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
    if (!sum.solve(factored, theta)) return {};
    left = sum.energy - sum.explained(theta), energy = sum.energy;
  }
  const double scale = std::max(1.0, left / std::max(n * weight - 4.0, 1.0));
  for (int k = 0; k < 4; ++k) {
    double* column = fit.covariance.data() + 4 * k;
    std::fill_n(column, 4, 0.0);
    column[k] = scale;
    factored.solve(column);
  }
  return {1.0 - std::max(left, 0.0) / energy, 1.0 - std::max(left - n * weight, 0.0) / energy};
}

// The better of both: pieces of a push, once most of them are, would replace the payload that was found before.
inline Explained fit_payload(const PayloadEvidence* piece, int count, int n, PayloadLoad& fit) noexcept {
  const auto loss = [&](const PayloadLoad& load) {
    double sum = 0.0;
    for (int k = 0; k < count; ++k) {
      const double rest = piece[k].unexplained(load.theta);
      sum += rest * root_of_weight(rest, n);
    }
    return sum;
  };
  PayloadLoad anew;
  const Explained first = improve_payload(piece, count, n, anew, false);
  const Explained again = improve_payload(piece, count, n, fit, true);
  if (loss(fit) < loss(anew)) return again;
  fit = anew;
  return first;
}

// How many of `count` pieces show no torque beside a payload.
inline int quiet(const PayloadEvidence* piece, int count, const PayloadLoad& load) noexcept {
  const auto still = [&](const PayloadEvidence& s) { return s.unexplained(load.theta) <= s.noise(); };
  return static_cast<int>(std::count_if(piece, piece + count, still));
}

// `count` pieces of n joints, weighted by what is left of them beside a constant torque of every joint.
inline PayloadEvidence weighted_beside(const PayloadEvidence* piece, int count, int n,
                                       const std::array<double, max_joints>& bias) noexcept {
  PayloadEvidence sum;
  for (int k = 0; k < count; ++k) {
    const double root = root_of_weight(piece[k].beside(bias), n);
    sum.add(root * root, piece[k]);
  }
  return sum;
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
    const PayloadEvidence sum = weighted_beside(piece, count, n, bias);
    for (int i = 0; i < n; ++i) bias[i] = sum.weighted[i] / sum.weight[i];
  }
  return true;
}

// Whether the constant torque b of every joint explains twice as much of the pieces as a share of its friction does:
// that has the same sign only as long as the joint turns one way, and is no more than all of it, so that a small
// constant of the law explains no large one.
inline bool sooner_constant(const PayloadEvidence* piece, int count, int n,
                            const std::array<double, max_joints>& bias) noexcept {
  const PayloadEvidence sum = weighted_beside(piece, count, n, bias);
  double constant = 0.0, friction = 0.0;
  for (int i = 0; i < n; ++i) {
    constant += sum.weighted[i] * sum.weighted[i] / sum.weight[i];
    if (!(sum.friction[i] > 0.0)) continue;
    const double k = std::clamp(sum.rubbed[i] / sum.friction[i], -FrictionShare::doubled, FrictionShare::doubled);
    friction += k * (2.0 * sum.rubbed[i] - k * sum.friction[i]);
  }
  return constant > 2.0 * friction;
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
