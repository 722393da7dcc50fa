// The measured temperature as that of the lubricant, where the friction law has no thermal part.
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class MeasuredTemperature {
 public:
  static constexpr double low = -20.0, high = 120.0;  // deg C, of a reported temperature
  static constexpr double deviation = 10.0;           // K, lubricant against a measured housing

  // Whether a reading [deg C] can be a joint's; 0 is that of a sensor which is not ready.
  static constexpr bool possible(double reading) noexcept { return low <= reading && reading <= high && reading != 0; }

  explicit MeasuredTemperature(int n) : n_(n) { require_range("joints", n, 1, max_joints); }
  int joints() const noexcept { return n_; }

  // measured (n) or null -> T [deg C] and variance [K2] (n), NaN where it is not plausible
  Status step(const double* measured, double* T, double* variance) const noexcept {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    bool all = true;
    for (int i = 0; i < n_; ++i) {
      const bool good = measured && possible(measured[i]);
      T[i] = good ? measured[i] : none;
      variance[i] = good ? deviation * deviation : none;
      all = all && good;
    }
    return all ? Status::ok : Status::unavailable;
  }

 private:
  int n_;
};

}  // namespace robot_dynamics
