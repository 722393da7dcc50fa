// Friction feedforward that learns while the robot works [Madsen2020 ch6 6.1-6.4]. Every signal is smoothed with the
// same delay, the friction measure is
//   f = tau_m - B thetadd - tau_J(q, qd, qdd)                                                      [ch6 23]
// and the feedforward is f^ = a1 F(tau_Jd) H(q_d) + a2 F_v(qd_d, T) + rest                         [after ch6 24, 29],
// where F H is what the Coulomb level contributes to the friction law of the robot file, of any shape, F_v its viscous
// terms, and the rest offset, Stribeck friction of speed alone and motors that turn with two joints. Learning rests in
// contact (a residual that no friction inside the bounds explains), on saturation, after a change of payload, while the
// robot carries another payload than the model's and while the temperature changes quickly; contact also takes back
// what was learned just before it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/control/adaptive.hpp"
#include "robot_dynamics/control/rls_friction.hpp"
#include "robot_dynamics/observers/friction_stage.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"
#include "robot_dynamics/signals/savitzky_golay.hpp"

namespace robot_dynamics {

enum class LearningLaw : int { fixed = 0, scales = 1, rls = 2 };

enum FreezeReason : std::uint32_t {
  freeze_contact = 1u << 0,
  freeze_saturation = 1u << 1,
  freeze_payload = 1u << 2,
  freeze_thermal = 1u << 3,
  freeze_asked = 1u << 4,
};

struct FeedforwardOptions {
  LearningLaw law = LearningLaw::scales;
  bool memory = true;            // false: sgn(w) F(tau_J) instead of F(tau_J) H
  double rate = 500.0;           // Hz, of the samples
  int window = 51;               // samples of the smoothing filter: 51 samples delay at 1 kHz are 26 at 500 Hz
  double adaptation_time = 4.0;  // s in which the scales settle in motion
  std::array<double, max_joints> contact_margin{};  // Nm beyond what friction explains
  std::array<double, max_joints> rotor_inertia{};   // kg m2 reflected
  double payload = std::nan("");                    // kg of the payload in `chain`; NaN: not compared
};

// Whether a payload setting of the controller (kg) is that of the model; false where one is NaN (source: own).
inline bool same_payload(double model, double setting) noexcept {
  return std::fabs(model - setting) <= 0.05 + 0.02 * model;
}

class FrictionFeedforward {
 public:
  FrictionFeedforward(const Chain& chain, const FrictionStage& model, const FeedforwardOptions& options)
      : chain_(chain),
        o_(options),
        desired_(model),
        measured_(model),
        adaptive_(chain.n, options.adaptation_time),
        rls_(chain.n, rls_time, AdaptiveFriction::omega_min, 1e3),
        smooth_(2 * chain.n, options.window, 2) {
    validate(chain);
    require(model.joints() == chain.n, "n_joints", chain.n, "the same in chain and model");
    require(o_.rate >= 10 && o_.rate <= 1e4, "rate", o_.rate, "in 10..10000 Hz");
    require_positive("contact_margin", o_.contact_margin.data(), chain.n);
    require_not_negative("rotor_inertia", o_.rotor_inertia.data(), chain.n);
  }

  int n() const noexcept { return chain_.n; }
  std::uint32_t frozen() const noexcept { return frozen_; }

  // What was learned: both scales, Coulomb Nm and viscous Nm s of the RLS law.
  void learned(double* coulomb, double* viscous) const noexcept {
    if (o_.law == LearningLaw::rls) return rls_.parameters(coulomb, viscous);
    std::copy(adaptive_.coulomb(), adaptive_.coulomb() + n(), coulomb);
    std::copy(adaptive_.viscous(), adaptive_.viscous() + n(), viscous);
  }

  // The same kept from an earlier run with the same law; false when not finite.
  bool restore(const double* coulomb, const double* viscous) noexcept {
    return o_.law == LearningLaw::rls ? rls_.set(coulomb, viscous) : adaptive_.set(coulomb, viscous);
  }
  void ask_freeze(bool on) noexcept { asked_ = on; }

  // Restart derivatives and hysteresis, keep the learned scales: after a gap, a stop, a clock that went back.
  void restart() noexcept {
    smooth_.reset();
    desired_.reset();
    measured_.reset();
    have_last_ = false;
    f_.fill(std::nan(""));
    suspicion_.fill(0);
    glitch_.fill(0);
  }

  // Learn from one sample: q (rad), tau (Nm, motor side), T (deg C or null), whether the command was cut.
  Status learn(std::int64_t stamp_ns, const double* q, const double* tau, const double* T, bool saturated) noexcept {
    const Status status = observe(stamp_ns, q, tau, T, saturated);
    if (status != Status::ok) return status;
    const DynamicsRow row = question();
    rnea_rows(chain_, &row, 1);
    return adapt(stamp_ns, T);
  }

  // The same in three parts, for a caller with more questions to the dynamics of this instant.
  // 1. Smooth; ok when there is something to learn from.
  Status observe(std::int64_t stamp_ns, const double* q, const double* tau, const double* T, bool saturated) noexcept {
    if (!all_finite(q, n()) || !all_finite(tau, n())) return Status::dropped;
    if (have_last_ && stamp_ns == last_ns_) return Status::dropped;
    const double dt = have_last_ ? seconds_between(stamp_ns, last_ns_) : 0.0;
    const long steps = have_last_ ? std::lround(dt * o_.rate) : 1;
    if (have_last_ && !(steps >= 0 && steps <= 4)) restart();  // more than three missing: no interpolation
    double now[2 * max_joints];
    std::copy(q, q + n(), now);
    std::copy(tau, tau + n(), now + n());
    rest(std::max(dt, 0.0), saturated, T, stamp_ns);  // a clock that went back does not prolong a pause
    bool ready = false;
    for (int k = 1; k < steps && have_last_; ++k) ready = push_between(static_cast<double>(k) / steps, now);
    if (steps > 0 || !have_last_) ready = smooth_.push(now);
    std::copy(now, now + 2 * n(), last_.begin());
    last_ns_ = stamp_ns;
    have_last_ = true;
    dt_ = std::max(dt, 1.0 / o_.rate);
    if (!ready) return Status::warming_up;
    const double step = 1.0 / o_.rate;
    for (int i = 0; i < n(); ++i) {
      w_[i] = smooth_.first(i, step);
      wd_[i] = smooth_.second(i, step);
    }
    return Status::ok;
  }
  // 2. Model torque of the smoothed motion.
  DynamicsRow question() noexcept { return {smooth_.value(), w_.data(), wd_.data(), tau_J_.data(), 1.0}; }
  // 3. Friction measure, contact, adaptation.
  Status adapt(std::int64_t stamp_ns, const double* T) noexcept {
    double rest[max_joints] = {}, scaled[max_joints];
    const double *q = smooth_.value(), *tau = q + n();
    follow(measured_, stamp_ns, q, w_.data(), tau_J_.data(), T, Y1_.data(), Y2_.data(), level_.data(), rest);
    for (int i = 0; i < n(); ++i) {
      f_[i] = tau[i] - o_.rotor_inertia[i] * wd_[i] - tau_J_[i];  // [ch6 23]
      scaled[i] = f_[i] - rest[i];
    }
    watch_contact(dt_, scaled);
    if (o_.law == LearningLaw::fixed) return Status::ok;
    double moving[max_joints];
    speeds_to_learn_from(moving);
    if (o_.law == LearningLaw::rls) return rls_.step(dt_, moving, f_.data(), frozen_ != 0);
    return adaptive_.step(dt_, Y1_.data(), Y2_.data(), level_.data(), moving, scaled, frozen_ != 0);
  }

  // f^ of the desired motion; tau_Jd (Nm) its model torque without friction, T (deg C) or null.
  void predict(std::int64_t stamp_ns, const double* q_d, const double* qd_d, const double* tau_Jd, const double* T,
               double* f) noexcept {
    double Y1[max_joints] = {}, Y2[max_joints] = {}, level[max_joints] = {}, rest[max_joints] = {};
    follow(desired_, stamp_ns, q_d, qd_d, tau_Jd, T, Y1, Y2, level, rest);
    if (o_.law == LearningLaw::rls) return rls_.friction(qd_d, f);
    adaptive_.friction(Y1, Y2, f);
    for (int i = 0; i < n(); ++i) f[i] += rest[i];
  }

  // Payload (kg) that is set on the controller, NaN: not reported. While it is not the model's, learning would follow
  // its weight; what was learned just before a change is taken back.
  void carries(double kg) noexcept {
    const bool changed = std::isfinite(carried_) && std::isfinite(kg) && kg != carried_;
    if (changed) take_back();
    if (changed || (std::isfinite(kg - o_.payload) && !same_payload(o_.payload, kg))) left_[2] = 1.0;  // s
    carried_ = kg;
  }

  // Contact as the force stage reports it.
  void contact_seen() noexcept {
    if (!(frozen_ & freeze_contact)) take_back();
    left_[0] = hold;
  }

 private:
  void take_back() noexcept {
    adaptive_.restore();
    rls_.restore();
  }

  // Friction of one motion: Y1 = F(tau_J) H, or F(tau_J) sgn(v) without memory; Y2 = F_v; F; and the rest.
  void follow(FrictionStage& model, std::int64_t stamp_ns, const double* q, const double* v, const double* tau_J,
              const double* T, double* Y1, double* Y2, double* level, double* rest) const noexcept {
    model.step(stamp_ns, q, v, tau_J, nullptr, T, nullptr, rest, nullptr);
    model.split(v, Y1, Y2, level);
    for (int i = 0; i < n(); ++i) {
      rest[i] -= Y1[i] + Y2[i];
      if (!o_.memory) Y1[i] = level[i] * ((v[i] > 0) - (v[i] < 0));
    }
  }

  // Zero while a glitch of the encoder is in the window of the speeds, which is two samples longer than the positions'.
  void speeds_to_learn_from(double* w) noexcept {
    for (int i = 0; i < n(); ++i) {
      glitch_[i] = smooth_.jumps(i) ? 3 : std::max(0, glitch_[i] - 1);
      w[i] = glitch_[i] > 0 ? 0.0 : w_[i];
    }
  }

  bool push_between(double share, const double* now) noexcept {
    double x[2 * max_joints];
    for (int s = 0; s < 2 * n(); ++s) x[s] = last_[s] + share * (now[s] - last_[s]);
    return smooth_.push(x);
  }

  // Friction f outside what any admitted scales explain, for contact_time, is the environment.
  void watch_contact(double dt, const double* f) noexcept {
    bool contact = false;
    constexpr double upper = AdaptiveFriction::upper, middle = (AdaptiveFriction::lower + upper) / 2;
    for (int i = 0; i < n(); ++i) {
      const bool still = std::fabs(w_[i]) < slow;
      const double wide = (upper - middle) * std::fabs(Y2_[i]);
      const double reach = wide + (still ? upper * level_[i] : (upper - middle) * std::fabs(Y1_[i]));
      const double beyond = std::fabs(f[i] - middle * (still ? Y2_[i] : Y1_[i] + Y2_[i])) - reach;
      suspicion_[i] = beyond > o_.contact_margin[i] ? suspicion_[i] + dt : 0.0;
      contact = contact || suspicion_[i] >= contact_time;
    }
    if (!contact) return;
    contact_seen();
    frozen_ |= freeze_contact;
  }

  // A reason for a pause of learning ends `hold` after it last applied.
  void rest(double dt, bool saturated, const double* T, std::int64_t stamp_ns) noexcept {
    if (saturated) left_[1] = hold;
    if (thermal(T, stamp_ns)) left_[3] = thermal_period;
    left_[4] = asked_ ? 1e-9 + dt : 0.0;
    frozen_ = 0;
    for (int r = 0; r < 5; ++r) {
      if (left_[r] > 0) frozen_ |= 1u << r;
      left_[r] = std::max(0.0, left_[r] - dt);
    }
  }

  bool thermal(const double* T, std::int64_t stamp_ns) noexcept {
    if (!T) return false;
    const double passed = seconds_between(stamp_ns, thermal_ns_);
    if (thermal_ns_ != 0 && passed >= 0 && passed < thermal_period) return false;
    bool quick = false;
    for (int i = 0; i < n(); ++i) {
      const bool known = thermal_ns_ != 0 && passed >= 0 && passed < 2 * thermal_period && std::isfinite(T[i]);
      quick = quick || (known && std::fabs(T[i] - warm_[i]) > thermal_rate * passed);
      warm_[i] = T[i];
    }
    thermal_ns_ = stamp_ns;
    return quick;
  }

  static constexpr double rls_time = 20.0;         // s, forgetting of the RLS law
  static constexpr double slow = speeds::sliding;  // rad/s below which friction may be anywhere in +-F
  static constexpr double contact_time = 0.01;     // s a residual has to last
  static constexpr double hold = 0.5;              // s of rest after the last reason
  static constexpr double thermal_rate = 0.05;     // K/s
  static constexpr double thermal_period = 10.0;   // s

  Chain chain_;
  FeedforwardOptions o_;
  FrictionStage desired_, measured_;
  AdaptiveFriction adaptive_;
  RlsFriction rls_;
  SavitzkyGolay smooth_;
  std::array<double, 2 * max_joints> last_{};
  std::array<double, max_joints> f_{}, Y1_{}, Y2_{}, level_{}, suspicion_{}, warm_{}, w_{}, wd_{}, tau_J_{};
  std::array<double, 5> left_{};
  std::array<int, max_joints> glitch_{};  // samples for which a joint does not count as moving
  std::int64_t last_ns_ = 0, thermal_ns_ = 0;
  double dt_ = 0, carried_ = std::nan("");
  std::uint32_t frozen_ = 0;
  bool have_last_ = false, asked_ = false;
};

}  // namespace robot_dynamics
