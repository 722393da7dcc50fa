// Recursive Newton-Euler inverse dynamics, tau = M(q) qdd + C(q, qd) qd + g(q) [Madsen2020 2.26-2.29, ch5],
// and what follows from it by linearity: gravity, Coriolis, mass matrix. Rotor inertia is not included.
#pragma once

#include "robot_dynamics/spatial.hpp"

namespace robot_dynamics {

inline void rnea(const Chain& chain, const Vec3& gravity, const double* q, const double* qd, const double* qdd,
                 double* tau) noexcept {
  Mat3 R[max_joints];
  Vec3 f[max_joints], n[max_joints];
  Vec3 w{}, wd{}, a = -1.0 * gravity;  // the base accelerates against gravity
  for (int i = 0; i < chain.n; ++i) {
    const Placement& P = chain.placement[i];
    R[i] = turn_z(P.R, q[i]);
    const Vec3 a_joint = a + cross(wd, P.p) + cross(w, cross(w, P.p));
    const Vec3 w_parent = rotate_back(R[i], w), z_rate{0, 0, qd[i]};
    wd = rotate_back(R[i], wd) + cross(w_parent, z_rate) + Vec3{0, 0, qdd[i]};
    w = w_parent + z_rate;
    a = rotate_back(R[i], a_joint);
    const auto& X = chain.inertia[i];
    const Mat3 I{X[0], X[1], X[2], X[1], X[3], X[4], X[2], X[4], X[5]};
    const Vec3 mc{X[6], X[7], X[8]};
    f[i] = X[9] * a + cross(wd, mc) + cross(w, cross(w, mc));
    n[i] = rotate(I, wd) + cross(w, rotate(I, w)) + cross(mc, a);
  }
  for (int i = chain.n - 1; i >= 0; --i) {
    tau[i] = n[i][2];
    if (i == 0) break;
    const Vec3 force = rotate(R[i], f[i]);
    f[i - 1] = f[i - 1] + force;
    n[i - 1] = n[i - 1] + rotate(R[i], n[i]) + cross(chain.placement[i].p, force);
  }
}

inline void rnea(const Chain& chain, const double* q, const double* qd, const double* qdd, double* tau) noexcept {
  rnea(chain, chain.gravity, q, qd, qdd, tau);
}

inline void gravity_torque(const Chain& chain, const double* q, double* tau) noexcept {
  const double zero[max_joints] = {};
  rnea(chain, chain.gravity, q, zero, zero, tau);
}

// C(q, qd) qd
inline void coriolis_torque(const Chain& chain, const double* q, const double* qd, double* tau) noexcept {
  const double zero[max_joints] = {};
  rnea(chain, Vec3{}, q, qd, zero, tau);
}

// M (n x n, row-major), column by column from unit accelerations.
inline void mass_matrix(const Chain& chain, const double* q, double* M) noexcept {
  const double zero[max_joints] = {};
  for (int j = 0; j < chain.n; ++j) {
    double unit[max_joints] = {}, column[max_joints];
    unit[j] = 1.0;
    rnea(chain, Vec3{}, q, zero, unit, column);
    for (int i = 0; i < chain.n; ++i) M[i * chain.n + j] = column[i];
  }
}

}  // namespace robot_dynamics
