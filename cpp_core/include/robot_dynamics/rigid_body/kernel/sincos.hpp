// Sine and cosine of all lanes at once: Cody-Waite reduction by pi/2 in three parts, then the Cephes minimax
// polynomials on [-pi/4, pi/4]; within 2 ulp. Angles too large for the reduction go to the C library.
#pragma once

#include <cmath>

#include "robot_dynamics/rigid_body/kernel/number.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// k pi/2 stays exact in the first two parts while k has at most 20 bits.
constexpr double largest_reduced_angle = 1e5;

// True lanes: beyond the reduction, infinite or NaN.
RD_INLINE Ints unreducible(Vec x) { return ~(Ints)((x <= largest_reduced_angle) & (x >= -largest_reduced_angle)); }

// Lanes beyond the reduction alone: the others do not depend on their neighbours.
__attribute__((noinline)) inline void sincos_library(const Wide& x, Wide& s, Wide& c) {
  const Ints large = unreducible(x.v);
  for (int l = 0; l < lanes; ++l) {
    if (!large[l]) continue;
    s.v[l] = ::sin(x.v[l]);
    c.v[l] = ::cos(x.v[l]);
  }
}

// `count` vectors step by step side by side: each polynomial is a chain in which every step waits for the one before.
// x = r + quadrant pi/2 with |r| <= pi/4; the low bits of `quadrant` are the quadrant.
template <int count>
RD_INLINE void sincos_polynomials(const Wide* x, Wide* s, Wide* c) {
  constexpr double two_over_pi = 0.63661977236758134308;
  constexpr double round_to_integer = 6755399441055744.0;     // 1.5 * 2^52
  constexpr double pi_2_high = 1.57079632673412561417e+00;    // fdlibm pio2_1, 33 bits
  constexpr double pi_2_middle = 6.07710050630396597660e-11;  // fdlibm pio2_2, 33 bits
  constexpr double pi_2_low = 2.02226624879595063154e-21;     // fdlibm pio2_2t
  constexpr double sine_terms[] = {1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136212857245213e-6,
                                   -1.98412698295895385996e-4, 8.33333333332211858878e-3,  -1.66666666666666307295e-1};
  constexpr double cosine_terms[] = {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                                     -2.75573141792967388112e-7,  2.48015872888517047345e-5,
                                     -1.38888888888730564116e-3,  4.16666666666665929218e-2};
  Ints quadrant[count];
  Wide r[count], z[count], sine[count], cosine[count];
  const auto each = [&](auto&& f) RD_FLAT {
    RD_UNROLL
    for (int u = 0; u < count; ++u) f(u);
  };
  each([&](int u) RD_FLAT {
    const Wide k = x[u] * two_over_pi + round_to_integer;
    quadrant[u] = (Ints)k.v;
    r[u] = k - round_to_integer;
  });
  each([&](int u) RD_FLAT { r[u] = ((x[u] - r[u] * pi_2_high) - r[u] * pi_2_middle) - r[u] * pi_2_low; });
  each([&](int u) RD_FLAT {
    z[u] = r[u] * r[u];
    sine[u] = sine_terms[0];
    cosine[u] = cosine_terms[0];
  });
  RD_UNROLL
  for (int k = 1; k < 6; ++k) {
    each([&](int u) RD_FLAT {
      sine[u] = sine[u] * z[u] + sine_terms[k];
      cosine[u] = cosine[u] * z[u] + cosine_terms[k];
    });
  }
  each([&](int u) RD_FLAT {
    sine[u] = r[u] + r[u] * z[u] * sine[u];
    cosine[u] = (1.0 - 0.5 * z[u]) + z[u] * z[u] * cosine[u];
  });
  each([&](int u) RD_FLAT {
    const Ints sign_s = (quadrant[u] & 2) << 62, sign_c = ((quadrant[u] + 1) & 2) << 62;
    // an odd quadrant swaps the two
    s[u].v = (Vec)((Ints)select_odd(quadrant[u], cosine[u].v, sine[u].v) ^ sign_s);
    c[u].v = (Vec)((Ints)select_odd(quadrant[u], sine[u].v, cosine[u].v) ^ sign_c);
  });
}

// `count` vectors of any angles.
template <int count>
RD_INLINE void sincos_of(const Wide* x, Wide* s, Wide* c) {
  sincos_polynomials<count>(x, s, c);
  Ints large{};
  for (int u = 0; u < count; ++u) large |= unreducible(x[u].v);
  if (__builtin_expect(any(large), 0))
    for (int u = 0; u < count; ++u) sincos_library(x[u], s[u], c[u]);
}

// n angles of n different joints, whatever the lane count; s and c hold padded(n).
RD_INLINE void sincos_all(const double* q, int n, double* s, double* c) {
  for (int first = 0; first < n; first += lanes) {
    const int count = n - first < lanes ? n - first : lanes;
    const Wide x = Wide::of(load_first(q + first, count));
    Wide sine, cosine;
    sincos_of<1>(&x, &sine, &cosine);
    store(s + first, sine.v);
    store(c + first, cosine.v);
  }
}
RD_INLINE void sincos_all(const Real* q, int n, Real* s, Real* c) {
  sincos_all(reinterpret_cast<const double*>(q), n, raw(s), raw(c));
}

constexpr int joints_at_once = lanes == 8 ? 3 : 2;  // as many as the registers hold

// One vector per joint, of the joints first .. last - 1; first is a multiple of `joints_at_once`.
RD_INLINE void sincos_range(const Wide* q, int first, int last, Wide* s, Wide* c) {
  int i = first;
  for (; i + joints_at_once <= last; i += joints_at_once) sincos_of<joints_at_once>(q + i, s + i, c + i);
  for (; i < last; ++i) sincos_of<1>(q + i, s + i, c + i);
}
RD_INLINE void sincos_all(const Wide* q, int n, Wide* s, Wide* c) { sincos_range(q, 0, n, s, c); }

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
