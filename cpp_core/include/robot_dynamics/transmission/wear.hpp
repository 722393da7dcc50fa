// Wear status of a transmission [Madsen2020 appA step 570, claims 9, 17]: stiffness compared with a baseline curve at
// equal deflection (load) and equal temperature; a sustained relative drop raises warn, then error.
#pragma once

#include <cmath>

#include "robot_dynamics/common/check.hpp"

namespace robot_dynamics {

enum class Wear : int { unknown = 0, ok = 1, warn = 2, error = 3 };

struct WearOptions {
  double warn = 0.15, error = 0.30;  // relative drop
  double hold = 60.0;                // [s] of comparable samples before a level changes
};

class WearMonitor {
 public:
  explicit WearMonitor(const WearOptions& options) : o_(options) {
    require(0 < o_.warn && o_.warn < o_.error, "warn", o_.warn, "> 0 and below error");
    require(o_.error < 1, "error", o_.error, "< 1");
    require(o_.hold >= 0, "hold", o_.hold, ">= 0");
  }
  void reset() noexcept { *this = WearMonitor(o_); }

  // The level of `other`, judged by the limits of this one.
  void take_over(const WearMonitor& other) noexcept {
    const WearOptions own = o_;
    *this = other;
    o_ = own;
  }

  // k, its std and the baseline at the same deflection [Nm/rad]; temperatures [deg C] (NaN: unknown); dt [s].
  // Samples that are not comparable are ignored.
  Wear update(double k, double k_std, double baseline, double T, double T_baseline, double dt) noexcept {
    const bool same_temperature = !(std::abs(T - T_baseline) > temperature_band);
    if (!(k > 0 && k_std >= 0 && baseline > 0 && dt > 0 && same_temperature)) return level_;
    drop_ = 1 - k / baseline;
    const double sure = drop_ - sigmas * k_std / baseline;
    const Wear now = sure > o_.error ? Wear::error : sure > o_.warn ? Wear::warn : Wear::ok;
    if (now != candidate_) {
      candidate_ = now;
      since_ = 0;
    }
    since_ += dt;
    if (since_ >= o_.hold) level_ = candidate_;
    return level_;
  }
  Wear level() const noexcept { return level_; }
  double drop() const noexcept { return drop_; }

 private:
  static constexpr double temperature_band = 10.0;  // |T - T_baseline| that still counts as equal [K]
  static constexpr double sigmas = 2.0;             // a drop counts beyond this many standard deviations
  WearOptions o_;
  Wear level_ = Wear::unknown, candidate_ = Wear::unknown;
  double since_ = 0, drop_ = 0;
};

}  // namespace robot_dynamics
