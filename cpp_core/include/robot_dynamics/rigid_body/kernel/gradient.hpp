// Reverse mode of the torque regressor (regressor.hpp): for weights L the slopes of sum_jie L_jie Y_jie(q, qd, qdd)
// with respect to q, qd and qdd, in one pass from base to tip and one back. An adjoint of x is written x_. What a joint
// turns, b = Rz(q)' R' a, changes with its angle by -z x b, so the angle's slope is b_x' b_y - b_y' b_x with the primed
// adjoint, summed over everything that passes the joint: motion of the links, and screws of the joints before it.
#pragma once

#include "robot_dynamics/rigid_body/kernel/batch.hpp"
#include "robot_dynamics/rigid_body/kernel/single.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

template <class T>
RD_INLINE T turned_slope(const V3<T>& b, const V3<T>& b_) {
  return b_.x * b.y - b_.y * b.x;
}

template <class T>
RD_INLINE V3<T> plus(const V3<T>& a, T s, const V3<T>& b) {  // a + s b
  return {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

// Adjoints of U = [d]x + w w' - (w.w) 1 passed on to w and d.
template <class T>
RD_INLINE void add_U(const Motion<T>& k, const T* U_, V3<T>& w_, V3<T>& d_) {
  const T xx = U_[4] + U_[8], yy = U_[0] + U_[8], zz = U_[0] + U_[4];
  const T xy = U_[1] + U_[3], xz = U_[2] + U_[6], yz = U_[5] + U_[7];
  d_ = d_ + V3<T>{U_[7] - U_[5], U_[2] - U_[6], U_[3] - U_[1]};
  w_ = {w_.x + xy * k.w.y + xz * k.w.z - 2.0 * xx * k.w.x, w_.y + xy * k.w.x + yz * k.w.z - 2.0 * yy * k.w.y,
        w_.z + xz * k.w.x + yz * k.w.y - 2.0 * zz * k.w.z};
}

// Adjoints of the six inertia columns n_e (LinkColumns) passed on to w and d.
template <class T>
RD_INLINE void add_inertia(const Motion<T>& k, const V3<T>* n_, V3<T>& w_, V3<T>& d_) {
  d_ = d_ + V3<T>{n_[0].x + n_[1].y + n_[2].z, n_[1].x + n_[3].y + n_[4].z, n_[2].x + n_[4].y + n_[5].z};
  const T xx = n_[1].z - n_[2].y, yy = n_[4].x - n_[1].z, zz = n_[2].y - n_[4].x;
  const T xy = n_[2].x - n_[0].z + n_[3].z - n_[4].y, xz = n_[0].y - n_[1].x + n_[4].z - n_[5].y,
          yz = n_[1].y - n_[2].z - n_[3].x + n_[5].x;
  w_ = {w_.x + 2.0 * xx * k.w.x + xy * k.w.y + xz * k.w.z, w_.y + xy * k.w.x + 2.0 * yy * k.w.y + yz * k.w.z,
        w_.z + xz * k.w.x + yz * k.w.y + 2.0 * zz * k.w.z};
}

// Adjoints of one link's motion: angular velocity, angular acceleration, acceleration of the origin.
template <class T>
struct MotionAdjoint {
  V3<T> w{}, d{}, a{};
};

// What link i's ten columns give: adjoints of its motion, and of the screws (u_j, v_j) of joints j <= i, all in the
// frame in which motion and screws are given. weight(j, e)
template <class T, class F>
RD_INLINE void add_link(const Motion<T>& k, int i, const V3<T>* u, const V3<T>* v, F&& weight, MotionAdjoint<T>& k_,
                        V3<T>* u_, V3<T>* v_) {
  const LinkColumns<T> columns(k);
  V3<T> n_[6] = {};
  T U_[9] = {};
  for (int j = 0; j <= i; ++j) {
    RD_UNROLL
    for (int e = 0; e < 6; ++e) {
      const T L = weight(j, e);
      const V3<T>& n = columns.inertia[e];
      n_[e] = plus(n_[e], L, u[j]);
      u_[j] = plus(u_[j], L, n);
    }
    const V3<T> m{weight(j, 6), weight(j, 7), weight(j, 8)};
    const T mass = weight(j, 9);
    u_[j] = plus_cross(u_[j], m, k.a);
    v_[j] = {v_[j].x + k.U[0] * m.x + k.U[1] * m.y + k.U[2] * m.z + mass * k.a.x,
             v_[j].y + k.U[3] * m.x + k.U[4] * m.y + k.U[5] * m.z + mass * k.a.y,
             v_[j].z + k.U[6] * m.x + k.U[7] * m.y + k.U[8] * m.z + mass * k.a.z};
    k_.a = plus(plus_cross(k_.a, u[j], m), mass, v[j]);
    U_[0] += v[j].x * m.x, U_[1] += v[j].x * m.y, U_[2] += v[j].x * m.z;
    U_[3] += v[j].y * m.x, U_[4] += v[j].y * m.y, U_[5] += v[j].y * m.z;
    U_[6] += v[j].z * m.x, U_[7] += v[j].z * m.y, U_[8] += v[j].z * m.z;
  }
  add_inertia(k, n_, k_.w, k_.d);
  add_U(k, U_, k_.w, k_.d);
}

// The same for a link whose columns are reported in another frame, A x_link.
template <class T, class F>
RD_INLINE void add_turned_link(const double* A, const Motion<T>& k, int i, const V3<T>* u, const V3<T>* v, F&& weight,
                               MotionAdjoint<T>& k_, V3<T>* u_, V3<T>* v_) {
  V3<T> ru[most_joints], rv[most_joints], ru_[most_joints] = {}, rv_[most_joints] = {};
  for (int j = 0; j <= i; ++j) ru[j] = rotate(A, u[j]), rv[j] = rotate(A, v[j]);
  MotionAdjoint<T> seen_;
  add_link(reported(A, k), i, ru, rv, weight, seen_, ru_, rv_);
  k_.w = k_.w + rotate_back(A, seen_.w);
  k_.d = k_.d + rotate_back(A, seen_.d);
  k_.a = k_.a + rotate_back(A, seen_.a);
  for (int j = 0; j <= i; ++j) {
    u_[j] = u_[j] + rotate_back(A, ru_[j]);
    v_[j] = v_[j] + rotate_back(A, rv_[j]);
  }
}

// Back through next_motion: slopes of joint i, and the adjoints of the link before it.
template <class Turn, class T>
RD_INLINE void motion_back(const Turn& turn, const double* p, const Motion<T>& k, const Motion<T>& k0, T qd,
                           const MotionAdjoint<T>& k_, MotionAdjoint<T>& k0_, T& q_, T& qd_, T& qdd_) {
  const V3<T> w{k.w.x, k.w.y, k.w.z - qd}, d{k.d.x - w.y * qd, k.d.y + w.x * qd, k.d.z};
  const V3<T> w_{k_.w.x - k_.d.y * qd, k_.w.y + k_.d.x * qd, k_.w.z};
  q_ += turned_slope(w, w_) + turned_slope(d, k_.d) + turned_slope(k.a, k_.a);
  qd_ = k_.w.z + k_.d.x * w.y - k_.d.y * w.x;
  qdd_ = k_.d.z;
  k0_.a = turn.to_parent(k_.a);
  k0_.w = turn.to_parent(w_);
  k0_.d = turn.to_parent(k_.d);
  const V3<T>& a = k0_.a;
  const T U_[9] = {a.x * p[0], a.x * p[1], a.x * p[2], a.y * p[0], a.y * p[1],
                   a.y * p[2], a.z * p[0], a.z * p[1], a.z * p[2]};
  add_U(k0, U_, k0_.w, k0_.d);
}

// Screws of the joints before each link, row i in link i's frame; joint i's own is (z, 0).
template <int N, class T>
struct Screws {
  static constexpr int most = N ? N : most_joints;
  V3<T> u[most][most], v[most][most];

  template <class Structure>
  RD_INLINE void forward(const ChainView& chain, const Structure& turn_of, const T* s, const T* c) {
    const int n = N ? N : chain.n;
    for (int i = 0; i < n; ++i) {
      const double* P = chain.placement + 12 * i;
      const V3<double> p = vector(P + 9);
      if (i > 0)
        turn_of(i, P, s[i], c[i], [&](auto turn) {
          for (int j = 0; j < i; ++j) {
            v[i][j] = turn.to_child(plus_cross(v[i - 1][j], u[i - 1][j], p));
            u[i][j] = turn.to_child(u[i - 1][j]);
          }
        });
      u[i][i] = unit_z<T>();
      v[i][i] = V3<T>{};
    }
  }
};

// weight(j, i, e) of row j, link i >= j, parameter e; q_, qd_, qdd_: slopes of n joints
template <int N, class T, class Structure, class F>
RD_INLINE void regressor_gradient(const ChainView& chain, const Structure& turn_of, const T* q, const T* qd,
                                  const T* qdd, F&& weight, T* q_, T* qd_, T* qdd_) {
  constexpr int most = N ? N : most_joints;
  const int n = N ? N : chain.n;
  T s[padded(most)], c[padded(most)];
  sincos_all(q, n, s, c);
  Motion<T> motion[most];
  forward<N>(chain, turn_of, base_of<T>(chain), s, c, qd, qdd, motion);
  Screws<N, T> screws;
  screws.forward(chain, turn_of, s, c);
  V3<T> u_[most] = {}, v_[most] = {};
  MotionAdjoint<T> k_;
  for (int i = n - 1; i >= 0; --i) {
    const V3<T>*u = screws.u[i], *v = screws.v[i];
    const auto of_link = [&](int j, int e) { return weight(j, i, e); };
    if (chain.frame == nullptr)
      add_link(motion[i], i, u, v, of_link, k_, u_, v_);
    else
      add_turned_link(chain.frame + 9 * i, motion[i], i, u, v, of_link, k_, u_, v_);
    q_[i] = fill<T>(0);
    if (i == 0) {  // the base does not move; gravity turns
      q_[0] = turned_slope(motion[0].a, k_.a);
      qd_[0] = k_.w.z;
      qdd_[0] = k_.d.z;
      return;
    }
    const double* P = chain.placement + 12 * i;
    const V3<double> p = vector(P + 9);
    turn_of(i, P, s[i], c[i], [&](auto turn) {
      for (int j = 0; j < i; ++j) {
        q_[i] += turned_slope(u[j], u_[j]) + turned_slope(v[j], v_[j]);
        v_[j] = turn.to_parent(v_[j]);
        u_[j] = plus_cross(turn.to_parent(u_[j]), p, v_[j]);
      }
      MotionAdjoint<T> before;
      motion_back(turn, P + 9, motion[i], motion[i - 1], qd[i], k_, before, q_[i], qd_[i], qdd_[i]);
      k_ = before;
    });
  }
}

// Slopes of a batch; weight(first sample, rows) gives the weights of a block of samples.
template <int N, class F>
RD_INLINE void gradient_batch(const ChainView& chain, std::size_t samples, const double* q, const double* qd,
                              const double* qdd, F&& weight, double* q_, double* qd_, double* qdd_) {
  const int n = N ? N : chain.n;
  const KnownStructure structure = structure_of(chain);
  Block x;
  Wide out[3][padded(most_joints)] = {};
  double* const to[3] = {q_, qd_, qdd_};
  each_block(samples, [&](std::size_t first, int rows) {
    x.read<N>(chain, first, rows, q, qd, qdd);
    regressor_gradient<N>(chain, structure, x.q, x.qd, x.qdd, weight(first, rows), out[0], out[1], out[2]);
    for (int k = 0; k < 3; ++k) store_rows(raw(out[k]), n, rows, to[k] + first * n, n);
  });
}

// Of <weights, W> with the stacked regressor W; weights in W's layout, (n N, p) column-major.
template <int N>
void regressor_gradient_of(const ChainView& chain, std::size_t samples, const double* q, const double* qd,
                           const double* qdd, const int* columns, int n_columns, const double* weights, double* q_,
                           double* qd_, double* qdd_) {
  const int n = N ? N : chain.n;
  const double* place[10 * most_joints] = {};  // weights of parameter k in joint 0's rows; null: not wanted
  for (int k = 0; k < n_columns; ++k) place[columns[k]] = weights + std::size_t(k) * n * samples;
  const auto block = [&](std::size_t first, int rows) {
    return [&place, samples, first, rows](int j, int i, int e) {
      const double* from = place[10 * i + e];
      return Wide::of(from == nullptr ? Vec{} : load_first(from + j * samples + first, rows));
    };
  };
  gradient_batch<N>(chain, samples, q, qd, qdd, block, q_, qd_, qdd_);
}

// Of sum weights_kj tau_kj with the torques tau of the chain; weights (samples x n) row-major.
template <int N>
void torque_gradient_of(ChainView chain, std::size_t samples, const double* q, const double* qd, const double* qdd,
                        const double* weights, double* q_, double* qd_, double* qdd_) {
  const int n = N ? N : chain.n;
  chain.frame = nullptr;  // torques do not depend on the frame that parameters are reported in
  Wide row[padded(most_joints)];
  const auto block = [&](std::size_t first, int rows) {
    load_columns(weights + first * n, n, n, rows, raw(row));
    return [&row, &chain](int j, int i, int e) { return row[j] * chain.inertia[10 * i + e]; };
  };
  gradient_batch<N>(chain, samples, q, qd, qdd, block, q_, qd_, qdd_);
}

inline void regressor_gradient_batch(const ChainView& chain, std::size_t N, const double* q, const double* qd,
                                     const double* qdd, const int* columns, int n_columns, const double* weights,
                                     double* q_, double* qd_, double* qdd_) {
  with_size(chain.n, [&](auto size) {
    regressor_gradient_of<size.n>(chain, N, q, qd, qdd, columns, n_columns, weights, q_, qd_, qdd_);
  });
}
inline void torque_gradient_batch(const ChainView& chain, std::size_t N, const double* q, const double* qd,
                                  const double* qdd, const double* weights, double* q_, double* qd_, double* qdd_) {
  with_size(chain.n, [&](auto size) { torque_gradient_of<size.n>(chain, N, q, qd, qdd, weights, q_, qd_, qdd_); });
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
