// Recursive Newton-Euler inverse dynamics, tau = M(q) qdd + C(q, qd) qd + g(q) [Madsen2020 2.26-2.28, ch5],
// and what follows from it by linearity. One sample per call, no allocation, arrays of chain.n doubles; a null qd or
// qdd means zero. Rotor inertia is not included. The recursions themselves are in kernel/dynamics.hpp.
#pragma once

#include "robot_dynamics/rigid_body/kernels.hpp"
#include "robot_dynamics/rigid_body/spatial.hpp"

namespace robot_dynamics {

inline void rnea(const Chain& chain, const Vec3& gravity, const double* q, const double* qd, const double* qdd,
                 double* tau) noexcept {
  active_kernels.rnea(view(chain, gravity.data()), q, qd, qdd, tau);
}
inline void rnea(const Chain& chain, const double* q, const double* qd, const double* qdd, double* tau) noexcept {
  active_kernels.rnea(view(chain), q, qd, qdd, tau);
}

// `count` <= 8 inverse dynamics at once, one per vector lane: all those that a controller needs in one cycle cost
// little more than one.
inline void rnea_rows(const Chain& chain, const DynamicsRow* rows, int count) noexcept {
  active_kernels.rnea_rows(view(chain), rows, count);
}

inline void gravity_torque(const Chain& chain, const double* q, double* tau) noexcept {
  active_kernels.rnea(view(chain), q, nullptr, nullptr, tau);
}

// M (n x n, row-major)
inline void mass_matrix(const Chain& chain, const double* q, double* M) noexcept {
  active_kernels.mass_matrix(view(chain), q, M);
}

// Y (n x 10 n, row-major): tau = Y phi, phi per link XX XY XZ YY YZ ZZ mX mY mZ m [Liu2020 8]
inline void regressor(const Chain& chain, const double* q, const double* qd, const double* qdd, double* Y) noexcept {
  active_kernels.regressor(view(chain), q, qd, qdd, Y);
}

}  // namespace robot_dynamics
