// Serial chain of revolute joints with arbitrary constant placements: the data every dynamics routine reads.
// Joint i turns about the z axis of its own link frame. Link parameters are about the link frame origin
// [Madsen2020 2.49]: XX XY XZ YY YZ ZZ mX mY mZ m.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "robot_dynamics/common/check.hpp"

namespace robot_dynamics {

constexpr int max_joints = 16;
constexpr int link_parameters = 10;

using JointMatrix = std::array<double, max_joints * max_joints>;  // its first n * n values are an (n, n), row-major

// out += J x (n) for a matrix that couples few joints; nothing is added to the others, so that they keep every bit.
inline void add_coupled(int n, const JointMatrix& J, const double* x, double* out) noexcept {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      if (J[i * n + k] != 0.0) out[i] += J[i * n + k] * x[k];
}

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
  // Rotation reporting frame <- link frame, where the user's frames do not turn about z (a URDF with other axes).
  // Link frames and parameters above are always the z ones; only poses and regressor columns are reported turned.
  bool framed = false;
  std::array<std::array<double, 9>, max_joints> frame{};
  // Twist of each placement's rotation (kernel/recursion.hpp), set by recognise_twists(); 0: general. Rotations must
  // not change after that.
  std::array<unsigned char, max_joints> twist{};
};

// Throws naming the field, its value and its bound.
inline void validate(const Chain& chain) { require_range("n_joints", chain.n, 1, max_joints); }

// The ten parameters of a link in a frame turned about the same origin: I' = R I R', (m c)' = R m c.
inline std::array<double, link_parameters> turned_parameters(const std::array<double, 9>& R,
                                                             const std::array<double, link_parameters>& X) {
  const double I[3][3] = {{X[0], X[1], X[2]}, {X[1], X[3], X[4]}, {X[2], X[4], X[5]}};
  double turned[3][3] = {}, mc[3] = {};
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < 3; ++i) {
      mc[a] += R[3 * a + i] * X[6 + i];
      for (int b = 0; b < 3; ++b)
        for (int j = 0; j < 3; ++j) turned[a][b] += R[3 * a + i] * I[i][j] * R[3 * b + j];
    }
  return {turned[0][0], turned[0][1], turned[0][2], turned[1][1], turned[1][2],
          turned[2][2], mc[0],        mc[1],        mc[2],        X[9]};
}

// Adds a payload (mass kg, com m in the last link's frame, not the TCP's, inertia about the com, XX XY XZ YY YZ ZZ) to
// the last link: its ten parameters are additive. A framed chain takes com and inertia in the reporting frame.
inline Chain with_payload(Chain chain, double mass, const std::array<double, 3>& com,
                          const std::array<double, 6>& inertia) {
  auto& X = chain.inertia[chain.n - 1];
  const double x = com[0], y = com[1], z = com[2];
  std::array<double, 10> added{inertia[0] + mass * (y * y + z * z),
                               inertia[1] - mass * x * y,
                               inertia[2] - mass * x * z,
                               inertia[3] + mass * (x * x + z * z),
                               inertia[4] - mass * y * z,
                               inertia[5] + mass * (x * x + y * y),
                               mass * x,
                               mass * y,
                               mass * z,
                               mass};
  if (chain.framed) {
    const auto& A = chain.frame[chain.n - 1];
    added = turned_parameters({A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8]}, added);
  }
  for (int k = 0; k < link_parameters; ++k) X[k] += added[k];
  return chain;
}

// Reason to refuse a named payload m, x, y, z [kg, m] (4): not finite, in other units, or more put down than is `held`
// [kg] there (payload and last link); empty where it is plausible. largest [kg]: what the arm carries.
inline std::string refused_payload(const double* payload, double largest, double held) {
  constexpr double heavy = 2.0, far = 2.0;  // times the largest, and m from the last link: beyond are other units
  char text[160] = "";
  const double m = payload[0];
  if (!all_finite(payload, 4)) return "mass and centre must be finite";
  if (std::abs(m) > heavy * largest)
    std::snprintf(text, sizeof text, "%g kg refused: %g kg is the arm's largest (grams?)", m, largest);
  else if (-m > held)
    std::snprintf(text, sizeof text, "%g kg refused: the robot file has %.3g kg there that can be put down", m, held);
  else if (std::any_of(payload + 1, payload + 4, [](double x) { return std::abs(x) > far; }))
    std::snprintf(text, sizeof text, "centre %g, %g, %g m refused: beyond %g m (millimetres?)", payload[1], payload[2],
                  payload[3], far);
  return text;
}

// A chain that picks up and puts down: mass [kg] and centre [m] of what it carries, a point in the last link's frame.
class CarryingChain {
 public:
  CarryingChain(const Chain& chain) : bare_(chain), loaded_(chain) {}
  // payload (4): m, x, y, z; null or not finite: none. Whether it is another one than before.
  bool carry(const double* payload) noexcept {
    std::array<double, 4> now{};
    if (payload && all_finite(payload, 4)) std::copy_n(payload, 4, now.begin());
    if (now == payload_) return false;
    payload_ = now;
    loaded_ = with_payload(bare_, now[0], {now[1], now[2], now[3]}, {});
    return true;
  }
  operator const Chain&() const noexcept { return loaded_; }
  const Chain& bare() const noexcept { return bare_; }
  bool carries() const noexcept { return payload_[0] != 0.0; }
  const std::array<double, 4>& payload() const noexcept { return payload_; }
  const Chain* operator->() const noexcept { return &loaded_; }

 private:
  Chain bare_, loaded_;
  std::array<double, 4> payload_{};
};

}  // namespace robot_dynamics
