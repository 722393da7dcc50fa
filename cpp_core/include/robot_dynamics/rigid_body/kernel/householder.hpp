// Householder updates of an upper triangle by blocks of rows small enough to stay in the first-level cache.
#pragma once

#include <cmath>

#include "robot_dynamics/rigid_body/kernel/jobs.hpp"
#include "robot_dynamics/rigid_body/kernel/number.hpp"

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

// Columns that a pass takes at a time: their sums and factors and the columns x1, x2, y1, y2 fit the registers.
constexpr int pass_columns = lanes > 2 ? lanes / 2 : 2;

// A column's sum is that of eight numbers apart, each of every eighth row: so many parts, one after the other, of a
// vector each. SSE2 takes its rows in one part.
constexpr int sum_parts = lanes == 4 ? 2 : 1;

// Column j loses f1[j] x1 + f2[j] x2; then d1[j] and d2[j] are its products with y1 and y2.
struct Pass {
  const Column &x1, &x2, &y1, &y2;
  const double *f1, *f2;
  double *d1, *d2;
};

// Columns j .. j + pass_columns - 1; their products are summed by a transpose.
RD_INLINE void take_off(const Pass& p, Column* columns, int j) {
  constexpr int count = pass_columns;
  Vec sums[2 * count] = {};
  for (int part = 0; part < sum_parts; ++part) {
    Vec s[2 * count] = {};
    for (int i = part; i < row_vectors; i += sum_parts) {
      const Vec x1 = p.x1[i], x2 = p.x2[i], y1 = p.y1[i], y2 = p.y2[i];
      RD_UNROLL
      for (int u = 0; u < count; ++u) {
        const Vec c = fnma(fill<Vec>(p.f2[j + u]), x2, fnma(fill<Vec>(p.f1[j + u]), x1, columns[j + u][i]));
        columns[j + u][i] = c;
        s[u] = fma(y1, c, s[u]);
        s[count + u] = fma(y2, c, s[count + u]);
      }
    }
    for (int u = 0; u < 2 * count; ++u) sums[u] += s[u];
  }
  for (int first = 0; first < 2 * count; first += lanes) {
    transpose(sums + first);
    for (int h = lanes / 2; h > 0; h /= 2)
      for (int u = 0; u < h; ++u) sums[first + u] += sums[first + u + h];
    sums[first / lanes] = sums[first];
  }
  std::memcpy(p.d1 + j, sums, count * sizeof(double));
  std::memcpy(p.d2 + j, reinterpret_cast<const double*>(sums) + count, count * sizeof(double));
}

// x becomes value(row vector); x'x and x'y
struct Products {
  double square, mixed;
};
template <class F>
RD_INLINE Products replace(Column& x, const Column& y, F&& value) {
  constexpr int parts = 2 * sum_parts;
  Vec square[parts] = {}, product[parts] = {};
  RD_UNROLL
  for (int i = 0; i < row_vectors; ++i) {
    const Vec c = x[i] = value(i);
    square[i % parts] = fma(c, c, square[i % parts]);
    product[i % parts] = fma(c, y[i], product[i % parts]);
  }
  return {sum<parts>(square), sum<parts>(product)};
}

constexpr int most_folded_columns = 10 * most_joints + most_joints * most_extra_columns + 1;

// R (upper, row-major, `stride` apart) becomes the triangle of [R; block]. The block's columns and R's rows go on with
// zeros for `lanes` columns beyond `width`, so that the last columns may be incomplete. The block is used up.
// Two reflectors share a pass over the columns, which also makes the products for the next two, x and y. The reflector
// of x is then applied to y, but not yet to the other columns: a share of y'x is taken off their products with y.
inline void absorb(double* R, int width, int stride, Column* block) {
  constexpr int most = most_folded_columns + 2 * lanes;
  double f1[most], f2[most], d1[most], d2[most];
  double* const all[] = {f1, f2, d1, d2};
  for (double* x : all) std::memset(x, 0, (width + 2 * lanes) * sizeof(double));
  for (int k = 0; k < width; k += 2) {
    double *row = R + k * stride, *next = row + stride;
    Column &x = block[k], &y = block[k + 1];
    const Column &last_x = block[k > 0 ? k - 2 : 0], &last_y = block[k > 0 ? k - 1 : 0];
    const auto rest = [&](int j) RD_FLAT {
      return [&, j](int i)
                 RD_FLAT { return fnma(fill<Vec>(f2[j]), last_y[i], fnma(fill<Vec>(f1[j]), last_x[i], block[j][i])); };
    };
    replace(y, y, rest(k + 1));
    const auto [xx, xy] = replace(x, y, rest(k));
    const Reflector h(row[k], xx);
    row[k] = h.beta;
    if (k + 1 == width) return;
    const double f = h.tau * (h.v0 * row[k + 1] + xy);
    row[k + 1] -= h.v0 * f;
    const auto [yy, yx] = replace(y, x, [&](int i) RD_FLAT { return fnma(fill<Vec>(f), x[i], y[i]); });
    const Reflector g(next[k + 1], yy);
    next[k + 1] = g.beta;
    for (int j = k + 2; j < width; j += pass_columns) take_off({last_x, last_y, x, y, f1, f2, d1, d2}, block, j);
    for (int j = k + 2; j < width; j += lanes) {
      const Wide r = Wide::of(load(row + j)), s = Wide::of(load(next + j));
      const Wide of_x = h.tau * (h.v0 * r + Wide::of(load(d1 + j)));
      const Wide of_y = g.tau * (g.v0 * s + (Wide::of(load(d2 + j)) - yx * of_x));
      store(row + j, (r - h.v0 * of_x).v);
      store(next + j, (s - g.v0 * of_y).v);
      store(f1 + j, of_x.v);
      store(f2 + j, of_y.v);
    }
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
