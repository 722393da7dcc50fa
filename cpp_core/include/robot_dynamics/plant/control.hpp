// The controller inside the robot. Position mode: torque of the nominal model along the desired motion, without
// friction, plus PD on the rotor and a slow integral on the link (target_moment and current of a UR). Torque mode: the
// commanded torque plus nominal gravity, plus scaled nominal friction (direct_torque of a UR), and
// joint torque feedback where there is a sensor (Franka). UR says that the compensation includes stiction, not how: the
// Coulomb term here follows Dahl's model, which gives energy back, so that a joint at rest stays there.
#pragma once

#include "robot_dynamics/plant/parameters.hpp"

namespace robot_dynamics::plant {

enum class Mode : int { position = 0, torque = 1 };

struct Command {
  Mode mode = Mode::position;
  PerJoint q{}, qd{}, qdd{};                            // position mode: the desired motion at the end of the cycle
  PerJoint torque{}, viscous_scale{}, coulomb_scale{};  // torque mode
};

struct Feedback {  // of one joint, measured by the drive
  double theta, omega, link, torque_sensor;
};

class Control {
 public:
  Control() = default;
  explicit Control(const PlantParameters& parameters) : p_(parameters), nominal_(parameters.nominal) {}
  void set_model(const Chain& nominal) noexcept { nominal_ = Dynamics(nominal); }
  void reset() noexcept {
    integral_.fill(0.0);
    dahl_.fill(0.0);
  }
  const PerJoint& model_torque() const noexcept { return model_; }

  // Once per cycle: model torque of the command; M qdd + C qd + g + B qdd, or gravity where the robot stands.
  void begin(const Command& command, const PerJoint& q_measured) noexcept {
    const int n = p_.chain.n;
    const PerJoint zero{};
    if (command.mode == Mode::torque) {
      nominal_.evaluate(q_measured.data(), zero.data(), false, body_);
      model_ = body_.bias;
      integral_.fill(0.0);
      return;
    }
    dahl_.fill(0.0);
    nominal_.evaluate(command.q.data(), command.qd.data(), false, body_);
    for (int i = 0; i < n; ++i) {
      double link = body_.bias[i];
      for (int j = 0; j < n; ++j) link += body_.M[i * n + j] * command.qdd[j];
      model_[i] = link + p_.joint[i].control.rotor_inertia * command.qdd[i];
      windup_[i] = link / p_.joint[i].control.transmission_stiffness;
    }
  }

  // Torque commanded to the drive at `ahead` seconds before the end of the cycle.
  double torque(const Command& command, int j, const Feedback& x, double ahead, double dt) noexcept {
    const ControlParameters& c = p_.joint[j].control;
    if (command.mode == Mode::position) {
      const double q = command.q[j] - ahead * (command.qd[j] - 0.5 * ahead * command.qdd[j]);
      const double qd = command.qd[j] - ahead * command.qdd[j];
      double& I = integral_[j];
      I += dt * c.integral_gain * (q - x.link);
      I = I > c.integral_limit ? c.integral_limit : (I < -c.integral_limit ? -c.integral_limit : I);
      return model_[j] + c.stiffness_gain * (q + windup_[j] - x.theta) + c.damping_gain * (qd - x.omega) + I;
    }
    const double sign = dahl(j, x.omega, dt);
    const double wanted = command.torque[j] + model_[j];
    return wanted + c.torque_feedback * (wanted - x.torque_sensor) + command.viscous_scale[j] * c.viscous * x.omega +
           command.coulomb_scale[j] * c.coulomb * sign;
  }

 private:
  // State of joint j after another dt, z' = omega / dahl_length (1 - z sign(omega)), within -1..1 (implicit Euler).
  double dahl(int j, double omega, double dt) noexcept {
    const double travel = std::fabs(omega) * dt / dahl_length;
    dahl_[j] = (dahl_[j] + std::copysign(travel, omega)) / (1.0 + travel);
    return dahl_[j];
  }

  static constexpr double dahl_length = 1e-4;  // rad of the joint
  PlantParameters p_{};
  Dynamics nominal_{};
  RigidBody body_{};
  PerJoint model_{}, windup_{}, integral_{}, dahl_{};
};

}  // namespace robot_dynamics::plant
