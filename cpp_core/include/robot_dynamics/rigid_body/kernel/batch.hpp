// Batches: blocks of `lanes` samples are turned into one vector per joint, computed, and turned back.
#pragma once

#include <algorithm>

#include "robot_dynamics/rigid_body/kernel/kinematics.hpp"
#include "robot_dynamics/rigid_body/kernel/regressor.hpp"
#include "robot_dynamics/rigid_body/kernel/stream.hpp"
#include "robot_dynamics/rigid_body/kernel/table.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// Null pointers read as zero.
RD_INLINE void read_or_zero(const double* p, std::size_t first, int n, int rows, Wide* out) {
  if (p != nullptr) return load_columns(p + first * n, n, n, rows, raw(out));
  for (int i = 0; i < n; ++i) out[i] = 0.0;
}

// The state of `lanes` samples.
struct Block {
  Wide q[padded(most_joints)], qd[padded(most_joints)], qdd[padded(most_joints)];

  template <int N>
  RD_INLINE void read(const ChainView& chain, std::size_t first, int rows, const double* q_, const double* qd_,
                      const double* qdd_) {
    const int n = N ? N : chain.n;
    load_columns(q_ + first * n, n, n, rows, raw(q));
    read_or_zero(qd_, first, n, rows, qd);
    read_or_zero(qdd_, first, n, rows, qdd);
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
                 [&](int j, int i, int e, Wide value) RD_FLAT { row[j][10 * i + e] = value.v; });
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

// A short run of samples of one column, past the caches; `to` begins a cache line.
RD_INLINE void write_run(double* to, const double* from) {
  RD_UNROLL
  for (int l = 0; l < aligned_rows; l += lanes) store_past_cache(to + l, load(from + l));
}

// The columns of a run of samples are collected in the cache, column k of joint j at block + (10 n j + k) run. Where a
// vector is a whole line and all columns of a large W begin at the same place of one, vectors go past the cache one by
// one: the memory writes them while the next are computed. Shorter vectors are collected in short runs in the
// first-level cache there: single lines, each in another page, take three times as long to write.
template <int N>
void stacked_regressor_of(const ChainView& chain, std::size_t samples, const double* q, const double* qd,
                          const double* qdd, const int* columns, int n_columns, bool zeroed, double* block, double* W) {
  const int n = N ? N : chain.n;
  const KnownStructure structure = structure_of(chain);
  const bool streamed = samples * n * n_columns > streamed_doubles, aligned = streamed && samples % 8 == 0;
  const std::size_t run = aligned ? aligned_rows : stack_rows;
  const std::size_t column = n * samples;
  double* wanted[10 * most_joints] = {};  // of parameter k and joint 0; null: not wanted
  for (int k = 0; k < n_columns; ++k) {
    wanted[columns[k]] = W + k * column;
    const int felt = columns[k] / 10 + 1;  // links before a joint give no torque to it
    if (!zeroed && streamed) zero_streamed(W + k * column + felt * samples, (n - felt) * samples);
    if (!zeroed && !streamed) std::memset(W + k * column + felt * samples, 0, (n - felt) * samples * sizeof(double));
  }
  Block x;
  const auto compute = [&](std::size_t start, int rows, auto&& emit) RD_FLAT {
    x.read<N>(chain, start, rows, q, qd, qdd);
    regressor<N>(chain, structure, x.q, x.qd, x.qdd, emit);
  };
  // All columns are collected: a place that does not depend on the wanted ones needs no table and no branch.
  const auto collect = [&](auto size, std::size_t start, std::size_t count) {
    each_block(count, [&](std::size_t first, int rows) RD_FLAT {
      double* to = block + first;
      compute(start + first, rows, [&, to](int j, int i, int e, Wide value) RD_FLAT {
        store(to + (j * 10 * n + 10 * i + e) * size.n, value.v);
      });
    });
  };
  const auto run_of = [&](std::size_t start, std::size_t count) {
    if (aligned)
      collect(Size<aligned_rows>{}, start, count);
    else
      collect(Size<stack_rows>{}, start, count);
    for (int k = 0; k < n_columns; ++k)
      for (int j = 0; j <= columns[k] / 10; ++j) {
        double* to = W + k * column + j * samples + start;
        const double* from = block + (j * 10 * n + columns[k]) * run;
        if (aligned && count == run)
          write_run(to, from);
        else if (streamed)
          copy_streamed(to, from, count);
        else
          std::memcpy(to, from, count * sizeof(double));
      }
  };
  std::size_t start = 0, count = aligned ? std::min(to_next_line(W), samples) : 0;  // the first run ends a line
  if (count == 0) count = std::min(run, samples);
  for (; start < samples; start += count, count = std::min(run, samples - start)) {
    for (; lanes == 8 && aligned && to_next_line(W + start) == 0 && start + lanes <= samples; start += lanes)
      compute(start, lanes, [&](int j, int i, int e, Wide value) RD_FLAT {
        if (double* to = wanted[10 * i + e]; to != nullptr) store_past_cache(to + j * samples + start, value.v);
      });
    run_of(start, std::min(count, samples - start));
  }
  end_of_stream();
}

inline void mass_matrix_batch(const ChainView& chain, std::size_t samples, const double* q, double* M) {
  const int n = chain.n;
  Wide x[padded(most_joints)], out[padded(most_joints * most_joints)];
  each_block(samples, [&](std::size_t first, int rows) {
    load_columns(q + first * n, n, n, rows, raw(x));
    mass_matrix<0>(chain, x, out);
    store_rows(raw(out), n * n, rows, M + first * n * n, n * n);
  });
}

inline void forward_kinematics_batch(const ChainView& chain, std::size_t samples, const double* q, double* T) {
  const int n = chain.n, width = 16 * (n + 1);
  Wide x[padded(most_joints)], out[padded(16 * (most_joints + 1))];
  each_block(samples, [&](std::size_t first, int rows) {
    load_columns(q + first * n, n, n, rows, raw(x));
    forward_kinematics(chain, x, out);
    store_rows(raw(out), width, rows, T + first * width, width);
  });
}

inline void jacobian_batch(const ChainView& chain, std::size_t samples, const double* q, double* J) {
  const int n = chain.n, width = 6 * n;
  Wide x[padded(most_joints)], out[padded(6 * most_joints)];
  each_block(samples, [&](std::size_t first, int rows) {
    load_columns(q + first * n, n, n, rows, raw(x));
    jacobian(chain, x, out);
    store_rows(raw(out), width, rows, J + first * width, width);
  });
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
