// The Newton-Euler recursions of a revolute chain [Madsen2020 2.26-2.28, ch5], written once for any number type:
// Real (one sample) or Wide (one sample per lane). N = 0 is any number of joints, N > 0 unrolls.
//
// Parts:
//   Turn          x_parent = R Rz(q) x_child; a right-angled twist (modified DH) is a permutation and a plane rotation
//   Motion::U     the kinematic matrix U = [wd]x + [w]x[w]x: a point p of the link accelerates with a + U p
//   link_moment   n = I wd + w x I w + mc x a, with its second-order terms read off U instead of computing I w
#pragma once

#include "robot_dynamics/rigid_body/kernel/chain_view.hpp"
#include "robot_dynamics/rigid_body/kernel/sincos.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

constexpr int most_joints = 16;

template <class T>
struct V3 {
  T x, y, z;
};
template <class T>
RD_INLINE V3<T> operator+(const V3<T>& a, const V3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class A, class B>
RD_INLINE auto cross(const V3<A>& a, const V3<B>& b) {
  return V3<decltype(a.y * b.z - a.z * b.y)>{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
// c + a x b: the sum first, so that every product fuses
template <class C, class A, class B>
RD_INLINE V3<C> plus_cross(const V3<C>& c, const V3<A>& a, const V3<B>& b) {
  return {c.x + a.y * b.z - a.z * b.y, c.y + a.z * b.x - a.x * b.z, c.z + a.x * b.y - a.y * b.x};
}
RD_INLINE V3<double> vector(const double* p) { return {p[0], p[1], p[2]}; }
template <class T>
RD_INLINE V3<T> unit_z() {
  return {fill<T>(0), fill<T>(0), fill<T>(1)};
}
template <class T>
RD_INLINE V3<T> rotate(const double* R, const V3<T>& a) {
  return {R[0] * a.x + R[1] * a.y + R[2] * a.z, R[3] * a.x + R[4] * a.y + R[5] * a.z,
          R[6] * a.x + R[7] * a.y + R[8] * a.z};
}
template <class T>
RD_INLINE V3<T> rotate_back(const double* R, const V3<T>& a) {
  return {R[0] * a.x + R[3] * a.y + R[6] * a.z, R[1] * a.x + R[4] * a.y + R[7] * a.z,
          R[2] * a.x + R[5] * a.y + R[8] * a.z};
}

// The constant part of a joint's rotation. Right-angled twists about x also have p = (a, -d sin, d cos).
enum class Twist { general, none, quarter, minus_quarter };

// x_parent = R Rz(q) x_child; a right-angled R is a permutation, so that only the plane rotation costs anything
template <Twist twist, class T>
struct Turn {
  T s, c;
  RD_INLINE Turn(const double*, T sine, T cosine) : s(sine), c(cosine) {}
  RD_INLINE V3<T> to_child(const V3<T>& a) const {
    V3<T> b = a;
    if constexpr (twist == Twist::quarter) b = {a.x, a.z, -a.y};
    if constexpr (twist == Twist::minus_quarter) b = {a.x, -a.z, a.y};
    return {c * b.x + s * b.y, c * b.y - s * b.x, b.z};
  }
  RD_INLINE V3<T> parent_z() const { return to_child(unit_z<T>()); }
  RD_INLINE V3<T> to_parent(const V3<T>& a) const {
    const V3<T> b{c * a.x - s * a.y, s * a.x + c * a.y, a.z};
    if constexpr (twist == Twist::quarter) return {b.x, -b.z, b.y};
    if constexpr (twist == Twist::minus_quarter) return {b.x, b.z, -b.y};
    return b;
  }
};
template <class T>
struct Turn<Twist::general, T> {
  const double* R;
  T x[3], y[3];  // first two columns of R Rz(q); the third is R's
  RD_INLINE Turn(const double* R_, T s, T c) : R(R_) {
    for (int k = 0; k < 3; ++k) {
      x[k] = c * R[3 * k] + s * R[3 * k + 1];
      y[k] = c * R[3 * k + 1] - s * R[3 * k];
    }
  }
  RD_INLINE V3<T> to_child(const V3<T>& a) const {
    return {x[0] * a.x + x[1] * a.y + x[2] * a.z, y[0] * a.x + y[1] * a.y + y[2] * a.z,
            R[2] * a.x + R[5] * a.y + R[8] * a.z};
  }
  RD_INLINE V3<T> parent_z() const { return {x[2], y[2], fill<T>(R[8])}; }  // the parent's z seen by the child
  RD_INLINE V3<T> to_parent(const V3<T>& a) const {
    return {x[0] * a.x + y[0] * a.y + R[2] * a.z, x[1] * a.x + y[1] * a.y + R[5] * a.z,
            x[2] * a.x + y[2] * a.y + R[8] * a.z};
  }
};

// Motion of a link in its own frame: angular velocity w, angular acceleration d, acceleration a of the origin
// (gravity included as -g of the base), and the matrix U.
template <class T>
struct Motion {
  V3<T> w, d, a;
  T xy, xz, yz;  // products of w
  T U[9];

  RD_INLINE void update_U() {
    xy = w.x * w.y, xz = w.x * w.z, yz = w.y * w.z;
    const T yy = w.y * w.y, zz = w.z * w.z;
    U[0] = -(yy + zz), U[1] = xy - d.z, U[2] = xz + d.y;
    U[3] = xy + d.z, U[4] = -(w.x * w.x + zz), U[5] = yz - d.x;
    U[6] = xz - d.y, U[7] = yz + d.x, U[8] = -(w.x * w.x + yy);
  }
  // b + U p; a right-angled twist has one coordinate of p equal to zero
  template <Twist twist>
  RD_INLINE V3<T> plus_U(const V3<T>& b, const double* p) const {
    if constexpr (twist == Twist::none)
      return {b.x + U[0] * p[0] + U[2] * p[2], b.y + U[3] * p[0] + U[5] * p[2], b.z + U[6] * p[0] + U[8] * p[2]};
    else if constexpr (twist != Twist::general)
      return {b.x + U[0] * p[0] + U[1] * p[1], b.y + U[3] * p[0] + U[4] * p[1], b.z + U[6] * p[0] + U[7] * p[1]};
    else
      return {b.x + U[0] * p[0] + U[1] * p[1] + U[2] * p[2], b.y + U[3] * p[0] + U[4] * p[1] + U[5] * p[2],
              b.z + U[6] * p[0] + U[7] * p[1] + U[8] * p[2]};
  }
};

// First link: the base only accelerates, by `base` = -gravity. w and d are along z, so most of U is zero.
template <Twist twist, class T>
RD_INLINE void first_motion(const Turn<twist, T>& turn, const V3<T>& base, T qd, T qdd, Motion<T>& k) {
  const T zero = fill<T>(0);
  k.w = {zero, zero, qd};
  k.d = {zero, zero, qdd};
  k.a = turn.to_child(base);
  k.xy = k.xz = k.yz = zero;
  k.U[0] = k.U[4] = -(qd * qd), k.U[1] = -qdd, k.U[3] = qdd;
  k.U[2] = k.U[5] = k.U[6] = k.U[7] = k.U[8] = zero;
}

// Second link: next_motion without the terms that are zero in the first.
template <Twist twist, class T>
RD_INLINE void second_motion(const Turn<twist, T>& turn, const double* p, const Motion<T>& k0, T qd, T qdd,
                             Motion<T>& k) {
  const V3<T> z = turn.parent_z();
  const V3<T> w{z.x * k0.w.z, z.y * k0.w.z, z.z * k0.w.z};
  k.w = {w.x, w.y, w.z + qd};
  k.d = {z.x * k0.d.z + w.y * qd, z.y * k0.d.z - w.x * qd, z.z * k0.d.z + qdd};
  k.a =
      turn.to_child(V3<T>{k0.a.x + k0.U[0] * p[0] + k0.U[1] * p[1], k0.a.y + k0.U[3] * p[0] + k0.U[0] * p[1], k0.a.z});
  k.update_U();
}

// Motion of the link before, carried to the joint's frame: what depends on the twist.
template <Twist twist, class T>
RD_INLINE void carry_motion(const Turn<twist, T>& turn, const double* p, const Motion<T>& k0, Motion<T>& k) {
  k.w = turn.to_child(k0.w);
  k.d = turn.to_child(k0.d);
  k.a = turn.to_child(k0.template plus_U<twist>(k0.a, p));
}
// The joint's own motion on top of it.
template <class T>
RD_INLINE void add_joint_motion(T qd, T qdd, Motion<T>& k) {
  const V3<T> w = k.w;
  k.w.z = w.z + qd;
  k.d = {k.d.x + w.y * qd, k.d.y - w.x * qd, k.d.z + qdd};
  k.update_U();
}

// Force and moment about the origin that move a link: f = m a + U mc, n = I wd + w x I w + mc x a.
template <class T>
RD_INLINE V3<T> link_force(const Motion<T>& k, const double* X) {
  return k.template plus_U<Twist::general>({X[9] * k.a.x, X[9] * k.a.y, X[9] * k.a.z}, X + 6);
}
template <class T>
RD_INLINE T link_moment_z(const Motion<T>& k, const double* X) {
  const T* U = k.U;
  return X[5] * k.d.z + (X[3] - X[0]) * k.xy + X[1] * (U[0] - U[4]) + X[4] * U[2] - X[2] * U[5] + X[6] * k.a.y -
         X[7] * k.a.x;
}
template <class T>
RD_INLINE V3<T> link_moment(const Motion<T>& k, const double* X) {
  const T* U = k.U;
  return {X[0] * k.d.x + (X[5] - X[3]) * k.yz + X[4] * (U[4] - U[8]) + X[2] * U[3] - X[1] * U[6] + X[7] * k.a.z -
              X[8] * k.a.y,
          X[3] * k.d.y + (X[0] - X[5]) * k.xz + X[2] * (U[8] - U[0]) + X[1] * U[7] - X[4] * U[1] + X[8] * k.a.x -
              X[6] * k.a.z,
          link_moment_z(k, X)};
}

// The first link only turns about z.
template <class T>
RD_INLINE T first_moment_z(const Motion<T>& k, const double* X) {
  return X[5] * k.d.z + X[6] * k.a.y - X[7] * k.a.x;
}

// Wrench of a link moved to its parent's frame.
template <Twist twist, class T>
RD_INLINE void to_parent(const Turn<twist, T>& turn, const double* p, V3<T>& f, V3<T>& n) {
  f = turn.to_parent(f);
  n = turn.to_parent(n);
  if constexpr (twist == Twist::none)
    n = {n.x - p[2] * f.y, n.y + p[2] * f.x - p[0] * f.z, n.z + p[0] * f.y};
  else if constexpr (twist != Twist::general)
    n = {n.x + p[1] * f.z, n.y - p[0] * f.z, n.z + p[0] * f.y - p[1] * f.x};
  else
    n = plus_cross(n, vector(p), f);
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
