// Feedforward of a flexible-joint robot, for trajectories with four continuous derivatives [Madsen2020 ch2 2.64-2.69]:
//   tau_J = M qdd + C qd + g,  theta = q + phi(tau_J),  tau_m = B thetadd + f + tau_J,
// where phi inverts tau_E(phi) = a1 phi + a2 phi^3 [ch3 7-10]. The source expands d2 tau_J/dt2 into M', C', g'; here
// the same second derivative is the central difference of phi along the Taylor polynomials of q, qd and qdd to the
// second order (error O(h^2)).
#pragma once

#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

class FlexibleFeedforward {
 public:
  // a1 Nm/rad, a2 Nm/rad3 (>= 0: a hardening spring has one inverse), rotor inertia kg m2 reflected.
  FlexibleFeedforward(const Chain& chain, const std::array<double, max_joints>& a1,
                      const std::array<double, max_joints>& a2, const std::array<double, max_joints>& rotor_inertia)
      : chain_(chain), a1_(a1), a2_(a2), B_(rotor_inertia) {
    validate(chain);
    require_positive("stiffness a1", a1.data(), chain.n);
    require_not_negative("stiffness a2", a2.data(), chain.n);
    require_not_negative("rotor_inertia", B_.data(), chain.n);
  }

  int n() const noexcept { return chain_.n; }

  // q .. snap (rad and s) -> motor torque without friction tau_m (Nm) and rotor position theta (rad).
  void step(const double* q, const double* qd, const double* qdd, const double* jerk, const double* snap, double* tau_m,
            double* theta) noexcept {
    double tau_J[max_joints], phi[max_joints], rotor[max_joints];
    DynamicsRow rows[3] = {{}, {}, {q, qd, qdd, tau_J, 1.0}};
    ask(q, qd, qdd, jerk, snap, rows);
    rnea_rows(chain_, rows, 3);
    answer(tau_J, phi, rotor);
    for (int i = 0; i < chain_.n; ++i) {
      theta[i] = q[i] + phi[i];
      tau_m[i] = B_[i] * qdd[i] + rotor[i] + tau_J[i];
    }
  }

  // The same in two parts, for a caller with more questions to the dynamics of this instant.
  // 1. Two questions: the torque a moment before and after, along those polynomials.
  void ask(const double* q, const double* qd, const double* qdd, const double* jerk, const double* snap,
           DynamicsRow* rows) noexcept {
    rows[0] = at(-h, before_, q, qd, qdd, jerk, snap);
    rows[1] = at(+h, after_, q, qd, qdd, jerk, snap);
  }
  // 2. tau_J of the instant itself -> deflection phi (rad) and what its acceleration takes of the rotor, B phidd (Nm).
  void answer(const double* tau_J, double* phi, double* rotor) const noexcept {
    for (int i = 0; i < chain_.n; ++i) {
      phi[i] = inverse(i, tau_J[i]);
      rotor[i] = B_[i] * (inverse(i, before_.tau[i]) - 2 * phi[i] + inverse(i, after_.tau[i])) / (h * h);
    }
  }

 private:
  static constexpr double h = 1e-3;  // s
  struct Instant {
    double q[max_joints], qd[max_joints], qdd[max_joints], tau[max_joints];
  };

  DynamicsRow at(double t, Instant& x, const double* q, const double* qd, const double* qdd, const double* jerk,
                 const double* snap) const noexcept {
    for (int i = 0; i < chain_.n; ++i) {
      x.q[i] = q[i] + t * (qd[i] + t / 2 * qdd[i]);
      x.qd[i] = qd[i] + t * (qdd[i] + t / 2 * jerk[i]);
      x.qdd[i] = qdd[i] + t * (jerk[i] + t / 2 * snap[i]);
    }
    return {x.q, x.qd, x.qdd, x.tau, 1.0};
  }

  // Newton on a monotone convex-concave cubic: from the linear solution it converges without overshoot of the sign.
  double inverse(int i, double torque) const noexcept {
    double phi = torque / a1_[i];
    for (int k = 0; k < 20 && a2_[i] > 0; ++k) {
      const double error = (a1_[i] + a2_[i] * phi * phi) * phi - torque;
      const double step = error / (a1_[i] + 3 * a2_[i] * phi * phi);
      phi -= step;
      if (std::fabs(step) <= 1e-16 * (1 + std::fabs(phi))) break;
    }
    return phi;
  }

  Chain chain_;
  std::array<double, max_joints> a1_, a2_, B_;
  Instant before_{}, after_{};
};

}  // namespace robot_dynamics
