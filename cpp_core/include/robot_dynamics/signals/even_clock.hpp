// When samples were taken, from stamps that jitter: a controller samples evenly, but stamps of a host or of arrival are
// late by turns, and positions over such a step show a wrong velocity.
//   t += c T + a e,  T += b e / c,  e = stamp - t - c T      a straight line through the last stamps, c: periods since
// c is what the joints travelled over their velocity where they move and stamps jitter, else what the stamps say. Where
// velocities of the positions change less from stamp to stamp than from tick to tick, the stamps are the clock of the
// motion (a controller that is polled) and stay. Clean stamps change by no bit (source: own).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

class EvenClock {
 public:
  static constexpr int first = 25, memory = 300;  // stamps of the first period, and of the line
  static constexpr double late = 3.0;             // periods, or min_gap: a stamp that is farther from its tick has none
  static constexpr double outlier = 0.5;  // periods, by which a stamp moves the line at most; at rest it has none
  static constexpr double clean = 0.01;   // periods: stamps with less jitter count periods by themselves
  static constexpr double sure = 20.0;    // of the variance of velocity changes: then the travel counts periods
  static constexpr double clearly = 0.5;  // of the other clock's variance: it is not that of the motion
  static constexpr double largest = 1.0;  // rad/s: a change of velocity counts as no more
  static constexpr double newest = 0.3, recent = 0.01;  // weights of a new velocity, and of its squared change

  explicit EvenClock(int n) : n_(n) {}

  // Stamp [ns], q (n) and qd (n), null or NaN = absent -> when the sample was taken [ns].
  std::int64_t step(std::int64_t stamp_ns, const double* q, const double* qd) noexcept {
    const double d = seen_ ? seconds_between(stamp_ns, last_) : 0.0;
    if (seen_ && d == 0.0) return told_;
    last_ = stamp_ns;
    const bool follows = d > 0.0 && !(seen_ > first && d > longest(SampleTiming::gap_periods));
    const double before = ahead_;
    if (!follows)
      restart(q);
    else
      advance(d, q, absent(qd, n_) ? velocity_.data() : qd);
    if (seen_ <= first) ++seen_;
    if (follows) judge(d + ahead_ - before, d, q);
    const std::int64_t tick = ns_later(stamp_ns, stamps_ ? 0 : std::llround(1e9 * ahead_));
    return told_ = follows ? std::max(tick, ns_later(told_, 1)) : tick;
  }
  void reset() noexcept { *this = EvenClock(n_); }

 private:
  using Joints = std::array<double, max_joints>;
  enum { even, stamped };

  double longest(double periods) const noexcept { return std::max(SampleTiming::min_gap, periods * period_); }

  void restart(const double* q) noexcept {
    if (seen_ <= first) seen_ = 0;
    ahead_ = 0.0;
    kept_ = first;
    fresh_ = true;
    moving_ = moved_ = false;
    std::copy_n(q, n_, q_.begin());
  }

  // ahead_ and period_ after d [s]; v (n): the velocity of now.
  void advance(double d, const double* q, const double* v) noexcept {
    if (seen_ <= first) return learn(d);
    const double since = d - ahead_, stepped = since / period_;
    double travel = 0.0, square = 0.0;
    for (int i = 0; i < n_; ++i) travel += v[i] * (q[i] - q_[i]), square += v[i] * v[i];
    const double noise = sure * std::min(change_[even], change_[stamped]);
    moving_ = jitter_ > clean && square > std::max(speeds::sliding * speeds::sliding, noise);
    jitter_ += SampleTiming::adaptation * (std::abs(stepped - std::round(stepped)) - jitter_);
    const double c = std::max(1.0, std::round(moving_ ? travel / (square * period_) : stepped));
    const double e = since - c * period_;
    if (std::abs(e) <= (moving_ ? longest(late) : outlier * period_))
      follow(e, c);
    else
      catch_up(d);
  }

  // The period of the first steps, some of which may take several.
  void learn(double d) noexcept {
    ahead_ = 0.0;
    lost_ = 0;
    steps_[seen_ - 1] = d;
    const auto end = steps_.begin() + seen_;
    const double sum = std::accumulate(steps_.begin(), end, 0.0);
    period_ = sum / seen_;
    if (seen_ < first) return;
    std::array<double, first> sorted = steps_;
    std::nth_element(sorted.begin(), sorted.begin() + first / 2, sorted.end());
    const double usual = sorted[first / 2];
    if (usual < 0.5 * period_) return;  // they come in bursts
    double count = 0.0;
    for (double step : steps_) count += std::max(1.0, std::round(step / usual));
    period_ = sum / count;
  }

  void follow(double e, double c) noexcept {
    const double bound = outlier * period_, within = std::clamp(e, -bound, bound);
    lost_ = within == e ? 0 : lost_ + 1;
    if (lost_ > first / 2) kept_ = first;  // it is another line
    const double k = kept_;
    ahead_ = 2.0 * (2.0 * k - 1.0) / (k * (k + 1.0)) * within - e;
    if (moving_) period_ += 6.0 / (k * (k + 1.0)) * within / c;
    kept_ = std::min(kept_ + 1, memory);
  }

  // Not before the stamp, and in steps of half a period while late stamps come at once; a period that fits no more is
  // learned again.
  void catch_up(double d) noexcept {
    moving_ = false;
    kept_ = first;
    if (++lost_ > first) seen_ = 0;
    ahead_ = std::max(0.0, ahead_ - d + outlier * (ahead_ < late * period_ ? period_ : d));
  }

  // Which clock is that of the motion, by the changes of velocity over steps of both [s].
  void judge(double tick, double step, const double* q) noexcept {
    const double steps[] = {tick, step};
    double square[] = {0.0, 0.0};
    for (int i = 0; i < n_; ++i) {
      const double moved = q[i] - q_[i];
      for (int k : {even, stamped}) {
        const double v = moved / steps[k], change = v - v_[k][i];
        square[k] += std::min(change * change, largest);
        v_[k][i] = v;
      }
      velocity_[i] += (fresh_ ? 1.0 : newest) * (v_[even][i] - velocity_[i]);
      q_[i] = q[i];
    }
    fresh_ = false;
    const bool moved = std::exchange(moved_, moving_);
    if (!moving_ || !moved) return;
    for (int k : {even, stamped}) change_[k] += recent * (square[k] - change_[k]);
    stamps_ = stamps_ ? !(change_[even] < clearly * change_[stamped]) : change_[stamped] < clearly * change_[even];
  }

  int n_;
  int seen_ = 0, kept_ = first, lost_ = 0;
  std::int64_t last_ = 0, told_ = 0;
  double period_ = 0.0, ahead_ = 0.0, jitter_ = 0.0;  // s, s by which the tick is later than the stamp, periods
  bool fresh_ = true, moving_ = false, moved_ = false, stamps_ = false;
  std::array<double, first> steps_{};  // s
  Joints q_{}, velocity_{};
  Joints v_[2]{};
  double change_[2] = {0.0, 0.0};  // rad2/s2
};

}  // namespace robot_dynamics
