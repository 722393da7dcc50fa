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

#include "robot_dynamics/transmission/rls_two.hpp"

namespace robot_dynamics {

constexpr int max_powers = 4;

struct RlsOptions {
  int powers = 2;                                   // P
  double phi_ref = 1e-3;                            // [rad]
  double time_constant = 20.0;                      // mu = exp(-dt / time_constant): 0.99995 at 1 kHz
  double delta = 100.0;                             // added to P per second: 0.1 per sample at 1 kHz
  double prior_std = 1.0;                           // of the torque before the first sample [Nm]
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
    residual_ = o_.prior_std * o_.prior_std;  // has the weight of `prior_samples` samples
    weight_ = prior_samples;
    power_ = 0;
    learned_ = 0;
  }

  // phi [rad], y = tau_E [Nm], dt [s]; returns the error before the update. Not finite or dt <= 0: no update.
  double update(double phi, double y, double dt) noexcept {
    const int n = o_.powers;
    if (n == 2) return update_two(phi, y, dt);
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

  // The same for n joints in one go, neighbours side by side; joints with learns[i] false rest. errors may be null.
  static void update_each(RlsDf* joints, int n, const double* phi, const double* y, double dt, const bool* learns,
                          double* errors) noexcept {
    for (int i = 0; i < n; i += 2) {
      const int count = std::min(2, n - i);
      double e[2] = {};
      const bool both = count == 2 && learns[i] && learns[i + 1];
      if (!(both && update_pair(joints[i], joints[i + 1], phi + i, y + i, dt, e)))
        for (int k = 0; k < count; ++k) e[k] = learns[i + k] ? joints[i + k].update(phi[i + k], y[i + k], dt) : 0.0;
      if (errors) std::copy_n(e, count, errors + i);
    }
  }

  int powers() const noexcept { return o_.powers; }
  double coefficient(int p) const noexcept { return a_[p] / scale_[p]; }  // a_p [Nm/rad^(2p-1)]
  double covariance(int i, int j) const noexcept { return P(i, j) / (scale_[i] * scale_[j]); }
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
  double update_two(double phi, double y, double dt) noexcept {
    rls_two::State<double> s{a_[0],     a_[1],   S_[0], S_[1], S_[max_powers], S_[max_powers + 1],
                             residual_, weight_, power_};
    double e;
    if (!(dt > 0)) return 0.0;
    if (!rls_two::update(s, constants(dt), phi, y, e)) return std::isfinite(e) ? e : 0.0;
    take(s.a0, s.a1, s.s00, s.s01, s.s10, s.s11, s.residual, s.weight, s.power, dt);
    return e;
  }

  // Two joints in the two lanes of a vector; false, and nothing changed, where that is not possible.
  static bool update_pair(RlsDf& a, RlsDf& b, const double* phi, const double* y, double dt, double* errors) noexcept {
    using portable::Vec;
    if (!(a.o_.powers == 2 && b.o_.powers == 2 && dt > 0)) return false;
    const rls_two::Constants<double>&p = a.constants(dt), &q = b.constants(dt);
    const rls_two::Constants<Vec> k{Vec{p.per_ref, q.per_ref}, Vec{p.mu, q.mu},         Vec{p.per_mu, q.per_mu},
                                    Vec{p.added0, q.added0},   Vec{p.added1, q.added1}, Vec{p.cap0, q.cap0},
                                    Vec{p.cap1, q.cap1}};
    constexpr int m = max_powers;
    rls_two::State<Vec> s{Vec{a.a_[0], b.a_[0]},         Vec{a.a_[1], b.a_[1]},     Vec{a.S_[0], b.S_[0]},
                          Vec{a.S_[1], b.S_[1]},         Vec{a.S_[m], b.S_[m]},     Vec{a.S_[m + 1], b.S_[m + 1]},
                          Vec{a.residual_, b.residual_}, Vec{a.weight_, b.weight_}, Vec{a.power_, b.power_}};
    Vec e;
    if (!rls_two::update(s, k, portable::load(phi), portable::load(y), e)) return false;
    a.take(s.a0[0], s.a1[0], s.s00[0], s.s01[0], s.s10[0], s.s11[0], s.residual[0], s.weight[0], s.power[0], dt);
    b.take(s.a0[1], s.a1[1], s.s00[1], s.s01[1], s.s10[1], s.s11[1], s.residual[1], s.weight[1], s.power[1], dt);
    portable::store(errors, e);
    return true;
  }

  const rls_two::Constants<double>& constants(double dt) noexcept {
    if (dt != constants_dt_) {
      const double rate = o_.delta * dt, mu = forgetting(dt);
      constants_ = {1 / o_.phi_ref, mu,    1 / mu, rate * scale_[0] * scale_[0], rate * scale_[1] * scale_[1],
                    cap(0),         cap(1)};
      constants_dt_ = dt;
    }
    return constants_;
  }
  void take(double a0, double a1, double s00, double s01, double s10, double s11, double residual, double weight,
            double power, double dt) noexcept {
    a_[0] = a0, a_[1] = a1;
    S_[0] = s00, S_[1] = s01, S_[max_powers] = s10, S_[max_powers + 1] = s11;
    residual_ = residual, weight_ = weight, power_ = power;
    learned_ += dt;
  }

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

  // P <- P + delta I in the square root: one Givens rotation per added row; two powers have a closed form
  // (rls_two.hpp).
  void regularise(double dt) noexcept {
    const int n = o_.powers;
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
  double last_dt_ = 0, mu_ = 1, constants_dt_ = 0;
  rls_two::Constants<double> constants_{};
  static constexpr double prior_samples = 100;
  double residual_ = 0, weight_ = 0, power_ = 0, learned_ = 0;
};

}  // namespace robot_dynamics
