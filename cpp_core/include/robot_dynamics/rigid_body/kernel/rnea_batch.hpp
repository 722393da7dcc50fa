// Batched inverse dynamics. Each step of the recursions waits for the one before: between the steps the next block of
// samples is read and its sines are computed, and the torques of the block before are written.
#pragma once

#include "robot_dynamics/rigid_body/kernel/batch.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// Where 32 registers hold U, the wrench of a link is computed with its motion and U is not read again; with 16 the
// motion is stored and read.
#if defined(__aarch64__)
constexpr bool wrench_with_motion = true;
#else
constexpr bool wrench_with_motion = lanes == 8;
#endif

// What happens between the steps, in this order.
enum class Ahead { write_torques, read_qdd, read_q, first_sines, read_qd, last_sines };

// One block of samples, ready for the recursions, and its torques.
template <int N>
struct ReadyBlock {
  static constexpr int most = padded(N ? N : most_joints);
  Wide q[most], qd[most], qdd[most], s[most], c[most], tau[most] = {};
};

// The recursions over `block`, with calls of ahead(what) between their steps.
template <int N, class Structure, class F>
RD_INLINE void rnea_block(const ChainView& chain, const Structure& turn_of, ReadyBlock<N>& block, F&& ahead) {
  const int n = joints_of<N>(chain);
  const V3<Wide> base = base_of<Wide>(chain);
  Motion<Wide> motion[N ? N : most_joints];
  Wrench<Wide> own[N ? N : most_joints], w{};
  RD_UNROLL
  for (int i = 0; i < n; ++i) {
    forward_step(i, chain, turn_of, base, block.s, block.c, block.qd, block.qdd, motion);
    if (wrench_with_motion && i > 0) own[i] = link_wrench(motion[i], chain.inertia + 10 * i);
    if (i == (n > 3 ? n - 4 : 0)) ahead(Ahead::write_torques);
    if (i == (n > 2 ? n - 3 : 0)) ahead(Ahead::read_qdd);
    if (i == (n > 1 ? n - 2 : 0)) ahead(Ahead::read_q);
  }
  if (n < 3) ahead(Ahead::first_sines);
  RD_UNROLL
  for (int i = n - 1; i > 0; --i) {
    const double* P = chain.placement + 12 * i;
    w.add(wrench_with_motion ? own[i] : link_wrench(motion[i], chain.inertia + 10 * i));
    block.tau[i] = w.n.z;
    turn_of(i, P, block.s[i], block.c[i], [&](auto turn) RD_FLAT { to_parent(turn, P + 9, w.f, w.n); });
    if (n > 2 && i == n - 2) ahead(Ahead::first_sines);
    if (n > 2 && i == 1) ahead(Ahead::read_qd);
  }
  block.tau[0] = w.n.z + first_moment_z(motion[0], chain.inertia);
  if (n < 3) ahead(Ahead::read_qd);
  ahead(Ahead::last_sines);
}

template <int N, class Structure>
RD_INLINE void rnea_blocks(const ChainView& chain, const Structure& turn_of, std::size_t samples, const double* q,
                           const double* qd, const double* qdd, double* tau) {
  const int n = N ? N : chain.n, last_sines = (n - 1) / joints_at_once * joints_at_once;
  ReadyBlock<N> blocks[2];
  const auto prepare = [&](Ahead what, std::size_t first, ReadyBlock<N>& x) RD_FLAT {
    const int rows = samples - first < std::size_t(lanes) ? int(samples - first) : lanes;
    if (what == Ahead::read_q) load_columns(q + first * n, n, n, rows, raw(x.q));
    if (what == Ahead::read_qd) read_or_zero(qd, first, n, rows, x.qd);
    if (what == Ahead::read_qdd) read_or_zero(qdd, first, n, rows, x.qdd);
    if (what == Ahead::first_sines) sincos_range(x.q, 0, last_sines, x.s, x.c);
    if (what == Ahead::last_sines) sincos_range(x.q, last_sines, n, x.s, x.c);
  };
  for (const Ahead what : {Ahead::read_q, Ahead::read_qd, Ahead::read_qdd, Ahead::first_sines, Ahead::last_sines})
    prepare(what, 0, blocks[0]);
  for (std::size_t first = 0, k = 0; first < samples; first += lanes, k ^= 1) {
    const std::size_t next = first + lanes;
    rnea_block<N>(chain, turn_of, blocks[k], [&](Ahead what) RD_FLAT {
      if (what != Ahead::write_torques) {
        if (next < samples) prepare(what, next, blocks[k ^ 1]);
      } else if (first > 0) {
        store_rows(raw(blocks[k ^ 1].tau), n, lanes, tau + (first - lanes) * n, n);
      }
    });
    if (next >= samples) store_rows(raw(blocks[k].tau), n, int(samples - first), tau + first * n, n);
  }
}

// The loop exists twice: a chain without a right-angled twist does without the branches on them.
template <int N>
void rnea_batch_of(const ChainView& chain, std::size_t samples, const double* q, const double* qd, const double* qdd,
                   double* tau) {
  if (samples == 0) return;
  const KnownStructure structure = structure_of(chain);
  int right_angled = 0;
  for (int i = 0; i < chain.n; ++i) right_angled += structure.twist[i] != 0;
  if (N == 0 || right_angled > 0) return rnea_blocks<N>(chain, structure, samples, q, qd, qdd, tau);
  rnea_blocks<N>(chain, AnyStructure{}, samples, q, qd, qdd, tau);
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
