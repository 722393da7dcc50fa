// Zeroing the external torque: the mean over the last seconds becomes the bias that is subtracted from then on.
#pragma once

#include <algorithm>
#include <array>

#include "robot_dynamics/signals/lowpass.hpp"

namespace robot_dynamics {

enum class TareResult : int {
  accepted = 0,
  too_early = 1,    // not enough samples since the start
  in_contact = 2,   // a contact began after the robot had been free
  unsteady = 3,     // the torque changes over the window: something is happening
  unexplained = 4,  // neither friction nor a payload makes such a torque
};

class Tare {
 public:
  static constexpr double window = 1.0;      // s
  static constexpr double deviations = 3.0;  // of the estimate, that friction and noise explain

  explicit Tare(int n) : n_(n) {}

  // Exponential mean and variance over the window; tau before subtraction, std of the estimate (n).
  void step(double dt, const double* tau, const double* std) noexcept {
    const double weight = age_ > 0.0 ? lowpass_weight(2.0 / window, dt) : 1.0;
    for (int i = 0; i < n_; ++i) {
      const double e = tau[i] - mean_[i];
      mean_[i] += weight * e;
      variance_[i] = age_ > 0.0 ? (1.0 - weight) * (variance_[i] + weight * e * e) : 0.0;
      std_[i] = std[i];
    }
    age_ += std::max(dt, 1e-9);
  }

  // left (n): what no payload explains of mean().
  TareResult take(bool in_contact, const double* left) noexcept {
    if (!(age_ >= 2.0 * window)) return TareResult::too_early;
    if (in_contact) return TareResult::in_contact;
    for (int i = 0; i < n_; ++i) {
      if (!(std::sqrt(variance_[i]) <= std_[i])) return TareResult::unsteady;
      if (!(std::abs(left[i]) <= deviations * std_[i])) return TareResult::unexplained;
    }
    bias_ = mean_;
    return TareResult::accepted;
  }

  void set_bias(const double* bias) noexcept { std::copy(bias, bias + n_, bias_.begin()); }
  const double* bias() const noexcept { return bias_.data(); }
  const double* mean() const noexcept { return mean_.data(); }  // Nm, over the window, before subtraction
  const double* std() const noexcept { return std_.data(); }    // Nm, of the estimate
  void reset() noexcept {                                       // keeps the bias
    age_ = 0.0;
    mean_.fill(0.0);
    variance_.fill(0.0);
  }

 private:
  int n_;
  double age_ = 0.0;
  std::array<double, max_joints> mean_{}, variance_{}, std_{}, bias_{};
};

}  // namespace robot_dynamics
