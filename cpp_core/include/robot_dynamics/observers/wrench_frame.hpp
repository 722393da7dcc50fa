// A wrench at the TCP, base axes, with its covariance C, in the axes and about the origin of another frame of the
// chain:
//
//   f' = R' f,  m' = R' (m + d x f),  d = p_TCP - p_frame;   w' = A w,  std' = sqrt(diag(A C A'))
//
// R: base <- frame. Rotated axes have the deviations of the rotated covariance, not rotated deviations.
#pragma once

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/kinematics.hpp"

namespace robot_dynamics {

class WrenchFrame {
 public:
  static constexpr int base = -1;

  // frame: base, 0..n-1 the link frames, n the TCP. Throws std::invalid_argument.
  WrenchFrame(const Chain& chain, int frame) : chain_(chain), frame_(frame) {
    require_range("frame", frame, -1, chain.n);
  }

  // at (n + 1): placements of forward_kinematics; wrench, std (6), covariance (6, 6): at the TCP in base axes
  void step(const Placement* at, const double* wrench, const double* covariance, double* out,
            double* std) const noexcept {
    const Placement to = frame_ == base ? Placement{} : at[frame_];
    double d[3], A[36] = {};
    for (int k = 0; k < 3; ++k) d[k] = at[chain_.n].p[k] - to.p[k];
    const double cross[9] = {0, -d[2], d[1], d[2], 0, -d[0], -d[1], d[0], 0};
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c) {
        A[6 * r + c] = A[6 * (r + 3) + c + 3] = to.R[3 * c + r];
        for (int k = 0; k < 3; ++k) A[6 * (r + 3) + c] += to.R[3 * k + r] * cross[3 * k + c];
      }
    for (int r = 0; r < 6; ++r) {
      const int from = r < 3 || frame_ != chain_.n ? 0 : 3, end = r < 3 ? 3 : 6;  // the rest of the row is zero
      double value = 0.0, variance = 0.0;
      for (int i = from; i < end; ++i) {
        value += A[6 * r + i] * wrench[i];
        for (int j = from; j < end; ++j) variance += A[6 * r + i] * covariance[6 * i + j] * A[6 * r + j];
      }
      out[r] = value;
      std[r] = std::sqrt(std::max(variance, 0.0));
    }
  }

 private:
  Chain chain_;
  int frame_;
};

}  // namespace robot_dynamics
