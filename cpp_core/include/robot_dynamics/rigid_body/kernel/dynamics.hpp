// Inverse dynamics, mass matrix and torque regressor of one sample (T = Real) or of one sample per lane (T = Wide).
#pragma once

#include "robot_dynamics/rigid_body/kernel/recursion.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// Joints without known structure: the twist of every joint is general.
struct AnyStructure {
  template <class T, class F>
  RD_INLINE void operator()(int, const double* R, T s, T c, F&& f) const {
    f(Turn<Twist::general, T>{R, s, c});
  }
};

// The twist of each joint, found once per batch; one predictable branch per joint and block.
struct KnownStructure {
  unsigned char twist[most_joints];
  template <class T, class F>
  RD_INLINE void operator()(int i, const double* R, T s, T c, F&& f) const {
    switch (static_cast<Twist>(twist[i])) {
      case Twist::none:
        return f(Turn<Twist::none, T>{R, s, c});
      case Twist::quarter:
        return f(Turn<Twist::quarter, T>{R, s, c});
      case Twist::minus_quarter:
        return f(Turn<Twist::minus_quarter, T>{R, s, c});
      default:
        return f(Turn<Twist::general, T>{R, s, c});
    }
  }
};

// Only exact structure counts, up to the rounding of cos(pi/2): small calibrated angles are kept.
RD_INLINE Twist twist_of(const double* R, const double* p) {
  const auto is = [](double x, double y) { return -1e-15 <= x - y && x - y <= 1e-15; };
  if (!(is(R[0], 1) && is(R[1], 0) && is(R[2], 0) && is(R[3], 0) && is(R[6], 0))) return Twist::general;
  if (is(R[4], 1) && is(R[5], 0) && is(R[7], 0) && is(R[8], 1) && is(p[1], 0)) return Twist::none;
  if (!(is(R[4], 0) && is(R[8], 0) && is(p[2], 0))) return Twist::general;
  if (is(R[5], -1) && is(R[7], 1)) return Twist::quarter;
  if (is(R[5], 1) && is(R[7], -1)) return Twist::minus_quarter;
  return Twist::general;
}

RD_INLINE KnownStructure structure_of(const ChainView& chain) {
  KnownStructure s{};
  for (int i = 0; i < chain.n; ++i)
    s.twist[i] = static_cast<unsigned char>(twist_of(chain.placement + 12 * i, chain.placement + 12 * i + 9));
  return s;
}

// As the chain says (Chain::twist).
RD_INLINE KnownStructure known_structure(const ChainView& chain) {
  KnownStructure s;
  std::memcpy(s.twist, chain.twist, sizeof s.twist);
  return s;
}

// 1 .. most_joints: said for the compiler, which warns of what it unrolls beyond them.
template <int N>
RD_INLINE int joints_of(const ChainView& chain) {
  const int n = N ? N : chain.n;
  if (n < 1 || n > most_joints) __builtin_unreachable();
  return n;
}

// Acceleration of a base at rest in gravity: -g.
template <class T>
RD_INLINE V3<T> base_of(const ChainView& chain) {
  return {fill<T>(-chain.gravity[0]), fill<T>(-chain.gravity[1]), fill<T>(-chain.gravity[2])};
}

// Motion of link i from that of link i - 1. s, c: sine and cosine of q.
template <class T, class Structure>
RD_INLINE void forward_step(int i, const ChainView& chain, const Structure& turn_of, const V3<T>& base, const T* s,
                            const T* c, const T* qd, const T* qdd, Motion<T>* motion) {
  const double* P = chain.placement + 12 * i;
  turn_of(i, P, s[i], c[i], [&](auto turn) RD_FLAT {
    if (i == 0)
      first_motion(turn, base, qd[0], qdd[0], motion[0]);
    else if (i == 1)
      second_motion(turn, P + 9, motion[0], qd[1], qdd[1], motion[1]);
    else
      carry_motion(turn, P + 9, motion[i - 1], motion[i]);
  });
  if (i > 1) add_joint_motion(qd[i], qdd[i], motion[i]);
}

// Base to tip; motion: n of them.
template <int N, class T, class Structure>
RD_INLINE void forward(const ChainView& chain, const Structure& turn_of, const V3<T>& base, const T* s, const T* c,
                       const T* qd, const T* qdd, Motion<T>* motion) {
  const int n = joints_of<N>(chain);
  forward_step(0, chain, turn_of, base, s, c, qd, qdd, motion);
  if (n > 1) forward_step(1, chain, turn_of, base, s, c, qd, qdd, motion);
  RD_UNROLL
  for (int i = 2; i < n; ++i) forward_step(i, chain, turn_of, base, s, c, qd, qdd, motion);
}

// Wrench that moves a link, about its origin.
template <class T>
struct Wrench {
  V3<T> f, n;
  RD_INLINE void add(const Wrench& w) { f = f + w.f, n = n + w.n; }
};
template <class T>
RD_INLINE Wrench<T> link_wrench(const Motion<T>& k, const double* X) {
  return {link_force(k, X), link_moment(k, X)};
}

// Tip to base: tau_i = z_i . n_i.
template <int N, class T, class Structure>
RD_INLINE void backward(const ChainView& chain, const Structure& turn_of, const T* s, const T* c,
                        const Motion<T>* motion, T* tau) {
  const int n = N ? N : chain.n;
  Wrench<T> w{};
  RD_UNROLL
  for (int i = n - 1; i > 0; --i) {
    const double* P = chain.placement + 12 * i;
    w.add(link_wrench(motion[i], chain.inertia + 10 * i));
    tau[i] = w.n.z;
    turn_of(i, P, s[i], c[i], [&](auto turn) { to_parent(turn, P + 9, w.f, w.n); });
  }
  tau[0] = w.n.z + first_moment_z(motion[0], chain.inertia);
}

// tau = M(q) qdd + C(q, qd) qd + g(q) [Madsen2020 2.26]
template <int N, class T, class Structure>
RD_INLINE void rnea(const ChainView& chain, const Structure& turn_of, const T* q, const T* qd, const T* qdd, T* tau) {
  constexpr int most = padded(N ? N : most_joints);
  const int n = N ? N : chain.n;
  T s[most], c[most];
  sincos_all(q, n, s, c);
  Motion<T> motion[N ? N : most_joints];
  forward<N>(chain, turn_of, base_of<T>(chain), s, c, qd, qdd, motion);
  backward<N>(chain, turn_of, s, c, motion, tau);
}

// M (n x n) by composite bodies: column i is the wrench that turns everything beyond joint i with unit acceleration.
template <int N, class T>
RD_INLINE void mass_matrix(const ChainView& chain, const T* q, T* M) {
  constexpr int most = padded(N ? N : most_joints);
  const int n = N ? N : chain.n;
  T s[most], c[most];
  sincos_all(q, n, s, c);
  const double* last = chain.inertia + 10 * (n - 1);
  double mass = last[9];  // of the composite body beyond joint i, with its first moment h and inertia I about frame i
  V3<T> h{fill<T>(last[6]), fill<T>(last[7]), fill<T>(last[8])};
  V3<T> I0{fill<T>(last[0]), fill<T>(last[1]), fill<T>(last[2])};  // rows of I
  V3<T> I1{fill<T>(last[1]), fill<T>(last[3]), fill<T>(last[4])};
  V3<T> I2{fill<T>(last[2]), fill<T>(last[4]), fill<T>(last[5])};
  for (int i = n - 1; i >= 0; --i) {
    M[i * n + i] = I2.z;
    V3<T> f{-h.y, h.x, fill<T>(0)}, m{I0.z, I1.z, I2.z};
    for (int j = i; j > 0; --j) {
      const double* P = chain.placement + 12 * j;
      to_parent(Turn<Twist::general, T>{P, s[j], c[j]}, P + 9, f, m);
      M[i * n + j - 1] = M[(j - 1) * n + i] = m.z;
    }
    if (i == 0) return;
    const double *P = chain.placement + 12 * i, *X = chain.inertia + 10 * (i - 1);
    const Turn<Twist::general, T> turn{P, s[i], c[i]};
    const V3<double> p = vector(P + 9);
    // R I R': rotate the rows, then the columns of what results
    const V3<T> a = turn.to_parent(I0), b = turn.to_parent(I1), d = turn.to_parent(I2);
    const V3<T> x = turn.to_parent(V3<T>{a.x, b.x, d.x}), y = turn.to_parent(V3<T>{a.y, b.y, d.y}),
                z = turn.to_parent(V3<T>{a.z, b.z, d.z});
    h = turn.to_parent(h);
    // about the parent's origin: m (p.p - pp') + 2 p.h - (p h' + h p')
    const T ph = 2.0 * (p.x * h.x + p.y * h.y + p.z * h.z) + mass * (p.x * p.x + p.y * p.y + p.z * p.z);
    const auto shifted = [&](double pi, T hi, double pj, T hj) { return mass * pi * pj + (pi * hj + pj * hi); };
    const T xy = x.y + X[1] - shifted(p.x, h.x, p.y, h.y), xz = x.z + X[2] - shifted(p.x, h.x, p.z, h.z),
            yz = y.z + X[4] - shifted(p.y, h.y, p.z, h.z);
    I0 = {x.x + X[0] + ph - shifted(p.x, h.x, p.x, h.x), xy, xz};
    I1 = {xy, y.y + X[3] + ph - shifted(p.y, h.y, p.y, h.y), yz};
    I2 = {xz, yz, z.z + X[5] + ph - shifted(p.z, h.z, p.z, h.z)};
    h = {h.x + mass * p.x + X[6], h.y + mass * p.y + X[7], h.z + mass * p.z + X[8]};
    mass += X[9];
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
