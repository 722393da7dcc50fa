// The kernels for AVX2 with FMA.
#if defined(__AVX2__)
#define ROBOT_DYNAMICS_ISA avx2
#define ROBOT_DYNAMICS_LANES 4
#include "robot_dynamics/rigid_body/kernel/instantiate.hpp"

namespace robot_dynamics {
KernelTable kernels_avx2() { return avx2::table("avx2"); }
}  // namespace robot_dynamics
#endif
