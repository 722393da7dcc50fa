// Integration step, heat and measurement of the plant (the bodies of plant.hpp).
#pragma once

#include "robot_dynamics/plant.hpp"

namespace robot_dynamics::plant {

// Torque ripple of the motor at 1, 2 and 6 cycles per electrical turn.
inline double Plant::ripple(int j) const noexcept {
  const DriveParameters& d = p_.joint[j].drive;
  if (d.ripple_amplitude[0] == 0.0 && d.ripple_amplitude[1] == 0.0 && d.ripple_amplitude[2] == 0.0) return 0.0;
  const double electrical = p_.joint[j].transmission.gear_ratio * p_.joint[j].sensing.pole_pairs * s_.theta[j];
  constexpr double cycles[ripple_orders] = {1.0, 2.0, 6.0};
  double sum = 0.0;
  for (int k = 0; k < ripple_orders; ++k) {
    double s, c;
    sine_cosine(cycles[k] * electrical + d.ripple_phase[k], s, c);
    sum += d.ripple_amplitude[k] * s;
  }
  return sum;
}

// Wall at the TCP, whose position follows the Jacobian between refreshes; adds its gains to A and its force to rhs.
inline void Plant::add_wall(double h, double* A, double* rhs, const PerJoint& dq) noexcept {
  const int n = p_.chain.n;
  Vec3 position = body_.tcp.p, velocity{};
  for (int k = 0; k < 3; ++k)
    for (int j = 0; j < n; ++j) {
      position[k] += body_.J[k * n + j] * dq[j];
      velocity[k] += body_.J[k * n + j] * s_.qd[j];
    }
  wall_force_ = evaluate(wall_, position, velocity, p_.implicitness * h);
  const double gn = p_.implicitness * h * wall_force_.normal_gain, gt = h * wall_force_.tangent_gain;
  if (!(wall_force_.normal_gain > 0.0)) return;
  PerJoint jn{};
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < 3; ++k) jn[j] += wall_.normal[k] * body_.J[k * n + j];
  for (int i = 0; i < n; ++i) {
    double tau = 0.0;
    for (int k = 0; k < 3; ++k) tau += body_.J[k * n + i] * wall_force_.force[k];
    external_[i] += tau;
    rhs[i] += tau;
    for (int j = 0; j <= i; ++j) {
      double jj = 0.0;
      for (int k = 0; k < 3; ++k) jj += body_.J[k * n + i] * body_.J[k * n + j];
      A[i * n + j] += (gn - gt) * jn[i] * jn[j] + gt * jj;
    }
  }
}

// In-place LDL' solve of the symmetric positive definite A (lower triangle) x = rhs.
inline bool Plant::solve(double* A, double* x) const noexcept {
  const int n = p_.chain.n;
  PerJoint D;
  for (int j = 0; j < n; ++j) {
    double d = A[j * n + j];
    for (int k = 0; k < j; ++k) d -= A[j * n + k] * A[j * n + k] * D[k];
    if (!(d > 0.0)) return false;
    D[j] = d;
    const double inverse = 1.0 / d;
    for (int i = j + 1; i < n; ++i) {
      double v = A[i * n + j];
      for (int k = 0; k < j; ++k) v -= A[i * n + k] * A[j * n + k] * D[k];
      A[i * n + j] = v * inverse;
    }
  }
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k) x[i] -= A[i * n + k] * x[k];
  for (int i = 0; i < n; ++i) x[i] /= D[i];
  for (int i = n - 2; i >= 0; --i)
    for (int k = i + 1; k < n; ++k) x[i] -= A[k * n + i] * x[k];
  return true;
}

inline void Plant::step(double h) noexcept {
  const int n = p_.chain.n;
  const double w = p_.implicitness;
  if (refresh_count_ == 0) {  // rigid-body terms at the middle of the interval they serve
    PerJoint qd;
    const double half = 0.5 * h * p_.refresh;
    for (int j = 0; j < n; ++j) {
      qd[j] = s_.qd[j] + half * (s_.qd[j] - refresh_qd_[j]) / (h * p_.refresh);  // extrapolated from the last interval
      refresh_q_[j] = s_.q[j] + half * s_.qd[j];
      refresh_qd_[j] = s_.qd[j];
    }
    dynamics_.evaluate(refresh_q_.data(), qd.data(), true, body_);
    refresh_count_ = p_.refresh;
  }
  --refresh_count_;

  FrictionStep friction[max_joints];
  TransmissionPoint point[max_joints];
  PerJoint dq, S, rotor_rhs, rotor_inertia, x;
  double A[max_joints * max_joints];
  for (int j = 0; j < n; ++j) {
    const DriveParameters& d = p_.joint[j].drive;
    point[j] = transmission_[j].evaluate(s_.theta[j], s_.q[j]);
    const double g = point[j].slope, phid = g * s_.omega[j] - s_.qd[j];
    const double D = p_.joint[j].transmission.damping;
    // tau_J at t + w h = T0 + w S (g domega - dqd)
    S[j] = w * h * point[j].stiffness + D;
    const double T0 = point[j].torque + S[j] * phid;
    joint_torque_[j] = point[j].torque + D * phid;
    friction[j] = friction_[j].predict(s_.friction[j], s_.omega[j], joint_torque_[j], point[j].widening, h);
    // f at t + w h = torque + (w h stiffness + viscous)(omega + w domega)
    const double F = w * h * friction[j].stiffness + friction[j].viscous;
    rotor_inertia[j] = d.rotor_inertia + w * h * (g * g * S[j] + F);
    rotor_rhs[j] = s_.motor_torque[j] + ripple(j) - friction[j].torque - F * s_.omega[j] - g * T0;
    external_[j] = 0.0;
    for (int k = 0; k < 6; ++k) external_[j] += body_.J[k * n + j] * wrench_[k];
    const BearingStep bearing = bearing_step(p_.joint[j].transmission, s_.bearing[j], s_.qd[j], h, w);
    // rotors eliminated: (M + w h S (1 - w h g^2 S / b)) dqd = h (..)
    x[j] = T0 - body_.bias[j] - bearing.torque + external_[j] + w * h * g * S[j] * rotor_rhs[j] / rotor_inertia[j];
    for (int i = 0; i <= j; ++i) A[j * n + i] = body_.M[j * n + i];
    A[j * n + j] += w * h * S[j] * (1.0 - w * h * g * g * S[j] / rotor_inertia[j]);
    A[j * n + j] += w * h * bearing.gain;
    dq[j] = s_.q[j] - refresh_q_[j];
  }
  wall_force_ = WallForce{};
  if (wall_.enabled) add_wall(h, A, x.data(), dq);
  for (int j = 0; j < n; ++j) x[j] *= h;
  if (!solve(A, x.data())) x.fill(0.0);

  for (int j = 0; j < n; ++j) {
    const double g = point[j].slope;
    const double domega = (h * rotor_rhs[j] + w * h * g * S[j] * x[j]) / rotor_inertia[j];
    const double mean_omega = s_.omega[j] + w * domega, increment = h * mean_omega;
    double before = 0.0, after = 0.0;
    for (double f : s_.friction[j].force) before += f;
    friction_[j].advance(s_.friction[j], friction[j], increment, point[j].widening);
    for (double f : s_.friction[j].force) after += f;
    friction_torque_[j] = after + friction[j].viscous * (s_.omega[j] + domega);
    energy_[j] += increment * (0.5 * (before + after) + friction[j].viscous * mean_omega);
    s_.theta[j] += increment;
    const double moved = h * (s_.qd[j] + w * x[j]);
    s_.bearing[j] = slide(p_.joint[j].transmission, s_.bearing[j], moved);
    s_.q[j] += moved;
    s_.omega[j] += domega;
    s_.qd[j] += x[j];
  }
}

inline void Plant::heat(double dt) noexcept {
  for (int j = 0; j < n(); ++j)
    advance(p_.joint[j].thermal, s_.thermal[j], energy_[j] / dt, copper_[j] / dt, ambient_, dt);
  refresh_temperatures();
}

inline void Plant::measure(const Command& command, double dt) noexcept {
  Measurement& m = measured_;
  Truth& t = truth_;
  for (int j = 0; j < n(); ++j) {
    const JointParameters& p = p_.joint[j];
    const SensingParameters& x = p.sensing;
    const TransmissionPoint point = transmission_[j].evaluate(s_.theta[j], s_.q[j]);
    const double phid = point.slope * s_.omega[j] - s_.qd[j];
    m.theta[j] = quantised(s_.theta[j], x.rotor_quantum);
    m.q[j] = quantised(s_.q[j] - x.encoder_skew * s_.qd[j] + x.link_offset, x.link_quantum);
    if (!started_) last_rotor_[j] = m.theta[j], filtered_velocity_[j] = s_.omega[j];
    if (dt > 0.0) {
      const double raw = (m.theta[j] - last_rotor_[j]) / dt, a = x.velocity_bandwidth * dt;
      filtered_velocity_[j] += (raw - filtered_velocity_[j]) * a / (1.0 + a);
    }
    last_rotor_[j] = m.theta[j];
    m.omega[j] = m.qd[j] = filtered_velocity_[j];
    const double torque = dt > 0.0 ? average_torque_[j] : s_.motor_torque[j];
    double s, c;
    sine_cosine(6.0 * p.transmission.gear_ratio * x.pole_pairs * s_.theta[j], s, c);
    m.current[j] =
        torque / p.drive.torque_constant + x.current_offset + x.current_ripple * s + x.current_noise * random_.normal();
    m.effort[j] = m.current[j] * p.control.torque_constant;
    t.joint_torque[j] = point.torque + p.transmission.damping * phid;
    m.joint_torque[j] = x.torque_gain * t.joint_torque[j] + x.torque_offset + x.torque_noise * random_.normal();
    m.temperature[j] = quantised(s_.thermal[j].housing + x.temperature_noise * random_.normal(), x.temperature_quantum);
    m.q_d[j] = command.q[j];
    m.qd_d[j] = command.qd[j];
    m.qdd_d[j] = command.qdd[j];
    m.target_moment[j] = control_.model_torque()[j];
    m.target_current[j] = m.target_moment[j] / p.control.torque_constant;
    t.deflection[j] = point.phi;
    t.rotor_friction_torque[j] = friction_torque_[j];
    t.link_friction_torque[j] = s_.bearing[j];
    t.friction_torque[j] = friction_torque_[j] + s_.bearing[j];
    t.external_joint_torque[j] = external_[j];
    t.lubricant_temperature[j] = s_.thermal[j].lubricant;
    t.housing_temperature[j] = s_.thermal[j].housing;
    t.friction_power[j] = dt > 0.0 ? energy_[j] / dt : 0.0;
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
