// Transmission stiffness of n joints while they work [Madsen2020 ch3]: deflection phi = theta - q - omega skew -
// theta~(q) against the elastic torque seen from the motor, the link or a joint torque sensor, by RLS-DF*.
//   motor:   tau_E = tau_m - B dw/dt - f - D dphi/dt    [ch3 17]
//   link:    tau_E = tau_link - D dphi/dt               [ch3 16]   tau_link = M qdd + C qd + g - environment on robot
//   sensor:  tau_E = tau_J - D dphi/dt
// Several sides are fused with weights 1/std^2. Deflection and torque pass the same first-order filter (equal delay).
// Gated: no update while the deflection or torque is small, or while the joint does not move (friction is unknown
// then).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/friction/periodic_table.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"
#include "robot_dynamics/transmission/rls_df.hpp"
#include "robot_dynamics/transmission/wear.hpp"

namespace robot_dynamics {

struct StiffnessJoint {
  double rotor_inertia = 0;  // B [kg m2], reflected
  double damping = 0;        // D [Nm s/rad]
  double skew = 0;           // [s] theta is sampled this much later than q
};

struct StiffnessOptions {
  static constexpr double sensor_std = 0.3;  // [Nm]
  static constexpr double most = 0.1;        // of a spring [rad]; beyond it theta is no reflected angle of the rotor
  double cutoff = 20.0;                      // of the equal filters [Hz]
  double deflection_gate = 5e-5;             // [rad]
  double torque_gate = 1.0;                  // [Nm]
  double motor_std = 1.0, link_std = 1.0;    // [Nm]
  double publish_ratio = 0.25;               // largest std / k that is published
  double explained = 0.5;                    // least share of torque that deflection explains, to be published
  double learn_time = 1.0;                   // of excited motion before anything is published [s]
};

struct StiffnessInputs {  // arrays of n, null = absent; NaN entries = absent
  const double *theta, *q, *omega, *motor_torque, *friction, *link_torque, *sensor_torque, *temperature;
};

class StiffnessEstimator {
 public:
  StiffnessEstimator(std::vector<StiffnessJoint> joints, double time_constant, const StiffnessOptions& options,
                     PeriodicTable kinematic_error)
      : joints_(std::move(joints)),
        rls_(joints_.size(), RlsDf(time_constant)),
        o_(options),
        kinematic_error_(std::move(kinematic_error)),
        state_(joints_.size()) {
    if (joints_.size() > learns_.size()) throw std::invalid_argument("joints is beyond 16 rows");
    if (kinematic_error_.joints() != static_cast<int>(joints_.size()))
      throw std::invalid_argument("kinematic_error does not have one row per joint");
    for (int i = 0; i < kinematic_error_.joints(); ++i) {
      const StiffnessJoint& j = joints_[i];
      require_range(element("rotor_inertia", i), j.rotor_inertia, 0.0, 1e4);
      require_range(element("damping", i), j.damping, 0.0, 1e9);
      require_range(element("skew", i), j.skew, -0.1, 0.1);
    }
    require(o_.cutoff > 0, "cutoff", o_.cutoff, "> 0");
    require(o_.deflection_gate >= 0, "deflection_gate", o_.deflection_gate, ">= 0");
    require(o_.torque_gate >= 0, "torque_gate", o_.torque_gate, ">= 0");
    require(o_.motor_std > 0, "motor_std", o_.motor_std, "> 0");
    require(o_.link_std > 0, "link_std", o_.link_std, "> 0");
    require(o_.publish_ratio > 0, "publish_ratio", o_.publish_ratio, "> 0");
    require_range("explained", o_.explained, 0.0, 1.0);
    require(o_.learn_time >= 0, "learn_time", o_.learn_time, ">= 0");
  }

  int joints() const { return static_cast<int>(joints_.size()); }
  const RlsDf& rls(int i) const { return rls_[i]; }
  // theta - q was no deflection of a spring for as long as is learned before anything is published.
  bool foreign(int i) const noexcept { return beyond_[i] > o_.learn_time; }

  void reset() noexcept {
    clock_.reset();
    jumps_ = {};
    for (auto& r : rls_) r.reset();
    for (auto& s : state_) s = State{};
    for (auto& w : wear_) w.reset();
    beyond_ = {};
  }

  // Start with what `other`, of the same robot, has learned: stiffness, wear where this one has a baseline, and whether
  // theta is foreign.
  void take_over(const StiffnessEstimator& other) noexcept {
    for (std::size_t i = 0; i < rls_.size(); ++i) rls_[i].take_over(other.rls_[i]);
    for (std::size_t i = 0; i < std::min(wear_.size(), other.wear_.size()); ++i) wear_[i].take_over(other.wear_[i]);
    beyond_ = other.beyond_;
  }

  // Baseline curves a (n, 2) [Nm/rad, Nm/rad3] at temperature T [deg C] (NaN: any) that wear is judged by.
  void set_baseline(const double* a, double T, const WearOptions& wear) {
    const int P = RlsDf::powers;
    for (int k = 0; k < joints() * P; ++k) require(std::isfinite(a[k]), element("baseline", k), a[k], "finite");
    wear_.assign(joints_.size(), WearMonitor(wear));
    baseline_.assign(a, a + joints() * P);
    baseline_temperature_ = T;
  }
  // Wear of a joint and its relative loss of stiffness at the last comparable sample.
  Wear wear(int i) const noexcept { return wear_.empty() ? Wear::unknown : wear_[i].level(); }
  double wear_drop(int i) const noexcept { return wear_.empty() ? 0.0 : wear_[i].drop(); }
  // 1: certain, 0: no information about k at the present deflection.
  double confidence(int i) const noexcept {
    const double k = rls_[i].stiffness(state_[i].phi), sigma = rls_[i].stiffness_std(state_[i].phi);
    return trustworthy(i, k, sigma) ? 1 - sigma / (o_.publish_ratio * k) : 0.0;
  }

  // k(phi) at the present deflection [Nm/rad] and its standard deviation; NaN while it cannot be trusted.
  Status step(std::int64_t stamp_ns, const StiffnessInputs& in, double* k, double* k_std) noexcept {
    double dt;
    if (absent(in.theta, joints()) || absent(in.q, joints())) return Status::unavailable;
    if (!all_finite(in.theta, joints()) || !all_finite(in.q, joints())) return Status::dropped;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    if (tick == Tick::backwards)
      for (auto& r : rls_) r.reset();
    const bool jump = jumps_.step(dt);  // fault 7: filters restart, no update
    if (tick != Tick::ok || jump)
      for (auto& s : state_) s = State{};
    bool torque_seen = true, trusted = true;
    for (int i = 0; i < joints(); ++i) torque_seen = joint_step(i, in, dt) && torque_seen;
    RlsDf::update_each(rls_.data(), joints(), phi_.data(), tau_.data(), dt, learns_.data(), nullptr);
    for (int i = 0; i < joints(); ++i) {
      if (learns_[i]) judge_wear(i, at(in.temperature, i), dt);
      k[i] = rls_[i].stiffness(state_[i].phi);
      k_std[i] = rls_[i].stiffness_std(state_[i].phi);
      if (trustworthy(i, k[i], k_std[i])) continue;
      trusted = false;
      k[i] = k_std[i] = std::numeric_limits<double>::quiet_NaN();
    }
    if (tick == Tick::backwards || tick == Tick::gap) return Status::reset;
    return !torque_seen ? Status::unavailable : trusted ? Status::ok : Status::warming_up;
  }

 private:
  struct State {
    int samples = 0;
    double theta = 0, raw_phi = 0, omega = 0;  // last sample
    double phi = 0, tau = 0, speed = 0;        // filtered
  };

  static double at(const double* a, int i) noexcept { return a ? a[i] : std::numeric_limits<double>::quiet_NaN(); }

  // False when no side gives a torque.
  bool joint_step(int i, const StiffnessInputs& in, double dt) noexcept {
    const StiffnessJoint& p = joints_[i];
    State& s = state_[i];
    learns_[i] = false;
    double omega = at(in.omega, i);
    if (!std::isfinite(omega)) omega = s.samples > 0 && dt > 0 ? (in.theta[i] - s.theta) / dt : 0.0;
    const double raw = in.theta[i] - in.q[i] - omega * p.skew - kinematic_error_.value(i, in.q[i]);
    const double rate = s.samples > 0 && dt > 0 ? (raw - s.raw_phi) / dt : 0.0;
    const double acceleration = s.samples > 1 && dt > 0 ? (omega - s.omega) / dt : 0.0;
    const double tau = fuse(at(in.motor_torque, i) - p.rotor_inertia * acceleration - at(in.friction, i),
                            at(in.link_torque, i), at(in.sensor_torque, i)) -
                       p.damping * rate;
    beyond_[i] += std::abs(raw) > o_.most ? dt : 0;
    s.theta = in.theta[i];
    s.raw_phi = raw;
    s.omega = omega;
    if (!std::isfinite(tau)) {
      s.samples = 0;
      return false;
    }
    const double w = s.samples > 1 ? 1 - std::exp(-two_pi * o_.cutoff * dt) : 1.0;
    s.phi += w * (raw - s.phi);
    s.tau += w * (tau - s.tau);
    s.speed += w * (omega - s.speed);
    s.samples += s.samples < warm ? 1 : 0;
    const bool excited =
        std::abs(s.phi) > o_.deflection_gate && std::abs(s.tau) > o_.torque_gate && std::abs(s.speed) > speeds::moving;
    learns_[i] = s.samples == warm && excited;
    phi_[i] = s.phi;
    tau_[i] = s.tau;
    return true;
  }

  // Torque that deflection does not explain, or a spring that is not positive, means no real deflection was measured.
  bool trustworthy(int i, double k, double sigma) const noexcept {
    return k > 0 && sigma > 0 && sigma <= o_.publish_ratio * k && rls_[i].explained() >= o_.explained &&
           rls_[i].learned() >= o_.learn_time && !foreign(i);
  }

  void judge_wear(int i, double T, double dt) noexcept {
    if (wear_.empty()) return;
    const double phi = state_[i].phi, k = rls_[i].stiffness(phi), sigma = rls_[i].stiffness_std(phi);
    if (!trustworthy(i, k, sigma)) return;
    const double* a = &baseline_[i * RlsDf::powers];
    wear_[i].update(k, sigma, a[0] + 3 * a[1] * phi * phi, T, baseline_temperature_, dt);
  }

  double fuse(double motor, double link, double sensor) const noexcept {
    const double value[3] = {motor, link, sensor}, std[3] = {o_.motor_std, o_.link_std, o_.sensor_std};
    double sum = 0, weight = 0;
    for (int k = 0; k < 3; ++k) {
      if (!std::isfinite(value[k])) continue;
      sum += value[k] / (std[k] * std[k]);
      weight += 1 / (std[k] * std[k]);
    }
    return weight > 0 ? sum / weight : std::numeric_limits<double>::quiet_NaN();
  }

  static constexpr int warm = 3;
  std::vector<StiffnessJoint> joints_;
  std::vector<RlsDf> rls_;
  StiffnessOptions o_;
  PeriodicTable kinematic_error_;
  std::vector<State> state_;
  std::array<double, 16> phi_{}, tau_{};  // what this step learns from
  std::array<bool, 16> learns_{};
  std::array<double, 16> beyond_{};  // time of deflections that no spring has [s]
  std::vector<WearMonitor> wear_;
  std::vector<double> baseline_;
  double baseline_temperature_ = 0;
  SampleClock clock_;
  StepJumps jumps_;
};

}  // namespace robot_dynamics
