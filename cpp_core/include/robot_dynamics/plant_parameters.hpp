// All numbers of a simulated robot: the true machine, and what its controller believes about it.
#pragma once

#include "robot_dynamics/plant_contact.hpp"
#include "robot_dynamics/plant_friction.hpp"
#include "robot_dynamics/plant_sensing.hpp"
#include "robot_dynamics/plant_thermal.hpp"
#include "robot_dynamics/plant_transmission.hpp"

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

struct ControlParameters {              // of one joint: what the controller believes and its gains
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

inline void require(bool ok, const char* name, int joint, double value, const char* bound) {
  if (!ok)
    throw std::invalid_argument(std::string(name) + (joint >= 0 ? "[" + std::to_string(joint) + "]" : "") + " = " +
                                std::to_string(value) + " is outside " + bound);
}

// Throws std::invalid_argument naming parameter, joint, value and bound.
inline void validate(const PlantParameters& p) {
  validate(p.chain);
  require(p.nominal.n == p.chain.n, "nominal.n_joints", -1, p.nominal.n, "the plant's number of joints");
  require(p.inner_rate >= 100 && p.inner_rate <= 1e5, "inner_rate", -1, p.inner_rate, "100..100000 Hz");
  require(p.implicitness >= 0.5 && p.implicitness <= 1, "implicitness", -1, p.implicitness, "0.5..1");
  require(p.refresh >= 1 && p.refresh <= 64, "refresh", -1, p.refresh, "1..64");
  for (int j = 0; j < p.chain.n; ++j) {
    const JointParameters& x = p.joint[j];
    const auto positive = [j](double v, const char* name) { require(v > 0 && v < 1e12, name, j, v, "> 0"); };
    const auto non_negative = [j](double v, const char* name) { require(v >= 0 && v < 1e12, name, j, v, ">= 0"); };
    positive(x.drive.rotor_inertia, "drive.rotor_inertia");
    positive(x.drive.torque_constant, "drive.torque_constant");
    positive(x.drive.torque_limit, "drive.torque_limit");
    non_negative(x.drive.current_lag, "drive.current_lag");
    non_negative(x.friction.coulomb, "friction.coulomb");
    require(x.friction.stribeck >= x.friction.coulomb, "friction.stribeck", j, x.friction.stribeck, ">= coulomb");
    positive(x.friction.stribeck_velocity, "friction.stribeck_velocity");
    non_negative(x.friction.load, "friction.load");
    positive(x.friction.load_torque, "friction.load_torque");
    positive(x.friction.attraction, "friction.attraction");
    positive(x.friction.presliding, "friction.presliding");
    non_negative(x.friction.viscous, "friction.viscous");
    positive(x.friction.shear_velocity, "friction.shear_velocity");
    for (double span : x.friction.span) positive(span, "friction.span");
    for (double share : x.friction.share) non_negative(share, "friction.share");
    positive(x.transmission.stiffness, "transmission.stiffness");
    non_negative(x.transmission.hardening, "transmission.hardening");
    non_negative(x.transmission.damping, "transmission.damping");
    non_negative(x.transmission.backlash, "transmission.backlash");
    require(x.transmission.backlash_variation >= 0 && x.transmission.backlash_variation < 1,
            "transmission.backlash_variation", j, x.transmission.backlash_variation, "0..1");
    require(x.transmission.soft_windup > 0 && x.transmission.soft_windup <= 1, "transmission.soft_windup", j,
            x.transmission.soft_windup, "(0, 1]");
    require(std::fabs(x.transmission.gear_ratio) > 0.0, "transmission.gear_ratio", j, x.transmission.gear_ratio,
            "!= 0");
    non_negative(x.transmission.bearing_friction, "transmission.bearing_friction");
    positive(x.transmission.bearing_presliding, "transmission.bearing_presliding");
    positive(x.thermal.lubricant_capacity, "thermal.lubricant_capacity");
    positive(x.thermal.housing_capacity, "thermal.housing_capacity");
    non_negative(x.thermal.inner_conductance, "thermal.inner_conductance");
    non_negative(x.thermal.outer_conductance, "thermal.outer_conductance");
    non_negative(x.thermal.idle_power, "thermal.idle_power");
    non_negative(x.thermal.copper_loss, "thermal.copper_loss");
    positive(x.control.torque_constant, "control.torque_constant");
    positive(x.control.transmission_stiffness, "control.transmission_stiffness");
  }
}

}  // namespace robot_dynamics::plant
