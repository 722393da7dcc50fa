// Options of the temperature observer (temperature_observer.hpp) and their check.
#pragma once

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"

namespace robot_dynamics {

struct TemperatureOptions {
  double ambient = 25.0;             // T_env [deg C]
  double low = -20.0, high = 120.0;  // bounds of T [deg C]
  double rate_limit = 1.0;           // of the correction [K/s]
  double moving = speeds::sliding;   // |v| above which a joint counts as moving [rad/s]
  double convergence_time = 20.0;    // [s], when no gain is given
  double observe_time = 120.0;       // armed for this long of allowed correction [s]
  double rearm_time = 1800.0;        // from closing to arming again [s] (30 minutes in the source)
  double max_gap = 0.5;              // [s]
  bool housing_sensor = true;        // false: the robot has none, so its silence is no fault
};

inline void validate(const TemperatureOptions& o) {
  require(o.low < o.high, "low", o.low, "below high");
  require_range("ambient", o.ambient, o.low, o.high);
  require(o.rate_limit > 0, "rate_limit", o.rate_limit, "> 0");
  require(o.moving > 0, "moving", o.moving, "> 0");
  require(o.convergence_time > 0, "convergence_time", o.convergence_time, "> 0");
  require(o.observe_time >= 0, "observe_time", o.observe_time, ">= 0");
  require(o.rearm_time >= 0, "rearm_time", o.rearm_time, ">= 0");
  require(o.max_gap > 0, "max_gap", o.max_gap, "> 0");
}

}  // namespace robot_dynamics
