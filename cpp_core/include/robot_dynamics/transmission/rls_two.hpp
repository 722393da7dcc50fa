// One update of RLS-DF* (rls_df.hpp) for two powers, written once for double (one joint) and for portable::Vec (one
// joint per lane). Its roots and divisions wait for one another, so joints side by side cost little more than one.
#pragma once

#include <cmath>

#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::rls_two {

inline double square_root(double x) noexcept { return std::sqrt(x); }
inline double select(bool mask, double a, double b) noexcept { return mask ? a : b; }
inline bool any(bool mask) noexcept { return mask; }
inline bool no(bool mask) noexcept { return !mask; }
inline portable::Ints no(portable::Ints mask) noexcept { return ~mask; }
using portable::any;
using portable::select;
using portable::square_root;

// Numbers that only the options and dt decide: 1/phi_ref, mu, what is added to P, where P is cut.
template <class T>
struct Constants {
  T per_ref, mu, per_mu, added0, added1, cap0, cap1;
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
  const T x0 = phi * k.per_ref, x1 = x0 * x0 * x0;
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
  const auto large0 = c00 > k.cap0, large1 = c11 > k.cap1;
  if (__builtin_expect(any(large0 | large1), 0)) {
    const T one = T{} + 1.0, s0 = select(large0, square_root(k.cap0 / c00), one);
    const T s1 = select(large1, square_root(k.cap1 / c11), one);
    n.s00 *= s0, n.s01 *= s0, n.s10 *= s1, n.s11 *= s1;
  }
  n.weight = k.mu * n.weight + 1.0;  // error variance over the same memory
  const T share = 1.0 / n.weight;
  n.residual += (e * e * gain - n.residual) * share;
  n.power += (y * y - n.power) * share;
  state = n;
  return true;
}

}  // namespace robot_dynamics::rls_two
