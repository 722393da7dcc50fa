// Posterior of a wrench from joint torques (observers/wrench.hpp): A = J W J' + prior, F = A^-1 J W tau, a mixture over
// wider and smaller priors, and the smallest singular value of the dimensionless Jacobian. A row of a 6 x 6 matrix is
// one vector of eight lanes, two of four or three of two; the operations of a number and their order do not depend on
// that.
#pragma once

#include <algorithm>
#include <utility>

#include "robot_dynamics/rigid_body/kernel/jobs.hpp"
#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

constexpr int pieces = (6 + lanes - 1) / lanes;
constexpr int most_columns = 16;

// f(Size<0>{}), ... f(Size<5>{})
template <class F, int... i>
RD_INLINE void six_times(F&& f, std::integer_sequence<int, i...>) {
  (f(Size<i>{}), ...);
}
template <class F>
RD_INLINE void six_times(F&& f) {
  six_times(f, std::make_integer_sequence<int, 6>());
}

// Lane k of `v` everywhere.
template <int k, std::size_t... lane>
RD_INLINE Vec splat(Vec v, std::index_sequence<lane...>) {
  return shuffle<(int(lane) * 0 + k)...>(v, v);
}
// `v` with lane k of `other`
template <int k, std::size_t... lane>
RD_INLINE Vec replace(Vec v, Vec other, std::index_sequence<lane...>) {
  return shuffle<(int(lane) == k ? lanes + k : int(lane))...>(v, other);
}
constexpr std::make_index_sequence<lanes> each_lane{};

struct Row {
  Vec v[pieces];

  template <int k>
  RD_INLINE Vec at() const {
    return splat<k % lanes>(v[k / lanes], each_lane);
  }
  template <int k>
  RD_INLINE void put(Vec value) {
    v[k / lanes] = replace<k % lanes>(v[k / lanes], value, each_lane);
  }
  RD_INLINE void add(Vec factor, const Row& x) {
    for (int p = 0; p < pieces; ++p) v[p] = fma(factor, x.v[p], v[p]);
  }
  RD_INLINE Row times(Vec factor) const {
    Row y;
    for (int p = 0; p < pieces; ++p) y.v[p] = factor * v[p];
    return y;
  }
  RD_INLINE void read(const double* x) {  // eight numbers
    for (int p = 0; p < pieces; ++p) v[p] = load(x + p * lanes);
  }
  RD_INLINE void write(double* x) const {
    for (int p = 0; p < pieces; ++p) store(x + p * lanes, v[p]);
  }
};

struct Square {
  Row row[6];

  RD_INLINE void add_outer(Vec factor, const Row& x) {
    six_times([&](auto r) RD_FLAT { row[r.n].add(factor * x.at<r.n>(), x); });
  }
  RD_INLINE Square squared() const {  // of a symmetric matrix
    Square C;
    six_times([&](auto r) RD_FLAT {
      C.row[r.n] = row[0].times(row[r.n].template at<0>());
      six_times([&](auto k) RD_FLAT {
        if constexpr (k.n > 0) C.row[r.n].add(row[r.n].template at<k.n>(), row[k.n]);
      });
    });
    return C;
  }
  RD_INLINE double trace() const {
    Row diagonal = row[0];
    six_times([&](auto k) RD_FLAT { diagonal.put<k.n>(row[k.n].v[k.n / lanes]); });
    return sum_of(diagonal);
  }
  static RD_INLINE double sum_of(const Row& x) {
    double at[8];
    x.write(at);
    return ((at[0] + at[1]) + (at[2] + at[3])) + (at[4] + at[5]);
  }
};

// One pivot of the Gauss-Jordan inversion of A, a factor of its determinant; false where it is not positive definite or
// not finite.
template <int K>
RD_INLINE bool reduce(Square& A, double& determinant) {
  const Vec pivot = A.row[K].at<K>(), inverse = 1.0 / pivot;
  A.row[K].put<K>(fill<Vec>(1.0));
  A.row[K] = A.row[K].times(inverse);
  six_times([&](auto r) RD_FLAT {
    if constexpr (r.n != K) {
      const Vec factor = -A.row[r.n].template at<K>();
      A.row[r.n].template put<K>(Vec{});
      A.row[r.n].add(factor, A.row[K]);
    }
  });
  determinant *= pivot[0];
  return pivot[0] > 0.0 && inverse[0] > 0.0;
}

// Sum of a_k b_k, six of each.
RD_INLINE double dot(const Row& a, const Row& b) {
  Row products;
  for (int p = 0; p < pieces; ++p) products.v[p] = a.v[p] * b.v[p];
  return Square::sum_of(products);
}

// `value` on the diagonal of three axes from `k` on.
template <int k>
RD_INLINE void add_prior(Square& A, double value) {
  A.row[k].put<k>(A.row[k].v[k / lanes] + value);
  A.row[k + 1].put<k + 1>(A.row[k + 1].v[(k + 1) / lanes] + value);
  A.row[k + 2].put<k + 2>(A.row[k + 2].v[(k + 2) / lanes] + value);
}

// Mean and covariance of a mixture of normal distributions, by their weights.
RD_INLINE void mix(const double* weight, const Row* mean, const Square* covariance, int count, Row& F, Square& C) {
  double total = 0.0;
  for (int j = 0; j < count; ++j) total += weight[j];
  for (int j = 0; j < count; ++j) F.add(fill<Vec>(weight[j] / total), mean[j]);
  for (int j = 0; j < count; ++j) {
    const Vec share = fill<Vec>(weight[j] / total);
    Row apart;
    for (int p = 0; p < pieces; ++p) apart.v[p] = mean[j].v[p] - F.v[p];
    const Row spread = apart.times(share);
    six_times([&](auto r) RD_FLAT {
      C.row[r.n].add(share, covariance[j].row[r.n]);
      C.row[r.n].add(apart.at<r.n>(), spread);
    });
  }
}

// Smallest singular value from B = (G - s0^2 1)^-1 to about 1 %, without eigenvectors: largest eigenvalue of B^16
// ~ tr B^32 / tr B^16.
RD_INLINE double smallest_singular_value(Square B, double least_square) {
  const double trace = B.trace();
  for (Row& row : B.row) row = row.times(fill<Vec>(1.0 / trace));
  for (int k = 0; k < 4; ++k) B = B.squared();  // B^2, B^4, B^8, B^16
  Row squares{};
  for (const Row& row : B.row)
    for (int p = 0; p < pieces; ++p) squares.v[p] = fma(row.v[p], row.v[p], squares.v[p]);
  const double ratio = Square::sum_of(squares) / B.trace();
  const double largest = trace * std::sqrt(std::sqrt(std::sqrt(std::sqrt(ratio))));
  return std::sqrt(1.0 / largest + least_square);
}

// Columns of J, zero beyond the sixth lane.
RD_INLINE void read_columns(const double* J, int n, Row* columns) {
  static constexpr double used[8] = {1, 1, 1, 1, 1, 1, 0, 0};
  Vec part[padded(most_columns)];
  for (int p = 0; p < pieces; ++p) {
    load_tiles(J + p * lanes * n, n, n, 6 - p * lanes < lanes ? 6 - p * lanes : lanes, part);
    for (int i = 0; i < n; ++i) columns[i].v[p] = part[i] * load(used + p * lanes);
  }
}

// False and no change where A is not positive definite or a result not finite.
inline bool wrench_posterior(const WrenchProblem& x, WrenchSolution& out) {
  Row columns[most_columns], b{}, scale, first;
  Square posterior[4] = {}, G{};  // bit 0: smaller prior of the force, bit 1: of the moment
  Square& A = posterior[0];
  const double scales[8] = {x.per_length, x.per_length, x.per_length, 1, 1, 1, 0, 0}, m = x.moments;
  const double shown[8] = {1, 1, 1, m, m, m, 0, 0};
  scale.read(scales);
  first.read(shown);
  read_columns(x.J, x.n, columns);
  for (int i = 0; i < x.n; ++i) {
    const double weight = 1.0 / (x.std[i] * x.std[i]);
    Row seen, scaled;
    for (int p = 0; p < pieces; ++p) {
      seen.v[p] = columns[i].v[p] * first.v[p];
      scaled.v[p] = columns[i].v[p] * scale.v[p];
    }
    A.add_outer(fill<Vec>(weight), seen);
    G.add_outer(fill<Vec>(1.0), scaled);
    b.add(fill<Vec>(weight * x.tau[i]), seen);
  }
  const double smaller = 1.0 / (x.small * x.small) - 1.0;
  const int count = smaller > 0.0 ? x.moments ? 4 : 2 : 1;
  add_prior<0>(A, x.force_prior);
  add_prior<3>(A, x.moments ? x.moment_prior : 1.0);
  add_prior<0>(G, -x.least_square);
  add_prior<3>(G, -x.least_square);
  bool definite = true, regular = true;
  double determinant[4] = {1.0, 1.0, 1.0, 1.0}, unused = 1.0;
  posterior[1] = A;
  add_prior<0>(posterior[1], smaller * x.force_prior);
  six_times([&](auto k) RD_FLAT {  // pivots alternate: while one matrix waits for its division the others are reduced
    if constexpr (k.n == 3)        // priors that differ in the moment alone share the pivots of the force
      for (int j = 2; j < count; ++j) {
        posterior[j] = posterior[j - 2];
        determinant[j] = determinant[j - 2];
        add_prior<3>(posterior[j], smaller * x.moment_prior);
      }
    for (int j = 0; j < (k.n < 3 ? std::min(count, 2) : count); ++j)
      definite = reduce<k.n>(posterior[j], determinant[j]) && definite;
    regular = reduce<k.n>(G, unused) && regular;
  });
  Row mean[4] = {}, F{};
  Square C{};
  const double odds = 1.0 / (x.small * x.small * x.small);  // 1/sqrt(det P) over that of the wider prior
  double weight[4] = {1.0, odds, odds, odds * odds};
  for (int j = 0; j < count; ++j) {
    six_times([&](auto r) RD_FLAT { mean[j].add(b.at<r.n>(), posterior[j].row[r.n]); });
    const double chi2 = dot(b, mean[j]);
    if (j == 0) out.chi2 = chi2;
    weight[j] *= std::sqrt(determinant[0] / determinant[j]) * std::exp(0.5 * (chi2 - out.chi2));
  }
  mix(weight, mean, posterior, count, F, C);
  if (!x.moments)
    six_times([&](auto k) RD_FLAT {
      if constexpr (k.n >= 3) C.row[k.n].template put<k.n>(Vec{});
    });
  double f[8], inverse[6][8], bad = 0.0;
  F.write(f);
  six_times([&](auto r) RD_FLAT { C.row[r.n].write(inverse[r.n]); });
  for (int r = 0; r < 6; ++r) {
    bad += f[r] * 0.0;
    for (int c = 0; c < 6; ++c) bad += inverse[r][c] * 0.0;
  }
  if (!definite || !(bad == 0.0)) return false;
  for (int r = 0; r < 6; ++r) {
    out.wrench[r] = f[r];
    for (int c = 0; c <= r; ++c) out.covariance[6 * r + c] = out.covariance[6 * c + r] = inverse[r][c];
  }
  out.regular = regular;
  out.singular_value = regular ? smallest_singular_value(G, x.least_square) : 0.0;
  return true;
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
