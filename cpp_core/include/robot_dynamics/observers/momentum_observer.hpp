// Generalised-momentum observer: the torque that explains how the momentum changes, without acceleration.
//
//   p = M(q) qd + B qd + J qd,  rdot = K (tau - tau_f + C'qd - g - r - pdot)     [DeLuca2003]
//
// tau drive torque, tau_f friction, B reflected rotor inertia, J that of rotors which turn with two joints (motor-side
// torque only, else 0), K [rad/s] per joint: r follows the torque of the robot ON the environment through a
// first-order lag of bandwidth K.
// Discrete: the measured terms by the trapezoid rule, r by implicit Euler, so it is stable for every dt:
//   s += dt (mean u),  r = K (s - p + p0) / (1 + K dt),  s -= dt r,  p0 such that r(0) = 0.
#pragma once

#include <algorithm>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/momentum.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

class MomentumObserver {
 public:
  // rotor_inertia (n), coupled_inertia (n, n) [kg m2], gain (n) [rad/s]
  MomentumObserver(const Chain& chain, const double* rotor_inertia, const JointMatrix& coupled_inertia,
                   const double* gain)
      : chain_(chain), J_(coupled_inertia) {
    require_each("rotor_inertia", rotor_inertia, chain.n, -1e4, 1e4);
    require_each("coupled_inertia", J_.data(), chain.n * chain.n, -1e4, 1e4);
    require_each("gain", gain, chain.n, 1e-3, 1e5);
    for (int i = 0; i < chain.n; ++i) {
      B_[i] = rotor_inertia[i];
      K_[i] = gain[i];
    }
  }

  // A payload (4), see CarryingChain; true: it is another one, so that the observer has to start.
  bool carry(const double* payload) noexcept { return chain_.carry(payload); }
  const CarryingChain& chain() const noexcept { return chain_; }

  // Gravity of that payload (n) [Nm].
  void payload(const double* q, double* tau) const noexcept {
    double bare[max_joints] = {};
    std::fill_n(tau, chain_->n, 0.0);
    if (!chain_.carries()) return;
    gravity_torque(chain_, q, tau);
    gravity_torque(chain_.bare(), q, bare);
    for (int i = 0; i < chain_->n; ++i) tau[i] -= bare[i];
  }

  // Start at this state with r = r0 (n), zero but for a tared sensor; tau: drive torque minus friction (n).
  void start(const double* q, const double* qd, const double* tau, const double* r0) noexcept {
    evaluate(q, qd, tau);
    for (int i = 0; i < chain_->n; ++i) {
      s_[i] = p_[i] + r0[i] / K_[i];  // p0 + integral
      u_last_[i] = u_[i];
      r_[i] = r0[i];
    }
  }

  // One step of dt > 0 [s]; r(): torque of the robot on the environment (n).
  void step(double dt, const double* q, const double* qd, const double* tau) noexcept {
    evaluate(q, qd, tau);
    for (int i = 0; i < chain_->n; ++i) {
      s_[i] += dt * 0.5 * (u_[i] + u_last_[i]);
      r_[i] = K_[i] * (s_[i] - p_[i]) / (1.0 + K_[i] * dt);
      s_[i] -= dt * r_[i];
      u_last_[i] = u_[i];
    }
  }

  const double* r() const noexcept { return r_.data(); }

 private:
  using Joints = std::array<double, max_joints>;

  // p and u = tau + C'qd - g
  void evaluate(const double* q, const double* qd, const double* tau) noexcept {
    double beta[max_joints], g[max_joints];
    generalised_momentum(chain_, q, qd, p_.data(), beta);
    gravity_torque(chain_, q, g);
    add_coupled(chain_->n, J_, qd, p_.data());
    for (int i = 0; i < chain_->n; ++i) {
      p_[i] += B_[i] * qd[i];
      u_[i] = tau[i] + beta[i] - g[i];
    }
  }

  CarryingChain chain_;
  JointMatrix J_;
  Joints B_{}, K_{}, p_{}, u_{}, u_last_{}, s_{}, r_{};
};

}  // namespace robot_dynamics
