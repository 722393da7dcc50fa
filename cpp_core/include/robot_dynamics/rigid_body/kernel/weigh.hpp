// Weighted sum of the rows of a window with symmetric weights: what a smoothing filter does with every sample.
#pragma once

#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// `vectors` of signals from `early` on, in registers. Both ends of the window share one weight; every other pair of
// rows has sums of its own, so that an addition need not wait for the one before.
template <int vectors>
RD_INLINE void weigh_some(const double* weights, int half, const double* early, std::size_t stride, double* out) {
  const double *late = early + 2 * half * stride, *centre = early + half * stride;
  Vec sum[vectors], other[vectors] = {};
  for (int v = 0; v < vectors; ++v) sum[v] = weights[half] * load(centre + v * lanes);
  const auto add = [&](Vec* to, int k) {
    const double *a = early + k * stride, *b = late - k * stride;
    for (int v = 0; v < vectors; ++v)
      to[v] = fma(fill<Vec>(weights[k]), load(a + v * lanes) + load(b + v * lanes), to[v]);
  };
  int k = 0;
  for (; k + 2 <= half; k += 2) {
    add(sum, k);
    add(other, k + 1);
  }
  if (k < half) add(sum, k);
  for (int v = 0; v < vectors; ++v) store(out + v * lanes, sum[v] + other[v]);
}

// `stride` and the room in `out` are whole vectors: what follows the last signal is computed and means nothing.
inline void weigh(const double* weights, int half, const double* x, std::size_t stride, int signals, double* out) {
  const auto run = [&](auto count, int first) {
    for (; first + count.n * lanes <= padded(signals); first += count.n * lanes)
      weigh_some<count.n>(weights, half, x + first, stride, out + first);
    return first;
  };
  run(Size<1>{}, run(Size<2>{}, run(Size<3>{}, 0)));
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
