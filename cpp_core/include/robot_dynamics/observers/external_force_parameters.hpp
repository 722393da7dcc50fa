// Parameters, inputs and outputs of the force stage (external_force.hpp).
#pragma once

#include <array>
#include <limits>

#include "robot_dynamics/friction/contact_load.hpp"
#include "robot_dynamics/observers/contact.hpp"
#include "robot_dynamics/observers/dry_joints.hpp"
#include "robot_dynamics/observers/friction_drift.hpp"
#include "robot_dynamics/observers/payload_check.hpp"
#include "robot_dynamics/observers/rest_bias.hpp"
#include "robot_dynamics/observers/wrench.hpp"
#include "robot_dynamics/observers/wrench_frame.hpp"
#include "robot_dynamics/signals/change_filter.hpp"

namespace robot_dynamics {

struct ExternalForceParameters {
  std::array<double, max_joints> rotor_inertia{};  // kg m2, reflected; 0 with link-side torque
  JointMatrix coupled_inertia{};                   // kg m2, of rotors that turn with two joints, symmetric
  std::array<double, max_joints> gain{};           // K, bandwidth of small changes, rad/s
  double onset_gain = 0.0;  // of the momentum observer, rad/s; at most gain: gain for all changes
  double wrench_cutoff = std::numeric_limits<double>::infinity();  // rad/s, on the wrench; infinity: none
  std::array<double, max_joints> torque_std{};                     // Nm, sensor
  std::array<double, max_joints> friction_std{};                   // Nm, used when the friction stage gives none
  double model_error = 0.03;                                       // relative error of the model torque
  std::array<double, max_joints> friction_level{};  // Nm, at breakaway; 0: none of its error is added in contact
  std::array<double, max_joints> effort_error{};    // deviation of the torque per unit of effort, as share of it
  std::array<double, max_joints> dry{};             // 1: friction of a joint that stands is whatever balances
  bool ignore_friction = false;                     // link-side torque: friction is before the sensor
  WrenchParameters wrench;
  int frame = WrenchFrame::base;                  // of framed_wrench: base, a link, or n = TCP
  ContactParameters contact;                      // channels: joints, then the significance of the wrench
  double contact_force = 0.0;                     // N, least force at the TCP that can be a contact
  std::array<double, max_joints> torque_bound{};  // Nm beyond which a torque is invalid
  int payload_pieces = 3;                         // before a payload is held, see PayloadCheck
  double tare_payload = std::numeric_limits<double>::infinity();  // kg, largest that a tare takes the torque for
  RestBiasParameters rest;
  FrictionDriftParameters drift;
  double recent_error = 0.0;  // s, over which errors of a free robot scale the covariance of the wrench; 0: not
};

// Gains of the momentum observer, and of the filter behind it for small and for large changes: 1/gain is the whole lag
// of small ones.
inline std::array<double, max_joints> fastest(const ExternalForceParameters& p) noexcept {
  auto gain = p.gain;
  for (double& k : gain) k = std::max(k, p.onset_gain);
  return gain;
}
inline std::array<double, max_joints> rest_of_lag(const ExternalForceParameters& p) noexcept {
  auto gain = p.gain;
  for (double& k : gain) k = k < p.onset_gain ? k * p.onset_gain / (p.onset_gain - k) : 1e12;
  return gain;
}
inline std::array<double, max_joints> following(const ExternalForceParameters& p) noexcept {
  auto gain = p.gain;
  for (double& k : gain) k = k < p.onset_gain ? std::max(3.0 * p.onset_gain, k) : 1e12;
  return gain;
}

inline void validate(const ExternalForceParameters& p, int n) {
  require_each("friction_std", p.friction_std.data(), n, 0.0, 1e6);
  require_range("tare_payload", p.tare_payload, 0.0, std::numeric_limits<double>::infinity());
  require_range("onset_gain", p.onset_gain, 0.0, 1e5);
  require_each("friction_level", p.friction_level.data(), n, 0.0, 1e6);
  require_each("effort_error", p.effort_error.data(), n, 0.0, 10.0);
}

// What friction holds at most, Nm: its level at breakaway, or its deviation where that is unknown.
inline std::array<double, max_joints> friction_at_rest(const ExternalForceParameters& p) noexcept {
  auto level = p.friction_level;
  for (int i = 0; i < max_joints; ++i) level[i] = level[i] > 0.0 ? level[i] : p.friction_std[i];
  return level;
}

// Deviation that a load adds, as share of it: the relative errors of friction and of the torque constant.
inline double relative_error(const ExternalForceParameters& p, int i, double friction_std) noexcept {
  const double friction = p.friction_level[i] > 0.0 ? friction_std / p.friction_level[i] : 0.0;
  return std::hypot(friction, p.effort_error[i]);
}

struct ForceInput {  // (n); acceleration, friction and its std may be null or NaN = absent
  const double *q, *qd, *model_torque, *drive_torque, *qdd, *friction, *friction_std;
  const double* payload = nullptr;  // (4), see CarryingChain
};

// Link-side torque does not contain friction; without a friction stage none is subtracted and the std grows.
inline bool read_friction(const ExternalForceParameters& p, const ForceInput& in, int n, double* friction,
                          double* std) noexcept {
  const bool known = !absent(in.friction, n), std_known = !absent(in.friction_std, n);
  for (int i = 0; i < n; ++i) {
    friction[i] = p.ignore_friction || !known ? 0.0 : in.friction[i];
    std[i] = p.ignore_friction ? 0.0 : std_known ? in.friction_std[i] : p.friction_std[i];
  }
  return known || p.ignore_friction;
}

struct ForceOutput {
  double *torque, *torque_std;                   // (n)
  double *wrench, *wrench_std, *singular_value;  // (6), (6), (1)
  double *contact, *payload_or_bias;             // (n + 1), (1)
  double* contact_load;                          // (n)
  double *framed_wrench, *framed_wrench_std;     // (6), (6), in the named frame

  // Nothing is known: zeros, with deviations `std`.
  void clear(int n, double std) const noexcept {
    for (double* joints : {torque, contact_load}) std::fill_n(joints, n, 0.0);
    for (double* axes : {wrench, framed_wrench}) std::fill_n(axes, 6, 0.0);
    for (double* axes : {wrench_std, framed_wrench_std}) std::fill_n(axes, 6, std);
    std::fill_n(torque_std, n, std);
    std::fill_n(contact, n + 1, 0.0);
    *singular_value = *payload_or_bias = 0.0;
  }
};

}  // namespace robot_dynamics
