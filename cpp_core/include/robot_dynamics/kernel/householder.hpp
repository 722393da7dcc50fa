// Householder updates of an upper triangle by blocks of rows small enough to stay in the first-level cache.
#pragma once

#include <cmath>

#include "robot_dynamics/kernel/qr_job.hpp"
#include "robot_dynamics/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

constexpr int row_vectors = qr_block_rows / lanes;  // a column of a block
typedef Vec StoredVec __attribute__((may_alias));   // the memory belongs to arrays of doubles
typedef StoredVec Column[row_vectors];

// Columns shorter than 1e-145 are zero: their reflector would overflow.
constexpr double negligible_square = 1e-290;

// H = 1 - tau v v' with v = [v0; x] takes [r; x] to [beta; 0]
struct Reflector {
  double v0, tau, beta;
  RD_INLINE Reflector(double r, double x2) {
    const double length = std::sqrt(r * r + x2);
    beta = r > 0 ? -length : length;  // the sign without cancellation
    v0 = r - beta;
    tau = 2.0 / (v0 * v0 + x2);
  }
};

RD_INLINE double squared_norm(const Column& x) {
  Vec total{};
  for (int i = 0; i < row_vectors; ++i) total += x[i] * x[i];
  return sum(total);
}

// Reflects `lanes` columns at once: their dot products with x are summed by one transpose.
RD_INLINE void reflect(const Reflector& h, const Column& x, double* r, Column* columns) {
  Vec dot[lanes] = {};
  for (int i = 0; i < row_vectors; ++i)
    for (int u = 0; u < lanes; ++u) dot[u] += x[i] * columns[u][i];
  transpose(dot);
  for (int u = 1; u < lanes; ++u) dot[0] += dot[u];
  const Vec row = load(r), f = h.tau * (h.v0 * row + dot[0]);
  store(r, row - h.v0 * f);
  for (int u = 0; u < lanes; ++u) {
    const double fu = f[u];
    for (int i = 0; i < row_vectors; ++i) columns[u][i] -= fu * x[i];
  }
}

// R (upper, row-major, `stride` apart) becomes the triangle of [R; block]. The block's columns and R's rows go on with
// zeros for `lanes` columns beyond `width`, so that the last group may be incomplete. The block is used up.
inline void absorb(double* R, int width, int stride, Column* block) {
  for (int k = 0; k < width; ++k) {
    const double x2 = squared_norm(block[k]);
    if (!(x2 > negligible_square)) continue;  // nothing to eliminate
    double* row = R + k * stride;
    const Reflector h(row[k], x2);
    row[k] = h.beta;
    for (int j = k + 1; j < width; j += lanes) reflect(h, block[k], row + j, block + j);
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
