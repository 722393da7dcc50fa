// Adaptive friction feedforward after [Madsen2020 ch6 24-28]: f^ = [F(tau_J) H, F_v] . [a1, a2] per joint, two scales
// of the identified law (the source's second term is a2 omega), a gradient law with projection and a persistence gate.
// Its gain is 1 / (time L^2), L^2 = F^2 + F_v^2 what the law itself says at this speed and load, so that neither its
// shape nor its size changes how fast it learns; an implicit step, which is stable for any dt:
//   a += dt Y e / (time L^2 + dt Y'Y),  e = f_meas - Y'a
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/control/snapshots.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class AdaptiveFriction {
 public:
  static constexpr double lower = 0.4, upper = 2.0;    // of both scales
  static constexpr double omega_min = speeds::moving;  // rad/s [ch6 28]
  static constexpr double omega_time = 0.05;           // s [ch6 28]
  static constexpr double max_dt = 0.05;               // s: a longer step is a gap, not an integration
  static constexpr double least = 1e-3;                // Nm: a law without friction teaches nothing

  // time: s in which the scales settle in motion
  AdaptiveFriction(int n, double time) : n_(n), time_(time) {
    require_range("n_joints", n, 1, max_joints);
    require_positive("time", time);
    reset();
  }

  void reset() noexcept {
    now_.a1.fill(1.0);
    now_.a2.fill(1.0);
    still_.fill(1e9);
    snapshots_.fill(now_);
  }

  // Y1 = F(tau_J) H, Y2 = F_v, level F (Nm), omega (rad/s), f_meas (Nm), all of the same instant. `frozen`: contact,
  // saturation, payload change or thermal transient. A sample that is not finite is ignored.
  Status step(double dt, const double* Y1, const double* Y2, const double* level, const double* omega,
              const double* f_meas, bool frozen) noexcept {
    if (!(dt > 0)) return Status::dropped;
    for (int i = 0; i < n_; ++i)
      if (!std::isfinite(Y1[i] + Y2[i] + level[i] + omega[i] + f_meas[i])) return Status::dropped;
    if (frozen || dt > max_dt) return Status::degraded;
    for (int i = 0; i < n_; ++i) {
      still_[i] = std::fabs(omega[i]) >= omega_min ? 0.0 : still_[i] + dt;
      if (still_[i] <= omega_time) update(i, dt, Y1[i], Y2[i], level[i], f_meas[i]);  // [ch6 28]
    }
    snapshots_.keep(dt, now_);
    return Status::ok;
  }

  // f^ = Y'a [ch6 29]
  void friction(const double* Y1, const double* Y2, double* f) const noexcept {
    for (int i = 0; i < n_; ++i) f[i] = now_.a1[i] * Y1[i] + now_.a2[i] * Y2[i];
  }

  // Back to the values of at least one snapshot period ago.
  void restore() noexcept { snapshots_.fill(now_ = snapshots_.oldest()); }

  // Persisted values; outside the bounds they are projected, not finite they are refused.
  bool set(const double* a1, const double* a2) noexcept {
    if (!all_finite(a1, n_) || !all_finite(a2, n_)) return false;
    for (int i = 0; i < n_; ++i) {
      now_.a1[i] = std::clamp(a1[i], lower, upper);
      now_.a2[i] = std::clamp(a2[i], lower, upper);
    }
    snapshots_.fill(now_);
    return true;
  }

  const double* coulomb() const noexcept { return now_.a1.data(); }
  const double* viscous() const noexcept { return now_.a2.data(); }

 private:
  struct Values {
    std::array<double, max_joints> a1, a2;
  };

  void update(int i, double dt, double y1, double y2, double level, double f) noexcept {
    const double e = f - (y1 * now_.a1[i] + y2 * now_.a2[i]);                // [ch6 25]
    const double size = level * level + y2 * y2 + least * least;             // Nm2
    const double gain = dt * e / (time_ * size + dt * (y1 * y1 + y2 * y2));  // [ch6 26], implicit
    now_.a1[i] = std::clamp(now_.a1[i] + y1 * gain, lower, upper);           // [ch6 27]
    now_.a2[i] = std::clamp(now_.a2[i] + y2 * gain, lower, upper);
  }

  int n_;
  double time_;
  Values now_{};
  std::array<double, max_joints> still_{};
  Snapshots<Values> snapshots_;
};

}  // namespace robot_dynamics
