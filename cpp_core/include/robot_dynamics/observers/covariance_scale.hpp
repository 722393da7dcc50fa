// Errors last for tenths of a second: while no contact is flagged, the recent mean of (torque / deviation)^2 over all
// joints scales the covariance of the wrench, within 0.1..9: by 0.65 of it where the covariance contains a moment,
// which a free robot does not have, and by 0.65 of that at rest, where errors are absorbed (source: own). It is 1 at
// least while a dry joint is stuck, whose torque says nothing. The contact decision does not use it.
#pragma once

#include <algorithm>

#include "robot_dynamics/signals/recent_mean.hpp"

namespace robot_dynamics {

class CovarianceScale {
 public:
  static constexpr double surer = 0.65;  // for each of the two
  static constexpr double least = 0.1, most = 9.0;

  // time [s] of the mean, 0: off; moment: the covariance contains one. Throws std::invalid_argument.
  CovarianceScale(double time, bool moment) : recent_(time, 0.5), share_(moment ? surer : 1.0) {}

  void reset() noexcept { recent_.reset(); }

  // Of a robot that is free. torque, std (n); counts: nothing touches it, and the torque is settled; rest: errors are
  // absorbed; stuck: a dry joint is.
  double step(std::int64_t stamp_ns, int n, const double* torque, const double* std, bool counts, bool rest,
              bool stuck) noexcept {
    if (!recent_.used()) return 1.0;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += torque[i] / std[i] * (torque[i] / std[i]);
    const double mean = recent_.step(stamp_ns, sum / n, counts);
    return std::clamp(share_ * (rest ? surer : 1.0) * mean, stuck ? 1.0 : least, most);
  }

 private:
  RecentMean recent_;
  double share_;
};

}  // namespace robot_dynamics
