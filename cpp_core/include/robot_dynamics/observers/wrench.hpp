// Wrench at the TCP from joint torques tau = J'F: the posterior under what the environment is expected to do.
//
//   F = A^-1 J W tau,   cov F = A^-1,   A = J W J' + P^-1
//   P = diag(expected_force^2 I3, expected_moment^2 I3)
//
// W = diag(1/std^2) is the inverse covariance of the joint torques. Without a prior (P infinite) this is the weighted
// inverse [Simoni2017 17]; the prior takes the place of damping near singular poses: F stays finite, and the standard
// deviation of a direction that the joints do not show is what was expected of it. Contact forces act through small
// areas, so moments about the TCP are small (2 Nm): errors of the wrist joints then no longer become forces.
// expected_moment = 0: a force at the TCP, no moment (point contact; chains of fewer than six joints).
//
// Whether anything acts at all is a question to all joints together: under no contact b'A^-1 b, b = J W tau, is about
// chi-squared with k = min(n, 6 or 3 without moments) degrees of freedom (twice the logarithm of the likelihood ratio
// of the most likely wrench to none). `significance` is the number of standard deviations of one normal variable that
// is as rare, by the cube root of Wilson and Hilferty (1931).
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/rigid_body/kinematics.hpp"

namespace robot_dynamics {

struct WrenchParameters {
  double expected_force = 200.0;  // N, standard deviation of each axis before measuring
  double expected_moment = 2.0;   // Nm, the same of moments about the TCP; 0: none
  double length = 0.0;            // m, characteristic length of the singular value; 0: from the chain
  double singular_value = 0.08;   // of the dimensionless Jacobian: below it the pose counts as singular
};

// A quarter of the way from base to TCP along the links, at least 5 cm: lever arms of this order.
inline double characteristic_length(const Chain& chain) noexcept {
  double sum = std::sqrt(chain.tool.p[0] * chain.tool.p[0] + chain.tool.p[1] * chain.tool.p[1] +
                         chain.tool.p[2] * chain.tool.p[2]);
  for (int i = 1; i < chain.n; ++i) {
    const auto& p = chain.placement[i].p;
    sum += std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  }
  return std::max(0.25 * sum, 0.05);
}

struct WrenchEstimate {
  std::array<double, 6> wrench{};       // force [N], moment [Nm], base orientation
  std::array<double, 36> covariance{};  // of the wrench, SI
  double significance = 0.0;            // of any wrench, in standard deviations of one normal variable, >= 0
  double singular_value = 0.0;          // smallest, of the dimensionless Jacobian; 0 with fewer than six joints
  bool singular = false;
};

class WrenchInverse {
 public:
  WrenchInverse(const Chain& chain, const WrenchParameters& p) : chain_(chain), p_(p) {
    require_range("length", p.length, 0.0, 100.0);
    require_range("singular_value", p.singular_value, 1e-6, 10.0);
    require_range("expected_force", p.expected_force, 1e-3, 1e6);
    require_range("expected_moment", p.expected_moment, 0.0, 1e6);
    if (p_.length == 0.0) p_.length = characteristic_length(chain);
  }

  double length() const noexcept { return p_.length; }

  // How rare chi2 of k degrees of freedom is, in standard deviations of one normal variable; 0 below its median.
  static double standard_deviations(double chi2, int k) noexcept {
    const double spread = 2.0 / (9.0 * k);
    return std::max((std::cbrt(std::max(chi2, 0.0) / k) - 1.0 + spread) / std::sqrt(spread), 0.0);
  }

  // tau, std (n): joint torques and their standard deviations > 0; false and no change when the result is not finite.
  bool step(const double* q, const double* tau, const double* std, WrenchEstimate& out) const noexcept {
    double J[6 * max_joints] = {};
    jacobian(chain_, q, J);
    return solve(J, tau, std, out);
  }

  // The same with the placements (n + 1) of forward_kinematics.
  bool step(const Placement* frames, const double* tau, const double* std, WrenchEstimate& out) const noexcept {
    double J[6 * max_joints] = {};
    jacobian(chain_, frames, J);
    return solve(J, tau, std, out);
  }

 private:
  using Matrix = std::array<double, 36>;

  bool solve(double* J, const double* tau, const double* std, WrenchEstimate& out) const noexcept {
    const int n = chain_.n;
    double weight[max_joints];
    for (int i = 0; i < n; ++i) weight[i] = 1.0 / (std[i] * std[i]);
    WrenchEstimate result;
    Matrix A = product_with(J, weight);
    for (int r = 0; r < 6; ++r) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += J[r * n + i] * weight[i] * tau[i];
      result.wrench[r] = sum;
    }
    add_prior(A, result.wrench);
    Cholesky<6> factored;
    if (!factored.factor(A)) return false;
    const std::array<double, 6> b = result.wrench;
    factored.solve(result.wrench.data());
    double chi2 = 0.0;
    for (int r = 0; r < 6; ++r) chi2 += b[r] * result.wrench[r];
    result.significance = standard_deviations(chi2, std::min(n, p_.expected_moment > 0.0 ? 6 : 3));
    for (int r = 0; r < 6; ++r) {
      result.covariance[7 * r] = 1.0;
      factored.solve(&result.covariance[6 * r]);
    }
    if (p_.expected_moment == 0.0)
      for (int k = 3; k < 6; ++k) result.covariance[7 * k] = 0.0;
    result.singular = singular(J, result.singular_value);
    if (!all_finite(result.wrench.data(), 6) || !all_finite(result.covariance.data(), 36)) return false;
    out = result;
    return true;
  }

  Matrix product_with(const double* J, const double* weight) const noexcept {
    Matrix G;
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c <= r; ++c) {
        double sum = 0.0;
        for (int i = 0; i < chain_.n; ++i) sum += J[r * chain_.n + i] * weight[i] * J[c * chain_.n + i];
        G[6 * r + c] = G[6 * c + r] = sum;
      }
    return G;
  }

  void add_prior(Matrix& A, std::array<double, 6>& right) const noexcept {
    for (int k = 0; k < 3; ++k) A[7 * k] += 1.0 / (p_.expected_force * p_.expected_force);
    if (p_.expected_moment > 0.0) {
      for (int k = 3; k < 6; ++k) A[7 * k] += 1.0 / (p_.expected_moment * p_.expected_moment);
      return;
    }
    for (int r = 0; r < 6; ++r)
      for (int c = 3; c < 6; ++c) A[6 * r + c] = A[6 * c + r] = r == c ? 1.0 : 0.0;
    right[3] = right[4] = right[5] = 0.0;
  }

  // Whether the pose is singular, and the smallest singular value of J with forces times the characteristic length.
  bool singular(double* J, double& smallest) const noexcept {
    const int n = chain_.n;
    smallest = 0.0;
    if (n < 6) return true;
    for (int i = 0; i < 3 * n; ++i) J[i] /= p_.length;
    std::array<double, max_joints> unit;
    unit.fill(1.0);
    Matrix G = product_with(J, unit.data());
    if (above_threshold(G, smallest)) return false;
    Matrix U;
    std::array<double, 6> square;
    symmetric_eigen<6>(G, square, U);
    smallest = std::sqrt(std::max(*std::min_element(square.begin(), square.end()), 0.0));
    return true;
  }

  // Whether G - s0^2 I is positive definite; then the smallest singular value to about 1 %, without eigenvectors: of
  // B = (G - s0^2 I)^-1, largest eigenvalue^16 ~ tr B^32 / tr B^16.
  bool above_threshold(const Matrix& G, double& smallest) const noexcept {
    const double limit = p_.singular_value * p_.singular_value;
    Matrix shifted = G, B{};
    for (int k = 0; k < 6; ++k) shifted[7 * k] -= limit;
    Cholesky<6> factored;
    if (!factored.factor(shifted)) return false;
    double trace = 0.0;
    for (int k = 0; k < 6; ++k) {
      B[7 * k] = 1.0;
      factored.solve(&B[6 * k]);
      trace += B[7 * k];
    }
    for (double& x : B) x /= trace;
    double before = 1.0, after = 1.0;
    for (int k = 0; k < 4; ++k) {  // B^2, B^4, B^8, B^16
      B = squared(B);
      before = B[0] + B[7] + B[14] + B[21] + B[28] + B[35];
    }
    after = 0.0;
    for (const double x : B) after += x * x;
    const double largest = trace * std::sqrt(std::sqrt(std::sqrt(std::sqrt(after / before))));
    smallest = std::sqrt(1.0 / largest + limit);
    return true;
  }

  static Matrix squared(const Matrix& B) noexcept {
    Matrix C{};
    for (int r = 0; r < 6; ++r)
      for (int k = 0; k < 6; ++k)
        for (int c = 0; c < 6; ++c) C[6 * r + c] += B[6 * r + k] * B[6 * k + c];
    return C;
  }

  Chain chain_;
  WrenchParameters p_;
};

}  // namespace robot_dynamics
