// Serial chain of revolute joints with arbitrary constant placements: the data every dynamics routine reads.
// Joint i turns about the z axis of its own link frame. Link parameters are about the link frame origin
// [Madsen2020 2.49]: XX XY XZ YY YZ ZZ mX mY mZ m.
#pragma once

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

namespace robot_dynamics {

constexpr int max_joints = 16;
constexpr int link_parameters = 10;

struct Placement {  // x_parent = R x_child + p; R row-major
  std::array<double, 9> R{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::array<double, 3> p{0, 0, 0};
};

struct Chain {
  int n = 0;                                                              // joints
  std::array<Placement, max_joints> placement{};                          // link i-1 -> joint i at q_i = 0
  std::array<std::array<double, link_parameters>, max_joints> inertia{};  // per link, order above
  Placement tool{};                                                       // last link -> TCP
  std::array<double, 3> gravity{0, 0, -9.80665};                          // m/s2 in the base frame
};

// Throws naming the field, its value and its bound.
inline void validate(const Chain& chain) {
  if (!(1 <= chain.n && chain.n <= max_joints))
    throw std::invalid_argument("n_joints = " + std::to_string(chain.n) + " is outside 1..16");
}

// Adds a payload (mass kg, com m in the TCP-less flange frame = last link frame, inertia about the com,
// XX XY XZ YY YZ ZZ) to the last link: its ten parameters are additive.
inline Chain with_payload(Chain chain, double mass, const std::array<double, 3>& com,
                          const std::array<double, 6>& inertia) {
  auto& X = chain.inertia[chain.n - 1];
  const double x = com[0], y = com[1], z = com[2];
  const double about_origin[6] = {mass * (y * y + z * z), -mass * x * y, -mass * x * z,
                                  mass * (x * x + z * z), -mass * y * z, mass * (x * x + y * y)};
  for (int k = 0; k < 6; ++k) X[k] += inertia[k] + about_origin[k];
  for (int k = 0; k < 3; ++k) X[6 + k] += mass * com[k];
  X[9] += mass;
  return chain;
}

}  // namespace robot_dynamics
