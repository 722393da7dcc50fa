// Wrench at the TCP from joint torques: weighted, adaptively damped inverse of tau = J'F, with its covariance.
//
//   F = (J W J' + L)^-1 J W tau                                             [Simoni2017 17, weighted and damped]
//   cov F = A^-1 (J W J') A^-1 + A^-1 L P L A^-1,  A = J W J' + L
//
// J (6 x n) is made dimensionless by the characteristic length l (forces times l, moments as they are), W =
// diag(1/std^2) the inverse torque covariance, L = sum_k u_k u_k' w_k max(0, s0^2 - s_k^2) over the singular directions
// u_k of J with singular value s_k and mean weight w_k: zero unless s_k < s0, so a well-posed wrench is not biased at
// all. P is the variance of the wrench expected before measuring: what damping removes comes back as uncertainty, so
// that the standard deviation grows towards a singularity (and in directions that fewer than six joints never see)
// while F stays finite.
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/rigid_body/kinematics.hpp"

namespace robot_dynamics {

struct WrenchParameters {
  double length = 0.0;            // m, characteristic length; 0: from the chain
  double singular_value = 0.08;   // s0, of the dimensionless Jacobian: damping starts below
  double expected_force = 200.0;  // N, standard deviation of the force expected before measuring
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
  double singular_value = 0.0;          // smallest, of the dimensionless Jacobian; 0 with fewer than six joints
  bool damped = false;
};

class WrenchInverse {
 public:
  WrenchInverse(const Chain& chain, const WrenchParameters& p) : chain_(chain), p_(p) {
    require_range("length", p.length, 0.0, 100.0);
    require_range("singular_value", p.singular_value, 1e-6, 10.0);
    require_range("expected_force", p.expected_force, 1e-3, 1e6);
    if (p_.length == 0.0) p_.length = characteristic_length(chain);
  }

  double length() const noexcept { return p_.length; }

  // tau, std (n): joint torques and their standard deviations > 0; false and no change when the result is not finite.
  bool step(const double* q, const double* tau, const double* std, WrenchEstimate& out) const noexcept {
    const int n = chain_.n;
    double J[6 * max_joints] = {}, weight[max_joints];
    jacobian(chain_, q, J);
    for (int i = 0; i < 3 * n; ++i) J[i] /= p_.length;
    for (int i = 0; i < n; ++i) weight[i] = 1.0 / (std[i] * std[i]);
    const Matrix information = product_with(J, weight);
    Matrix A = information, L{};
    WrenchEstimate result;
    result.damped = damping(J, weight, std, L, result.singular_value);
    if (result.damped)
      for (int k = 0; k < 36; ++k) A[k] += L[k];
    Cholesky<6> factored;
    if (!factored.factor(A)) return false;
    for (int r = 0; r < 6; ++r) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += J[r * n + i] * weight[i] * tau[i];
      result.wrench[r] = sum;
    }
    factored.solve(result.wrench.data());
    covariance(factored, information, L, result);
    to_si(result);
    if (!all_finite(result.wrench.data(), 6) || !all_finite(result.covariance.data(), 36)) return false;
    out = result;
    return true;
  }

 private:
  using Matrix = std::array<double, 36>;
  static constexpr double unbelievable = 1e3;  // ratio of standard deviations that makes a joint a mere spectator

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

  // L and the smallest singular value of J; false when L is zero.
  bool damping(const double* J, const double* weight, const double* std, Matrix& L, double& smallest) const noexcept {
    std::array<double, max_joints> unit;
    unit.fill(1.0);
    const Matrix G = product_with(J, unit.data());
    const bool singular = chain_.n < 6 || !above_threshold(G, smallest);
    if (singular) smallest = damp_low_directions(G, J, weight, L);
    const bool ignored = disbelieved(std);
    if (ignored) {
      const double expected = p_.expected_force * p_.length;
      for (int k = 0; k < 6; ++k) L[7 * k] += 1.0 / (expected * expected);
    }
    return singular || ignored;
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

  // A joint that hardly counts leaves a direction unmeasured in any pose: then L also holds 1/P, the expectation.
  bool disbelieved(const double* std) const noexcept {
    const auto [least, most] = std::minmax_element(std, std + chain_.n);
    return *most > unbelievable * *least;
  }

  // L over the directions with s_k < s0; returns the smallest singular value, exactly.
  double damp_low_directions(Matrix G, const double* J, const double* weight, Matrix& L) const noexcept {
    const int n = chain_.n;
    double mean = 0.0;
    for (int i = 0; i < n; ++i) mean += weight[i] / n;
    Matrix U;
    std::array<double, 6> square;
    symmetric_eigen<6>(G, square, U);
    const double limit = p_.singular_value * p_.singular_value;
    double smallest = std::numeric_limits<double>::infinity();
    for (int k = 0; k < 6; ++k) {
      smallest = std::min(smallest, std::max(square[k], 0.0));
      if (!(square[k] < limit)) continue;
      double weighted = mean * 1e-9, total = 1e-9;  // mean weight of the joints that see direction k
      for (int i = 0; i < n; ++i) {
        double seen = 0.0;
        for (int r = 0; r < 6; ++r) seen += U[6 * r + k] * J[r * n + i];
        weighted += weight[i] * seen * seen;
        total += seen * seen;
      }
      const double d = weighted / total * (limit - std::max(square[k], 0.0));
      for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c) L[6 * r + c] += d * U[6 * r + k] * U[6 * c + k];
    }
    return n < 6 ? 0.0 : std::sqrt(smallest);
  }

  // A^-1 without damping, else A^-1 (information + L P L) A^-1
  void covariance(const Cholesky<6>& factored, const Matrix& information, const Matrix& L,
                  WrenchEstimate& out) const noexcept {
    Matrix inner{};
    if (out.damped) {
      const double expected = p_.expected_force * p_.length;
      inner = information;
      for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 6; ++c)
          for (int k = 0; k < 6; ++k) inner[6 * r + c] += expected * expected * L[6 * r + k] * L[6 * k + c];
      solve_rows(factored, inner, out.covariance);  // (A^-1 inner)'
      inner = out.covariance;
    } else {
      for (int k = 0; k < 6; ++k) inner[7 * k] = 1.0;
    }
    solve_rows(factored, inner, out.covariance);
  }

  // Rows of `out` = A^-1 columns of `in`, i.e. out = (A^-1 in)'.
  static void solve_rows(const Cholesky<6>& factored, const Matrix& in, Matrix& out) noexcept {
    for (int c = 0; c < 6; ++c) {
      for (int r = 0; r < 6; ++r) out[6 * c + r] = in[6 * r + c];
      factored.solve(&out[6 * c]);
    }
  }

  void to_si(WrenchEstimate& e) const noexcept {
    const double inverse = 1.0 / p_.length;
    for (int r = 0; r < 6; ++r) {
      const double row = r < 3 ? inverse : 1.0;
      e.wrench[r] *= row;
      for (int c = 0; c < 6; ++c) e.covariance[6 * r + c] *= row * (c < 3 ? inverse : 1.0);
    }
  }

  Chain chain_;
  WrenchParameters p_;
};

}  // namespace robot_dynamics
