// Feedforward of a flexible-joint robot, for trajectories with four continuous derivatives [Madsen2020 ch2 2.64-2.69]:
//   tau_J = M qdd + C qd + g,  theta = q + phi(tau_J),  tau_m = B thetadd + f + tau_J,
// where phi inverts tau_E(phi) = a1 phi + a2 phi^3 [ch3 7-10]. The source expands d2 tau_J/dt2 into M', C', g'; here
// the same second derivative is the central difference of phi along the Taylor polynomial of the trajectory (error
// O(h^2)).
#pragma once

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "robot_dynamics/rnea.hpp"

namespace robot_dynamics {

class FlexibleFeedforward {
 public:
  // a1 Nm/rad, a2 Nm/rad3 (>= 0: a hardening spring has one inverse), rotor inertia kg m2 reflected.
  FlexibleFeedforward(const Chain& chain, const std::array<double, max_joints>& a1,
                      const std::array<double, max_joints>& a2, const std::array<double, max_joints>& rotor_inertia)
      : chain_(chain), a1_(a1), a2_(a2), B_(rotor_inertia) {
    validate(chain);
    for (int i = 0; i < chain.n; ++i) {
      require(a1[i] > 0 && std::isfinite(a1[i]), "stiffness a1", i, a1[i], "> 0");
      require(a2[i] >= 0 && std::isfinite(a2[i]), "stiffness a2", i, a2[i], ">= 0");
      require(B_[i] >= 0 && std::isfinite(B_[i]), "rotor_inertia", i, B_[i], ">= 0");
    }
  }

  int n() const noexcept { return chain_.n; }

  // q .. snap (rad and s) -> motor torque without friction tau_m (Nm) and rotor position theta (rad).
  void step(const double* q, const double* qd, const double* qdd, const double* jerk, const double* snap, double* tau_m,
            double* theta) const noexcept {
    double before[max_joints], now[max_joints], after[max_joints], tau_J[max_joints];
    deflection(-h, q, qd, qdd, jerk, snap, tau_J, before);
    deflection(+h, q, qd, qdd, jerk, snap, tau_J, after);
    deflection(0, q, qd, qdd, jerk, snap, tau_J, now);
    for (int i = 0; i < chain_.n; ++i) {
      theta[i] = q[i] + now[i];
      const double thetadd = qdd[i] + (before[i] - 2 * now[i] + after[i]) / (h * h);
      tau_m[i] = B_[i] * thetadd + tau_J[i];
    }
  }

 private:
  static constexpr double h = 1e-3;  // s

  static void require(bool good, const char* what, int i, double value, const char* bound) {
    if (!good)
      throw std::invalid_argument(std::string(what) + "[" + std::to_string(i) + "] = " + std::to_string(value) +
                                  " must be " + bound);
  }

  // phi(t) along the Taylor polynomial of the trajectory.
  void deflection(double t, const double* q, const double* qd, const double* qdd, const double* jerk,
                  const double* snap, double* tau_J, double* phi) const noexcept {
    double x[max_joints] = {}, v[max_joints] = {}, a[max_joints] = {};
    for (int i = 0; i < chain_.n; ++i) {
      x[i] = q[i] + t * (qd[i] + t / 2 * (qdd[i] + t / 3 * (jerk[i] + t / 4 * snap[i])));
      v[i] = qd[i] + t * (qdd[i] + t / 2 * (jerk[i] + t / 3 * snap[i]));
      a[i] = qdd[i] + t * (jerk[i] + t / 2 * snap[i]);
    }
    rnea(chain_, x, v, a, tau_J);
    for (int i = 0; i < chain_.n; ++i) phi[i] = inverse(i, tau_J[i]);
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
};

}  // namespace robot_dynamics
