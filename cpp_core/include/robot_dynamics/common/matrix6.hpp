// 6 x 6 matrices in pairs of numbers, which every processor adds and multiplies at once: rows are whole vectors and all
// loops have fixed length. Operations have one order on every processor, so the bits are the same.
#pragma once

#include <array>
#include <utility>

namespace robot_dynamics {

typedef double Pair __attribute__((vector_size(16)));

struct Row6 {
  Pair pair[3]{};

  double operator[](int c) const noexcept { return pair[c / 2][c % 2]; }
  void set(int c, double value) noexcept { pair[c / 2][c % 2] = value; }
  void add(double factor, const Row6& other) noexcept {
    const Pair both{factor, factor};
    for (int k = 0; k < 3; ++k) pair[k] += both * other.pair[k];
  }
  void scale(double factor) noexcept {
    for (int k = 0; k < 3; ++k) pair[k] *= factor;
  }
};

struct Matrix6 {
  std::array<Row6, 6> row{};

  double operator()(int r, int c) const noexcept { return row[r][c]; }
  void set(int r, int c, double value) noexcept { row[r].set(c, value); }

  // += factor x x'
  void add_outer(double factor, const Row6& x) noexcept {
    for (int r = 0; r < 6; ++r) row[r].add(factor * x[r], x);
  }

  double trace() const noexcept {
    double sum = 0.0;
    for (int k = 0; k < 6; ++k) sum += row[k][k];
    return sum;
  }

  // B^2 of a symmetric matrix.
  Matrix6 squared() const noexcept {
    Matrix6 C;
#pragma GCC unroll 6
    for (int r = 0; r < 6; ++r)
#pragma GCC unroll 6
      for (int k = 0; k < 6; ++k) C.row[r].add(row[r][k], row[k]);
    return C;
  }
};

// One pivot of the Gauss-Jordan inversion of A; false where it is not positive definite or not finite.
template <int K>
inline bool reduce(Matrix6& A) noexcept {
  const double pivot = A.row[K][K], inverse = 1.0 / pivot;
  A.row[K].set(K, 1.0);
  A.row[K].scale(inverse);
#pragma GCC unroll 6
  for (int r = 0; r < 6; ++r) {
    if (r == K) continue;
    const double factor = -A.row[r][K];
    A.row[r].set(K, 0.0);
    A.row[r].add(factor, A.row[K]);
  }
  return pivot > 0.0 && inverse > 0.0;
}

// A and B become their inverses; whether each was positive definite and finite. Pivots alternate: while one matrix
// waits for its division the other is reduced.
template <int... K>
inline std::array<bool, 2> invert(Matrix6& A, Matrix6& B, std::integer_sequence<int, K...>) noexcept {
  bool a = true, b = true;
  ((a = reduce<K>(A) && a, b = reduce<K>(B) && b), ...);
  return {a, b};
}

}  // namespace robot_dynamics
