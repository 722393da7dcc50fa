// Forward kinematics and the geometric Jacobian of a chain [Madsen2020 2.1]; the arithmetic is in
// kernel/kinematics.hpp.
#pragma once

#include "robot_dynamics/rigid_body/kernels.hpp"
#include "robot_dynamics/rigid_body/spatial.hpp"

namespace robot_dynamics {

// base -> link i for i < n, base -> TCP at index n; `frames` holds n + 1 placements.
inline void forward_kinematics(const Chain& chain, const double* q, Placement* frames) noexcept {
  portable::Frame<double> F[max_joints + 1];
  portable::forward_frames(view(chain), q, F);
  for (int i = 0; i <= chain.n; ++i)
    frames[i] = {{F[i].x.x, F[i].y.x, F[i].z.x, F[i].x.y, F[i].y.y, F[i].z.y, F[i].x.z, F[i].y.z, F[i].z.z},
                 {F[i].p.x, F[i].p.y, F[i].p.z}};
}

// J (6 x n, row-major): TCP linear velocity (rows 0-2) and angular velocity (3-5) in the base frame.
inline void jacobian(const Chain& chain, const double* q, double* J) noexcept {
  active_kernels.jacobian(view(chain), q, J);
}

// The same from the n + 1 placements of forward_kinematics: column i is [z_i x (p_TCP - p_i); z_i].
inline void jacobian(const Chain& chain, const Placement* frames, double* J) noexcept {
  const int n = chain.n;
  for (int i = 0; i < n; ++i) {
    const auto& R = frames[i].R;
    const Vec3 z{R[2], R[5], R[8]};
    Vec3 arm;
    for (int k = 0; k < 3; ++k) arm[k] = frames[n].p[k] - frames[i].p[k];
    const Vec3 linear = cross(z, arm);
    for (int k = 0; k < 3; ++k) {
      J[k * n + i] = linear[k];
      J[(k + 3) * n + i] = z[k];
    }
  }
}

}  // namespace robot_dynamics
