// The arm of tests: n joints with oblique axes, links of 2 kg and a tool.
#pragma once

#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"

inline robot_dynamics::Chain arm(int n) {
  robot_dynamics::Chain chain;
  chain.n = n;
  for (int i = 0; i < n; ++i) {
    const double c = std::cos(0.7 + i), s = std::sin(0.7 + i);
    chain.placement[i] = {{1, 0, 0, 0, c, -s, 0, s, c}, {0.3, 0.1 * i, 0.2}};
    chain.inertia[i] = {0.3, 0.01, 0.0, 0.3, 0.0, 0.2, 0.2, 0.1, 0.05, 2.0};
  }
  chain.tool.p = {0.0, 0.1, 0.2};
  return chain;
}
