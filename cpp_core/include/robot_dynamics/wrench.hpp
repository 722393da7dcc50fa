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

#include "robot_dynamics/check.hpp"
#include "robot_dynamics/kinematics.hpp"
#include "robot_dynamics/linalg.hpp"

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
    Matrix information = product_with(J, weight), A = information, L{};
    WrenchEstimate result;
    result.singular_value = damping(J, weight, L);
    result.damped = result.singular_value < p_.singular_value;
    if (disbelieved(std)) {
      result.damped = true;
      const double expected = p_.expected_force * p_.length;
      for (int k = 0; k < 6; ++k) L[7 * k] += 1.0 / (expected * expected);
    }
    for (int k = 0; k < 36; ++k) A[k] += L[k];
    if (!cholesky(A.data(), 6)) return false;
    for (int r = 0; r < 6; ++r) {
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += J[r * n + i] * weight[i] * tau[i];
      result.wrench[r] = sum;
    }
    cholesky_solve(A.data(), 6, result.wrench.data());
    if (!covariance(A, information, L, result)) return false;
    to_si(result);
    if (!all_finite(result.wrench.data(), 6)) return false;
    out = result;
    return true;
  }

 private:
  using Matrix = std::array<double, 36>;
  static constexpr double unbelievable = 1e3;  // ratio of standard deviations that makes a joint a mere spectator

  Matrix product_with(const double* J, const double* weight) const noexcept {
    Matrix G{};
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c <= r; ++c) {
        double sum = 0.0;
        for (int i = 0; i < chain_.n; ++i) sum += J[r * chain_.n + i] * weight[i] * J[c * chain_.n + i];
        G[6 * r + c] = G[6 * c + r] = sum;
      }
    return G;
  }

  // A joint that hardly counts leaves a direction unmeasured in any pose: then L also holds 1/P, the expectation.
  bool disbelieved(const double* std) const noexcept {
    const auto [least, most] = std::minmax_element(std, std + chain_.n);
    return *most > unbelievable * *least;
  }

  // L and the smallest singular value of J
  double damping(const double* J, const double* weight, Matrix& L) const noexcept {
    const int n = chain_.n;
    double unit[max_joints], mean = 0.0;
    for (int i = 0; i < n; ++i) {
      unit[i] = 1.0;
      mean += weight[i] / n;
    }
    Matrix G = product_with(J, unit), U;
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

  // A^-1 (information) A^-1 + A^-1 L P L A^-1 with A factored
  bool covariance(const Matrix& A, const Matrix& information, const Matrix& L, WrenchEstimate& out) const noexcept {
    const double expected = p_.expected_force * p_.length;
    Matrix inner = information;
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c)
        for (int k = 0; k < 6; ++k) inner[6 * r + c] += expected * expected * L[6 * r + k] * L[6 * k + c];
    for (int pass = 0; pass < 2; ++pass) {  // A^-1 inner, transposed, twice: A^-1 inner A^-1
      for (int c = 0; c < 6; ++c) {
        double column[6];
        for (int r = 0; r < 6; ++r) column[r] = inner[6 * r + c];
        cholesky_solve(A.data(), 6, column);
        for (int r = 0; r < 6; ++r) out.covariance[6 * c + r] = column[r];
      }
      inner = out.covariance;
    }
    return all_finite(inner.data(), 36);
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
