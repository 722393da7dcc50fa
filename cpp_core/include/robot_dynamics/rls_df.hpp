// Recursive least squares with directional forgetting and regularisation, RLS-DF* [Madsen2020 ch3 18], for
// tau_E(phi) = sum_p a_p phi^(2p-1) [ch3 7-8] of one joint.
//   e = y - x'a, r = x'Px, a += P x e / (1 + r), beta = mu - (1 - mu)/r,  P <- P - beta/(mu (1 + r)) P x x' P + delta I
// The last line is the source's update (which divides by 1/beta) without its singularity; because 1 + beta r = mu (1 +
// r) P stays positive definite. r = 0: no update. P is capped at P(0) by a congruence, which keeps it definite. Inside,
// phi is scaled by phi_ref; P(0) and delta keep the meaning they have for phi in rad.
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace robot_dynamics {

constexpr int max_powers = 4;

struct RlsOptions {
  int powers = 2;                                   // P
  double phi_ref = 1e-3;                            // [rad]
  double time_constant = 20.0;                      // mu = exp(-dt / time_constant): 0.99995 at 1 kHz
  double delta = 100.0;                             // added to P per second: 0.1 per sample at 1 kHz
  double prior_std = 1.0;                           // of the torque before any is seen [Nm]
  double P0[max_powers] = {1e9, 1e18, 1e27, 1e36};  // diagonal of P(0), unscaled
};

inline void validate(const RlsOptions& o) {
  const auto check = [](bool good, const char* name, double x, const char* bound) {
    if (!good) throw std::invalid_argument(std::string(name) + " = " + std::to_string(x) + " is not " + bound);
  };
  check(1 <= o.powers && o.powers <= max_powers, "powers", o.powers, "in 1..4");
  check(o.phi_ref > 0 && std::isfinite(o.phi_ref), "phi_ref", o.phi_ref, "> 0");
  check(o.time_constant > 0, "time_constant", o.time_constant, "> 0");
  check(o.delta >= 0 && std::isfinite(o.delta), "delta", o.delta, ">= 0");
  for (int p = 0; p < o.powers; ++p) check(o.P0[p] > 0 && std::isfinite(o.P0[p]), "P0", o.P0[p], "> 0");
}

class RlsDf {
 public:
  RlsDf() : RlsDf(RlsOptions{}) {}
  explicit RlsDf(const RlsOptions& options) : o_(options) {
    validate(o_);
    for (int p = 0; p < o_.powers; ++p) scale_[p] = std::pow(o_.phi_ref, 2 * p + 1);
    reset();
  }

  void reset() noexcept {
    std::fill(a_, a_ + max_powers, 0.0);
    std::fill(S_, S_ + max_powers * max_powers, 0.0);
    for (int p = 0; p < o_.powers; ++p) S_[p * max_powers + p] = std::sqrt(cap(p));
    residual_ = o_.prior_std * o_.prior_std;  // worth `prior_samples` samples
    weight_ = prior_samples;
    power_ = 0;
    learned_ = 0;
  }

  // phi [rad], y = tau_E [Nm], dt [s]; returns the error before the update. Not finite or dt <= 0: no update.
  double update(double phi, double y, double dt) noexcept {
    const int n = o_.powers;
    double x[max_powers], f[max_powers], r = 0;  // f = S'x
    const double z = phi / o_.phi_ref;
    x[0] = z;
    for (int p = 1; p < n; ++p) x[p] = x[p - 1] * z * z;
    double e = y;
    for (int p = 0; p < n; ++p) e -= x[p] * a_[p];
    if (!(std::isfinite(e) && dt > 0)) return 0.0;
    for (int j = 0; j < n; ++j) {
      f[j] = 0;
      for (int i = 0; i < n; ++i) f[j] += S_[i * max_powers + j] * x[i];
      r += f[j] * f[j];
    }
    if (!(r > 0 && std::isfinite(r))) return e;
    const double mu = forgetting(dt), g = (1 - std::sqrt(1 / (mu * (1 + r)))) / r;
    for (int i = 0; i < n; ++i) {
      double Px = 0;
      for (int j = 0; j < n; ++j) Px += S_[i * max_powers + j] * f[j];
      a_[i] += Px * e / (1 + r);
      for (int j = 0; j < n; ++j) S_[i * max_powers + j] -= g * Px * f[j];  // S <- S (I - g f f')
    }
    regularise(dt);
    limit();
    learned_ += dt;
    weight_ = mu * weight_ + 1;  // error variance over the same memory
    residual_ += (e * e / (1 + r) - residual_) / weight_;
    power_ += (y * y - power_) / weight_;
    return e;
  }

  int powers() const noexcept { return o_.powers; }
  double coefficient(int p) const noexcept { return a_[p] / scale_[p]; }  // a_p [Nm/rad^(2p-1)]
  void set_coefficient(int p, double a) noexcept { a_[p] = a * scale_[p]; }
  double covariance(int i, int j) const noexcept { return P(i, j) / (scale_[i] * scale_[j]); }
  double residual_variance() const noexcept { return residual_; }
  double learned() const noexcept { return learned_; }  // [s] of samples that entered
  // Share of the torque that the deflection explains, over the memory: 1 perfect, <= 0 none.
  double explained() const noexcept { return power_ > 0 ? 1 - residual_ / power_ : 0.0; }

  // tau_E(phi) [Nm]
  double torque(double phi) const noexcept {
    const double z = phi / o_.phi_ref;
    double sum = 0, x = z;
    for (int p = 0; p < o_.powers; ++p, x *= z * z) sum += a_[p] * x;
    return sum;
  }
  // k(phi) = d tau_E / d phi [Nm/rad] [ch3 9-10]
  double stiffness(double phi) const noexcept {
    const double z = phi / o_.phi_ref;
    double sum = 0, x = 1;
    for (int p = 0; p < o_.powers; ++p, x *= z * z) sum += (2 * p + 1) * a_[p] * x;
    return sum / o_.phi_ref;
  }
  // Standard deviation of k(phi) [Nm/rad] from P and the observed error variance.
  double stiffness_std(double phi) const noexcept {
    const double z = phi / o_.phi_ref;
    double w[max_powers], x = 1, sum = 0;
    for (int p = 0; p < o_.powers; ++p, x *= z * z) w[p] = (2 * p + 1) * x;
    for (int i = 0; i < o_.powers; ++i)
      for (int j = 0; j < o_.powers; ++j) sum += w[i] * P(i, j) * w[j];
    return std::sqrt(std::max(sum * residual_, 0.0)) / o_.phi_ref;
  }

 private:
  double cap(int p) const noexcept { return o_.P0[p] * scale_[p] * scale_[p]; }
  double P(int i, int j) const noexcept {
    double sum = 0;
    for (int k = 0; k < o_.powers; ++k) sum += S_[i * max_powers + k] * S_[j * max_powers + k];
    return sum;
  }
  double forgetting(double dt) noexcept {
    if (dt != last_dt_) {
      last_dt_ = dt;
      mu_ = std::exp(-dt / o_.time_constant);
    }
    return mu_;
  }

  // P <- P + delta I in the square root: for two powers in closed form, where the determinant is a sum of positive
  // terms (nothing cancels), else one Givens rotation per added row.
  void regularise(double dt) noexcept {
    const int n = o_.powers;
    if (n == 2) {
      double &a = S_[0], &b = S_[1], &c = S_[max_powers], &d = S_[max_powers + 1];
      const double d0 = o_.delta * dt * scale_[0] * scale_[0], d1 = o_.delta * dt * scale_[1] * scale_[1];
      const double p00 = a * a + b * b, p11 = c * c + d * d, p10 = a * c + b * d, root = a * d - b * c;
      const double det = root * root + d0 * p11 + d1 * p00 + d0 * d1, s00 = std::sqrt(p00 + d0);
      if (!(s00 > 0)) return;
      a = s00;
      b = 0;
      c = p10 / s00;
      d = std::sqrt(det) / s00;
      return;
    }
    triangular();
    for (int p = 0; p < n; ++p) {
      double row[max_powers] = {};
      row[p] = std::sqrt(o_.delta * dt) * scale_[p];
      for (int k = p; k < n; ++k) rotate(k, row);
    }
  }
  // S lower triangular with the same S S': rows of S' are rotated into one another.
  void triangular() noexcept {
    const int n = o_.powers;
    double old[max_powers][max_powers];
    for (int k = 0; k < n; ++k)
      for (int i = 0; i < n; ++i) {
        old[k][i] = S_[i * max_powers + k];
        S_[i * max_powers + k] = 0;
      }
    for (int p = 0; p < n; ++p)
      for (int k = 0; k < n; ++k) rotate(k, old[p]);
  }
  // Rotates `row` into column k of S so that row[k] becomes zero.
  void rotate(int k, double* row) noexcept {
    const double d = S_[k * max_powers + k], h = std::sqrt(d * d + row[k] * row[k]);
    if (!(h > 0)) return;
    const double c = d / h, s = row[k] / h;
    for (int i = k; i < o_.powers; ++i) {
      const double t = S_[i * max_powers + k];
      S_[i * max_powers + k] = c * t + s * row[i];
      row[i] = c * row[i] - s * t;
    }
  }

  void limit() noexcept {
    for (int i = 0; i < o_.powers; ++i) {
      const double s2 = cap(i) / P(i, i);
      if (!(s2 < 1)) continue;
      const double s = std::sqrt(s2);  // diag(1, .., s, .., 1) P diag(1, .., s, .., 1)
      for (int k = 0; k < o_.powers; ++k) S_[i * max_powers + k] *= s;
    }
  }

  RlsOptions o_;
  double scale_[max_powers] = {}, a_[max_powers] = {}, S_[max_powers * max_powers] = {};
  double last_dt_ = 0, mu_ = 1;
  static constexpr double prior_samples = 100;
  double residual_ = 0, weight_ = 0, power_ = 0, learned_ = 0;
};

}  // namespace robot_dynamics
