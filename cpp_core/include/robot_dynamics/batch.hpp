// Batches of samples over a chain: row-major float64 (N, n), kernels chosen at load time (src/dispatch.cpp).
// Plain loops in the caller's thread; the bindings release the interpreter lock around them.
#pragma once

#include "robot_dynamics/kernels.hpp"

namespace robot_dynamics {

// Index of the first value that is NaN or infinite, or `size`.
inline std::size_t first_not_finite(const double* x, std::size_t size) noexcept {
  constexpr std::size_t chunk = 256;
  for (std::size_t first = 0; first < size; first += chunk) {
    const std::size_t last = first + chunk < size ? first + chunk : size;
    double zero[4] = {};  // stays zero while all is finite: x 0 = 0
    std::size_t k = first;
    for (; k + 4 <= last; k += 4)
      for (int l = 0; l < 4; ++l) zero[l] += x[k + l] * 0.0;
    for (; k < last; ++k) zero[0] += x[k] * 0.0;
    if (zero[0] + zero[1] + zero[2] + zero[3] == 0) continue;
    for (k = first; k < last; ++k)
      if (!std::isfinite(x[k])) return k;
  }
  return size;
}

}  // namespace robot_dynamics
