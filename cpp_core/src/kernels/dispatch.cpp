// Chooses the kernels once, when the library is loaded: the widest instruction set of the processor, or the one that
// ROBOT_DYNAMICS_ISA names (sse2, avx2, avx512).
#include <cstdlib>
#include <cstring>

#include "robot_dynamics/rigid_body/kernels.hpp"

namespace robot_dynamics {

KernelTable active_kernels;

KernelTable kernels_sse2();
#if defined(__x86_64__)
KernelTable kernels_avx2();
KernelTable kernels_avx512();
#endif

int available_kernels(KernelTable* tables) {
  int count = 0;
  tables[count++] = kernels_sse2();
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables[count++] = kernels_avx2();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    tables[count++] = kernels_avx512();
#endif
  return count;
}

bool select_kernels(const char* isa) {
  KernelTable tables[most_tables];
  const int count = available_kernels(tables);
  for (int k = 0; k < count; ++k)
    if (isa == nullptr || std::strcmp(isa, tables[k].isa) == 0) active_kernels = tables[k];
  return isa == nullptr || std::strcmp(isa, active_kernels.isa) == 0;
}

namespace {
// An unknown or unavailable name keeps the widest set; the bindings report it.
const bool selected = select_kernels(nullptr) && select_kernels(std::getenv("ROBOT_DYNAMICS_ISA"));
}  // namespace

}  // namespace robot_dynamics
