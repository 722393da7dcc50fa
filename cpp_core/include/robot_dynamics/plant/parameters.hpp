// All parameters of a simulated robot: the true machine, and the nominal values of its controller.
#pragma once

#include "robot_dynamics/plant/contact.hpp"
#include "robot_dynamics/plant/friction.hpp"
#include "robot_dynamics/plant/sensing.hpp"
#include "robot_dynamics/plant/thermal.hpp"
#include "robot_dynamics/plant/transmission.hpp"

namespace robot_dynamics::plant {

constexpr int ripple_orders = 3;

struct DriveParameters {                                 // of one joint, output side
  double rotor_inertia = 1;                              // B [kg m2]
  double torque_constant = 10;                           // K_tau [Nm/A]
  double torque_limit = 1e3;                             // [Nm]
  double current_lag = 2e-4;                             // time constant of the current loop [s]
  std::array<double, ripple_orders> ripple_amplitude{};  // torque ripple [Nm] at 1, 2 and 6 cycles per electrical turn
  std::array<double, ripple_orders> ripple_phase{};      // [rad]
};

struct ControlParameters {              // of one joint: nominal values and gains of the controller
  double rotor_inertia = 1;             // nominal B [kg m2]
  double torque_constant = 10;          // nominal K_tau [Nm/A]
  double transmission_stiffness = 1e4;  // nominal [Nm/rad]
  double stiffness_gain = 1000;         // kp [Nm/rad] on the rotor encoder
  double damping_gain = 100;            // kd [Nm s/rad] on the rotor's velocity
  double integral_gain = 1000;          // ki [Nm/(rad s)] on the link encoder
  double integral_limit = 20;           // [Nm]
  double viscous = 0;                   // nominal friction of direct torque: fv [Nm s/rad] ..
  double coulomb = 0;                   // .. and fc [Nm]
  double torque_feedback = 0;           // gain on the joint torque sensor's error in torque mode
};

struct JointParameters {
  DriveParameters drive;
  FrictionParameters friction;
  TransmissionParameters transmission;
  ThermalParameters thermal;
  SensingParameters sensing;
  ControlParameters control;
};

struct PlantParameters {
  Chain chain;    // the true rigid body, without payload
  Chain nominal;  // the controller's
  std::array<JointParameters, max_joints> joint{};
  double inner_rate = 8000;   // [Hz] integration steps per second
  double implicitness = 0.5;  // w: 0.5 = midpoint, keeps the elastic modes; 1 = damps what the step cannot resolve
  int refresh = 4;            // steps between evaluations of the rigid-body terms
};

inline void validate(const DriveParameters& p, int j) {
  positive(p.rotor_inertia, "drive.rotor_inertia", j);
  positive(p.torque_constant, "drive.torque_constant", j);
  positive(p.torque_limit, "drive.torque_limit", j);
  non_negative(p.current_lag, "drive.current_lag", j);
  for (double a : p.ripple_amplitude) non_negative(a, "drive.ripple_amplitude", j);
  for (double a : p.ripple_phase) finite(a, "drive.ripple_phase", j);
}

inline void validate(const ControlParameters& p, int j) {
  non_negative(p.rotor_inertia, "control.rotor_inertia", j);
  positive(p.torque_constant, "control.torque_constant", j);
  positive(p.transmission_stiffness, "control.transmission_stiffness", j);
  non_negative(p.stiffness_gain, "control.stiffness_gain", j);
  non_negative(p.damping_gain, "control.damping_gain", j);
  non_negative(p.integral_gain, "control.integral_gain", j);
  non_negative(p.integral_limit, "control.integral_limit", j);
  finite(p.viscous, "control.viscous", j);
  finite(p.coulomb, "control.coulomb", j);
  non_negative(p.torque_feedback, "control.torque_feedback", j);
}

// Throws std::invalid_argument naming parameter, joint, value and bound.
inline void validate(const PlantParameters& p) {
  validate(p.chain);
  require(p.nominal.n == p.chain.n, "nominal.n_joints", -1, p.nominal.n, "the plant's number of joints");
  require(p.inner_rate >= 100 && p.inner_rate <= 1e5, "inner_rate", -1, p.inner_rate, "100..100000 Hz");
  require(p.implicitness >= 0.5 && p.implicitness <= 1, "implicitness", -1, p.implicitness, "0.5..1");
  require(p.refresh >= 1 && p.refresh <= 64, "refresh", -1, p.refresh, "1..64");
  for (int j = 0; j < p.chain.n; ++j) {
    validate(p.joint[j].drive, j);
    validate(p.joint[j].friction, j);
    validate(p.joint[j].transmission, j);
    validate(p.joint[j].thermal, j);
    validate(p.joint[j].sensing, j);
    validate(p.joint[j].control, j);
  }
}

}  // namespace robot_dynamics::plant
