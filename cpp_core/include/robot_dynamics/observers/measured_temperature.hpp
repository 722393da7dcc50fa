// The measured temperature as that of the lubricant, where the friction law has no thermal part.
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/status.hpp"

namespace robot_dynamics {

class MeasuredTemperature {
 public:
  // n joints; low, high [deg C]: of a reported temperature; variance [K2] of the lubricant against it
  MeasuredTemperature(int n, double low, double high, double variance)
      : n_(n), low_(low), high_(high), variance_(variance) {
    require_range("joints", n, 1, 16);
  }
  int joints() const noexcept { return n_; }

  Status step(const double* measured, double* T, double* variance) const noexcept {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    bool all = true;
    for (int i = 0; i < n_; ++i) {
      const bool good = measured && low_ <= measured[i] && measured[i] <= high_;
      T[i] = good ? measured[i] : none;
      variance[i] = good ? variance_ : none;
      all = all && good;
    }
    return all ? Status::degraded : Status::unavailable;
  }

 private:
  int n_;
  double low_, high_, variance_;
};

}  // namespace robot_dynamics
