// The kernels for the baseline of the machine: SSE2 on x86-64, NEON on aarch64.
#define ROBOT_DYNAMICS_ISA sse2
#define ROBOT_DYNAMICS_LANES 2
#include "robot_dynamics/rigid_body/kernel/instantiate.hpp"

namespace robot_dynamics {
KernelTable kernels_sse2() { return sse2::table("sse2"); }
}  // namespace robot_dynamics
