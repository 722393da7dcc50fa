// One integration step of the plant, and the heat of one cycle (bodies of plant.hpp).
#pragma once

#include "robot_dynamics/plant/plant.hpp"

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

// Rigid-body terms for the next `refresh` steps, at the middle of the time they serve.
inline void Plant::refresh(double h) noexcept {
  PerJoint qd;
  const double interval = h * p_.refresh, half = 0.5 * interval;
  for (int j = 0; j < n(); ++j) {
    qd[j] = s_.qd[j] + half * (s_.qd[j] - refresh_qd_[j]) / interval;  // extrapolated from the last interval
    refresh_q_[j] = s_.q[j] + half * s_.qd[j];
    refresh_qd_[j] = s_.qd[j];
  }
  dynamics_.evaluate(refresh_q_.data(), qd.data(), true, body_);
  refresh_count_ = p_.refresh;
}

// What the commanded wrench takes at the joints, J' F.
inline void Plant::find_external() noexcept {
  for (int j = 0; j < n(); ++j) {
    external_[j] = 0.0;
    for (int k = 0; k < 6; ++k) external_[j] += body_.J[k * n() + j] * wrench_[k];
  }
}

// Linearised equations of joint j over the step; torques at t + w h.
inline JointStep Plant::equations(int j, double h) noexcept {
  const double w = p_.implicitness, D = p_.joint[j].transmission.damping;
  JointStep x;
  x.point = transmission_[j].evaluate(s_.theta[j], s_.q[j]);
  const double g = x.point.slope, phid = g * s_.omega[j] - s_.qd[j];
  // tau_J = tau_0 + w S (g domega - dqd)
  x.S = w * h * x.point.stiffness + D;
  x.tau_0 = x.point.torque + x.S * phid;
  joint_torque_[j] = x.point.torque + D * phid;
  // f = torque + (w h stiffness + viscous)(omega + w domega)
  x.friction = friction_[j].predict(s_.friction[j], s_.omega[j], joint_torque_[j], x.point.widening, h);
  const double F = w * h * x.friction.stiffness + x.friction.viscous;
  // inertia domega = h (rhs + w g S dqd)
  x.inertia = p_.joint[j].drive.rotor_inertia + w * h * (g * g * x.S + F);
  x.rhs = s_.motor_torque[j] + ripple(j) - x.friction.torque - F * s_.omega[j] - g * x.tau_0;
  return x;
}

// Rotors eliminated: (M + w h S (1 - w h g^2 S/inertia) + bearing + wall) dqd = h (tau_0 - bias + J' F + ..)
inline void Plant::link_acceleration(const JointStep* joints, double h, PerJoint& dqd) noexcept {
  const int n = p_.chain.n;
  const double w = p_.implicitness;
  double A[max_joints * max_joints];
  PerJoint dq{};
  find_external();
  for (int j = 0; j < n; ++j) {
    const JointStep& x = joints[j];
    const double g = x.point.slope;
    const BearingStep bearing = bearing_step(p_.joint[j].transmission, s_.bearing[j], s_.qd[j], h, w);
    dqd[j] = x.tau_0 - body_.bias[j] - bearing.torque + external_[j] + w * h * g * x.S * x.rhs / x.inertia;
    for (int i = 0; i <= j; ++i) A[j * n + i] = body_.M[j * n + i];
    A[j * n + j] += w * h * x.S * (1.0 - w * h * g * g * x.S / x.inertia);
    A[j * n + j] += w * h * bearing.gain;
    dq[j] = s_.q[j] - refresh_q_[j];
  }
  wall_force_ = WallForce{};
  if (wall_.enabled) add_wall(h, A, dqd.data(), dq);
  for (int j = 0; j < n; ++j) dqd[j] *= h;
  if (!solve(A, dqd.data())) dqd.fill(0.0);
}

inline void Plant::advance_joint(int j, const JointStep& x, double dqd, double h) noexcept {
  const double w = p_.implicitness;
  const double domega = (h * x.rhs + w * h * x.point.slope * x.S * dqd) / x.inertia;
  const double mean = s_.omega[j] + w * domega, turned = h * mean, moved = h * (s_.qd[j] + w * dqd);
  FrictionState& elements = s_.friction[j];
  const double before = total(elements);
  friction_[j].advance(elements, x.friction, turned, x.point.widening);
  const double after = total(elements);
  friction_torque_[j] = after + x.friction.viscous * (s_.omega[j] + domega);
  energy_[j] += turned * (0.5 * (before + after) + x.friction.viscous * mean);
  s_.bearing[j] = slide(p_.joint[j].transmission, s_.bearing[j], moved);
  s_.theta[j] += turned;
  s_.omega[j] += domega;
  s_.q[j] += moved;
  s_.qd[j] += dqd;
}

inline void Plant::step(double h) noexcept {
  if (refresh_count_ == 0) refresh(h);
  --refresh_count_;
  JointStep joints[max_joints];
  PerJoint dqd;
  for (int j = 0; j < n(); ++j) joints[j] = equations(j, h);
  link_acceleration(joints, h, dqd);
  for (int j = 0; j < n(); ++j) advance_joint(j, joints[j], dqd[j], h);
}

inline void Plant::heat(double dt) noexcept {
  for (int j = 0; j < n(); ++j)
    advance(p_.joint[j].thermal, s_.thermal[j], energy_[j] / dt, copper_[j] / dt, ambient_, dt);
  refresh_temperatures();
}

}  // namespace robot_dynamics::plant
