// Numbers of a joint's sliding friction, beside its elements; the equations: friction.hpp.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "robot_dynamics/common/check.hpp"

namespace robot_dynamics {

struct SlidingJoint {
  double load_limit = 1e3;         // largest |tau| used [Nm]: the identified range; bounds the feedback of load
  double power = 1.0;              // p, 1 or 2
  double sliding_ratio = 1.0;      // r = f_C / f_S, 0..1
  double stribeck_velocity = 0.1;  // vs [rad/s]
  double fv1 = 0.0, fv2 = 0.0;     // Nm s/rad, Nm s2/rad2
  double fv0 = 0.0, v0 = 0.3;      // Nm s/rad, rad/s: viscosity that falls with speed
  double offset = 0.0;             // fo [Nm]
  double fs = 0.0, eps = 2e-3;     // Nm, rad/s: Stribeck friction of speed alone
  double rotor_time = 0.0;         // T [s]: how long the integrated velocity drives the elements; 0: the position
  double viscous_slope = 0.0;      // a [1/K] of the viscous terms
  double dahl_step = 0.0;          // b [rad] of elements that give way gradually; 0: they slip at their level
  double bearing = 0.0;            // c_b [Nm]: friction of the output's bearing and seals
  double bearing_span = 1e-4;      // D_b [rad]

  // The numbers in the order above, for files and bindings.
  static constexpr int count = 16;
  std::array<double, count> numbers() const {
    return {load_limit, power, sliding_ratio, stribeck_velocity, fv1,           fv2,       fv0,     v0,
            offset,     fs,    eps,           rotor_time,        viscous_slope, dahl_step, bearing, bearing_span};
  }
  static std::vector<SlidingJoint> rows(const double* p, int n) {
    std::vector<SlidingJoint> joints;
    for (const double* end = p + count * n; p != end; p += count)
      joints.push_back(
          {p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15]});
    return joints;
  }

  // Throws std::invalid_argument, naming joint i (from 0), number and bound.
  void check(int i) const {
    const auto require = [i](bool good, const char* name, double x, const char* bound) {
      require_of_joint(good, i, name, x, bound);
    };
    require(load_limit >= 0.0 && load_limit <= 1e5, "load_limit", load_limit, "in 0..1e5");
    require(power == 1.0 || power == 2.0, "load_power", power, "1 or 2");
    require(sliding_ratio >= 0.0 && sliding_ratio <= 1.0, "sliding_ratio", sliding_ratio, "in 0..1");
    require(stribeck_velocity > 0.0, "stribeck_velocity", stribeck_velocity, "> 0");
    require(v0 > 0.0, "v0", v0, "> 0");
    require(eps > 0.0, "eps", eps, "> 0");
    require(rotor_time >= 0.0 && rotor_time <= 1e6, "rotor_time", rotor_time, "in 0..1e6");
    require(std::abs(viscous_slope) <= 1.0, "viscous_slope", viscous_slope, "in -1..1");
    require(fs >= 0.0 && fs <= 1e5, "fs", fs, "in 0..1e5");
    require(dahl_step >= 0.0 && dahl_step <= 1.0, "dahl_step", dahl_step, "in 0..1");
    require(bearing >= 0.0 && bearing <= 1e5, "bearing", bearing, "in 0..1e5");
    require(bearing_span > 0.0 && bearing_span <= 1.0, "bearing_span", bearing_span, "above 0 and at most 1");
    for (const double x : {fv0, fv1, fv2}) require(x >= 0.0 && x <= 1e5, "viscous coefficient", x, "in 0..1e5");
    require(std::isfinite(offset), "offset", offset, "finite");
  }
};

}  // namespace robot_dynamics
