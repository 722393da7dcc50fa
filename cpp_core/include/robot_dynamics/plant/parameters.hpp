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

  template <class P, class F>
  static void visit(P& p, F f) {
    f(p.rotor_inertia, "drive.rotor_inertia", positive);
    f(p.torque_constant, "drive.torque_constant", positive);
    f(p.torque_limit, "drive.torque_limit", positive);
    f(p.current_lag, "drive.current_lag", non_negative);
    f(p.ripple_amplitude, "drive.ripple_amplitude", non_negative);
    f(p.ripple_phase, "drive.ripple_phase", finite);
  }
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

  template <class P, class F>
  static void visit(P& p, F f) {
    f(p.rotor_inertia, "control.rotor_inertia", non_negative);
    f(p.torque_constant, "control.torque_constant", positive);
    f(p.transmission_stiffness, "control.transmission_stiffness", positive);
    f(p.stiffness_gain, "control.stiffness_gain", non_negative);
    f(p.damping_gain, "control.damping_gain", non_negative);
    f(p.integral_gain, "control.integral_gain", non_negative);
    f(p.integral_limit, "control.integral_limit", non_negative);
    f(p.viscous, "control.viscous", finite);
    f(p.coulomb, "control.coulomb", finite);
    f(p.torque_feedback, "control.torque_feedback", non_negative);
  }
};

struct JointParameters {
  DriveParameters drive;
  FrictionParameters friction;
  TransmissionParameters transmission;
  ThermalParameters thermal;
  SensingParameters sensing;
  ControlParameters control;

  template <class P, class F>
  static void visit(P& p, F f) {
    DriveParameters::visit(p.drive, f);
    FrictionParameters::visit(p.friction, f);
    TransmissionParameters::visit(p.transmission, f);
    ThermalParameters::visit(p.thermal, f);
    SensingParameters::visit(p.sensing, f);
    ControlParameters::visit(p.control, f);
  }
};

struct PlantParameters {
  Chain chain;    // the true rigid body, without payload
  Chain nominal;  // the controller's
  std::array<JointParameters, max_joints> joint{};
  double inner_rate = 8000;   // [Hz] integration steps per second
  double implicitness = 0.5;  // w: 0.5 = midpoint, keeps the elastic modes; 1 = damps what the step cannot resolve
  int refresh = 4;            // steps between evaluations of the rigid-body terms
};

// Throws std::invalid_argument naming parameter, joint, value and bound.
inline void validate(const PlantParameters& p) {
  validate(p.chain);
  require(p.nominal.n == p.chain.n, "nominal.n_joints", -1, p.nominal.n, "the plant's number of joints");
  require(p.inner_rate >= 100 && p.inner_rate <= 1e5, "inner_rate", -1, p.inner_rate, "100..100000 Hz");
  require(p.implicitness >= 0.5 && p.implicitness <= 1, "implicitness", -1, p.implicitness, "0.5..1");
  require(p.refresh >= 1 && p.refresh <= 64, "refresh", -1, p.refresh, "1..64");
  for (int j = 0; j < p.chain.n; ++j) validate(p.joint[j], j);
}

}  // namespace robot_dynamics::plant
