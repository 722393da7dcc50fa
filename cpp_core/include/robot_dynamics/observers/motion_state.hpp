// What the sensors say about motion, ready for every later stage: velocity, acceleration, model torque and drive
// torque.
//
// Acceleration is the differentiated velocity through a low-pass [Simoni2017 V, Table II: 150 rad/s]; a robot that
// reports no velocity gets dq/dt through the same one; one that jumps for a sample or two stays what it was. Model
// torque: M qdd + C qd + g + B qdd + J qdd (B: reflected rotor inertia, J: of rotors that turn with two joints, both 0
// with link-side torque). Drive torque: effort in its declared semantics, K_tau i where it is current [16].
#pragma once

#include <cstdint>

#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"
#include "robot_dynamics/signals/lowpass.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"
#include "robot_dynamics/signals/spikes.hpp"

namespace robot_dynamics {

struct MotionParameters {
  double acceleration_cutoff = 150.0;              // rad/s [Simoni2017 Table II]
  std::array<double, max_joints> rotor_inertia{};  // kg m2, reflected; below 0 where too much was taken off
  JointMatrix coupled_inertia{};                   // kg m2, J, symmetric: of rotors that turn with two joints
  std::array<double, max_joints> effort_gain{};    // Nm per unit of effort, signed
  bool effort_lacks_gravity = false;               // true: the robot reports effort without g(q)
};

struct MotionInput {
  const double *q, *qd, *effort;    // (n); qd and effort may be null or NaN = absent
  const double* payload = nullptr;  // (4), see CarryingChain
};
struct MotionOutput {
  double *qd, *qdd, *model_torque, *drive_torque;  // (n)
};

class MotionState {
 public:
  static constexpr double frozen_speed = speeds::sliding;  // rad/s: faster than this and not moving is frozen
  static constexpr int frozen_samples = 10;                // exact repeats of position that count as frozen
  static constexpr double slope_cutoff = 150.0;            // rad/s, of velocities from positions

  MotionState(const Chain& chain, const MotionParameters& p)
      : chain_(chain),
        p_(p),
        slope_(chain.n, slope_cutoff),
        acceleration_(chain.n, p.acceleration_cutoff, "acceleration_cutoff") {
    require_each("rotor_inertia", p.rotor_inertia.data(), chain.n, -1e4, 1e4);
    require_each("coupled_inertia", p.coupled_inertia.data(), chain.n * chain.n, -1e4, 1e4);
    require_each("effort_gain", p.effort_gain.data(), chain.n, -1e4, 1e4);
  }

  Status step(std::int64_t stamp_ns, const MotionInput& in, const MotionOutput& out) noexcept {
    const int n = chain_->n;
    if (absent(in.q, n)) return Status::unavailable;
    const bool no_velocity = absent(in.qd, n), no_effort = absent(in.effort, n);
    if (!all_within(in.q, n, plausible_position)) return Status::dropped;
    if (!no_velocity && !all_within(in.qd, n, plausible_velocity)) return Status::dropped;
    if (!no_effort && !all_within(in.effort, n, plausible_torque)) return Status::dropped;
    double dt;
    const Tick tick = timing_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    const bool restart = dt == 0.0;
    if (restart) restart_filters();
    double qd[max_joints] = {};
    update(dt, in.q, no_velocity ? nullptr : in.qd, qd, out.qdd);
    for (int i = 0; i < n; ++i) out.qd[i] = qd[i];
    chain_.carry(in.payload);
    rnea(chain_, in.q, qd, out.qdd, out.model_torque);
    for (int i = 0; i < n; ++i) out.model_torque[i] += p_.rotor_inertia[i] * out.qdd[i];
    add_coupled(n, p_.coupled_inertia, out.qdd, out.model_torque);
    drive_torque(in.q, no_effort ? nullptr : in.effort, out.drive_torque);
    if (tick == Tick::gap || tick == Tick::backwards) return Status::reset;
    if (tick == Tick::first) return Status::warming_up;
    return tick == Tick::late || frozen() ? Status::degraded : Status::ok;
  }

  void reset() noexcept {
    timing_.reset();
    restart_filters();
  }
  int joints() const noexcept { return chain_->n; }
  const MotionParameters& parameters() const noexcept { return p_; }
  const SampleTiming& timing() const noexcept { return timing_; }
  bool frozen() const noexcept { return repeats_ >= frozen_samples; }

 private:
  void restart_filters() noexcept {
    slope_.reset();
    acceleration_.reset();
    spikes_.reset();
    repeats_ = 0;
  }

  // qd (n) measured or differentiated, qdd (n); dt = 0: first sample, both derivatives start at zero.
  void update(double dt, const double* q, const double* measured, double* qd, double* qdd) noexcept {
    const int n = chain_->n;
    double raw[max_joints] = {};
    bool same = dt > 0.0, fast = false;
    for (int i = 0; i < n; ++i) {
      const double slope = (q[i] - q_[i]) / dt;  // not finite at first
      if (measured)
        qd[i] = spikes_.step(i, dt, measured[i], slope, implausible_change(dt)) ? spikes_.last(i) : measured[i];
      else
        qd[i] = dt > 0.0 ? slope : 0.0;
    }
    if (!measured) slope_.step(dt, qd, qd);
    for (int i = 0; i < n; ++i) {
      raw[i] = dt > 0.0 ? (qd[i] - qd_[i]) / dt : 0.0;
      same = same && q[i] == q_[i];
      fast = fast || std::abs(qd[i]) > frozen_speed;
      q_[i] = q[i];
      qd_[i] = qd[i];
    }
    acceleration_.step(dt, raw, qdd);
    repeats_ = same && fast ? repeats_ + 1 : 0;
  }

  void drive_torque(const double* q, const double* effort, double* tau) const noexcept {
    double g[max_joints] = {};
    if (p_.effort_lacks_gravity) gravity_torque(chain_, q, g);
    for (int i = 0; i < chain_->n; ++i) tau[i] = effort ? p_.effort_gain[i] * effort[i] + g[i] : std::nan("");
  }

  CarryingChain chain_;
  MotionParameters p_;
  SampleTiming timing_;
  LowPass slope_, acceleration_;
  Spikes spikes_;
  std::array<double, max_joints> q_{}, qd_{};
  int repeats_ = 0;
};

}  // namespace robot_dynamics
