// Friction of n joints (friction.hpp) with its standard deviation, joint by joint.
//
//   var f = (share f)^2 + (s fc/sqrt(3) exp(-(v/vs)^2))^2 + (f(T + sigma_T) - f(T))^2
//
// share: relative error while sliding; the second term is stiction: at rest a static law gives only bounds: friction is
// anywhere in [-fc, fc], uniformly (s = 1), while a memory follows the motion before (s = known_stiction); `unknown`,
// the level of elements that have not slipped yet, adds unknown^2/3. The third is the effect of an uncertain
// temperature. Where the robot file holds residuals (moving, rest), they take the place of the stiction term:
//   var f = moving^2 (1 - w) + max(rest^2 w, (f - f')^2) + (share f)^2 + unknown^2/3
//         + (beyond f max(|v| / speed - 1, 0))^2 + (slow f max(1 - |v| / 0.1, 0))^2 + the third above
// f' is the law with spans over `meshing`: how tightly the teeth mesh where the joint stands is known from the places
// of the recordings only. It is zero once the elements have slipped. While contact or payload add load, `kept` counts.
// w = exp(-(v/vs)^2), and `speed` the largest one that the recordings show: beyond it the law is extrapolated; `slow`
// is the relative error where they show no slow sliding. They belong to the joint's own law: where a joint with a
// memory lacks its position, its stiction replaces `rest`.
//
// A motor that turns with two joints (coupled wrists) has the same law, f(q_m, v_m) of its angle q_m = q_j + s q_k,
// where positions are known. By the transpose of the coupling it loads both joints:
//   f_j += f    f_k += s f    var f_j, f_k += (share f)^2 + unknown^2/3
// and, of joints without residuals, a third of (known_stiction level exp(-(v_m/vs)^2))^2.
#pragma once

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/friction/friction.hpp"

namespace robot_dynamics {

struct FrictionStageParameters {
  double relative_error = 0.1;           // share
  double stiction_speed = speeds::slow;  // vs, rad/s
  double known_stiction = 0.4;           // s of a model with memory
  // residuals of the robot file [Nm]; 0: unknown, the rest above holds
  std::array<double, max_joints> moving{}, rest{};
  std::array<double, max_joints> speed{};  // largest of the recordings [rad/s]; 0: unknown
  std::array<double, max_joints> slow{};   // relative error at small speeds
};

struct MotorTurn {
  int joint, with;  // j, k
  double sign;      // s = +-1
};

class FrictionStage {
 public:
  static constexpr double beyond = 0.1;      // relative error of friction at twice the largest speed of the recordings
  static constexpr double slow_speed = 0.1;  // rad/s over which Stribeck friction ends
  static constexpr double unknown_spread = 15.0;  // sigma_T, K, when no temperature is given
  static constexpr double meshing = 1.3;          // root mean square of spans that widen by up to 40 % along a turn
  // With all of it flags end during pushes of 10 N, with half of it they outlast pushes
  // (bench/results/force_choices.md).
  static constexpr double kept = 0.75;

  FrictionStage(Friction law, const FrictionStageParameters& p) : law_(std::move(law)), p_(p) {
    require_range("relative_error", p.relative_error, 0.0, 10.0);
    require_range("stiction_speed", p.stiction_speed, 1e-6, 10.0);
    require_range("known_stiction", p.known_stiction, 0.0, 1.0);
    require_each("moving", p.moving.data(), joints(), 0.0, 1e5);
    require_each("rest", p.rest.data(), joints(), 0.0, 1e5);
    require_each("speed", p.speed.data(), joints(), 0.0, 1e3);
    require_each("slow", p.slow.data(), joints(), 0.0, 10.0);
    if (p_.rest[0] > 0.0) tighter_ = law_.with_spans(1.0 / meshing);
  }

  // Friction of motors that turn with two joints, one joint of it per turn. Throws std::invalid_argument naming the
  // field.
  void couple(std::vector<MotorTurn> turns, Friction law) {
    require_range("motors", static_cast<int>(turns.size()), law.joints(), law.joints());
    for (const MotorTurn& m : turns) {
      require_range("motor joint", m.joint, 0, joints() - 1);
      require_range("motor with", m.with, 0, joints() - 1);
      require_range("motor sign", std::abs(m.sign), 1.0, 1.0);
      if (m.joint == m.with) throw std::invalid_argument("motor with = " + std::to_string(m.with) + " is its joint");
    }
    turns_ = std::move(turns);
    motors_ = std::move(law);
  }

  int joints() const noexcept { return law_.joints(); }
  const Friction& law() const noexcept { return law_; }
  const FrictionStageParameters& parameters() const noexcept { return p_; }
  const std::vector<MotorTurn>& turns() const noexcept { return turns_; }
  const std::optional<Friction>& motors() const noexcept { return motors_; }
  void reset() noexcept {
    law_.reset();
    if (tighter_) tighter_->reset();
    contact_.fill(0.0);
    if (motors_) motors_->reset();
  }

  // position [rad], v [rad/s] (n); the load of the gear is load + contact_load [Nm]; all but v may be null or NaN =
  // absent. degraded: a temperature is outside the identified range. Without a position joints follow their static map.
  // std may be null: it is then not computed. rotor [rad] (n): of the law, where it is known.
  Status step(std::int64_t stamp_ns, const double* position, const double* v, const double* load,
              const double* contact_load, const double* T, const double* variance, double* friction, double* std,
              const double* rotor = nullptr) noexcept {
    const int n = joints();
    if (absent(v, n)) return Status::unavailable;
    if (!all_finite(v, n)) return Status::dropped;
    Status status = Status::ok;
    for (int i = 0; i < n; ++i) {
      const double given = T ? T[i] : std::nan("");
      used_[i] = law_.map().used_temperature(i, given);
      if (std::isfinite(given) && used_[i] != given) status = Status::degraded;
    }
    double f[max_joints], other[max_joints], turned[max_joints], before[max_joints], contact[max_joints];
    for (int i = 0; i < n; ++i) {
      const double own = finite_or_zero(load, i);
      contact[i] = finite_or_zero(contact_load, i);
      load_[i] = own + contact[i];
      before[i] = own + contact_[i];
    }
    known_ = !absent(position, n);
    const Status done =
        law_.step(stamp_ns, known_ ? position : nullptr, v, load_.data(), used_.data(), f, rotor, before);
    if (done == Status::dropped) return done;
    const bool two = tighter_ && known_ && std;
    if (two) tighter_->step(stamp_ns, position, v, load_.data(), used_.data(), other, rotor, before);
    for (int i = 0; i < n; ++i) {
      if (known_) contact_[i] = contact[i];
      between_[i] = two ? (contact[i] != 0.0 ? kept : 1.0) * (other[i] - f[i]) : 0.0;
    }
    const Status motors = turn(stamp_ns, position, rotor, v, turned);
    if (motors == Status::dropped || !all_finite(f, n)) return Status::dropped;
    for (int i = 0; i < n; ++i) {
      friction[i] = f[i];
      if (std) std[i] = deviation(i, v[i], f[i], spread(i, T, variance));
    }
    for (std::size_t i = 0; i < turns_.size() && motors == Status::ok; ++i)
      distribute(static_cast<int>(i), turned[i], v, friction, std);
    return status;
  }

  // Of the friction of the last step, at its v (n): what the Coulomb level and the viscous terms contribute, which
  // adaptation scales, and the level [Nm] (n), between which and its negative friction may be at rest. Friction of
  // motors that turn with two joints is in the level alone.
  void split(const double* v, double* coulomb, double* viscous, double* level) const noexcept {
    for (int i = 0; i < joints(); ++i) {
      const LevelPart own = law_.level_part(i, v[i], load_[i], used_[i], known_);
      coulomb[i] = own.torque, level[i] = own.level;
      viscous[i] = law_.viscous_part(i, v[i], used_[i], known_);
    }
    for (std::size_t i = 0; i < turns_.size(); ++i)
      for (const int j : {turns_[i].joint, turns_[i].with}) level[j] += motor_level(static_cast<int>(i));
  }

 private:
  static double finite_or_zero(const double* x, int i) noexcept { return x && std::isfinite(x[i]) ? x[i] : 0.0; }

  double spread(int i, const double* T, const double* variance) const noexcept {
    if (!(T && std::isfinite(T[i]))) return unknown_spread;
    return variance && variance[i] >= 0.0 ? std::sqrt(variance[i]) : 0.0;
  }

  double deviation(int i, double v, double f, double sigma) const noexcept {
    const bool remembers = law_.follows(i), known = remembers && known_, measured = p_.moving[i] > 0.0;
    const auto square = [](double x) { return x * x; };
    const double tau = load_[i], w = std::exp(-square(v / p_.stiction_speed));
    double sum = square(p_.relative_error * f) + square(known ? law_.unknown_level(i, tau) : 0.0) / 3.0;
    if (measured) sum += square(p_.moving[i]) * (1.0 - w) + square(beyond * f * excess(i, v));
    if (measured) sum += square(p_.slow[i] * f * std::max(1.0 - std::abs(v) / slow_speed, 0.0));
    const double stiction = (known ? p_.known_stiction : 1.0) * law_.map().coulomb(i, v, used_[i]) * w;
    const double rest = std::max(square(p_.rest[i]) * w, square(between_[i]));
    sum += measured && known == remembers ? rest : square(stiction) / 3.0;
    if (!(sigma > 0)) return std::sqrt(sum);
    const double cold = known ? law_.map().torque_at(i, v, tau, used_[i]) : f;
    const double warm = law_.map().torque_at(i, v, tau, used_[i] + sigma) - cold;
    return std::sqrt(sum + (std::isfinite(warm) ? square(warm) : 0.0));
  }

  // How far a speed is beyond the recordings, as share of their largest; at most ten times.
  double excess(int i, double v) const noexcept {
    const double over = std::abs(v) - p_.speed[i];
    return p_.speed[i] > 0.0 && over > 0.0 ? std::min(over / p_.speed[i], 10.0) : 0.0;
  }

  // Friction of the motors that turn with two joints: ok, unavailable without any or without a position, or dropped.
  Status turn(std::int64_t stamp_ns, const double* position, const double* rotor, const double* v,
              double* friction) noexcept {
    if (!motors_ || !known_) return Status::unavailable;
    double q[max_joints], r[max_joints], w[max_joints];
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const MotorTurn& m = turns_[i];
      q[i] = position[m.joint] + m.sign * position[m.with];
      r[i] = rotor ? rotor[m.joint] + m.sign * rotor[m.with] : 0.0;
      w[i] = v[m.joint] + m.sign * v[m.with];
    }
    const Status status = motors_->step(stamp_ns, q, w, nullptr, nullptr, friction, rotor ? r : nullptr);
    return status == Status::dropped ? status : Status::ok;
  }

  double motor_level(int i) const noexcept {
    return motors_->level_part(i, 0.0, 0.0, motors_->map().reference(i), true).level;
  }

  void distribute(int i, double f, const double* v, double* friction, double* std) const noexcept {
    const MotorTurn& m = turns_[i];
    const double x = (v[m.joint] + m.sign * v[m.with]) / p_.stiction_speed, slide = p_.relative_error * f;
    const double unknown = motors_->unknown_level(i, 0.0), rest = p_.known_stiction * motor_level(i) * std::exp(-x * x);
    friction[m.joint] += f;
    friction[m.with] += m.sign * f;
    if (!std) return;
    for (const int j : {m.joint, m.with}) {
      const double stiction = p_.moving[j] > 0.0 ? 0.0 : rest;  // residuals contain it
      std[j] = std::sqrt(std[j] * std[j] + slide * slide + (unknown * unknown + stiction * stiction) / 3.0);
    }
  }

  Friction law_;
  FrictionStageParameters p_;
  std::vector<MotorTurn> turns_;
  std::optional<Friction> motors_;                              // driven by the angles of turns_
  std::optional<Friction> tighter_;                             // f'
  std::array<double, max_joints> load_{}, contact_{}, used_{};  // of the gears, that of a contact in it; temperature
  std::array<double, max_joints> between_{};                    // f' - f [Nm]
  bool known_ = false;                                          // the position, in the last step
};

}  // namespace robot_dynamics
