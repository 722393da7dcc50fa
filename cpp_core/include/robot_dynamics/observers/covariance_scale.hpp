// How the covariance of the wrench is scaled before it is published. It has room for a moment, which most contacts do
// not fill and a free robot never: where it contains one, 0.8 of it counts in contact, 0.58 while none is flagged.
// Errors last for tenths of a second: while no contact is flagged, the scale is multiplied by the recent mean of
// (torque / deviation)^2 over all joints, and by 0.65 at rest, where errors are absorbed (source: own). It lies within
// 0.1..9, and is 1 at least while a dry joint is stuck, whose torque says nothing, and after a start or a gap until
// errors have been seen. The contact decision does not use it.
#pragma once

#include <algorithm>

#include "robot_dynamics/signals/recent_mean.hpp"

namespace robot_dynamics {

class CovarianceScale {
 public:
  static constexpr double in_contact = 0.8, free = 0.58, absorbed = 0.65;
  static constexpr double least = 0.1, most = 9.0;

  // time [s] of the mean, 0: off; moment: the covariance contains one. Throws std::invalid_argument.
  CovarianceScale(double time, bool moment) : recent_(time, 0.5), moment_(moment) {}

  void reset() noexcept {
    recent_.reset();
    fresh_ = true;
  }

  // torque, std (n); settled: they are; contact: something touches the robot; rest: errors are absorbed; stuck: a dry
  // joint is.
  double step(std::int64_t stamp_ns, int n, const double* torque, const double* std, bool settled, bool contact,
              bool rest, bool stuck) noexcept {
    if (!recent_.used()) return 1.0;
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += torque[i] / std[i] * (torque[i] / std[i]);
    const double mean = recent_.step(stamp_ns, sum / n, settled && !contact);
    const double room = !moment_ ? 1.0 : contact ? in_contact : free;
    const double scale = contact ? room : room * (rest ? absorbed : 1.0) * mean;
    fresh_ = fresh_ && !recent_.known();
    return std::clamp(scale, stuck || fresh_ ? 1.0 : least, most);
  }

 private:
  RecentMean recent_;
  bool moment_;
  bool fresh_ = true;  // nothing was seen since the start
};

}  // namespace robot_dynamics
