// Sine and cosine of all lanes at once: Cody-Waite reduction by pi/2 in three parts, then the Cephes minimax
// polynomials on [-pi/4, pi/4]; within 2 ulp. Angles too large for the reduction go to the C library.
#pragma once

#include <cmath>

#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// k pi/2 stays exact in the first two parts while k has at most 20 bits.
constexpr double largest_reduced_angle = 1e5;

// True lanes: beyond the reduction, infinite or NaN.
RD_INLINE Ints unreducible(Vec x) { return ~(Ints)((x <= largest_reduced_angle) & (x >= -largest_reduced_angle)); }

__attribute__((noinline)) inline void sincos_library(Vec x, Vec& s, Vec& c) {
  for (int l = 0; l < lanes; ++l) {
    s[l] = ::sin(x[l]);
    c[l] = ::cos(x[l]);
  }
}

// x = r + quadrant pi/2 with |r| <= pi/4; the low bits of `quadrant` are the quadrant.
RD_INLINE Vec reduce(Vec x, Ints& quadrant) {
  constexpr double two_over_pi = 0.63661977236758134308;
  constexpr double round_to_integer = 6755399441055744.0;     // 1.5 * 2^52
  constexpr double pi_2_high = 1.57079632673412561417e+00;    // fdlibm pio2_1, 33 bits
  constexpr double pi_2_middle = 6.07710050630396597660e-11;  // fdlibm pio2_2, 33 bits
  constexpr double pi_2_low = 2.02226624879595063154e-21;     // fdlibm pio2_2t
  Vec k = x * two_over_pi + round_to_integer;
  quadrant = (Ints)k;
  k = k - round_to_integer;
  return ((x - k * pi_2_high) - k * pi_2_middle) - k * pi_2_low;
}

RD_INLINE void sincos_polynomials(Vec x, Vec& s, Vec& c) {
  Ints quadrant;
  const Vec r = reduce(x, quadrant), z = r * r;
  const Vec ps = ((((1.58962301576546568060e-10 * z - 2.50507477628578072866e-8) * z + 2.75573136213857245213e-6) * z -
                   1.98412698295895385996e-4) *
                      z +
                  8.33333333332211858878e-3) *
                     z -
                 1.66666666666666307295e-1;
  const Vec pc = ((((-1.13585365213876817300e-11 * z + 2.08757008419747316778e-9) * z - 2.75573141792967388112e-7) * z +
                   2.48015872888517045348e-5) *
                      z -
                  1.38888888888730564116e-3) *
                     z +
                 4.16666666666665929218e-2;
  const Vec sine = r + r * z * ps;
  const Vec cosine = (1.0 - 0.5 * z) + z * z * pc;
  const Ints odd = -(quadrant & 1);  // an odd quadrant swaps the two
  const Ints sign_s = (quadrant & 2) << 62, sign_c = ((quadrant + 1) & 2) << 62;
  s = (Vec)((Ints)select(odd, cosine, sine) ^ sign_s);
  c = (Vec)((Ints)select(odd, sine, cosine) ^ sign_c);
}

// One vector of any angles.
RD_INLINE void sincos_of(Vec x, Vec& s, Vec& c) {
  if (__builtin_expect(any(unreducible(x)), 0))
    sincos_library(x, s, c);
  else
    sincos_polynomials(x, s, c);
}

// n angles of n different joints, whatever the lane count; s and c hold padded(n).
RD_INLINE void sincos_all(const double* q, int n, double* s, double* c) {
  for (int first = 0; first < n; first += lanes) {
    const int count = n - first < lanes ? n - first : lanes;
    Vec sine, cosine;
    sincos_of(load_first(q + first, count), sine, cosine);
    store(s + first, sine);
    store(c + first, cosine);
  }
}

// One vector per joint.
RD_INLINE void sincos_all(const Vec* q, int n, Vec* s, Vec* c) {
  Ints large{};
  for (int i = 0; i < n; ++i) large |= unreducible(q[i]);
  if (__builtin_expect(any(large), 0))
    for (int i = 0; i < n; ++i) sincos_library(q[i], s[i], c[i]);
  else
    for (int i = 0; i < n; ++i) sincos_polynomials(q[i], s[i], c[i]);
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
