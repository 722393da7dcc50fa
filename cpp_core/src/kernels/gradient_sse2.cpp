// The kernels of slopes for sse2.
#define ROBOT_DYNAMICS_ISA sse2
#define ROBOT_DYNAMICS_LANES 2
#include "robot_dynamics/rigid_body/gradients.hpp"
#include "robot_dynamics/rigid_body/kernel/gradient.hpp"

namespace robot_dynamics {
GradientKernels gradients_sse2() { return sse2::gradients(); }
}  // namespace robot_dynamics
