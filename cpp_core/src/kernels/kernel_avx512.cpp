// The kernels for AVX-512 (F, DQ, VL).
#if defined(__AVX512DQ__)
#define ROBOT_DYNAMICS_ISA avx512
#define ROBOT_DYNAMICS_LANES 8
#include "robot_dynamics/rigid_body/kernel/instantiate.hpp"

namespace robot_dynamics {
KernelTable kernels_avx512() { return avx512::table("avx512"); }
}  // namespace robot_dynamics
#endif
