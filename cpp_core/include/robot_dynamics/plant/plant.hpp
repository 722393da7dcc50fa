// The simulated robot: flexible joints with friction, heat, imperfect sensors and the controller inside.
//   M(q) qdd + C qd + g + f_q = tau_J + J' F_ext    links   [Madsen2020 2.23]; F_ext: environment on robot
//   B omega' = tau_m - f - (1 - de/dtheta) tau_J    rotors  [Madsen2020 2.24]
// One step solves both for the velocities, linearly implicit at t + w h in transmission, presliding, viscosity and
// wall. w = 1/2 is the midpoint rule: second order, no numerical damping of the elastic modes, stable at any step.
#pragma once

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/plant/control.hpp"

namespace robot_dynamics::plant {

struct State {
  PerJoint theta{}, omega{}, q{}, qd{}, motor_torque{}, bearing{};
  std::array<FrictionState, max_joints> friction{};
  std::array<ThermalState, max_joints> thermal{};
};

struct Measurement {  // what the robot's controller reports at the end of a cycle
  PerJoint q{}, qd{}, theta{}, omega{}, current{}, effort{}, joint_torque{}, temperature{};
  PerJoint q_d{}, qd_d{}, qdd_d{}, target_moment{}, target_current{};
};

struct Truth {  // ground truth: estimators may not read it
  PerJoint q{}, qd{}, theta{}, omega{}, motor_torque{}, joint_torque{}, external_joint_torque{};
  PerJoint friction_torque{}, rotor_friction_torque{}, link_friction_torque{};  // total = rotor + link
  PerJoint deflection{}, lubricant_temperature{}, housing_temperature{}, friction_power{};
  std::array<double, 6> external_wrench{};
  Placement tcp{};
  double penetration = 0;
};

struct JointStep {  // one joint's linearised equations over a step
  TransmissionPoint point;
  FrictionStep friction;
  double S, tau_0;      // tau_J = tau_0 + w S (g domega - dqd)
  double inertia, rhs;  // inertia domega = h (rhs + w g S dqd)
};

class Plant {
 public:
  Plant(const PlantParameters& parameters, std::uint64_t seed)
      : p_(parameters), control_(parameters), dynamics_(parameters.chain), random_(seed) {
    validate(p_);
    for (int j = 0; j < p_.chain.n; ++j) {
      friction_[j] = Friction(p_.joint[j].friction);
      transmission_[j] = Transmission(p_.joint[j].transmission);
    }
    const PerJoint zero{};
    reset(zero.data());
  }

  int n() const noexcept { return p_.chain.n; }
  const Measurement& measurement() const noexcept { return measured_; }
  const Truth& truth() const noexcept { return truth_; }

  // At rest at link position q, transmission wound up against gravity; temperatures are kept.
  void reset(const double* q) noexcept {
    const int n = p_.chain.n;
    const PerJoint zero{};
    for (int j = 0; j < n; ++j) s_.q[j] = q[j];
    dynamics_.evaluate(s_.q.data(), zero.data(), true, body_);
    s_.qd = s_.omega = s_.bearing = zero;
    for (int j = 0; j < n; ++j) {
      s_.theta[j] = wound_up(j, s_.q[j], body_.bias[j]);
      s_.motor_torque[j] = joint_torque_[j] = body_.bias[j];
      s_.friction[j] = FrictionState{};
    }
    friction_torque_ = zero;
    wall_force_ = {};
    find_external();
    control_.reset();
    started_ = false;
    refresh_count_ = 0;
    refresh_q_ = s_.q;
    refresh_qd_ = zero;
    refresh_temperatures();
    Command standing;
    for (int j = 0; j < n; ++j) standing.q[j] = q[j];
    control_.begin(standing, s_.q);
    measure(standing, 0.0);
  }

  void set_temperatures(const double* lubricant, const double* housing) noexcept {
    for (int j = 0; j < n(); ++j) s_.thermal[j] = {lubricant[j], housing[j]};
    refresh_temperatures();
  }
  void set_ambient(double celsius) noexcept { ambient_ = celsius; }
  void set_wrench(const double* wrench) noexcept {
    for (int k = 0; k < 6; ++k) wrench_[k] = wrench[k];
  }
  void set_wall(const Wall& wall) noexcept { wall_ = wall; }
  // The true payload, and the payload set in the controller (UR set_payload).
  void set_payload(double mass, const std::array<double, 3>& com, const std::array<double, 6>& inertia) noexcept {
    dynamics_ = Dynamics(with_payload(p_.chain, mass, com, inertia));
    refresh_count_ = 0;
  }
  void set_nominal_payload(double mass, const std::array<double, 3>& com,
                           const std::array<double, 6>& inertia) noexcept {
    control_.set_model(with_payload(p_.nominal, mass, com, inertia));
  }

  // One control cycle of dt seconds. A non-finite command is refused and the last one kept.
  Status cycle(const Command& command, double dt) noexcept {
    const Command& c = command;
    if (!(dt > 0.0 && dt <= 0.1)) return Status::dropped;
    if (!finite(c.q, c.qd, c.qdd, c.torque, c.viscous_scale, c.coulomb_scale)) return Status::dropped;
    const int steps = std::max(1, static_cast<int>(dt * p_.inner_rate + 0.5));
    const double h = dt / steps;
    control_.begin(command, measured_.q);
    energy_.fill(0.0);
    copper_.fill(0.0);
    average_torque_.fill(0.0);
    Status status = Status::ok;
    for (int k = 0; k < steps; ++k) {
      if (drive(command, dt - k * h, h)) status = Status::saturated;
      step(h);
    }
    heat(dt);
    for (int j = 0; j < n(); ++j) average_torque_[j] /= steps;
    measure(command, dt);
    return finite(s_.theta, s_.omega, s_.q, s_.qd) ? status : Status::fault;
  }

  // Kinetic and potential energy [J], without what the friction elements store.
  double energy() noexcept;

 private:
  template <class... Rows>
  static bool finite(const Rows&... rows) noexcept {
    return (all_finite(rows.data(), max_joints) && ...);
  }

  // Rotor angle at which the transmission carries `torque` at link angle q (Newton on the deformation).
  double wound_up(int j, double q, double torque) const noexcept {
    double theta = q;
    for (int k = 0; k < 50; ++k) {
      const TransmissionPoint x = transmission_[j].evaluate(theta, q);
      const double limit = 2e-3, move = (torque - x.torque) / x.stiffness;
      theta += move > limit ? limit : (move < -limit ? -limit : move);
    }
    return theta;
  }

  void refresh_temperatures() noexcept {
    for (int j = 0; j < n(); ++j) friction_[j].set_temperature(s_.thermal[j].lubricant);
  }

  // Controller and current loop of every joint; true when a torque limit was active.
  bool drive(const Command& command, double ahead, double h) noexcept {
    bool saturated = false;
    for (int j = 0; j < n(); ++j) {
      const JointParameters& x = p_.joint[j];
      const Feedback feedback{quantised(s_.theta[j], x.sensing.rotor_quantum), s_.omega[j],
                              quantised(s_.q[j] + x.sensing.link_offset, x.sensing.link_quantum), joint_torque_[j]};
      double wanted = control_.torque(command, j, feedback, ahead, h);
      const double limit = x.drive.torque_limit;
      saturated = saturated || !(wanted >= -limit && wanted <= limit);
      wanted = wanted > limit ? limit : (wanted < -limit ? -limit : wanted);
      const double actual = wanted * x.drive.torque_constant / x.control.torque_constant;
      s_.motor_torque[j] += (actual - s_.motor_torque[j]) * h / (x.drive.current_lag + h);
      average_torque_[j] += s_.motor_torque[j];
      copper_[j] += h * x.thermal.copper_loss * s_.motor_torque[j] * s_.motor_torque[j];
    }
    return saturated;
  }

  void step(double h) noexcept;
  void refresh(double h) noexcept;
  void find_external() noexcept;
  JointStep equations(int j, double h) noexcept;
  void link_acceleration(const JointStep* joints, double h, PerJoint& dqd) noexcept;
  void advance_joint(int j, const JointStep& x, double dqd, double h) noexcept;
  void heat(double dt) noexcept;
  void measure(const Command& command, double dt) noexcept;
  void measure_joint(int j, double dt) noexcept;
  void true_joint(int j, double dt) noexcept;
  double measured_velocity(int j, double angle, double dt) noexcept;
  double ripple(int j) const noexcept;
  void add_wall(double h, double* A, double* rhs, const PerJoint& dq) noexcept;
  bool solve(double* A, double* x) const noexcept;

  PlantParameters p_;
  Control control_;
  Dynamics dynamics_;
  Random random_;
  std::array<Friction, max_joints> friction_{};
  std::array<Transmission, max_joints> transmission_{};
  State s_{};
  RigidBody body_{};
  PerJoint refresh_q_{}, refresh_qd_{};
  int refresh_count_ = 0;
  bool started_ = false;
  double ambient_ = 20.0;
  std::array<double, 6> wrench_{};
  Wall wall_{};
  WallForce wall_force_{};
  PerJoint joint_torque_{}, external_{}, friction_torque_{}, energy_{}, copper_{}, average_torque_{};
  PerJoint last_rotor_{}, filtered_velocity_{};
  DelayLine motor_line_{}, sensor_line_{};
  Measurement measured_{};
  Truth truth_{};
};

}  // namespace robot_dynamics::plant

#include "robot_dynamics/plant/measure.hpp"
#include "robot_dynamics/plant/step.hpp"
