// First-order low-pass y' = wc (x - y), exact for an input held over dt: y += (1 - exp(-wc dt)) (x - y).
// wc [rad/s]; infinity passes the input through. It starts at the first input, so no step from zero.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

// 1 - exp(-wc dt): the weight of the new input.
inline double lowpass_weight(double cutoff, double dt) noexcept { return -std::expm1(-cutoff * dt); }

class LowPass {
 public:
  // name: of the cutoff, for an error
  LowPass(int n, double cutoff, const char* name = "cutoff") : n_(n), cutoff_(cutoff) {
    require_range("n", n, 1, max_joints + 1);
    require_range(name, cutoff, 1e-6, std::numeric_limits<double>::infinity());
  }

  // x, y: (n); false and no change when x is not finite.
  bool step(double dt, const double* x, double* y) noexcept {
    if (!all_finite(x, n_)) return false;
    const double weight = primed_ ? lowpass_weight(cutoff_, dt) : 1.0;
    for (int i = 0; i < n_; ++i) y[i] = state_[i] += weight * (x[i] - state_[i]);
    primed_ = true;
    return true;
  }
  void reset() noexcept {
    primed_ = false;
    state_.fill(0.0);
  }

 private:
  int n_;
  double cutoff_;
  bool primed_ = false;
  std::array<double, max_joints + 1> state_{};
};

}  // namespace robot_dynamics
