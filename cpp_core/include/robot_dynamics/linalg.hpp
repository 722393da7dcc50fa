// Dense linear algebra of at most 16 x 16, row-major, without allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace robot_dynamics {

// A = L L' in the lower triangle of A (n x n, symmetric); false when A is not positive definite or not finite.
inline bool cholesky(double* A, int n) noexcept {
  for (int j = 0; j < n; ++j) {
    double diagonal = A[j * n + j];
    for (int k = 0; k < j; ++k) diagonal -= A[j * n + k] * A[j * n + k];
    if (!(diagonal > 0.0)) return false;
    const double root = std::sqrt(diagonal);
    A[j * n + j] = root;
    for (int i = j + 1; i < n; ++i) {
      double sum = A[i * n + j];
      for (int k = 0; k < j; ++k) sum -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = sum / root;
    }
  }
  return std::isfinite(A[n * n - 1]);
}

// x <- (L L')^-1 x with L of cholesky().
inline void cholesky_solve(const double* L, int n, double* x) noexcept {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= L[i * n + k] * x[k];
    x[i] /= L[i * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) x[i] -= L[k * n + i] * x[k];
    x[i] /= L[i * n + i];
  }
}

// Eigenvalues w and eigenvectors (columns of V) of the symmetric N x N matrix A, which is destroyed: cyclic Jacobi
// rotations [Golub, Van Loan, Matrix Computations, 8.5]. Unsorted.
template <int N>
void symmetric_eigen(std::array<double, N * N>& A, std::array<double, N>& w, std::array<double, N * N>& V) noexcept {
  V.fill(0.0);
  for (int i = 0; i < N; ++i) V[i * N + i] = 1.0;
  for (int sweep = 0; sweep < 12; ++sweep) {
    double off = 0.0, diagonal = 0.0;
    for (int i = 0; i < N; ++i) {
      diagonal += A[i * N + i] * A[i * N + i];
      for (int j = i + 1; j < N; ++j) off += A[i * N + j] * A[i * N + j];
    }
    if (!(off > 1e-28 * diagonal)) break;
    for (int p = 0; p < N; ++p)
      for (int q = p + 1; q < N; ++q) {
        const double apq = A[p * N + q];
        if (apq == 0.0) continue;
        const double theta = 0.5 * (A[q * N + q] - A[p * N + p]) / apq;
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(1.0 + theta * theta));
        const double c = 1.0 / std::sqrt(1.0 + t * t), s = t * c;
        for (int k = 0; k < N; ++k) {
          const double akp = A[k * N + p], akq = A[k * N + q];
          A[k * N + p] = c * akp - s * akq;
          A[k * N + q] = s * akp + c * akq;
        }
        for (int k = 0; k < N; ++k) {
          const double apk = A[p * N + k], aqk = A[q * N + k];
          A[p * N + k] = c * apk - s * aqk;
          A[q * N + k] = s * apk + c * aqk;
          const double vkp = V[k * N + p], vkq = V[k * N + q];
          V[k * N + p] = c * vkp - s * vkq;
          V[k * N + q] = s * vkp + c * vkq;
        }
      }
  }
  for (int i = 0; i < N; ++i) w[i] = A[i * N + i];
}

}  // namespace robot_dynamics
