// Low-pass whose bandwidth rises with the change that it sees: noise far below a standard deviation passes slowly, the
// onset of a contact quickly.
//
//   y' = k (x - y),   k = slow + (fast - slow) z^2 / (1 + z^2),   z = (x - y) / std       by implicit Euler
#pragma once

#include <algorithm>
#include <array>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class ChangeFilter {
 public:
  // slow, fast (n) [rad/s]
  ChangeFilter(int n, const double* slow, const double* fast) : n_(n) {
    require_each("slow", slow, n, 1e-3, 1e12);
    require_each("fast", fast, n, 1e-3, 1e12);
    std::copy_n(slow, n, slow_.begin());
    std::copy_n(fast, n, fast_.begin());
  }

  void start(const double* y) noexcept { std::copy_n(y, n_, y_.begin()); }

  // x (n), variance (n) > 0 of it
  void step(double dt, const double* x, const double* variance) noexcept {
    for (int i = 0; i < n_; ++i) {
      const double d = x[i] - y_[i], square = d * d;
      const double k = dt * (slow_[i] + (fast_[i] - slow_[i]) * square / (variance[i] + square));
      y_[i] += k / (1.0 + k) * d;
    }
  }
  const double* y() const noexcept { return y_.data(); }

 private:
  int n_;
  std::array<double, max_joints> slow_{}, fast_{}, y_{};
};

}  // namespace robot_dynamics
