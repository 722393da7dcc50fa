// Forward kinematics and geometric Jacobian [Madsen2020 2.1] of one sample or of one sample per lane.
#pragma once

#include "robot_dynamics/rigid_body/kernel/recursion.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

template <class T>
struct Frame {  // base <- link: columns of R, and the origin
  V3<T> x, y, z, p;
};

template <class T>
RD_INLINE V3<T> combine(const Frame<T>& F, const double* r, int stride) {  // R (r[0], r[stride], r[2 stride])'
  const double a = r[0], b = r[stride], c = r[2 * stride];
  return {F.x.x * a + F.y.x * b + F.z.x * c, F.x.y * a + F.y.y * b + F.z.y * c, F.x.z * a + F.y.z * b + F.z.z * c};
}
template <class T>
RD_INLINE Frame<T> placed(const double* P) {
  const auto column = [P](int k, int stride) { return V3<T>{T(P[k]), T(P[k + stride]), T(P[k + 2 * stride])}; };
  return {column(0, 3), column(1, 3), column(2, 3), column(9, 1)};
}
// F P for a constant placement P (R row-major, p)
template <class T>
RD_INLINE Frame<T> then(const Frame<T>& F, const double* P) {
  return {combine(F, P, 3), combine(F, P + 1, 3), combine(F, P + 2, 3), F.p + combine(F, P + 9, 1)};
}

// base -> link i for i < n (link frames, which turn about z), base -> TCP at n
template <class T>
RD_INLINE void forward_frames(const ChainView& chain, const T* q, Frame<T>* frames) {
  T s[most_joints + 8], c[most_joints + 8];
  sincos_all(q, chain.n, s, c);
  Frame<T> F;
  for (int i = 0; i < chain.n; ++i) {
    const double* P = chain.placement + 12 * i;
    const Frame<T> G = i == 0 ? placed<T>(P) : then(F, P);
    F = {{c[i] * G.x.x + s[i] * G.y.x, c[i] * G.x.y + s[i] * G.y.y, c[i] * G.x.z + s[i] * G.y.z},
         {c[i] * G.y.x - s[i] * G.x.x, c[i] * G.y.y - s[i] * G.x.y, c[i] * G.y.z - s[i] * G.x.z},
         G.z,
         G.p};
    frames[i] = F;
  }
  frames[chain.n] = then(F, chain.tool);
}

// T (n + 1) x 16: homogeneous matrices, row-major, of the reporting frames and of the TCP
template <class T>
RD_INLINE void forward_kinematics(const ChainView& chain, const T* q, T* out) {
  Frame<T> frames[most_joints + 1];
  forward_frames(chain, q, frames);
  for (int i = 0; i <= chain.n; ++i) {
    Frame<T> F = frames[i];
    if (chain.frame != nullptr && i < chain.n) {  // R A': columns of A' are rows of A
      const double* A = chain.frame + 9 * i;
      F = {combine(F, A, 1), combine(F, A + 3, 1), combine(F, A + 6, 1), F.p};
    }
    const T zero = fill<T>(0), one = fill<T>(1);
    const T matrix[16] = {F.x.x, F.y.x, F.z.x, F.p.x, F.x.y, F.y.y, F.z.y, F.p.y,
                          F.x.z, F.y.z, F.z.z, F.p.z, zero,  zero,  zero,  one};
    for (int k = 0; k < 16; ++k) out[16 * i + k] = matrix[k];
  }
}

// J (6 x n, row-major): TCP linear velocity (rows 0-2) and angular velocity (3-5) in the base frame
template <class T>
RD_INLINE void jacobian(const ChainView& chain, const T* q, T* J) {
  Frame<T> frames[most_joints + 1];
  forward_frames(chain, q, frames);
  const int n = chain.n;
  const V3<T>& tcp = frames[n].p;
  for (int i = 0; i < n; ++i) {
    const V3<T>&z = frames[i].z, &o = frames[i].p;
    const V3<T> v = cross(z, V3<T>{tcp.x - o.x, tcp.y - o.y, tcp.z - o.z});
    const T column[6] = {v.x, v.y, v.z, z.x, z.y, z.z};
    for (int k = 0; k < 6; ++k) J[k * n + i] = column[k];
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
