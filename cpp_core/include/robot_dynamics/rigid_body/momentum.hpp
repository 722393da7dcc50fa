// Generalised momentum of a chain and the part of the motion equations that observing it needs.
#pragma once

#include "robot_dynamics/rigid_body/spatial.hpp"

namespace robot_dynamics {

// p = M(q) qd and beta = C(q, qd)' qd, both (n), in one pass over the links.
//
// With the kinetic energy T = qd' M qd / 2: p = dT/dqd and C' qd = dT/dq (from Mdot = C + C'), so no mass matrix and no
// Mdot is formed. Turning joint i moves all links beyond it as one body: with h_i their momentum and v_i, w_i the
// velocity of link i, both at the origin of joint frame i, p_i = z . h_i,angular and
// dT/dq_i = -(h_i,linear . (z x v_i) + h_i,angular . (z x w_i)).
inline void generalised_momentum(const Chain& chain, const double* q, const double* qd, double* p,
                                 double* beta) noexcept {
  Mat3 R[max_joints];
  Vec3 v[max_joints], w[max_joints], linear[max_joints], angular[max_joints];
  Vec3 v_parent{}, w_parent{};
  for (int i = 0; i < chain.n; ++i) {
    const Placement& P = chain.placement[i];
    R[i] = turn_z(P.R, q[i]);
    v[i] = rotate_back(R[i], v_parent + cross(w_parent, P.p));
    w[i] = rotate_back(R[i], w_parent) + Vec3{0, 0, qd[i]};
    v_parent = v[i];
    w_parent = w[i];
    const auto& X = chain.inertia[i];
    const Mat3 I{X[0], X[1], X[2], X[1], X[3], X[4], X[2], X[4], X[5]};
    const Vec3 mc{X[6], X[7], X[8]};
    linear[i] = X[9] * v[i] + cross(w[i], mc);
    angular[i] = rotate(I, w[i]) + cross(mc, v[i]);
  }
  for (int i = chain.n - 1; i >= 0; --i) {
    p[i] = angular[i][2];
    beta[i] = -(linear[i][1] * v[i][0] - linear[i][0] * v[i][1] + angular[i][1] * w[i][0] - angular[i][0] * w[i][1]);
    if (i == 0) break;
    const Vec3 force = rotate(R[i], linear[i]);
    linear[i - 1] = linear[i - 1] + force;
    angular[i - 1] = angular[i - 1] + rotate(R[i], angular[i]) + cross(chain.placement[i].p, force);
  }
}

}  // namespace robot_dynamics
