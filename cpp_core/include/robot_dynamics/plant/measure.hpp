// Measurement and truth at the end of a cycle of dt seconds (0: standing after a reset), and energy (bodies of
// plant.hpp).
#pragma once

#include "robot_dynamics/plant/plant.hpp"

namespace robot_dynamics::plant {

// Rotor speed as a controller sees it: differenced rotor encoder behind a first-order low-pass.
inline double Plant::measured_velocity(int j, double angle, double dt) noexcept {
  if (!started_) last_rotor_[j] = angle, filtered_velocity_[j] = s_.omega[j];
  if (dt > 0.0) {
    const double raw = (angle - last_rotor_[j]) / dt, a = p_.joint[j].sensing.velocity_bandwidth * dt;
    filtered_velocity_[j] += (raw - filtered_velocity_[j]) * a / (1.0 + a);
  }
  last_rotor_[j] = angle;
  return filtered_velocity_[j];
}

inline void Plant::measure_joint(int j, double dt) noexcept {
  Measurement& m = measured_;
  const JointParameters& p = p_.joint[j];
  const SensingParameters& x = p.sensing;
  m.theta[j] = quantised(s_.theta[j], x.rotor_quantum);
  m.q[j] = quantised(s_.q[j] - x.encoder_skew * s_.qd[j] + x.link_offset, x.link_quantum);
  m.omega[j] = m.qd[j] = measured_velocity(j, m.theta[j], dt);
  const double now = dt > 0.0 ? average_torque_[j] : s_.motor_torque[j];
  if (!(dt > 0.0)) motor_line_.fill(j, now), sensor_line_.fill(j, truth_.joint_torque[j]);
  const double late = dt > 0.0 ? x.torque_delay / dt : 0.0;
  const double torque = motor_line_.through(j, now, late);
  const double sensed = sensor_line_.through(j, truth_.joint_torque[j], late);
  double s, c;
  sine_cosine(6.0 * p.transmission.gear_ratio * x.pole_pairs * s_.theta[j], s, c);
  m.current[j] =
      torque / p.drive.torque_constant + x.current_offset + x.current_ripple * s + x.current_noise * random_.normal();
  m.effort[j] = m.current[j] * p.control.torque_constant;
  m.joint_torque[j] = x.torque_gain * sensed + x.torque_offset + x.torque_noise * random_.normal();
  m.temperature[j] = quantised(s_.thermal[j].housing + x.temperature_noise * random_.normal(), x.temperature_quantum);
}

inline void Plant::true_joint(int j, double dt) noexcept {
  Truth& t = truth_;
  const TransmissionPoint point = transmission_[j].evaluate(s_.theta[j], s_.q[j]);
  const double phid = point.slope * s_.omega[j] - s_.qd[j];
  t.joint_torque[j] = point.torque + p_.joint[j].transmission.damping * phid;
  t.deflection[j] = point.phi;
  t.rotor_friction_torque[j] = friction_torque_[j];
  t.link_friction_torque[j] = s_.bearing[j];
  t.friction_torque[j] = friction_torque_[j] + s_.bearing[j];
  t.external_joint_torque[j] = external_[j];
  t.lubricant_temperature[j] = s_.thermal[j].lubricant;
  t.housing_temperature[j] = s_.thermal[j].housing;
  t.friction_power[j] = dt > 0.0 ? energy_[j] / dt : 0.0;
}

inline void Plant::measure(const Command& command, double dt) noexcept {
  Measurement& m = measured_;
  Truth& t = truth_;
  motor_line_.next();
  sensor_line_.next();
  for (int j = 0; j < n(); ++j) {
    true_joint(j, dt);
    measure_joint(j, dt);
    m.q_d[j] = command.q[j];
    m.qd_d[j] = command.qd[j];
    m.qdd_d[j] = command.qdd[j];
    m.target_moment[j] = control_.model_torque()[j];
    m.target_current[j] = m.target_moment[j] / p_.joint[j].control.torque_constant;
  }
  started_ = true;
  t.q = s_.q;
  t.qd = s_.qd;
  t.theta = s_.theta;
  t.omega = s_.omega;
  t.motor_torque = s_.motor_torque;
  t.external_wrench = wrench_;
  for (int k = 0; k < 3; ++k) t.external_wrench[k] += wall_force_.force[k];
  t.penetration = wall_force_.penetration;
  t.tcp = body_.tcp;
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < n(); ++j) t.tcp.p[k] += body_.J[k * n() + j] * (s_.q[j] - refresh_q_[j]);
}

// 1/2 qd' M qd + 1/2 B omega^2 + elastic energy (Simpson) - gravity . first moment.
inline double Plant::energy() noexcept {
  const int n = p_.chain.n;
  RigidBody body;
  dynamics_.evaluate(s_.q.data(), s_.qd.data(), false, body);
  double sum = dynamics_.potential();
  for (int i = 0; i < n; ++i) {
    sum += 0.5 * p_.joint[i].drive.rotor_inertia * s_.omega[i] * s_.omega[i];
    for (int j = 0; j < n; ++j) sum += 0.5 * s_.qd[i] * body.M[i * n + j] * s_.qd[j];
    const TransmissionPoint end = transmission_[i].evaluate(s_.theta[i], s_.q[i]);
    constexpr int intervals = 64;
    const double w = end.phi / intervals;
    for (int k = 0; k <= intervals; ++k) {
      const double weight = (k == 0 || k == intervals) ? 1.0 : (k % 2 ? 4.0 : 2.0);
      sum += weight * w / 3.0 * transmission_[i].evaluate(s_.theta[i], s_.theta[i] - end.error - k * w).torque;
    }
  }
  return sum;
}

}  // namespace robot_dynamics::plant
