// Forward kinematics and the geometric Jacobian of a chain [Madsen2020 2.1].
#pragma once

#include "robot_dynamics/spatial.hpp"

namespace robot_dynamics {

// base -> link i for i < n, base -> TCP at index n; `frames` holds n + 1 placements.
inline void forward_kinematics(const Chain& chain, const double* q, Placement* frames) noexcept {
  Placement T;
  for (int i = 0; i < chain.n; ++i) {
    const Placement& P = chain.placement[i];
    T.p = T.p + rotate(T.R, P.p);
    T.R = product(T.R, turn_z(P.R, q[i]));
    frames[i] = T;
  }
  frames[chain.n].p = T.p + rotate(T.R, chain.tool.p);
  frames[chain.n].R = product(T.R, chain.tool.R);
}

// J (6 x n, row-major): TCP linear velocity (rows 0-2) and angular velocity (3-5) in the base frame.
inline void jacobian(const Chain& chain, const double* q, double* J) noexcept {
  Placement frames[max_joints + 1];
  forward_kinematics(chain, q, frames);
  const Vec3& tcp = frames[chain.n].p;
  for (int i = 0; i < chain.n; ++i) {
    const Mat3& R = frames[i].R;
    const Vec3 z{R[2], R[5], R[8]};
    const Vec3 v = cross(z, tcp - frames[i].p);
    for (int k = 0; k < 3; ++k) {
      J[k * chain.n + i] = v[k];
      J[(3 + k) * chain.n + i] = z[k];
    }
  }
}

}  // namespace robot_dynamics
