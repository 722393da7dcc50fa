// Batches: blocks of `lanes` samples are turned into one vector per joint, computed, and turned back.
#pragma once

#include "robot_dynamics/rigid_body/kernel/kinematics.hpp"
#include "robot_dynamics/rigid_body/kernel/regressor.hpp"
#include "robot_dynamics/rigid_body/kernel/stream.hpp"
#include "robot_dynamics/rigid_body/kernel/table.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// The state of `lanes` samples; null pointers read as zero.
struct Block {
  Vec q[padded(most_joints)], qd[padded(most_joints)], qdd[padded(most_joints)];

  template <int N>
  RD_INLINE void read(const ChainView& chain, std::size_t first, int rows, const double* q_, const double* qd_,
                      const double* qdd_) {
    const int n = N ? N : chain.n;
    load_columns(q_ + first * n, n, n, rows, q);
    read_or_zero(qd_, first, n, rows, qd);
    read_or_zero(qdd_, first, n, rows, qdd);
  }
  static RD_INLINE void read_or_zero(const double* p, std::size_t first, int n, int rows, Vec* out) {
    if (p != nullptr) return load_columns(p + first * n, n, n, rows, out);
    for (int i = 0; i < n; ++i) out[i] = Vec{};
  }
};

// True when no value is NaN or infinite: x 0 is 0 for finite x only.
inline bool all_finite(const double* x, std::size_t size) {
  Vec zero[4] = {};
  std::size_t k = 0;
  for (; k + 4 * lanes <= size; k += 4 * lanes)
    for (int u = 0; u < 4; ++u) zero[u] += load(x + k + u * lanes) * 0.0;
  double rest = sum((zero[0] + zero[1]) + (zero[2] + zero[3]));
  for (; k < size; ++k) rest += x[k] * 0.0;
  return rest == 0;
}

// f(first sample, rows) for every block of N samples
template <class F>
RD_INLINE void each_block(std::size_t N, F&& f) {
  std::size_t first = 0;
  for (; first + lanes <= N; first += lanes) f(first, lanes);
  if (first < N) f(first, int(N - first));
}

// The loop exists twice: a chain without a right-angled twist does without the branches on them.
template <int N, class Structure>
RD_INLINE void rnea_blocks(const ChainView& chain, const Structure& structure, std::size_t samples, const double* q,
                           const double* qd, const double* qdd, double* tau) {
  const int n = N ? N : chain.n;
  Block x;
  Vec out[padded(most_joints)] = {};
  each_block(samples, [&](std::size_t first, int rows) {
    x.read<N>(chain, first, rows, q, qd, qdd);
    rnea<N>(chain, structure, x.q, x.qd, x.qdd, out);
    store_rows(out, n, rows, tau + first * n, n);
  });
}
template <int N>
void rnea_batch_of(const ChainView& chain, std::size_t samples, const double* q, const double* qd, const double* qdd,
                   double* tau) {
  const KnownStructure structure = structure_of(chain);
  int right_angled = 0;
  for (int i = 0; i < chain.n; ++i) right_angled += structure.twist[i] != 0;
  if (N == 0 || right_angled > 0) return rnea_blocks<N>(chain, structure, samples, q, qd, qdd, tau);
  rnea_blocks<N>(chain, AnyStructure{}, samples, q, qd, qdd, tau);
}

// Leading columns of joint j's row that are zero (the links before it), in whole vectors: they need no transpose.
constexpr int zero_tiles(int j) { return 10 * j / lanes * lanes; }

// Row-major Y of a block of samples is built in the first-level cache, then written out in one go.
template <int N>
void regressor_batch_of(const ChainView& chain, std::size_t samples, const double* q, const double* qd,
                        const double* qdd, double* Y) {
  const int n = N ? N : chain.n, width = 10 * n;
  const std::size_t sample = std::size_t(n) * width;
  const bool streamed = samples * sample > streamed_doubles;
  const KnownStructure structure = structure_of(chain);
  Block x;
  Vec row[most_joints][padded(10 * most_joints)];
  Vec staged[N ? 10 * N * N + 1 : 1];  // a block of rows, where its size is known to fit the cache
  each_block(samples, [&](std::size_t first, int rows) {
    x.read<N>(chain, first, rows, q, qd, qdd);
    for (int j = 0; j < n; ++j)
      for (int k = zero_tiles(j); k < 10 * j; ++k) row[j][k] = Vec{};
    regressor<N>(chain, structure, x.q, x.qd, x.qdd,
                 [&](int j, int i, int e, const Vec& value) { row[j][10 * i + e] = value; });
    double* to = Y + first * sample;
    const bool stage = N != 0 && streamed;
    double* block = stage ? reinterpret_cast<double*>(staged) : to;
    for (int j = 0; j < n; ++j) {
      const int zero = zero_tiles(j);
      for (int l = 0; l < rows; ++l)
        for (int k = 0; k < zero; k += lanes) store(block + l * sample + j * width + k, Vec{});
      store_rows(row[j] + zero, width - zero, rows, block + j * width + zero, sample);
    }
    if (stage) copy_streamed(to, block, rows * sample);
  });
  end_of_stream();
}

// The wanted columns of a run of samples are collected in the cache, column k of joint j at block + (j n_columns + k)
// stack_rows. Where a vector is a whole line and all columns of a large W begin at the same place of one, vectors go
// past the cache one by one: the memory writes them while the next are computed.
template <int N>
void stacked_regressor_of(const ChainView& chain, std::size_t samples, const double* q, const double* qd,
                          const double* qdd, const int* columns, int n_columns, bool zeroed, double* block, double* W) {
  const int n = N ? N : chain.n;
  const KnownStructure structure = structure_of(chain);
  const std::size_t column = n * samples, joint_block = std::size_t(n_columns) * stack_rows;
  const bool streamed = samples * n * n_columns > streamed_doubles;
  double* collected[10 * most_joints] = {};  // of parameter k and joint 0; null: not wanted
  double* wanted[10 * most_joints] = {};
  for (int k = 0; k < n_columns; ++k) {
    collected[columns[k]] = block + std::size_t(k) * stack_rows;
    wanted[columns[k]] = W + k * column;
    const int felt = columns[k] / 10 + 1;  // links before a joint give no torque to it
    if (!zeroed && streamed) zero_streamed(W + k * column + felt * samples, (n - felt) * samples);
    if (!zeroed && !streamed) std::memset(W + k * column + felt * samples, 0, (n - felt) * samples * sizeof(double));
  }
  Block x;
  const auto compute = [&](std::size_t start, int rows, double** place, std::size_t next_joint, auto&& put) {
    x.read<N>(chain, start, rows, q, qd, qdd);
    regressor<N>(chain, structure, x.q, x.qd, x.qdd, [&](int j, int i, int e, const Vec& value) {
      if (double* to = place[10 * i + e]; to != nullptr) put(to + j * next_joint, value);
    });
  };
  const auto run_of = [&](std::size_t start, std::size_t run) {
    each_block(run, [&](std::size_t first, int rows) {
      compute(start + first, rows, collected, joint_block, [&](double* to, Vec value) { store(to + first, value); });
    });
    for (int k = 0; k < n_columns; ++k)
      for (int j = 0; j <= columns[k] / 10; ++j) {
        double* to = W + k * column + j * samples + start;
        const double* from = block + j * joint_block + std::size_t(k) * stack_rows;
        if (streamed)
          copy_streamed(to, from, run);
        else
          std::memcpy(to, from, run * sizeof(double));
      }
  };
  std::size_t start = 0;
  if (lanes == 8 && streamed && samples % lanes == 0) {
    start = to_next_line(W);
    if (start > 0) run_of(0, start);
    for (; start + lanes <= samples; start += lanes)
      compute(start, lanes, wanted, samples, [&](double* to, Vec value) { store_past_cache(to + start, value); });
  }
  for (; start < samples; start += stack_rows)
    run_of(start, samples - start < stack_rows ? samples - start : stack_rows);
  end_of_stream();
}

inline void mass_matrix_batch(const ChainView& chain, std::size_t samples, const double* q, double* M) {
  const int n = chain.n;
  Vec x[padded(most_joints)], out[padded(most_joints * most_joints)];
  each_block(samples, [&](std::size_t first, int rows) {
    load_columns(q + first * n, n, n, rows, x);
    mass_matrix<0>(chain, x, out);
    store_rows(out, n * n, rows, M + first * n * n, n * n);
  });
}

inline void forward_kinematics_batch(const ChainView& chain, std::size_t samples, const double* q, double* T) {
  const int n = chain.n, width = 16 * (n + 1);
  Vec x[padded(most_joints)], out[padded(16 * (most_joints + 1))];
  each_block(samples, [&](std::size_t first, int rows) {
    load_columns(q + first * n, n, n, rows, x);
    forward_kinematics(chain, x, out);
    store_rows(out, width, rows, T + first * width, width);
  });
}

inline void jacobian_batch(const ChainView& chain, std::size_t samples, const double* q, double* J) {
  const int n = chain.n, width = 6 * n;
  Vec x[padded(most_joints)], out[padded(6 * most_joints)];
  each_block(samples, [&](std::size_t first, int rows) {
    load_columns(q + first * n, n, n, rows, x);
    jacobian(chain, x, out);
    store_rows(out, width, rows, J + first * width, width);
  });
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
