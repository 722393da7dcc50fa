// Torque regressor, tau = Y(q, qd, qdd) phi [Liu2020 8]; phi per link: XX XY XZ YY YZ ZZ mX mY mZ m.
// A parameter of link i is a wrench (f, n) at the link's origin; the torque of joint j is u.n + v.f, where u is its
// axis and v the velocity it gives that origin, both in the link's frame. The forward recursion updates u and v.
#pragma once

#include "robot_dynamics/rigid_body/kernel/dynamics.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// What one link contributes: the moment columns of the six inertias and the force columns of the first moments.
template <class T>
struct LinkColumns {
  V3<T> inertia[6];  // n for a unit XX, XY, XZ, YY, YZ, ZZ
  const T* U;
  V3<T> a;

  RD_INLINE LinkColumns(const Motion<T>& k) : U(k.U), a(k.a) {
    const V3<T>&w = k.w, &d = k.d;
    const T xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z, yy = w.y * w.y, zz = w.z * w.z;
    inertia[0] = {d.x, xz, -xy};
    inertia[1] = {d.y - xz, d.x + yz, w.x * w.x - yy};
    inertia[2] = {d.z + xy, zz - w.x * w.x, d.x - yz};
    inertia[3] = {-yz, d.y, xy};
    inertia[4] = {yy - zz, d.z - xy, d.y + xz};
    inertia[5] = {yz, -xz, d.z};
  }

  // emit(e, value): torque of parameter e about the screw (u, v)
  template <class F>
  RD_INLINE void torque(const V3<T>& u, const V3<T>& v, F&& emit) const {
    RD_UNROLL
    for (int e = 0; e < 6; ++e) emit(e, inertia[e].x * u.x + inertia[e].y * u.y + inertia[e].z * u.z);
    emit(6, U[0] * v.x + U[3] * v.y + U[6] * v.z + a.y * u.z - a.z * u.y);
    emit(7, U[1] * v.x + U[4] * v.y + U[7] * v.z + a.z * u.x - a.x * u.z);
    emit(8, U[2] * v.x + U[5] * v.y + U[8] * v.z + a.x * u.y - a.y * u.x);
    emit(9, v.x * a.x + v.y * a.y + v.z * a.z);
  }
  // the link's own joint: u = z, v = 0
  template <class F>
  RD_INLINE void own_torque(F&& emit) const {
    RD_UNROLL
    for (int e = 0; e < 6; ++e) emit(e, inertia[e].z);
    emit(6, a.y);
    emit(7, -a.x);
    emit(8, fill<T>(0));
    emit(9, fill<T>(0));
  }
};

// The motion of a link seen in its reporting frame, A x_link.
template <class T>
RD_INLINE Motion<T> reported(const double* A, const Motion<T>& k) {
  Motion<T> r;
  r.w = rotate(A, k.w);
  r.d = rotate(A, k.d);
  r.a = rotate(A, k.a);
  r.update_U();
  return r;
}

// emit(j, i, e, value) for row j, link i >= j, parameter e. Columns of links before the joint are zero.
template <int N, class T, class Structure, class F>
RD_INLINE void regressor(const ChainView& chain, const Structure& turn_of, const T* q, const T* qd, const T* qdd,
                         F&& emit) {
  constexpr int most = N ? N : most_joints;
  const int n = N ? N : chain.n;
  T s[padded(most)], c[padded(most)];
  sincos_all(q, n, s, c);
  Motion<T> motion[most];
  forward<N>(chain, turn_of, base_of<T>(chain), s, c, qd, qdd, motion);
  V3<T> u[most], v[most];
  for (int i = 0; i < n; ++i) {
    const double* P = chain.placement + 12 * i;
    const V3<double> p = vector(P + 9);
    if (i > 0)
      turn_of(i, P, s[i], c[i], [&](auto turn) {
        for (int j = 0; j < i; ++j) {
          v[j] = turn.to_child(plus_cross(v[j], u[j], p));
          u[j] = turn.to_child(u[j]);
        }
      });
    u[i] = unit_z<T>();
    v[i] = V3<T>{};
    if (chain.frame == nullptr) {
      const LinkColumns<T> columns(motion[i]);
      for (int j = 0; j < i; ++j) columns.torque(u[j], v[j], [&](int e, T value) { emit(j, i, e, value); });
      columns.own_torque([&](int e, T value) { emit(i, i, e, value); });
    } else {
      const double* A = chain.frame + 9 * i;
      const Motion<T> seen = reported(A, motion[i]);
      const LinkColumns<T> columns(seen);
      for (int j = 0; j <= i; ++j)
        columns.torque(rotate(A, u[j]), rotate(A, v[j]), [&](int e, T value) { emit(j, i, e, value); });
    }
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
