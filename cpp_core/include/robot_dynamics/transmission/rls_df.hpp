// Recursive least squares with directional forgetting and regularisation, RLS-DF* [Madsen2020 ch3 18], for
// tau_E(phi) = a_1 phi + a_2 phi^3 [ch3 7-8] of one joint.
//   e = y - x'a, r = x'Px, a += P x e / (1 + r), beta = mu - (1 - mu)/r,  P <- P - beta/(mu (1 + r)) P x x' P + delta I
// The last line is the source's update (which divides by 1/beta) without its singularity; because 1 + beta r = mu (1 +
// r) P stays positive definite. r = 0: no update. P is capped at P(0) by a congruence, which keeps it definite. Inside,
// phi is scaled by phi_ref; P(0) and delta keep the meaning they have for phi in rad.
#pragma once

#include <algorithm>
#include <cmath>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics {

// One update, written once for double (one joint) and for portable::Vec (one joint per lane): its roots and divisions
// wait for one another, so joints side by side cost little more than one.
namespace rls {

constexpr int powers = 2;
constexpr double phi_ref = 1e-3;                                          // [rad]
constexpr double scale[powers] = {phi_ref, phi_ref * phi_ref * phi_ref};  // of the coefficients inside
constexpr double delta = 100.0;             // added to P per second: 0.1 per sample at 1 kHz
constexpr double P0[powers] = {1e9, 1e18};  // diagonal of P(0), unscaled
constexpr double cap[powers] = {P0[0] * scale[0] * scale[0], P0[1] * scale[1] * scale[1]};
constexpr double prior_std = 1.0, prior_samples = 100;  // of the torque before the first sample [Nm], and its weight

inline double square_root(double x) noexcept { return std::sqrt(x); }
inline double select(bool mask, double a, double b) noexcept { return mask ? a : b; }
inline bool any(bool mask) noexcept { return mask; }
inline bool no(bool mask) noexcept { return !mask; }
inline portable::Ints no(portable::Ints mask) noexcept { return ~mask; }
using portable::any;
using portable::select;
using portable::square_root;

// Numbers that only the time constant and dt decide: mu, what is added to P.
template <class T>
struct Constants {
  T mu, per_mu, added0, added1;
};

// a, S (P = S S', row by row) in scaled powers, and the error's statistics.
template <class T>
struct State {
  T a0, a1, s00, s01, s10, s11, residual, weight, power;
};

// y = tau_E; the error before the update goes to e. False, and nothing changed, where a lane has nothing to learn from.
template <class T>
RD_INLINE bool update(State<T>& state, const Constants<T>& k, T phi, T y, T& e) {
  State<T> n = state;
  const T x0 = phi * (1 / phi_ref), x1 = x0 * x0 * x0;
  e = y - x0 * n.a0 - x1 * n.a1;
  const T f0 = n.s00 * x0 + n.s10 * x1, f1 = n.s01 * x0 + n.s11 * x1, r = f0 * f0 + f1 * f1;
  if (any(no((r > 0.0) & (r - r == 0.0) & (e - e == 0.0)))) return false;
  const T q = 1.0 + r, gain = 1.0 / q, g = (1.0 - square_root(gain * k.per_mu)) / r;
  const T p0 = n.s00 * f0 + n.s01 * f1, p1 = n.s10 * f0 + n.s11 * f1;  // P x
  n.a0 += p0 * e * gain;
  n.a1 += p1 * e * gain;
  n.s00 -= g * p0 * f0, n.s01 -= g * p0 * f1;  // S <- S (I - g f f')
  n.s10 -= g * p1 * f0, n.s11 -= g * p1 * f1;
  // P + delta I: the determinant is a sum of positive terms, nothing cancels
  const T p00 = n.s00 * n.s00 + n.s01 * n.s01, p11 = n.s10 * n.s10 + n.s11 * n.s11;
  const T p10 = n.s00 * n.s10 + n.s01 * n.s11, root = n.s00 * n.s11 - n.s01 * n.s10, t = p00 + k.added0;
  const T det = root * root + k.added0 * p11 + k.added1 * p00 + k.added0 * k.added1, corner = square_root(t);
  const T per_corner = 1.0 / corner;
  const auto positive = t > 0.0;
  n.s01 = select(positive, T{}, n.s01);
  n.s10 = select(positive, p10 * per_corner, n.s10);
  n.s11 = select(positive, square_root(det) * per_corner, n.s11);
  n.s00 = select(positive, corner, n.s00);
  // diag(.., s, ..) P diag(.., s, ..) where P is beyond its cap
  const T c00 = n.s00 * n.s00 + n.s01 * n.s01, c11 = n.s10 * n.s10 + n.s11 * n.s11;
  const auto large0 = c00 > cap[0], large1 = c11 > cap[1];
  if (__builtin_expect(any(large0 | large1), 0)) {
    const T one = T{} + 1.0, s0 = select(large0, square_root(cap[0] / c00), one);
    const T s1 = select(large1, square_root(cap[1] / c11), one);
    n.s00 *= s0, n.s01 *= s0, n.s10 *= s1, n.s11 *= s1;
  }
  n.weight = k.mu * n.weight + 1.0;  // error variance over the same memory
  const T share = 1.0 / n.weight;
  n.residual += (e * e * gain - n.residual) * share;
  n.power += (y * y - n.power) * share;
  state = n;
  return true;
}

}  // namespace rls

class RlsDf {
 public:
  static constexpr int powers = rls::powers;

  // mu = exp(-dt / time_constant): 20 s are 0.99995 at 1 kHz
  explicit RlsDf(double time_constant = 20.0) : time_constant_(time_constant) {
    require(time_constant > 0, "time_constant", time_constant, "> 0");
    reset();
  }

  void reset() noexcept {
    const double variance = rls::prior_std * rls::prior_std;
    s_ = {0, 0, std::sqrt(rls::cap[0]), 0, 0, std::sqrt(rls::cap[1]), variance, rls::prior_samples, 0};
    learned_ = 0;
  }

  // What `other` has learned, with the memory of this one.
  void take_over(const RlsDf& other) noexcept {
    s_ = other.s_;
    learned_ = other.learned_;
  }

  // phi [rad], y = tau_E [Nm], dt [s]; returns the error before the update. Not finite or dt <= 0: no update.
  double update(double phi, double y, double dt) noexcept {
    double e;
    if (!(dt > 0)) return 0.0;
    if (!rls::update(s_, constants(dt), phi, y, e)) return std::isfinite(e) ? e : 0.0;
    learned_ += dt;
    return e;
  }

  // The same for n joints in one go, neighbours side by side; joints with learns[i] false rest. errors may be null.
  static void update_each(RlsDf* joints, int n, const double* phi, const double* y, double dt, const bool* learns,
                          double* errors) noexcept {
    for (int i = 0; i < n; i += 2) {
      const int count = std::min(2, n - i);
      double e[2] = {};
      const bool both = count == 2 && learns[i] && learns[i + 1];
      if (!(both && update_pair(joints[i], joints[i + 1], phi + i, y + i, dt, e)))
        for (int k = 0; k < count; ++k) e[k] = learns[i + k] ? joints[i + k].update(phi[i + k], y[i + k], dt) : 0.0;
      if (errors) std::copy_n(e, count, errors + i);
    }
  }

  double coefficient(int p) const noexcept { return (p ? s_.a1 : s_.a0) / rls::scale[p]; }  // a_p [Nm/rad^(2p-1)]
  double covariance(int i, int j) const noexcept { return P(i, j) / (rls::scale[i] * rls::scale[j]); }
  double learned() const noexcept { return learned_; }  // [s] of samples that entered
  // Share of the torque that the deflection explains, over the memory: 1 perfect, <= 0 none.
  double explained() const noexcept { return s_.power > 0 ? 1 - s_.residual / s_.power : 0.0; }

  // k(phi) = d tau_E / d phi [Nm/rad] [ch3 9-10]
  double stiffness(double phi) const noexcept {
    const double z = phi / rls::phi_ref;
    return (s_.a0 + 3 * z * z * s_.a1) / rls::phi_ref;
  }
  // Standard deviation of k(phi) [Nm/rad] from P and the observed error variance.
  double stiffness_std(double phi) const noexcept {
    const double z = phi / rls::phi_ref, w = 3 * z * z;
    const double sum = P(0, 0) + 2 * w * P(0, 1) + w * w * P(1, 1);
    return std::sqrt(std::max(sum * s_.residual, 0.0)) / rls::phi_ref;
  }

 private:
  using Vec = portable::Vec;

  // Two joints in the two lanes of a vector; false, and nothing changed, where that is not possible.
  static bool update_pair(RlsDf& a, RlsDf& b, const double* phi, const double* y, double dt, double* errors) noexcept {
    if (!(dt > 0)) return false;
    const rls::Constants<double>&p = a.constants(dt), &q = b.constants(dt);
    const rls::Constants<Vec> k{Vec{p.mu, q.mu}, Vec{p.per_mu, q.per_mu}, Vec{p.added0, q.added0},
                                Vec{p.added1, q.added1}};
    const rls::State<double>&x = a.s_, &z = b.s_;
    rls::State<Vec> s{Vec{x.a0, z.a0},      Vec{x.a1, z.a1},   Vec{x.s00, z.s00},           Vec{x.s01, z.s01},
                      Vec{x.s10, z.s10},    Vec{x.s11, z.s11}, Vec{x.residual, z.residual}, Vec{x.weight, z.weight},
                      Vec{x.power, z.power}};
    Vec e;
    if (!rls::update(s, k, portable::load(phi), portable::load(y), e)) return false;
    a.take(s, 0, dt);
    b.take(s, 1, dt);
    portable::store(errors, e);
    return true;
  }
  void take(const rls::State<Vec>& s, int lane, double dt) noexcept {
    s_ = {s.a0[lane],  s.a1[lane],       s.s00[lane],    s.s01[lane],  s.s10[lane],
          s.s11[lane], s.residual[lane], s.weight[lane], s.power[lane]};
    learned_ += dt;
  }

  const rls::Constants<double>& constants(double dt) noexcept {
    if (dt != constants_dt_) {
      const double rate = rls::delta * dt, mu = std::exp(-dt / time_constant_);
      constants_ = {mu, 1 / mu, rate * rls::scale[0] * rls::scale[0], rate * rls::scale[1] * rls::scale[1]};
      constants_dt_ = dt;
    }
    return constants_;
  }
  double P(int i, int j) const noexcept {
    const double S[2][2] = {{s_.s00, s_.s01}, {s_.s10, s_.s11}};
    return S[i][0] * S[j][0] + S[i][1] * S[j][1];
  }

  double time_constant_, constants_dt_ = 0, learned_ = 0;
  rls::Constants<double> constants_{};
  rls::State<double> s_{};
};

}  // namespace robot_dynamics
