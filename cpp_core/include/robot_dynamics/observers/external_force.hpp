// The force stage: from motion, drive torque and friction to external joint torque, wrench, contact, with uncertainty.
//
// Standard deviation of a joint's external torque: sqrt(sensor^2 + friction^2 + (model_error |model torque|)^2), rising
// at once and falling with the observer's bandwidth, because the estimate is filtered as slowly; that of a stuck joint
// which slides again with K, because such a change is followed as fast.
//
// Errors last for tenths of a second: while no contact is flagged, the recent mean of (torque / deviation)^2 over all
// joints scales the covariance of the wrench, within 0.25..9 (source: own). The contact decision does not use it.
//
// In contact two errors of a joint's torque tau are added to what is published. Neither decision nor estimate uses
// them: the flag would drop out under the push that raises it, and a moment would explain what is a force (source:
// own).
//   (contact_error s tau / level)^2   s: deviation of friction, level: its breakaway
//   ((r - y) + y'/K)^2                what the filters behind the momentum observer's input r have not followed yet;
//                                     without a fast observer y = r, and noise of y'/K is filtered by K once more
#pragma once

#include <cstdint>

#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/observers/external_force_parameters.hpp"
#include "robot_dynamics/observers/momentum_observer.hpp"
#include "robot_dynamics/observers/release.hpp"
#include "robot_dynamics/signals/recent_mean.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

// The sign, once: observers give the torque of the robot on the environment, we publish that of the environment on the
// robot (tau = J'F with both).
inline double environment_on_robot(double robot_on_environment) noexcept { return -robot_on_environment; }
inline double robot_on_environment(double environment_on_robot) noexcept { return -environment_on_robot; }

class ExternalForce {
 public:
  static constexpr double tails = 0.7;           // of the mean square: what 68 % of errors with long tails lie within
  static constexpr double isolated_std = 1e4;    // Nm: an isolated joint has no weight
  static constexpr double unchanged = 0.1;       // s without samples after which contact is judged anew
  static constexpr double first_look = 0.4;      // s from the start until lasting torque can be a contact
  static constexpr double payload_delay = 10.0;  // s of contact after which a new payload is considered
  static constexpr double min_free_time = 0.5;   // s without contact before a contact is evidence against a tare
  static constexpr double contact_error =
      1.5;                                  // relative error of the friction that a contact adds, over that of friction
  static constexpr double displaced = 0.1;  // deviation of what friction keeps of a push, as share of it

  ExternalForce(const Chain& chain, const ExternalForceParameters& p)
      : chain_(chain),
        p_(p),
        fastest_(fastest(p)),
        momentum_(chain, p.rotor_inertia.data(), fastest_.data()),
        dry_(chain.n, p.dry.data()),
        change_(chain.n, rest_of_lag(p).data(), following(p).data()),
        simoni_(chain.n, p.cutoffs),
        inverse_(chain, p.wrench),
        frame_(chain, p.frame),
        contact_(chain.n + 1, p.contact),
        health_(chain.n, p.health),
        payload_(chain, p.payload),
        tare_(chain.n, p.tare),
        rest_(chain.n, p.rest),
        release_(chain.n, p.contact.on_ratio, p.contact.off_time),
        drift_(chain.n, p.drift),
        recent_(p.recent_error, 0.5),
        smooth_(6, p.force_cutoff) {
    require_each("torque_std", p.torque_std.data(), chain.n, 1e-6, 1e6);
    require_each("friction_std", p.friction_std.data(), chain.n, 0.0, 1e6);
    require_range("model_error", p.model_error, 0.0, 1.0);
    require_range("contact_force", p.contact_force, 0.0, 1e6);
    require_range("onset_gain", p.onset_gain, 0.0, 1e5);
    require_each("friction_level", p.friction_level.data(), chain.n, 0.0, 1e6);
    restart();
  }

  Status step(std::int64_t stamp_ns, const ForceInput& in, const ForceOutput& out) noexcept {
    const int n = chain_.n;
    if (absent(in.drive_torque, n) || absent(in.q, n) || absent(in.qd, n) || absent(in.model_torque, n))
      return Status::unavailable;
    const bool finite =
        all_finite(in.q, n) && all_finite(in.qd, n) && all_finite(in.model_torque, n) && all_finite(in.drive_torque, n);
    double friction[max_joints], friction_std[max_joints];
    const bool friction_known = read_friction(in, friction, friction_std);
    if (!finite || !all_finite(friction, n) || !all_finite(friction_std, n)) return Status::dropped;
    double dt;
    const Tick tick = timing_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    if (tick == Tick::gap)
      resume(timing_.silence() > unchanged);
    else if (dt == 0.0)
      restart();
    fresh_ = fresh_ || tick == Tick::late;  // a clamped step would leave out part of what changed the momentum
    if (tick == Tick::backwards) payload_.reset();
    const bool healthy = health_.step(dt, in.drive_torque, in.qd);
    observe(dt, in, friction, friction_std);
    const bool posed = publish(stamp_ns, dt, in, friction_std, out);
    if (posed) hold_load(stamp_ns, out);
    if (posed) learn(stamp_ns, dt, in.qd);
    age_ += dt;
    std::copy_n(in.q, n, q_.begin());
    if (!posed) return fault(out);
    if (tick == Tick::gap || tick == Tick::backwards) return Status::reset;
    if (!healthy || !friction_known || tick == Tick::late || (estimate_.singular && p_.wrench.expected_moment > 0.0))
      return Status::degraded;
    return settled() ? Status::ok : Status::warming_up;
  }

  void reset() noexcept {
    timing_.reset();
    payload_.reset();
    drift_.reset();
    restart();
  }

  TareResult tare() noexcept {
    Joints left{};
    payload_.beyond(q_.data(), tare_.mean(), tare_.std(), p_.tare.payload, left.data());
    const TareResult result = tare_.take(contact_.any() && free_time_ >= min_free_time, left.data());
    if (result == TareResult::accepted) payload_.forget(), forget_decisions();
    return result;
  }
  void set_bias(const double* bias) noexcept {
    tare_.set_bias(bias);
    payload_.forget();
    forget_decisions();
  }
  bool answer_payload(PayloadCheck::Answer a) noexcept {
    if (!payload_.answer(a)) return false;
    forget_decisions();
    return true;
  }
  const double* bias() const noexcept { return tare_.bias(); }
  const PayloadCheck& payload() const noexcept { return payload_; }
  const ViscousDrift& drift() const noexcept { return drift_; }
  const TorqueHealth& health() const noexcept { return health_; }
  const SampleTiming& timing() const noexcept { return timing_; }
  double length() const noexcept { return inverse_.length(); }
  int joints() const noexcept { return chain_.n; }
  const Chain& chain() const noexcept { return chain_; }
  const ExternalForceParameters& parameters() const noexcept { return p_; }
  const std::array<double, 36>& covariance() const noexcept { return estimate_.covariance; }  // TCP, base axes

 private:
  using Joints = std::array<double, max_joints>;
  void restart() noexcept {
    age_ = 0.0;
    resume(true);
    dry_.reset();
    health_.reset();
    rest_.reset();
  }

  // After a gap the observer starts at this sample, with the torque of before or without; what was learned stays.
  void resume(bool anew) noexcept {
    fresh_ = true;
    if (anew) begin_at_bias();
    simoni_.start(r_.data());
    smooth_.reset();
    tare_.reset();
    payload_.pause();
    drift_.pause();
    variance_.fill(0.0);
    lag_.fill(0.0);
  }

  void begin_at_bias() noexcept {
    for (int i = 0; i < chain_.n; ++i) r_[i] = robot_on_environment(tare_.bias()[i]);
    change_.start(r_.data());
    estimate_ = WrenchEstimate{};
    load_.reset();
    judge_anew();
  }

  void forget_decisions() noexcept {
    judge_anew();
    rest_.reset();
  }

  void judge_anew() noexcept {
    contact_.reset();
    release_.reset();
    recent_.reset();
    free_time_ = 0.0;
  }

  // Link-side torque does not contain friction; without a friction stage none is subtracted and the std grows.
  bool read_friction(const ForceInput& in, double* friction, double* std) const noexcept {
    const int n = chain_.n;
    const bool known = !absent(in.friction, n), std_known = !absent(in.friction_std, n);
    for (int i = 0; i < n; ++i) {
      friction[i] = (p_.ignore_friction || !known ? 0.0 : in.friction[i]) + drift_.torque(i, in.qd[i]);
      std[i] = p_.ignore_friction ? 0.0 : std_known ? in.friction_std[i] : p_.friction_std[i];
    }
    return known || p_.ignore_friction;
  }

  // The observer's r and the variance of each joint's torque.
  void observe(double dt, const ForceInput& in, const double* friction, const double* friction_std) noexcept {
    Joints tau{}, clean{}, balance{};
    for (int i = 0; i < chain_.n; ++i) balance[i] = in.drive_torque[i] - in.model_torque[i];
    dry_.step(dt, in.qd, friction, balance.data());
    for (int i = 0; i < chain_.n; ++i) {  // r of an isolated joint stays as it is, of a stuck one as far as it can
      const double r = health_.isolated(i) ? r_[i] : dry_.kept(i, r_[i]);
      tau[i] = health_.isolated(i) || dry_.stuck(i) ? in.model_torque[i] + friction[i] + r : in.drive_torque[i];
      clean[i] = tau[i] - friction[i];
    }
    if (p_.method == ForceMethod::simoni)
      simoni_.step(dt, tau.data(), in.model_torque, friction);
    else if (fresh_)
      momentum_.start(in.q, in.qd, clean.data(), r_.data());
    else
      momentum_.step(dt, in.q, in.qd, clean.data());
    for (int i = 0; i < chain_.n; ++i) {
      const double model = p_.model_error * in.model_torque[i];
      double now = p_.torque_std[i] * p_.torque_std[i] + friction_std[i] * friction_std[i] +
                   drift_.variance(i, in.qd[i]) + dry_.variance(i) + model * model;
      if (health_.isolated(i)) now = isolated_std * isolated_std;
      const double k = dry_.slides(i) ? fastest_[i] : bandwidth(i);
      const double falling = variance_[i] + lowpass_weight(k, dt) * (now - variance_[i]);
      variance_[i] = std::max(now, std::isfinite(falling) ? falling : now);
    }
    if (p_.method == ForceMethod::momentum && !fresh_) change_.step(dt, momentum_.r(), variance_.data());
    const double* y = p_.method == ForceMethod::simoni ? simoni_.r() : change_.y();
    for (int i = 0; i < chain_.n; ++i) {
      const bool follows = p_.method == ForceMethod::momentum && !fresh_;
      const double lag = follows ? momentum_.r()[i] - y[i] + (y[i] - r_[i]) / (dt * fastest_[i]) : 0.0;
      lag_[i] = fastest_[i] > p_.gain[i] ? lag : lag_[i] + lowpass_weight(p_.gain[i], dt) * (lag - lag_[i]);
      r_[i] = y[i];
    }
    fresh_ = false;
  }

  // Outputs; false when something became non-finite.
  bool publish(std::int64_t stamp_ns, double dt, const ForceInput& in, const double* friction_std,
               const ForceOutput& out) noexcept {
    const int n = chain_.n;
    Joints raw{}, torque{}, std{}, free_std{}, friction{}, behind{};
    for (int i = 0; i < n; ++i) {
      raw[i] = environment_on_robot(r_[i]);
      torque[i] = raw[i] - tare_.bias()[i];
      if (!contact_.any()) continue;
      behind[i] = lag_[i];
      if (p_.friction_level[i] > 0.0)
        friction[i] = contact_error * friction_std[i] * load_.held(i) / p_.friction_level[i];
    }
    const auto widened = [&](int i, double variance) {
      return std::sqrt(variance + friction[i] * friction[i] + behind[i] * behind[i]);
    };
    for (int i = 0; i < n; ++i) std[i] = widened(i, variance_[i]);
    recognise_payload(dt, in, torque.data(), std.data());
    for (int i = 0; i < n; ++i) raw[i] -= load_torque_[i], torque[i] -= load_torque_[i];
    for (int i = 0; i < n; ++i)
      if (dry_.slides(i)) rest_.forget(i);
    rest_.step(stamp_ns, dt, in.q, in.qd, torque.data(), trusted(), contact_.any());
    for (int i = 0; i < n; ++i) {
      out.torque[i] = torque[i] - rest_.bias(i);
      free_std[i] = std::sqrt(variance_[i] + load_variance_[i]);
      out.torque_std[i] = widened(i, variance_[i] + load_variance_[i]);
    }
    if (release_.step(stamp_ns, dt, out.torque, free_std.data(), contact_.any()))
      contact_.reset(), rest_.take(in.qd, torque.data());
    Placement frames[max_joints + 1];  // base -> link i, TCP last
    forward_kinematics(chain_, in.q, frames);
    double J[6 * max_joints];
    jacobian(chain_, frames, J);
    if (!all_finite(out.torque, n) || !inverse_.solve(J, out.torque, free_std.data(), estimate_)) return false;
    if (contact_.any()) inverse_.widen(J, free_std.data(), friction.data(), behind.data(), estimate_);
    if (recent_.used()) scale_covariance(stamp_ns, out);
    if (settled()) tare_.step(dt, raw.data(), std.data());
    smooth_.step(dt, estimate_.wrench.data(), out.wrench);
    for (int k = 0; k < 6; ++k) out.wrench_std[k] = std::sqrt(std::max(estimate_.covariance[7 * k], 0.0));
    frame_.step(frames, out.wrench, estimate_.covariance.data(), out.framed_wrench, out.framed_wrench_std);
    *out.singular_value = estimate_.singular_value;
    decide(dt, J, torque.data(), std.data(), free_std.data(), out);
    return true;
  }

  // No contact, and sensors that are trusted: what is left of the torque is an error of the model.
  bool trusted() const noexcept {
    bool free = settled() && !contact_.any();
    for (int i = 0; i < chain_.n; ++i) free = free && !health_.isolated(i);
    return free;
  }

  void learn(std::int64_t stamp_ns, double dt, const double* qd) noexcept {
    const bool free = trusted() && (payload_.held() || payload_.verdict() == PayloadCheck::Verdict::none);
    double left[max_joints];
    for (int i = 0; i < chain_.n; ++i) left[i] = r_[i] - robot_on_environment(tare_.bias()[i] + load_torque_[i]);
    drift_.step(stamp_ns, dt, lowpass_weight(slowest(), dt), qd, left, free);
  }

  void scale_covariance(std::int64_t stamp_ns, const ForceOutput& out) noexcept {
    const bool free = !contact_.any();
    double sum = 0.0;
    for (int i = 0; i < chain_.n; ++i) sum += out.torque[i] / out.torque_std[i] * (out.torque[i] / out.torque_std[i]);
    const double mean = recent_.step(stamp_ns, sum / chain_.n, free && settled());
    for (double& c : estimate_.covariance) c *= free ? std::clamp(tails * mean, 0.25, 9.0) : 1.0;
  }

  void hold_load(std::int64_t stamp_ns, const ForceOutput& out) noexcept {
    double load[max_joints];
    for (int i = 0; i < chain_.n; ++i) load[i] = robot_on_environment(out.torque[i]);
    load_.step(stamp_ns, chain_.n, contact_.any(), load, p_.health.bound.data(), out.contact_load);
  }

  // What a payload or a bias explains of the torque, and what of it is sure enough to be taken off. A contact that
  // lasts for so long may be a payload that was picked up or put down: what was seen before it says nothing of that.
  void recognise_payload(double dt, const ForceInput& in, const double* torque, const double* std) noexcept {
    const int n = chain_.n;
    const double zero[max_joints] = {}, *qdd = absent(in.qdd, n) || !all_finite(in.qdd, n) ? zero : in.qdd;
    const bool held = payload_.held();
    contact_time_ = contact_.any() ? contact_time_ + dt : 0.0;
    if (contact_time_ >= payload_delay && contact_time_ - dt < payload_delay) payload_.reset();
    if (settled()) payload_.step(dt, in.q, in.qd, qdd, torque, std, contact_.any());
    explained_.fill(0.0), load_torque_.fill(0.0), load_variance_.fill(0.0);
    if (payload_.held())
      payload_.taken_off(in.q, in.qd, qdd, load_torque_.data(), load_variance_.data());
    else
      payload_.explained(in.q, in.qd, qdd, explained_.data());
    if (payload_.held() != held) forget_decisions();
  }

  // Contact needs significance against zero and against what a payload or bias explains of the whole torque. A push
  // takes the gears to another place of their presliding friction, which shows once it is over.
  void decide(double dt, const double* J, const double* torque, const double* whole_std, const double* free_std,
              const ForceOutput& out) noexcept {
    const int n = chain_.n;
    const bool flagged = !payload_.held() && payload_.verdict() != PayloadCheck::Verdict::none;
    double magnitude[max_joints + 1], std[max_joints + 1], rest[max_joints];
    bool other = false;  // than those of the estimate
    for (int i = 0; i < n; ++i) {
      rest[i] = torque[i] - explained_[i];
      magnitude[i] = std::min(std::abs(out.torque[i]), std::abs(rest[i]));
      const double over = p_.friction_level[i] > 0.0 ? rest_.pushed(i) - std::abs(out.torque[i]) : 0.0;
      const double left = displaced * std::max(over, 0.0);
      std[i] = std::sqrt(free_std[i] * free_std[i] + left * left);
      other = other || left > 0.0;
    }
    WrenchEstimate known;
    magnitude[n] = significance(other && inverse_.solve(J, out.torque, std, known) ? known : estimate_);
    std[n] = 1.0;
    if (WrenchEstimate left; flagged && inverse_.solve(J, rest, whole_std, left))
      magnitude[n] = std::min(magnitude[n], significance(left));
    if (!payload_.confirmed() && age_ < first_look + 3.0 / slowest())
      for (int i = 0; i <= n; ++i) magnitude[i] = 0.0;  // may be older than the estimator: check for a payload first
    contact_.step(dt, magnitude, std, out.contact);
    const bool free = settled() && !contact_.any() && !flagged;
    free_time_ = free ? free_time_ + dt : free_time_ < min_free_time ? 0.0 : free_time_;
    *out.payload_or_bias = flagged || payload_.held() ? 1.0 : 0.0;
  }

  // Of a wrench whose force is large enough to be a contact at the TCP, else 0.
  double significance(const WrenchEstimate& e) const noexcept {
    const double *f = e.wrench.data(), least = contact_.active(chain_.n) ? p_.contact.off_share : 1.0;
    const bool enough = std::sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) >= least * p_.contact_force;
    return enough ? e.significance : 0.0;
  }

  Status fault(const ForceOutput& out) noexcept {
    const int n = chain_.n;
    std::fill_n(out.torque, n, 0.0);
    std::fill_n(out.torque_std, n, isolated_std);
    std::fill_n(out.wrench, 6, 0.0);
    std::fill_n(out.wrench_std, 6, isolated_std);
    std::fill_n(out.framed_wrench, 6, 0.0);
    std::fill_n(out.framed_wrench_std, 6, isolated_std);
    std::fill_n(out.contact, n + 1, 0.0);
    *out.singular_value = 0.0;
    *out.payload_or_bias = 0.0;
    std::fill_n(out.contact_load, n, 0.0);
    reset();
    return Status::fault;
  }

  double bandwidth(int i) const noexcept {
    return p_.method == ForceMethod::simoni ? p_.cutoffs.extra_torque : p_.gain[i];
  }
  bool settled() const noexcept { return age_ * slowest() >= 3.0; }
  double slowest() const noexcept {
    double k = bandwidth(0);
    for (int i = 1; i < chain_.n; ++i) k = std::min(k, bandwidth(i));
    return k;
  }

  Chain chain_;
  ExternalForceParameters p_;
  SampleTiming timing_;
  std::array<double, max_joints> fastest_;  // K
  MomentumObserver momentum_;
  DryJoints dry_;
  ChangeFilter change_;
  VirtualForce simoni_;
  WrenchInverse inverse_;
  WrenchFrame frame_;
  ContactDetector contact_;
  TorqueHealth health_;
  PayloadCheck payload_;
  Tare tare_;
  RestBias rest_;
  Release release_;
  ViscousDrift drift_;
  RecentMean recent_;
  LowPass smooth_;
  WrenchEstimate estimate_;
  ContactLoad load_;
  Joints variance_{}, r_{}, q_{}, lag_{};
  Joints explained_{}, load_torque_{}, load_variance_{};     // by a payload or bias; of it, what is taken off
  double age_ = 0.0, free_time_ = 0.0, contact_time_ = 0.0;  // s since the start, without contact, in contact
  bool fresh_ = true;
};

}  // namespace robot_dynamics
