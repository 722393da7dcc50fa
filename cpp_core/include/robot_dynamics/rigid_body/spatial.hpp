// Three-vectors and rotations, as far as the recursions need them.
#pragma once

#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

using Vec3 = std::array<double, 3>;
using Mat3 = std::array<double, 9>;  // row-major

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
inline Vec3 operator*(double s, const Vec3& a) { return {s * a[0], s * a[1], s * a[2]}; }
inline double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline Vec3 rotate(const Mat3& R, const Vec3& a) {
  return {R[0] * a[0] + R[1] * a[1] + R[2] * a[2], R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
          R[6] * a[0] + R[7] * a[1] + R[8] * a[2]};
}
inline Vec3 rotate_back(const Mat3& R, const Vec3& a) {
  return {R[0] * a[0] + R[3] * a[1] + R[6] * a[2], R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
          R[2] * a[0] + R[5] * a[1] + R[8] * a[2]};
}
inline Mat3 product(const Mat3& A, const Mat3& B) {
  Mat3 C{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
  return C;
}
// R Rz(q): the joint turns about its own z axis.
inline Mat3 turn_z(const Mat3& R, double q) {
  const double c = std::cos(q), s = std::sin(q);
  return {c * R[0] + s * R[1], c * R[1] - s * R[0], R[2], c * R[3] + s * R[4], c * R[4] - s * R[3], R[5],
          c * R[6] + s * R[7], c * R[7] - s * R[6], R[8]};
}

}  // namespace robot_dynamics
