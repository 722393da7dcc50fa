// Householder updates of an upper triangle by blocks of rows small enough to stay in the first-level cache.
#pragma once

#include <cmath>

#include "robot_dynamics/rigid_body/kernel/jobs.hpp"
#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

constexpr int row_vectors = qr_block_rows / lanes;  // a column of a block
typedef StoredVec Column[row_vectors];

// Columns shorter than 1e-145 are zero: their reflector would overflow.
constexpr double negligible_square = 1e-290;

// H = 1 - tau v v' with v = [v0; x] takes [r; x] to [beta; 0]
struct Reflector {
  double v0 = 0, tau = 0, beta;
  RD_INLINE Reflector(double r, double x2) : beta(r) {
    if (!(x2 > negligible_square)) return;  // nothing to eliminate: H = 1
    const double length = std::sqrt(r * r + x2);
    beta = r > 0 ? -length : length;  // the sign without cancellation
    v0 = r - beta;
    tau = 2.0 / (v0 * v0 + x2);
  }
};

// Columns j .. j + count - 1: subtract f x, then their dot products with `next`, summed by one transpose.
template <int count>
RD_INLINE void update_group(const Column& x, const Column& next, const double* f, Column* columns, double* dot) {
  Vec sums[lanes] = {};
  for (int i = 0; i < row_vectors; ++i) {
    const Vec xi = x[i], ni = next[i];
    for (int u = 0; u < count; ++u) {
      const Vec c = columns[u][i] - f[u] * xi;
      columns[u][i] = c;
      sums[u] += ni * c;
    }
  }
  transpose(sums);
  for (int u = 1; u < lanes; ++u) sums[0] += sums[u];
  store(dot, sums[0]);
}

// All columns from j to width - 1; a last group of at most half the lanes costs half.
RD_INLINE void update(const Column& x, const Column& next, const double* f, Column* block, double* dot, int j,
                      int width) {
  for (; j + lanes / 2 < width; j += lanes) update_group<lanes>(x, next, f + j, block + j, dot + j);
  if (j < width) update_group<(lanes + 1) / 2>(x, next, f + j, block + j, dot + j);
}

constexpr int most_folded_columns = 10 * most_joints + most_joints * most_extra_columns + 1;

// R (upper, row-major, `stride` apart) becomes the triangle of [R; block]. The block's columns and R's rows go on with
// zeros for `lanes` columns beyond `width`, so that the last group may be incomplete. The block is used up.
// Each reflector needs its column's products with the others; the pass that applies one computes them for the next,
// so that the block is read and written once per reflector.
inline void absorb(double* R, int width, int stride, Column* block) {
  double dot[most_folded_columns + 2 * lanes], f[most_folded_columns + 2 * lanes] = {};
  update(block[0], block[0], f, block, dot, 0, width);
  for (int k = 0; k < width; ++k) {
    double* row = R + k * stride;
    const Reflector h(row[k], dot[k]);
    row[k] = h.beta;
    for (int j = k + 1; j < width; j += lanes) {
      const Vec r = load(row + j), scaled = h.tau * (h.v0 * r + load(dot + j));
      store(row + j, r - h.v0 * scaled);
      store(f + j, scaled);
    }
    if (k + 1 == width) return;
    const double f_next = f[k + 1];
    for (int i = 0; i < row_vectors; ++i) block[k + 1][i] -= f_next * block[k][i];
    f[k + 1] = 0;  // done; its product with itself still comes out of the pass
    update(block[k], block[k + 1], f, block, dot, k + 1, width);
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
