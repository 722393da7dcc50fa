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
