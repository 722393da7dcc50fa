// Computed-torque control [Madsen2020 ch6 29-30]:
//   u = f^ + M(q_d) (qdd_d + v) + B (qdd_d + v) + C(q_d, qd_d) qd_d + g(q_d),  v = -Kd e' - Kp e - Ki int e,  e = q -
//   q_d.
// f^ = f^(qd_d, tau_Jd) + F_v(qd_d, T) comes from the friction model. A robot that compensates gravity itself gets u
// without g. Because M enters linearly, one recursion with the acceleration qdd_d + v gives the whole sum.
#pragma once

#include <algorithm>
#include <array>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

struct ComputedTorqueGains {
  std::array<double, max_joints> kp{};             // 1/s2
  std::array<double, max_joints> kd{};             // 1/s
  std::array<double, max_joints> ki{};             // 1/s3
  std::array<double, max_joints> rotor_inertia{};  // kg m2, reflected; zero with link-side torque
  double integral_limit = 0.05;                    // rad s, anti-windup
  bool includes_gravity = false;                   // false: the robot adds g(q) itself
};

inline void validate(const ComputedTorqueGains& gains, int n) {
  require_not_negative("kp", gains.kp.data(), n);
  require_not_negative("kd", gains.kd.data(), n);
  require_not_negative("ki", gains.ki.data(), n);
  require_not_negative("rotor_inertia", gains.rotor_inertia.data(), n);
  require(gains.integral_limit > 0, "integral_limit", gains.integral_limit, "> 0");
}

class ComputedTorque {
 public:
  ComputedTorque(const Chain& chain, const ComputedTorqueGains& gains) : chain_(chain), gains_(gains) {
    validate(chain);
    validate(gains, chain.n);
  }

  int n() const noexcept { return chain_.n; }
  const Chain& chain() const noexcept { return chain_; }
  bool includes_gravity() const noexcept { return gains_.includes_gravity; }
  void reset() noexcept { integral_.fill(0.0); }

  // Desired motion and measured state of one instant, friction f^ (Nm). Writes u and tau_d, the model torque of the
  // desired motion without feedback, friction and rotor (the tau_J of F(tau_J)).
  Status step(double dt, const double* q, const double* qd, const double* q_d, const double* qd_d, const double* qdd_d,
              const double* friction, double* u, double* tau_d) noexcept {
    if (!(dt > 0)) return Status::dropped;
    double a[max_joints];
    if (ask(dt, q, qd, q_d, qd_d, qdd_d, a) != Status::ok) {
      std::fill(u, u + chain_.n, 0.0);
      return Status::fault;
    }
    const DynamicsRow rows[2] = {question(q_d, qd_d, a, u), {q_d, qd_d, qdd_d, tau_d, 1.0}};
    rnea_rows(chain_, rows, 2);
    return add(a, friction, u);
  }

  // The same in three parts, for a caller with more questions to the dynamics of this instant.
  // 1. Acceleration a = qdd_d + v (rad/s2) that is asked for; fault and no integral when it is not finite.
  Status ask(double dt, const double* q, const double* qd, const double* q_d, const double* qd_d, const double* qdd_d,
             double* a) noexcept {
    for (int i = 0; i < chain_.n; ++i) {
      const double e = q[i] - q_d[i], ed = qd[i] - qd_d[i];
      integral_[i] = std::clamp(integral_[i] + dt * e, -gains_.integral_limit, gains_.integral_limit);
      a[i] = qdd_d[i] - gains_.kd[i] * ed - gains_.kp[i] * e - gains_.ki[i] * integral_[i];
    }
    if (all_finite(a, chain_.n)) return Status::ok;
    reset();
    return Status::fault;
  }
  // 2. Its torque.
  DynamicsRow question(const double* q_d, const double* qd_d, const double* a, double* u) const noexcept {
    return {q_d, qd_d, a, u, gains_.includes_gravity ? 1.0 : 0.0};
  }
  // 3. Rotors and friction.
  Status add(const double* a, const double* friction, double* u) noexcept {
    for (int i = 0; i < chain_.n; ++i) u[i] += gains_.rotor_inertia[i] * a[i] + friction[i];
    if (all_finite(u, chain_.n)) return Status::ok;
    std::fill(u, u + chain_.n, 0.0);
    reset();
    return Status::fault;
  }

 private:
  Chain chain_;
  ComputedTorqueGains gains_;
  std::array<double, max_joints> integral_{};
};

}  // namespace robot_dynamics
