// The data of a chain that the kernels read: plain pointers, so that no inline function of the standard library is
// compiled for an instruction set the machine may not have.
#pragma once

namespace robot_dynamics {

struct ChainView {
  int n;                       // joints
  const double* placement;     // n x 12: R row-major, p [m]; link i-1 -> joint i at q_i = 0
  const double* inertia;       // n x 10: XX XY XZ YY YZ ZZ mX mY mZ m about the link frame origin
  const double* tool;          // 12: last link -> TCP
  const double* gravity;       // 3, m/s2
  const double* frame;         // n x 9 or null: reporting frame <- link frame, where a URDF axis is not z
  const unsigned char* twist;  // most_joints of Twist (recursion.hpp)
};

// Arguments of one inverse dynamics: tau = M qdd + C qd + gravity * g(q), arrays of n. Rows that share q share its
// sines.
struct DynamicsRow {
  const double *q, *qd, *qdd;
  double* tau;
  double gravity;  // 1, or 0 for torque without gravity
};

}  // namespace robot_dynamics
