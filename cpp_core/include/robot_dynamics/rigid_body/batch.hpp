// Checks of batches of samples; the kernels are chosen at load time (src/dispatch.cpp).
#pragma once

#include "robot_dynamics/rigid_body/kernels.hpp"

namespace robot_dynamics {

// Index of the first value that is NaN or infinite, or `size`.
inline std::size_t first_not_finite(const double* x, std::size_t size) noexcept {
  if (active_kernels.all_finite(x, size)) return size;
  std::size_t k = 0;
  while (k < size && std::isfinite(x[k])) ++k;
  return k;
}

}  // namespace robot_dynamics
