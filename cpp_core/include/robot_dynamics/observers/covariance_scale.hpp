// How the covariance of the wrench is scaled before it is published. It has room for a moment, which most contacts do
// not fill and a free robot never: where it contains one, 0.54 of it counts, 0.46 while a contact is flagged, and 0.7
// while no joint slides under it, because a push changes the friction of joints that stand. Errors last for tenths of a
// second: while no contact is flagged, what a joint adds to it is multiplied by the recent mean of
// (torque / deviation)^2 of this joint, and by 0.65 at rest, where errors are absorbed (source: own). The scale lies
// within 0.1..9, and is 1 at least while a dry joint is stuck, whose torque says nothing, and after a start or a gap
// until errors have been seen.
// While no contact is flagged, a wrench F of two deviations may be none, or one that still grows: F F' is added, less
// of it from one to two. The contact decision uses none of this.
#pragma once

#include <algorithm>
#include <vector>

#include "robot_dynamics/observers/rest_bias.hpp"
#include "robot_dynamics/observers/wrench.hpp"
#include "robot_dynamics/signals/recent_mean.hpp"

namespace robot_dynamics {

class CovarianceScale {
 public:
  static constexpr double filled = 0.54, pushed = 0.46, pushed_at_rest = 0.7, absorbed = 0.65;
  static constexpr double least = 0.1, most = 9.0;

  // time [s] of the mean, 0: off; moment: the covariance contains one. Throws std::invalid_argument.
  CovarianceScale(double time, bool moment) : recent_(max_joints, RecentMean(time, 0.5)), moment_(moment) {}

  void reset() noexcept {
    for (RecentMean& mean : recent_) mean.reset();
    fresh_ = true;
  }

  // torque, std (n) -> scale (n) of what each joint adds; settled: they are; contact: something touches the robot;
  // stuck: a dry joint is.
  void step(std::int64_t stamp_ns, int n, const double* torque, const double* std, bool settled, bool contact,
            const RestBias& rest, bool stuck, double* scale) noexcept {
    std::fill_n(scale, n, 1.0);
    if (!recent_.front().used()) return;
    const double room = !moment_ ? 1.0 : !contact ? filled : rest.slides() ? pushed : pushed_at_rest;
    for (int i = 0; i < n; ++i) {
      const double ratio = torque[i] / std[i], mean = recent_[i].step(stamp_ns, ratio * ratio, settled && !contact);
      scale[i] = room * (contact ? 1.0 : mean * (rest.settled() ? absorbed : 1.0));
    }
    fresh_ = fresh_ && !recent_.front().known();
    for (int i = 0; i < n; ++i) scale[i] = std::clamp(scale[i], stuck || fresh_ ? 1.0 : least, most);
  }

  // F F' where a contact is not decided yet.
  void doubt(bool contact, WrenchEstimate& out) const noexcept {
    if (contact || !recent_.front().used()) return;
    const double share = std::clamp(out.significance - 1.0, 0.0, 1.0);
    for (int k = 0; k < 36; ++k) out.covariance[k] += share * out.wrench[k / 6] * out.wrench[k % 6];
  }

 private:
  std::vector<RecentMean> recent_;  // of each joint
  bool moment_;
  bool fresh_ = true;  // nothing was seen since the start
};

}  // namespace robot_dynamics
