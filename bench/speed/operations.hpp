// Counting arithmetic: the recursion runs on numbers that count what is done with them.
#pragma once

#include <algorithm>

#include "robot_dynamics/rigid_body/kernels.hpp"

namespace operations {

struct Counted {
  static inline long count = 0;
};
inline Counted once() {
  ++Counted::count;
  return {};
}
inline Counted operator*(Counted, Counted) { return once(); }
inline Counted operator*(double, Counted) { return once(); }
inline Counted operator*(Counted, double) { return once(); }
inline Counted operator+(Counted, Counted) { return once(); }
inline Counted operator-(Counted, Counted) { return once(); }
inline Counted operator-(Counted) { return {}; }          // a sign is free
inline Counted operator-(double, Counted) { return {}; }  // only to fill lanes with a constant

// kernel/sincos.hpp, per angle: reduction 9, its square 1, polynomials 20, sine 3, cosine 5
inline void sincos_all(const Counted*, int n, Counted*, Counted*) { Counted::count += 38 * n; }

// Operations of one sample of the batched recursion, whose twists are known.
inline long of_rnea(const robot_dynamics::Chain& chain) {
  using namespace robot_dynamics;
  const ChainView v = view(chain);
  portable::KnownStructure known{};
  std::copy(chain.twist.begin(), chain.twist.end(), known.twist);
  Counted x[portable::most_joints], tau[portable::most_joints];
  Counted::count = 0;
  portable::with_size(chain.n, [&](auto size) { portable::rnea<size.n>(v, known, x, x, x, tau); });
  return Counted::count;
}

}  // namespace operations
