// The kernels of slopes for avx512.
#if defined(__AVX512DQ__)
#define ROBOT_DYNAMICS_ISA avx512
#define ROBOT_DYNAMICS_LANES 8
#include "robot_dynamics/rigid_body/gradients.hpp"
#include "robot_dynamics/rigid_body/kernel/gradient.hpp"

namespace robot_dynamics {
GradientKernels gradients_avx512() { return avx512::gradients(); }
}  // namespace robot_dynamics
#endif
