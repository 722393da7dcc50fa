// The kernels in use: the table of one instruction set that the processor has. Link with src/kernels/, which
// holds a table for each instruction set of the architecture.
#pragma once

#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/rigid_body/kernel/single.hpp"
#include "robot_dynamics/rigid_body/kernel/table.hpp"

namespace robot_dynamics {

constexpr int most_tables = 3;

extern KernelTable active_kernels;

int available_kernels(KernelTable* tables);  // the tables that this processor can run, narrowest first
// Index of the widest set, or of the next one where a small batch is measured more than 5 % faster with it: on some
// processors 512-bit registers are no faster than 256-bit ones. Below three sets the widest.
int fastest(const KernelTable* tables, int count);
bool select_kernels(const char* isa);  // false: not available; null selects the fastest

static_assert(sizeof(Placement) == 12 * sizeof(double), "kernels read R and p as twelve doubles");

inline ChainView view(const Chain& chain, const double* gravity) noexcept {
  return {chain.n,
          chain.placement[0].R.data(),
          chain.inertia[0].data(),
          chain.tool.R.data(),
          gravity,
          chain.framed ? chain.frame[0].data() : nullptr,
          chain.twist.data()};
}
// Right-angled rotations are found once, not in every call.
inline void recognise_twists(Chain& chain) noexcept {
  const portable::KnownStructure known = portable::structure_of(view(chain, chain.gravity.data()));
  for (int i = 0; i < chain.n; ++i) chain.twist[i] = known.twist[i];
}
inline ChainView view(const Chain& chain) noexcept { return view(chain, chain.gravity.data()); }

}  // namespace robot_dynamics
