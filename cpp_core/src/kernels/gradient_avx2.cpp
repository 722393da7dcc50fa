// The kernels of slopes for avx2.
#if defined(__AVX2__)
#define ROBOT_DYNAMICS_ISA avx2
#define ROBOT_DYNAMICS_LANES 4
#include "robot_dynamics/rigid_body/gradients.hpp"
#include "robot_dynamics/rigid_body/kernel/gradient.hpp"

namespace robot_dynamics {
GradientKernels gradients_avx2() { return avx2::gradients(); }
}  // namespace robot_dynamics
#endif
