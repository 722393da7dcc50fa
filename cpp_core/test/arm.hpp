// What the C++ tests share: an arm of n joints, the friction of its joints, and a stream of its samples with faults.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

// Oblique axes, links of 2 kg and a tool.
inline robot_dynamics::Chain arm(int n) {
  robot_dynamics::Chain chain;
  chain.n = n;
  for (int i = 0; i < n; ++i) {
    const double c = std::cos(0.7 + i), s = std::sin(0.7 + i);
    chain.placement[i] = {{1, 0, 0, 0, c, -s, 0, s, c}, {0.3, 0.1 * i, 0.2}};
    chain.inertia[i] = {0.3, 0.01, 0.02, 0.3, -0.03, 0.2, 0.2, 0.1, 0.05, 2.0};
  }
  chain.tool.p = {0.0, 0.1, 0.2};
  return chain;
}

inline robot_dynamics::FrictionMap viscous_coulomb(int n) {
  using namespace robot_dynamics;
  constexpr FrictionLaw law = FrictionLaw::viscous_coulomb;
  std::vector<double> p, T0(static_cast<std::size_t>(n), 20.0);
  for (int i = 0; i < n; ++i) {
    const double row[] = {5.0, 2.0, 0.0, 0.01, -0.01, 1.0, 0.0, 1.0};
    p.insert(p.end(), row, row + FrictionMap::parameter_count(law));
  }
  return FrictionMap(law, n, p.data(), T0.data());
}

// Samples with every fault: duplicates, gaps, a clock that goes back, NaN, infinity, garbage, nothing at all.
struct FaultyStream {
  std::array<double, robot_dynamics::max_joints> q{}, qd{}, effort{}, temperature{};
  std::int64_t stamp = 0;

  void next(int k, int n) {
    stamp += k % 97 == 5 ? 0 : k % 131 == 7 ? 300000000 : k == 1500 ? -900000000 : 2000000;
    for (int i = 0; i < n; ++i) {
      q[i] = std::sin(0.002 * k * (i + 1));
      qd[i] = (i + 1) * std::cos(0.002 * k * (i + 1));
      effort[i] = 40.0 * std::sin(0.01 * k + i);
      temperature[i] = 30.0;
    }
    if (k % 41 == 3) q[k % n] = std::nan("");
    if (k % 43 == 4) qd[k % n] = std::numeric_limits<double>::infinity();
    if (k % 47 == 5) effort[k % n] = 1e300;
    if (k % 53 == 6) effort[k % n] = 1e5;
    if (k % 59 == 7) effort.fill(std::nan(""));
    if (k % 61 == 8) qd.fill(std::nan(""));
    if (k % 67 == 9) temperature[k % n] = 1e9;
  }
};
