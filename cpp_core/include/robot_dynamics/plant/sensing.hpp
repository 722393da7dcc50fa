// What the controller of the robot measures: quantised encoders, currents with ripple and noise, the housing's
// temperature, and a joint torque sensor where the robot has one.
#pragma once

#include "robot_dynamics/plant/math.hpp"

namespace robot_dynamics::plant {

struct SensingParameters {          // of one joint
  double link_quantum = 0;          // [rad], link encoder step, 0 = none
  double rotor_quantum = 0;         // [rad], rotor encoder step, reflected, 0 = none
  double link_offset = 0;           // [rad], calibration error of the link encoder
  double velocity_bandwidth = 600;  // [rad/s], first-order low-pass of the differenced rotor encoder
  double encoder_skew = 0;          // [s], the link encoder is read this much earlier than the rotor's
  double current_noise = 0;         // [A], standard deviation per sample
  double current_offset = 0;        // [A]
  double current_ripple = 0;        // [A], measured ripple, 6 cycles per electrical turn
  double pole_pairs = 10;           // electrical turns per motor turn
  double temperature_quantum = 0;   // [K]
  double temperature_noise = 0;     // [K]
  double torque_noise = 0;          // [Nm], joint torque sensor
  double torque_gain = 1;           // its scale error
  double torque_offset = 0;         // [Nm]
  double torque_delay = 0;          // [s], delay of current and torque sensor against the encoders

  template <class P, class F>
  static void visit(P& p, F f) {
    f(p.link_quantum, "sensing.link_quantum", non_negative);
    f(p.rotor_quantum, "sensing.rotor_quantum", non_negative);
    f(p.link_offset, "sensing.link_offset", finite);
    f(p.velocity_bandwidth, "sensing.velocity_bandwidth", positive);
    f(p.encoder_skew, "sensing.encoder_skew", finite);
    f(p.current_noise, "sensing.current_noise", non_negative);
    f(p.current_offset, "sensing.current_offset", finite);
    f(p.current_ripple, "sensing.current_ripple", non_negative);
    f(p.pole_pairs, "sensing.pole_pairs", positive);
    f(p.temperature_quantum, "sensing.temperature_quantum", non_negative);
    f(p.temperature_noise, "sensing.temperature_noise", non_negative);
    f(p.torque_noise, "sensing.torque_noise", non_negative);
    f(p.torque_gain, "sensing.torque_gain", positive);
    f(p.torque_offset, "sensing.torque_offset", finite);
    f(p.torque_delay, "sensing.torque_delay", Within{0, 0.01, "0..0.01 s"});
  }
};

// The last cycles of one signal of every joint, read between samples.
class DelayLine {
 public:
  void fill(int j, double value) noexcept {
    for (PerJoint& row : rows_) row[j] = value;
  }
  void next() noexcept { newest_ = (newest_ + 1) % length; }
  // Stores the value of this cycle; returns the one of `cycles` earlier, at most length - 2.
  double through(int j, double value, double cycles) noexcept {
    rows_[newest_][j] = value;
    if (!(cycles > 0.0)) return value;
    const double most = length - 2.0, back = cycles > most ? most : cycles;
    const int whole = static_cast<int>(back);
    const double share = back - whole;
    const double late = rows_[(newest_ + length - whole) % length][j];
    const double later = rows_[(newest_ + 2 * length - whole - 1) % length][j];
    return late + share * (later - late);
  }

 private:
  static constexpr int length = 32;
  std::array<PerJoint, length> rows_{};
  int newest_ = 0;
};

// Nearest multiple of the quantum; quantum 0 leaves the value alone.
inline double quantised(double value, double quantum) noexcept {
  if (!(quantum > 0.0)) return value;
  const double steps = value / quantum;
  return quantum * static_cast<double>(static_cast<std::int64_t>(steps < 0 ? steps - 0.5 : steps + 0.5));
}

}  // namespace robot_dynamics::plant
