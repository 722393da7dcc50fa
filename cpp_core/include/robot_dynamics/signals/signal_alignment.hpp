// Position, velocity and effort of one instant, from signals that a robot reports with delays of their own, and when
// that was (even_clock.hpp).
//
// qd(t) = gain v(t - velocity_delay) + bias, effort(t) belongs to the state at t - effort_delay. What is known first
// waits: every signal is taken at the latest instant at which all of them are known, linearly interpolated between
// samples, and the velocity becomes (qd - bias) / gain. A step of a robot without delays changes no bit.
// With a velocity_window h the velocity is the slope of a line through the positions of [t - h, t + h] instead:
//   qd = sum (s - mean s) q / sum (s - mean s)^2
// without latency against them and without the deflection of the gear that a velocity of the rotor contains.
#pragma once

#include <vector>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/even_clock.hpp"
#include "robot_dynamics/signals/position_steps.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"
#include "robot_dynamics/signals/turns.hpp"
#include "robot_dynamics/signals/velocity_steps.hpp"

namespace robot_dynamics {

struct SignalAlignmentParameters {
  double velocity_delay = 0.0, effort_delay = 0.0;  // s behind the positions, below 0: ahead of them
  double velocity_window = 0.0;                     // h [s]; 0: the reported velocity
  std::array<double, max_joints> velocity_gain{};   // reported over true velocity
  std::array<double, max_joints> velocity_bias{};   // rad/s

  SignalAlignmentParameters() { velocity_gain.fill(1.0); }
};

// Signals (n) of one sample, aligned in place; null or NaN = absent.
struct AlignedSignals {
  double *q, *theta, *qd, *effort, *current;
};

class SignalAlignment {
 public:
  static constexpr double longest_delay = 0.05;  // s
  static constexpr int largest_rate = 8000;      // Hz, as many samples are kept as this rate needs

  SignalAlignment(int n, const SignalAlignmentParameters& p)
      : n_(n),
        p_(p),
        lag_(lags(p)),
        t_(capacity(lag_, p.velocity_window)),
        rows_(t_.size() * signals * static_cast<std::size_t>(n)),
        clock_(n),
        velocities_(n),
        positions_(n) {
    require_each("velocity_gain", p.velocity_gain.data(), n, 0.1, 10.0);
    require_each("velocity_bias", p.velocity_bias.data(), n, -10.0, 10.0);
  }

  // When the sample was taken [ns]; allocates nothing. A sample that MotionState refuses is left as it is and not kept.
  std::int64_t step(std::int64_t reported_ns, const AlignedSignals& s) noexcept {
    double* const of[signals] = {s.q, s.theta, s.qd, s.effort, s.current};
    if (!valid(s)) return reported_ns;
    const std::int64_t stamp_ns = clock_.step(reported_ns, s.q, s.qd);
    double dt;
    const Tick tick = timing_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return stamp_ns;
    if (dt == 0.0) kept_ = 0;
    if (tick == Tick::backwards) turns_.reset();
    store(stamp_ns, dt, of);
    if (double *q = row(newest_, 0), *v = row(newest_, 2); !absent(v, n_)) {
      velocities_.step(dt, q, v, v);
      positions_.step(dt, q, v, q);
    }
    for (int k = 0; k < signals; ++k)
      if (of[k]) take(k, stamp_ns, of[k]);
    if (s.qd && p_.velocity_window > 0.0)
      slope(stamp_ns - lag_[0], s.qd);
    else if (s.qd)
      for (int i = 0; i < n_; ++i) s.qd[i] = (s.qd[i] - p_.velocity_bias[i]) / p_.velocity_gain[i];
    return stamp_ns;
  }

  void reset() noexcept {
    clock_.reset();
    timing_.reset();
    turns_.reset();
    velocities_.reset();
    positions_.reset();
    kept_ = 0;
  }
  int joints() const noexcept { return n_; }
  const SignalAlignmentParameters& parameters() const noexcept { return p_; }
  // The estimates are this much older than the sample [s].
  double latency() const noexcept { return 1e-9 * static_cast<double>(lag_[0]); }

 private:
  static constexpr int signals = 5;
  using Lags = std::array<std::int64_t, signals>;  // ns, by which each signal is taken earlier than the sample

  static std::int64_t ns(double s) noexcept { return static_cast<std::int64_t>(std::llround(1e9 * s)); }
  static Lags lags(const SignalAlignmentParameters& p) {
    require_range("velocity_delay", p.velocity_delay, -longest_delay, longest_delay);
    require_range("effort_delay", p.effort_delay, -longest_delay, longest_delay);
    require_range("velocity_window", p.velocity_window, 0.0, longest_delay);
    const bool reported = p.velocity_window == 0.0;
    const std::int64_t velocity = ns(reported ? p.velocity_delay : 0.0), effort = ns(p.effort_delay);
    const std::int64_t last = std::max({ns(p.velocity_window), velocity, effort});
    return {last, last, last - velocity, last - effort, last - effort};
  }
  static std::size_t capacity(const Lags& lag, double window) {
    const std::int64_t longest = *std::max_element(lag.begin(), lag.end()) + ns(window);
    return static_cast<std::size_t>(1e-9 * static_cast<double>(longest) * largest_rate) + 2;
  }

  bool valid(const AlignedSignals& s) const noexcept {
    if (absent(s.q, n_) || !all_within(s.q, n_, plausible_position)) return false;
    if (!absent(s.qd, n_) && !all_within(s.qd, n_, plausible_velocity)) return false;
    return absent(s.effort, n_) || all_within(s.effort, n_, plausible_torque);
  }

  double* row(std::size_t place, int k) noexcept {
    return rows_.data() + (place * signals + static_cast<std::size_t>(k)) * static_cast<std::size_t>(n_);
  }
  // Place of the sample that is `back` samples older than the newest.
  std::size_t at(std::size_t back) const noexcept { return (newest_ + t_.size() - back) % t_.size(); }

  void store(std::int64_t stamp_ns, double dt, double* const* of) noexcept {
    newest_ = (newest_ + 1) % t_.size();
    kept_ = std::min(kept_ + 1, t_.size());
    t_[newest_] = stamp_ns;
    for (int k = 0; k < signals; ++k)
      for (int i = 0; i < n_; ++i) row(newest_, k)[i] = of[k] ? of[k][i] : std::nan("");
    const double* qd = row(newest_, 2);
    std::copy_n(turns_.step(n_, dt, row(newest_, 0), absent(qd, n_) ? nullptr : qd), n_, row(newest_, 0));
  }

  // Signal k at its lag before the newest sample; the oldest sample is held where the lag reaches further back.
  void take(int k, std::int64_t stamp_ns, double* to) noexcept {
    const std::int64_t wanted = stamp_ns - lag_[k];
    std::size_t back = 0;
    while (back + 1 < kept_ && t_[at(back)] > wanted) ++back;
    const double* x = row(at(back), k);
    const std::int64_t t = t_[at(back)];
    if (t >= wanted) {
      std::copy_n(x, n_, to);
      return;
    }
    const std::size_t later = at(back - 1);
    const double w = static_cast<double>(wanted - t) / static_cast<double>(t_[later] - t), *y = row(later, k);
    for (int i = 0; i < n_; ++i) to[i] = x[i] + w * (y[i] - x[i]);
  }

  // Of the positions within the window around `wanted`, at least of two, which may come less often; 0 until there are.
  void slope(std::int64_t wanted, double* qd) noexcept {
    const std::int64_t half = ns(p_.velocity_window);
    const double* newest = row(newest_, 0);
    double count = 0.0, sum = 0.0, square = 0.0, moved[max_joints] = {}, product[max_joints] = {};
    for (std::size_t back = 0; back < kept_ && (t_[at(back)] >= wanted - half || count < 2.0); ++back) {
      if (t_[at(back)] > wanted + half) continue;
      const double t = 1e-9 * static_cast<double>(t_[at(back)] - wanted), *q = row(at(back), 0);
      count += 1.0, sum += t, square += t * t;
      for (int i = 0; i < n_; ++i) moved[i] += q[i] - newest[i], product[i] += t * (q[i] - newest[i]);
    }
    const double spread = count * square - sum * sum;
    for (int i = 0; i < n_; ++i) qd[i] = spread > 0.0 ? (count * product[i] - sum * moved[i]) / spread : 0.0;
  }

  int n_;
  SignalAlignmentParameters p_;
  Lags lag_;
  std::vector<std::int64_t> t_;
  std::vector<double> rows_;
  std::size_t newest_ = 0, kept_ = 0;
  EvenClock clock_;
  SampleTiming timing_;
  Turns turns_;  // of q
  // of readings: none between two samples is a multiple of a step
  VelocitySteps velocities_;
  PositionSteps positions_;
};

}  // namespace robot_dynamics
