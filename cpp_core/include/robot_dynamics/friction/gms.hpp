// Discrete Maxwell-slip hysteresis of n joints, M elements each [Madsen2020 ch4 35-41, ch6 14-18].
//   d_i <- sgn(dth + d_i) min(|dth + d_i|, B(theta) D_i),   H = (1/B(theta)) sum_i k_i d_i,   sum_i k_i D_i = 1
// The input is POSITION (kinematic-error-compensated rotor angle), so the result does not depend on rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/friction/periodic_table.hpp"
#include "robot_dynamics/rigid_body/kernel/vector.hpp"
#include "robot_dynamics/signals/sample_clock.hpp"

namespace robot_dynamics {

constexpr int max_elements = 16;

// D_i = (i/M)^rD, k_i = (1/D_i) (M + 1 - i)^rk / sum_j j^rk [Madsen2020 ch6 17-18]
inline void gms_spacing(int elements, double r_D, double r_k, double* D, double* k) {
  if (!(1 <= elements && elements <= max_elements))
    throw std::invalid_argument("elements = " + std::to_string(elements) + " is outside 1..16");
  if (!(r_D > 0)) throw std::invalid_argument("r_D = " + std::to_string(r_D) + " is not > 0");
  if (!std::isfinite(r_k)) throw std::invalid_argument("r_k is not finite");
  double sum = 0;
  for (int j = 1; j <= elements; ++j) sum += std::pow(j, r_k);
  for (int i = 1; i <= elements; ++i) {
    D[i - 1] = std::pow(static_cast<double>(i) / elements, r_D);
    k[i - 1] = std::pow(elements + 1 - i, r_k) / sum / D[i - 1];
  }
}

class Gms {
 public:
  // D, k: (n, M) spans and stiffnesses with sum k D = 1; backlash B [rad] > 0 of n joints.
  Gms(int n, int elements, const double* D, const double* k, PeriodicTable backlash, double max_gap = 0.1)
      : n_(n), M_(elements), D_(D, D + n * elements), k_(k, k + n * elements), backlash_(std::move(backlash)) {
    validate(max_gap);
    clock_.max_gap = max_gap;
    stride_ = portable::padded(n);
    state_.assign(stride_ * M_, 0.0);
    limit_ = gain_ = state_;
    last_.assign(stride_, 0.0);
    low_ = high_ = last_;
    span_.assign(stride_, -1.0);  // a joint that only pads a vector is always valid
    for (int i = 0; i < n; ++i) {
      span_[i] = 2 * backlash_.largest(i) * D_[i * M_ + M_ - 1];
      for (int e = 0; e < M_; ++e) {  // constant backlash: computed once
        limit_[e * stride_ + i] = backlash_.value(i, 0.0) * D_[i * M_ + e];
        gain_[e * stride_ + i] = k_[i * M_ + e] / backlash_.value(i, 0.0);
      }
    }
  }

  int joints() const { return n_; }
  int elements() const { return M_; }
  const std::vector<double>& spans() const { return D_; }        // (n, elements)
  const std::vector<double>& stiffnesses() const { return k_; }  // (n, elements)
  const PeriodicTable& backlash() const { return backlash_; }
  double max_gap() const { return clock_.max_gap; }
  double state(int i, int e) const noexcept { return state_[e * stride_ + i]; }
  double backlash(int i, double theta) const noexcept { return backlash_.value(i, theta); }

  // Back to the unknown initial state: deflections 0, not valid.
  void reset() noexcept {
    clock_.reset();
    std::fill(state_.begin(), state_.end(), 0.0);
    std::fill(low_.begin(), low_.end(), 0.0);
    std::fill(high_.begin(), high_.end(), 0.0);
  }

  // True once the travelled range covers the largest element's full span 2 B D_M: from then on the output no longer
  // depends on the unknown initial state.
  bool valid(int i) const noexcept { return high_[i] - low_[i] > span_[i]; }

  // theta [rad] -> H in [-1, 1]
  Status step(std::int64_t stamp_ns, const double* theta, double* H) noexcept {
    if (!finite(theta)) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    if (tick != SampleClock::Tick::ok) restart(theta);
    const bool all_valid = !backlash_.constant() ? varying_steps(theta, H)
                           : n_ == 6 && M_ == 4  ? constant_step<6, 4>(theta, H)
                           : n_ == 7 && M_ == 4  ? constant_step<7, 4>(theta, H)
                                                 : constant_step<0, 0>(theta, H);
    const bool again = tick == SampleClock::Tick::backwards || tick == SampleClock::Tick::gap;
    return again ? Status::reset : all_valid ? Status::ok : Status::warming_up;
  }

 private:
  void validate(double max_gap) const {
    if (!(1 <= n_ && n_ <= 16)) throw std::invalid_argument("joints = " + std::to_string(n_) + " is outside 1..16");
    if (!(1 <= M_ && M_ <= max_elements))
      throw std::invalid_argument("elements = " + std::to_string(M_) + " is outside 1..16");
    if (!(max_gap > 0)) throw std::invalid_argument("max_gap = " + std::to_string(max_gap) + " is not > 0");
    if (backlash_.joints() != n_) throw std::invalid_argument("backlash does not have one row per joint");
    for (int i = 0; i < n_; ++i) {
      double sum = 0, previous = 0;
      for (int e = i * M_; e < (i + 1) * M_; ++e) {
        if (!(D_[e] > previous)) throw std::invalid_argument("spans D are not positive and increasing");
        if (!(k_[e] >= 0)) throw std::invalid_argument("stiffness k = " + std::to_string(k_[e]) + " is not >= 0");
        sum += k_[e] * (previous = D_[e]);
      }
      if (!(std::abs(sum - 1) < 1e-6)) throw std::invalid_argument("sum k D = " + std::to_string(sum) + " is not 1");
      if (!(backlash_.smallest(i) > 0))
        throw std::invalid_argument("backlash = " + std::to_string(backlash_.smallest(i)) + " is not > 0");
    }
  }

  void restart(const double* theta) noexcept {
    std::fill(state_.begin(), state_.end(), 0.0);
    for (int i = 0; i < n_; ++i) last_[i] = low_[i] = high_[i] = theta[i];
  }

  bool finite(const double* theta) const noexcept {
    double even = 0, odd = 0;  // 0 for finite numbers
    for (int i = 0; i + 1 < n_; i += 2) {
      even += 0.0 * theta[i];
      odd += 0.0 * theta[i + 1];
    }
    if (n_ % 2 == 1) even += 0.0 * theta[n_ - 1];
    return even + odd == 0.0;
  }

  // All joints with constant backlash, two to a vector (0: any number); true when all are valid.
  template <int Joints, int Elements>
  bool constant_step(const double* theta, double* H) noexcept {
    using namespace portable;
    const int n = Joints > 0 ? Joints : n_, M = Elements > 0 ? Elements : M_;
    const std::size_t stride = padded(n);
    double *state = state_.data(), *last = last_.data(), *low = low_.data(), *high = high_.data();
    const double *limit = limit_.data(), *gain = gain_.data(), *span = span_.data();
    Ints invalid{};
    RD_UNROLL
    for (int i = 0; i < n; i += lanes) {
      const int count = n - i < lanes ? n - i : lanes;
      const Vec x = load_first(theta + i, count), dth = x - load(last + i);
      Vec sum{};
      RD_UNROLL
      for (int e = 0; e < M; ++e) {
        const std::size_t at = e * stride + i;
        const Vec most = load(limit + at), d = least(greatest(dth + load(state + at), -most), most);
        store(state + at, d);
        sum += load(gain + at) * d;
      }
      store_first(H + i, sum, count);
      store(last + i, x);
      const Vec lowest = least(load(low + i), x), highest = greatest(load(high + i), x);
      store(low + i, lowest);
      store(high + i, highest);
      invalid |= ~(Ints)(highest - lowest > load(span + i));
    }
    return !any(invalid);
  }

  bool varying_steps(const double* theta, double* H) noexcept {
    bool all_valid = true;
    for (int i = 0; i < n_; ++i) {
      H[i] = varying_step(i, theta[i]);
      last_[i] = theta[i];
      low_[i] = std::min(low_[i], theta[i]);
      high_[i] = std::max(high_[i], theta[i]);
      all_valid = all_valid && valid(i);
    }
    return all_valid;
  }

  // B changes along the way: sub-steps no longer than half the smallest span, at most 32.
  double varying_step(int i, double theta) noexcept {
    const double dth = theta - last_[i], smallest = 0.5 * backlash_.smallest(i) * D_[i * M_];
    const int steps = static_cast<int>(std::min(32.0, std::ceil(std::abs(dth) / smallest)));
    for (int s = 1; s < steps; ++s) move(i, dth / steps, backlash_.value(i, last_[i] + dth * s / steps));
    const double B = backlash_.value(i, theta);
    move(i, dth / std::max(steps, 1), B);
    double sum = 0;
    for (int e = 0; e < M_; ++e) sum += k_[i * M_ + e] * state(i, e);
    return sum / B;
  }

  void move(int i, double dth, double B) noexcept {  // [Madsen2020 ch6 14]: the clip is sgn(x) min(|x|, B D)
    for (int e = 0; e < M_; ++e) {
      const double limit = B * D_[i * M_ + e];
      double& d = state_[e * stride_ + i];
      d = std::min(std::max(dth + d, -limit), limit);
    }
  }

  int n_, M_;
  std::size_t stride_;  // of state, limit and gain: element by element, joints side by side
  std::vector<double> D_, k_;
  PeriodicTable backlash_;
  std::vector<double> state_, last_, low_, high_, span_, limit_, gain_;
  SampleClock clock_;
};

}  // namespace robot_dynamics
