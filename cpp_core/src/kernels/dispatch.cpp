// Chooses the kernels once, when the library is loaded: those that ROBOT_DYNAMICS_ISA names (sse2, avx2, avx512, neon),
// else the fastest. AVX-512 and AVX2 give the same bits (kernel/number.hpp): the choice between them changes no
// result.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "robot_dynamics/rigid_body/kernels.hpp"

namespace robot_dynamics {

KernelTable active_kernels;

// The Python extension of `make demo` holds one set (setup.py): the address of the others is null there.
#if defined(ROBOT_DYNAMICS_SOME_KERNELS)
#define RD_KERNELS __attribute__((weak)) KernelTable
#else
#define RD_KERNELS KernelTable
#endif
RD_KERNELS kernels_baseline();
RD_KERNELS kernels_avx2();
RD_KERNELS kernels_avx512();

int available_kernels(KernelTable* tables) {
  int count = 0;
  const auto add = [&](KernelTable (*kernels)()) {
    if (kernels != nullptr) tables[count++] = kernels();
  };
  add(kernels_baseline);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) add(kernels_avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    add(kernels_avx512);
#endif
  return count;
}

namespace {

// Shortest of several inverse dynamics of a small batch [ns]; about 20 us in all.
double batch_time(const KernelTable& kernels) {
  using Clock = std::chrono::steady_clock;
  constexpr int samples = 64, joints = 6, rounds = 8;
  static double q[samples * joints], tau[samples * joints];
  Chain chain;
  chain.n = joints;
  for (int i = 0; i < joints; ++i) {
    chain.placement[i].R = {0.8, -0.6, 0, 0.48, 0.64, -0.6, 0.36, 0.48, 0.8};
    chain.placement[i].p = {0.1, 0.2, 0.3};
    chain.inertia[i] = {1, 0, 0, 1, 0, 1, 0.1, 0.1, 0.1, 1};
  }
  for (int k = 0; k < samples * joints; ++k) q[k] = 0.01 * k;
  double least = 1e300;
  for (int round = 0; round < rounds; ++round) {
    const Clock::time_point start = Clock::now();
    kernels.rnea_batch(view(chain), samples, q, q, q, tau);
    least = std::min(least, std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return least;
}

}  // namespace

int fastest(const KernelTable* tables, int count) {
  if (count < 3) return count - 1;
  return batch_time(tables[count - 2]) < 0.95 * batch_time(tables[count - 1]) ? count - 2 : count - 1;
}

bool select_kernels(const char* isa) {
  KernelTable tables[most_tables];
  const int count = available_kernels(tables);
  if (count == 0) return false;
  for (int k = 0; isa != nullptr && k < count; ++k)
    if (std::strcmp(isa, tables[k].isa) == 0) {
      active_kernels = tables[k];
      return true;
    }
  if (isa == nullptr || active_kernels.isa == nullptr) active_kernels = tables[fastest(tables, count)];
  return isa == nullptr;
}

namespace {
// An unknown or unavailable name gives the fastest set; the bindings report it.
const bool selected = select_kernels(std::getenv("ROBOT_DYNAMICS_ISA"));
}  // namespace

}  // namespace robot_dynamics
