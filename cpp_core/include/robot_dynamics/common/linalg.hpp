// Small dense linear algebra of fixed size, row-major, without allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace robot_dynamics {

// L of A = L L' (N x N, symmetric positive definite); the diagonal holds 1 / L_ii, so that solving multiplies.
template <int N>
struct Cholesky {
  std::array<double, N * N> L;

  // False when A is not positive definite or not finite.
  bool factor(const std::array<double, N * N>& A) noexcept {
    for (int j = 0; j < N; ++j) {
      double diagonal = A[j * N + j];
      for (int k = 0; k < j; ++k) diagonal -= L[j * N + k] * L[j * N + k];
      if (!(diagonal > 0.0)) return false;
      const double inverse = 1.0 / std::sqrt(diagonal);
      if (!(inverse > 0.0)) return false;
      L[j * N + j] = inverse;
      for (int i = j + 1; i < N; ++i) {
        double sum = A[i * N + j];
        for (int k = 0; k < j; ++k) sum -= L[i * N + k] * L[j * N + k];
        L[i * N + j] = sum * inverse;
      }
    }
    return true;
  }

  // x <- A^-1 x
  void solve(double* x) const noexcept {
    for (int i = 0; i < N; ++i) {
      for (int k = 0; k < i; ++k) x[i] -= L[i * N + k] * x[k];
      x[i] *= L[i * N + i];
    }
    for (int i = N - 1; i >= 0; --i) {
      for (int k = i + 1; k < N; ++k) x[i] -= L[k * N + i] * x[k];
      x[i] *= L[i * N + i];
    }
  }
};

// Diagonal d and squares e2 of the other entries of a tridiagonal matrix with the eigenvalues of the symmetric A, which
// is destroyed: Householder reflections of its columns [Golub, Van Loan, Matrix Computations, 8.3].
template <int N>
void tridiagonal(std::array<double, N * N>& A, std::array<double, N>& d, std::array<double, N>& e2) noexcept {
  for (int k = 0; k + 1 < N; ++k) {
    d[k] = A[k * N + k];
    double x2 = 0.0, v[N], w[N], vw = 0.0;
    for (int i = k + 2; i < N; ++i) x2 += A[i * N + k] * A[i * N + k];
    const double first = A[(k + 1) * N + k];
    e2[k] = first * first + x2;
    if (!(x2 > 1e-290)) continue;
    for (int i = k + 1; i < N; ++i) v[i] = A[i * N + k];
    v[k + 1] += std::copysign(std::sqrt(e2[k]), first);
    const double tau = 2.0 / (v[k + 1] * v[k + 1] + x2);
    for (int i = k + 1; i < N; ++i) {
      w[i] = 0.0;
      for (int j = k + 1; j < N; ++j) w[i] += A[i * N + j] * v[j];
      w[i] *= tau;
      vw += w[i] * v[i];
    }
    for (int i = k + 1; i < N; ++i) w[i] -= 0.5 * tau * vw * v[i];
    for (int i = k + 1; i < N; ++i)
      for (int j = k + 1; j < N; ++j) A[i * N + j] -= v[i] * w[j] + w[i] * v[j];
  }
  d[N - 1] = A[N * N - 1];
  e2[N - 1] = 0.0;
}

// Smallest eigenvalue of the symmetric, positive semidefinite A, which is destroyed, to about 1e-15 of the largest.
// Laguerre's iteration from below does not pass it [Wilkinson, The Algebraic Eigenvalue Problem, 7]; p is the
// characteristic polynomial of the tridiagonal matrix, s1 = -p'/p and s2 = (p'/p)' from its pivots.
template <int N>
double smallest_eigenvalue(std::array<double, N * N>& A) noexcept {
  std::array<double, N> d, e2;
  tridiagonal<N>(A, d, e2);
  double trace = 0.0;
  for (const double x : d) trace += x;
  double x = -1e-15 * trace;
  for (int round = 0; round < 20; ++round) {
    double pivot = 1.0, slope = 0.0, bend = 0.0, s1 = 0.0, s2 = 0.0;  // of the pivot with x, over the pivot
    for (int i = 0; i < N; ++i) {
      const double ratio = i > 0 ? e2[i - 1] / pivot : 0.0;
      bend = ratio * (bend - 2.0 * slope * slope);
      slope = ratio * slope - 1.0;
      pivot = d[i] - x - ratio;
      if (!(pivot > 0.0)) return x;
      const double inverse = 1.0 / pivot;
      slope *= inverse, bend *= inverse;
      s1 -= slope;
      s2 += slope * slope - bend;
    }
    const double spread = (N - 1) * (N * s2 - s1 * s1), step = N / (s1 + std::sqrt(std::max(spread, 0.0)));
    x += step;
    if (!(step > 1e-9 * x + 1e-15 * trace)) return x;
  }
  return x;
}

}  // namespace robot_dynamics
