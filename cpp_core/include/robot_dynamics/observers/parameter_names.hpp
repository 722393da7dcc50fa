// The names of the parameters of each stage: each(name, value) or each(name, values, n) for every one of them. The
// keyword arguments of the bindings and the parameter files of C++ programs are both made from these lists.
#pragma once

#include "robot_dynamics/observers/external_force.hpp"
#include "robot_dynamics/observers/friction_stage.hpp"
#include "robot_dynamics/observers/motion_state.hpp"
#include "robot_dynamics/observers/temperature_observer.hpp"
#include "robot_dynamics/signals/signal_alignment.hpp"

namespace robot_dynamics {

template <class Each>
void for_each_parameter(SignalAlignmentParameters& p, int n, Each&& each) {
  each("velocity_delay", p.velocity_delay);
  each("effort_delay", p.effort_delay);
  each("velocity_window", p.velocity_window);
  each("velocity_gain", p.velocity_gain, n);
  each("velocity_bias", p.velocity_bias, n);
}

template <class Each>
void for_each_parameter(MotionParameters& p, int n, Each&& each) {
  each("acceleration_cutoff", p.acceleration_cutoff);
  each("rotor_inertia", p.rotor_inertia, n);
  each("coupled_inertia", p.coupled_inertia, n * n);
  each("effort_gain", p.effort_gain, n);
  each("effort_lacks_gravity", p.effort_lacks_gravity);
}

template <class Each>
void for_each_parameter(FrictionStageParameters& p, int n, Each&& each) {
  each("relative_error", p.relative_error);
  each("stiction_speed", p.stiction_speed);
  each("known_stiction", p.known_stiction);
  each("moving", p.moving, n);
  each("rest", p.rest, n);
  each("speed", p.speed, n);
  each("slow", p.slow, n);
}

template <class Each>
void for_each_parameter(TemperatureOptions& o, Each&& each) {
  each("ambient", o.ambient);
  each("low", o.low);
  each("high", o.high);
  each("rate_limit", o.rate_limit);
  each("moving", o.moving);
  each("convergence_time", o.convergence_time);
  each("observe_time", o.observe_time);
  each("rearm_time", o.rearm_time);
  each("max_gap", o.max_gap);
  each("housing_sensor", o.housing_sensor);
}

template <class Each>
void for_each_parameter(WrenchParameters& p, Each&& each) {
  each("expected_force", p.expected_force);
  each("expected_moment", p.expected_moment);
  each("small_contact", p.small_contact);
}

template <class Each>
void for_each_parameter(ExternalForceParameters& p, int n, Each&& each) {
  each("rotor_inertia", p.rotor_inertia, n);
  each("coupled_inertia", p.coupled_inertia, n * n);
  each("gain", p.gain, n);
  each("onset_gain", p.onset_gain);
  each("wrench_cutoff", p.wrench_cutoff);
  each("torque_std", p.torque_std, n);
  each("friction_std", p.friction_std, n);
  each("model_error", p.model_error);
  each("friction_level", p.friction_level, n);
  each("effort_error", p.effort_error, n);
  each("dry", p.dry, n);
  each("ignore_friction", p.ignore_friction);
  for_each_parameter(p.wrench, each);
  each("frame", p.frame);
  each("contact_on_ratio", p.contact.on_ratio);
  each("contact_rest_share", p.contact.rest_share);
  each("contact_on_time", p.contact.on_time);
  each("contact_off_time", p.contact.off_time);
  each("contact_floor", p.contact.floor, n);
  each("contact_force", p.contact_force);
  each("torque_bound", p.torque_bound, n);
  each("payload_pieces", p.payload_pieces);
  each("tare_payload", p.tare_payload);
  each("rest_time", p.rest.time, n);
  each("rest_std", p.rest.std, n);
  each("friction_drift", p.drift.time);
  each("drift_share", p.drift.share);
  each("drift_std", p.drift.std, n);
  each("recent_error", p.recent_error);
}

}  // namespace robot_dynamics
