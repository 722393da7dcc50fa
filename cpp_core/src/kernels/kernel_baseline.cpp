// The kernels that every machine of an architecture has: SSE2 on x86-64, NEON on aarch64, scalar pairs elsewhere.
#if defined(__x86_64__)
#define ROBOT_DYNAMICS_ISA sse2
constexpr const char* baseline = "sse2";
#elif defined(__aarch64__)
#define ROBOT_DYNAMICS_ISA neon
constexpr const char* baseline = "neon";
#else
#define ROBOT_DYNAMICS_ISA pairs
constexpr const char* baseline = "pairs";
#endif
#define ROBOT_DYNAMICS_LANES 2
#include "robot_dynamics/rigid_body/kernel/instantiate.hpp"

namespace robot_dynamics {
KernelTable kernels_baseline() { return ROBOT_DYNAMICS_ISA::table(baseline); }
}  // namespace robot_dynamics
