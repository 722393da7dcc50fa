// Wrench at the TCP from joint torques tau = J'F: the posterior under what the environment is expected to do.
//
//   F = A^-1 J W tau,   cov F = A^-1,   A = J W J' + P^-1
//   P = diag(expected_force^2 I3, expected_moment^2 I3)
//
// W = diag(1/std^2) is the inverse covariance of the joint torques. Without a prior (P infinite) this is the weighted
// inverse [Simoni2017 17]; the prior takes the place of damping near singular poses: F stays finite, and the standard
// deviation of a direction that the joints do not show is what was expected of it. Contact forces act through small
// areas, so moments about the TCP are small (1.5 Nm): errors of the wrist joints then no longer become forces.
// expected_moment = 0: a force at the TCP, no moment (point contact; chains of fewer than six joints).
//
// How large a contact is, is unknown, and most are at the TCP. With small_contact < 1 the force has either deviation,
// expected_force or small_contact of it, and the moment likewise: four priors, as likely before measuring. F is the
// mean of all, weighted by the marginal likelihood
//   L = exp(b'A^-1 b / 2) / sqrt(det A det P),   b = J W tau
// and its covariance contains how far they lie apart.
//
// Whether anything acts at all is a question to all joints together: under no contact b'A^-1 b is about chi-squared
// with k = min(n, 6 or 3 without moments) degrees of freedom (twice the logarithm of the likelihood ratio of the most
// likely wrench to none). `significance` is the number of standard deviations of one normal variable that is as rare,
// by the cube root of Wilson and Hilferty (1931).
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/rigid_body/kinematics.hpp"

namespace robot_dynamics {

struct WrenchParameters {
  double expected_force = 80.0;  // N, standard deviation of each axis before measuring
  double expected_moment = 1.5;  // Nm, the same of moments about the TCP; 0: none
  double small_contact = 1.0;    // share of both of a small contact; 1: no such priors
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
  // Of ten pushes on two arms with torque sensors 95.7 instead of 93.6 % lie within two deviations (source: own).
  static constexpr double apart = 0.2;
  static constexpr double least = 0.08;  // singular value of the dimensionless Jacobian below which a pose is singular

  WrenchInverse(const Chain& chain, const WrenchParameters& p)
      : chain_(chain), p_(p), length_(characteristic_length(chain)) {
    require_range("expected_force", p.expected_force, 1e-3, 1e6);
    require_range("expected_moment", p.expected_moment, 0.0, 1e6);
    require_range("small_contact", p.small_contact, 1e-3, 1.0);
  }

  // How rare chi2 of k degrees of freedom is, in standard deviations of one normal variable; 0 below its median.
  static double standard_deviations(double chi2, int k) noexcept {
    const double spread = 2.0 / (9.0 * k);
    return std::max((std::cbrt(std::max(chi2, 0.0) / k) - 1.0 + spread) / std::sqrt(spread), 0.0);
  }

  // tau, std (n): joint torques and their standard deviations > 0; false and no change when the result is not finite.
  bool step(const double* q, const double* tau, const double* std, WrenchEstimate& out) const noexcept {
    double J[6 * max_joints];
    jacobian(chain_, q, J);
    return solve(J, tau, std, out);
  }

  // The same with the Jacobian (6, n).
  bool solve(const double* J, const double* tau, const double* std, WrenchEstimate& out) const noexcept {
    const bool moments = p_.expected_moment > 0.0;
    const WrenchProblem problem{chain_.n,
                                J,
                                tau,
                                std,
                                1.0 / (p_.expected_force * p_.expected_force),
                                moments ? 1.0 / (p_.expected_moment * p_.expected_moment) : 0.0,
                                p_.small_contact,
                                moments,
                                1.0 / length_,
                                least * least};
    WrenchSolution solution;
    if (!active_kernels.wrench_posterior(problem, solution)) return false;
    std::copy_n(solution.wrench, 6, out.wrench.begin());
    std::copy_n(solution.covariance, 36, out.covariance.begin());
    out.significance = standard_deviations(solution.chi2, std::min(chain_.n, moments ? 6 : 3));
    out.singular = chain_.n < 6 || !solution.regular;
    out.singular_value = chain_.n < 6 ? 0.0 : solution.regular ? solution.singular_value : from_eigenvalues(J);
    return true;
  }

  // Covariance of an estimate where the variance that joint i adds to it is scale[i] of what it was, and the rest of
  // it, what is expected, their mean; with errors of the torques that it does not know: of deviations `own` (n),
  // independent of each other, and one in proportion to `common` (n), of which each joint has a share `apart` of its
  // own.
  void rescale(const double* J, const double* std, const double* scale, const double* own, const double* common,
               WrenchEstimate& out) const noexcept {
    double columns[max_joints + 1][6] = {}, variance[max_joints + 1], mean = 0.0;
    const int n = chain_.n;
    for (int i = 0; i < n; ++i) mean += scale[i] / n;
    variance[n] = 1.0;
    for (int i = 0; i < n; ++i) {
      const double other = apart * common[i];
      variance[i] = own[i] * own[i] + other * other + (scale[i] - mean) * std[i] * std[i];
      for (int r = 0; r < 6; ++r) {
        double& g = columns[i][r];
        for (int c = 0; c < 6; ++c) g += out.covariance[6 * r + c] * J[c * n + i];
        g /= std[i] * std[i];
        columns[n][r] += g * common[i];
      }
    }
    for (double& c : out.covariance) c *= mean;
    for (int i = 0; i <= n; ++i)
      for (int k = 0; k < 36; ++k) out.covariance[k] += variance[i] * columns[i][k / 6] * columns[i][k % 6];
  }

 private:
  // Smallest singular value at a pose where the kernel's is not exact enough.
  double from_eigenvalues(const double* J) const noexcept {
    const int n = chain_.n;
    std::array<double, 36> G;
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        double sum = 0.0;
        for (int i = 0; i < n; ++i) sum += J[r * n + i] * J[c * n + i];
        G[6 * r + c] = sum * (r < 3 ? 1.0 / length_ : 1.0) * (c < 3 ? 1.0 / length_ : 1.0);
      }
    return std::sqrt(std::max(smallest_eigenvalue<6>(G), 0.0));
  }

  Chain chain_;
  WrenchParameters p_;
  double length_;  // m, characteristic, of the singular value
};

}  // namespace robot_dynamics
