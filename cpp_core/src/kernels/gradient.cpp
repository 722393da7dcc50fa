// The kernels of slopes that belong to an instruction set.
#include <cstring>

#include "robot_dynamics/rigid_body/gradients.hpp"

namespace robot_dynamics {

GradientKernels gradients_sse2();
#if defined(__x86_64__)
GradientKernels gradients_avx2();
GradientKernels gradients_avx512();
#endif

GradientKernels gradient_kernels(const char* isa) {
#if defined(__x86_64__)
  if (std::strcmp(isa, "avx512") == 0) return gradients_avx512();
  if (std::strcmp(isa, "avx2") == 0) return gradients_avx2();
#endif
  (void)isa;
  return gradients_sse2();
}

}  // namespace robot_dynamics
