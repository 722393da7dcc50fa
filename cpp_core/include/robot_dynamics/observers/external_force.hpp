// The force stage: from motion, drive torque and friction to external joint torque, wrench, contact, with uncertainty.
#pragma once

#include <cstdint>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/observers/carried_load.hpp"
#include "robot_dynamics/observers/contact_decision.hpp"
#include "robot_dynamics/observers/covariance_scale.hpp"
#include "robot_dynamics/observers/external_torque.hpp"
#include "robot_dynamics/observers/tare.hpp"
#include "robot_dynamics/observers/torque_errors.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

class ExternalForce {
 public:
  static constexpr double unchanged = 0.1;   // s without samples after which contact is judged anew
  static constexpr double first_look = 0.4;  // s from the start until lasting torque can be a contact

  ExternalForce(const Chain& chain, const ExternalForceParameters& p)
      : chain_(chain),
        p_(p),
        torque_(chain, p),
        inverse_(chain, p.wrench),
        frame_(chain, p.frame),
        contact_(chain.n, p.contact, p.contact_force),
        load_(chain, p.payload_pieces),
        tare_(chain.n),
        rest_(chain.n, p.rest),
        drift_(chain.n, p.drift),
        scale_(p.recent_error, p.wrench.expected_moment > 0.0),
        smooth_(6, p.wrench_cutoff, "wrench_cutoff") {
    validate(p, chain.n);
    restart();
  }

  Status step(std::int64_t stamp_ns, ForceInput in, const ForceOutput& out) noexcept {
    const int n = chain_.n;
    if (absent(in.drive_torque, n) || absent(in.q, n) || absent(in.qd, n) || absent(in.model_torque, n))
      return Status::unavailable;
    const bool finite =
        all_finite(in.q, n) && all_finite(in.qd, n) && all_finite(in.model_torque, n) && all_finite(in.drive_torque, n);
    double law[max_joints], friction[max_joints], friction_std[max_joints], drifted[max_joints];
    const bool friction_known = read_friction(p_, in, n, law, friction_std);
    for (int i = 0; i < n; ++i) {
      friction[i] = law[i] + drift_.torque(i, in.qd[i], law[i], in.model_torque[i]);
      drifted[i] = drift_.variance(i, in.qd[i], law[i]);
    }
    if (!finite || !all_finite(friction, n) || !all_finite(friction_std, n)) return Status::dropped;
    if (torque_.braked(in)) return Status::unavailable;
    double dt;
    const Tick tick = timing_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    if (tick == Tick::gap)
      resume(timing_.silence() > unchanged);
    else if (dt == 0.0)
      restart();
    if (tick == Tick::backwards) load_.reset();
    if (tick == Tick::late) torque_.pause();  // a clamped step would leave out part of what changed the momentum
    if (torque_.carry(in.payload)) take_payload(in.q);
    torque_.step(dt, in, friction, friction_std, drifted);
    const bool posed = publish(stamp_ns, dt, in, friction_std, out);
    if (posed) hold_push(stamp_ns, out);
    if (posed) learn(stamp_ns, dt, in, law, friction_std);
    age_ += dt;
    std::copy_n(in.q, n, q_.begin());
    if (!posed) return fault(out);
    if (tick == Tick::gap || tick == Tick::backwards) return Status::reset;
    if (!torque_.health().healthy() || !friction_known || tick == Tick::late ||
        (estimate_.singular && p_.wrench.expected_moment > 0.0))
      return Status::degraded;
    return settled() ? Status::ok : Status::warming_up;
  }

  void reset() noexcept {
    timing_.reset();
    if (torque_.carry(nullptr)) load_.named(torque_.chain(), q_.data());
    load_.reset();
    load_.check().cool();
    drift_.reset();
    restart();
  }

  TareResult tare() noexcept {
    Joints rest{}, left{};
    moved_zero(rest.data());
    for (int i = 0; i < chain_.n; ++i) rest[i] = tare_.mean()[i] - tare_.bias()[i] - rest[i];
    load_.check().beyond(q_.data(), rest.data(), tare_.std(), p_.tare_payload, left.data());
    const TareResult result = tare_.take(contact_.any() && contact_.was_free(), left.data());
    if (result == TareResult::accepted) load_.forget(), forget_decisions(), contact_.declare_free();
    return result;
  }
  void set_bias(const double* bias) noexcept {
    tare_.set_bias(bias);
    load_.forget();
    forget_decisions();
  }
  bool answer_payload(PayloadCheck::Answer a) noexcept {
    if (!load_.answer(a)) return false;
    forget_decisions();
    return true;
  }
  // Start with what `other`, of the same robot, has learned: tare, payload, changes of friction.
  void take_over(const ExternalForce& other) noexcept {
    tare_ = other.tare_;
    load_.take_over(other.load_);
    drift_.take_over(other.drift_);
    restart();
  }
  const double* bias() const noexcept { return tare_.bias(); }
  // What motion has shown that the zero of each joint's torque is off, zero (n) [Nm].
  void moved_zero(double* zero) const noexcept {
    const bool moved = load_.check().moved_zero();
    for (int i = 0; i < chain_.n; ++i) zero[i] = moved ? load_.explained(i) : 0.0;
  }
  const PayloadCheck& payload() const noexcept { return load_.check(); }
  const FrictionDrift& drift() const noexcept { return drift_; }
  const TorqueHealth& health() const noexcept { return torque_.health(); }
  const SampleTiming& timing() const noexcept { return timing_; }
  int joints() const noexcept { return chain_.n; }
  const Chain& chain() const noexcept { return chain_; }
  const ExternalForceParameters& parameters() const noexcept { return p_; }
  const std::array<double, 36>& covariance() const noexcept { return estimate_.covariance; }  // TCP, base axes

 private:
  using Joints = std::array<double, max_joints>;
  void restart() noexcept {
    age_ = 0.0;
    resume(true);
    torque_.reset();
    rest_.reset();
  }

  // After a gap the observer starts at this sample, with the torque of before or without; what was learned stays.
  void resume(bool anew) noexcept {
    if (anew) begin_at_bias();
    torque_.resume();
    smooth_.reset();
    tare_.reset();
    load_.check().pause(timing_.silence());
    drift_.pause();
  }

  void begin_at_bias() noexcept {
    Joints r{};
    for (int i = 0; i < chain_.n; ++i) r[i] = robot_on_environment(tare_.bias()[i]);
    torque_.begin(r.data());
    estimate_ = WrenchEstimate{};
    push_.reset();
    judge_anew();
  }

  // A payload is named, or none any more: what the torque is beside what is taken off of it goes on.
  void take_payload(const double* q) noexcept {
    Joints r{};
    for (int i = 0; i < chain_.n; ++i) r[i] = torque_.r(i) - robot_on_environment(load_.torque(i));
    load_.named(torque_.chain(), q);
    for (int i = 0; i < chain_.n; ++i) r[i] += robot_on_environment(load_.torque(i));
    torque_.begin(r.data());
    forget_decisions();
  }

  void forget_decisions() noexcept {
    judge_anew();
    rest_.reset();
  }

  void judge_anew() noexcept {
    contact_.reset();
    scale_.reset();
  }

  // Outputs; false when something became non-finite.
  bool publish(std::int64_t stamp_ns, double dt, const ForceInput& in, const double* friction_std,
               const ForceOutput& out) noexcept {
    const int n = chain_.n;
    TorqueErrors error(p_, torque_, push_, n, in.q, friction_std, contact_.any());
    Joints raw{}, torque{}, std{}, free_std{};
    for (int i = 0; i < n; ++i) {
      raw[i] = environment_on_robot(torque_.r(i));
      torque[i] = raw[i] - tare_.bias()[i];
      std[i] = error.published(i);
    }
    recognise_load(dt, in, torque.data(), std.data(), error.share.data());
    const bool biased = load_.check().lasting_bias();  // of fewer pieces a push looks like one
    for (int i = 0; i < n; ++i) {
      raw[i] -= load_.torque(i), torque[i] -= load_.torque(i);
      if (contact_.any() && biased)
        error.model[i] = std::hypot(error.model[i], load_.explained(i));  // which is not taken off
      if (torque_.slides(i)) rest_.forget(i);
    }
    rest_.step(stamp_ns, dt, in.q, in.qd, torque.data(), trusted(), contact_.any());
    for (int i = 0; i < n; ++i) {
      out.torque[i] = torque[i] - rest_.bias(i);
      error.variance[i] += load_.variance(i);
      free_std[i] = std::sqrt(error.variance[i]);
      out.torque_std[i] = error.published(i);
    }
    if (contact_.ended(stamp_ns, dt, out.torque, free_std.data(), load_.flagged())) {
      rest_.take(in.qd, torque.data());
      load_.check().push_ended();
    }
    if (contact_.any())
      for (int i = 0; i < n; ++i) out.torque[i] += environment_on_robot(torque_.ahead(i));
    Placement frames[max_joints + 1];  // base -> link i, TCP last
    forward_kinematics(chain_, in.q, frames);
    double J[6 * max_joints];
    jacobian(chain_, frames, J);
    if (!all_finite(out.torque, n) || !inverse_.solve(J, out.torque, free_std.data(), estimate_)) return false;
    Joints scale{};
    scale_.step(stamp_ns, n, out.torque, out.torque_std, settled(), contact_.any(), rest_, torque_.stuck(),
                scale.data());
    inverse_.rescale(J, free_std.data(), scale.data(), error.model.data(), error.behind.data(), estimate_);
    scale_.doubt(contact_.any(), estimate_);
    if (settled()) tare_.step(dt, raw.data(), std.data());
    smooth_.step(dt, estimate_.wrench.data(), out.wrench);
    for (int k = 0; k < 6; ++k) out.wrench_std[k] = std::sqrt(std::max(estimate_.covariance[7 * k], 0.0));
    frame_.step(frames, out.wrench, estimate_.covariance.data(), out.framed_wrench, out.framed_wrench_std);
    *out.singular_value = estimate_.singular_value;
    decide(dt, J, torque.data(), std.data(), free_std.data(), out);
    return true;
  }

  // No contact, and sensors that are trusted: what is left of the torque is an error of the model.
  bool trusted() const noexcept { return settled() && !contact_.any() && torque_.health().healthy(); }

  void learn(std::int64_t stamp_ns, double dt, const ForceInput& in, const double* law,
             const double* friction_std) noexcept {
    const bool free = trusted() && !contact_.may_last() && load_.check().known();
    double left[max_joints];
    for (int i = 0; i < chain_.n; ++i) left[i] = torque_.r(i) - robot_on_environment(tare_.bias()[i] + load_.torque(i));
    drift_.step(stamp_ns, dt, lowpass_weight(torque_.slowest(), dt), in.qd, law, in.model_torque, left, friction_std,
                free);
  }

  void hold_push(std::int64_t stamp_ns, const ForceOutput& out) noexcept {
    double load[max_joints];
    const double* bound = p_.torque_bound.data();
    for (int i = 0; i < chain_.n; ++i) load[i] = robot_on_environment(out.torque[i]);
    push_.step(stamp_ns, chain_.n, contact_.any(), load, bound, out.contact_load);
    for (int i = 0; i < chain_.n; ++i) {
      const double whole = out.contact_load[i] + robot_on_environment(load_.torque(i));
      out.contact_load[i] = std::clamp(whole, -bound[i], bound[i]);
    }
  }

  void recognise_load(double dt, const ForceInput& in, const double* torque, const double* std,
                      const double* error) noexcept {
    const double zero[max_joints] = {};
    const double* qdd = absent(in.qdd, chain_.n) || !all_finite(in.qdd, chain_.n) ? zero : in.qdd;
    double friction[max_joints];
    for (int i = 0; i < chain_.n; ++i) friction[i] = -drift_.friction(i);  // as the environment's torque
    load_.step(dt, in.q, in.qd, qdd, torque, std, error, friction, settled(), contact_.any());
    if (load_.changed()) forget_decisions();
    if (const double share = load_.check().other_friction(); share != 0.0) {
      drift_.shift(share);
      load_.reset();
      forget_decisions();
    }
  }

  void decide(double dt, const double* J, const double* torque, const double* whole_std, const double* free_std,
              const ForceOutput& out) noexcept {
    Joints rest{}, pushed{};
    for (int i = 0; i < chain_.n; ++i) {
      rest[i] = torque[i] - load_.explained(i);
      pushed[i] = p_.friction_level[i] > 0.0 ? rest_.pushed(i) : 0.0;
    }
    const bool early = !load_.check().confirmed() && age_ < first_look + 3.0 / torque_.slowest();
    const ContactEvidence seen{J,         out.torque,    free_std,        rest.data(),
                               whole_std, pushed.data(), load_.flagged(), rest_.settled() && load_.check().known(),
                               early};
    contact_.step(dt, seen, inverse_, estimate_, settled(), out.contact);
    *out.payload_or_bias = load_.flagged() || load_.check().held() ? 1.0 : 0.0;
  }

  Status fault(const ForceOutput& out) noexcept {
    out.clear(chain_.n, ExternalTorque::isolated_std);
    reset();
    return Status::fault;
  }

  bool settled() const noexcept { return age_ * torque_.slowest() >= 3.0; }

  Chain chain_;
  ExternalForceParameters p_;
  SampleTiming timing_;
  ExternalTorque torque_;
  WrenchInverse inverse_;
  WrenchFrame frame_;
  ContactDecision contact_;
  CarriedLoad load_;
  Tare tare_;
  RestBias rest_;
  FrictionDrift drift_;
  CovarianceScale scale_;
  LowPass smooth_;
  WrenchEstimate estimate_;
  ContactLoad push_;
  Joints q_{};
  double age_ = 0.0;  // s since the start
};

}  // namespace robot_dynamics
