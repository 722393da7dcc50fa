// Friction of n joints with its standard deviation: a static law, or a model with memory over that law.
//
//   var f = (share f)^2 + (s fc/sqrt(3) exp(-(v/vs)^2))^2 + (f(T + sigma_T) - f(T))^2
//
// share: relative error while sliding; the second term is stiction: at rest a static law gives only bounds: friction is
// anywhere in [-fc, fc], uniformly (s = 1), while a hysteretic model follows the motion before (s = known_stiction);
// `unknown`, the level of elements that have not slipped yet, adds unknown^2/3. The third is the effect of an uncertain
// temperature. Where the robot file holds residuals (moving, rest), they take the place of the stiction term:
//   var f = moving^2 (1 - w) + rest^2 w + (share f)^2 + unknown^2/3 + (load_error contact_load)^2
//         + (beyond f max(|v| / speed - 1, 0))^2 + the third above
// with w = exp(-(v/vs)^2) and `speed` the largest one that the recordings show: beyond it the law is extrapolated.
//
// A motor that turns with a second joint (coupled wrists) adds to the joint it loads
//   f_j += fc tanh((v_j + s v_k)/eps) + fv v_k,
// and to its variance the same two terms at the motor's velocity v_j + s v_k. Where positions are known, its presliding
// friction f(q_m, v_m) of the motor's angle q_m = q_j + s q_k takes the place of that law. By the transpose of the
// coupling it loads both joints:
//   f_j += f    f_k += s f    var f_j, f_k += (share f)^2 + unknown^2/3
// and, of joints without residuals, a third of (known_stiction level exp(-(v_m/vs)^2))^2.
#pragma once

#include <optional>
#include <variant>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/friction/egms.hpp"
#include "robot_dynamics/friction/presliding.hpp"

namespace robot_dynamics {

struct FrictionStageParameters {
  double relative_error = 0.1;   // share
  double stiction_speed = 0.02;  // vs, rad/s
  double unknown_spread = 15.0;  // sigma_T, K, when no temperature is given
  double known_stiction = 0.4;   // s of a model with memory
  double load_error = 0.2;       // friction per Nm of load that a contact adds, absent in the identification
  std::array<double, max_joints> moving{},
      rest{};                              // residuals of the robot file [Nm]; 0: unknown, the rest above holds
  std::array<double, max_joints> speed{};  // largest of the recordings [rad/s]; 0: unknown
};

struct CoupledMotor {
  int joint, with;  // j, k
  double sign;      // s = +-1
  double eps;       // rad/s
  double coulomb;   // fc, Nm
  double viscous;   // fv, Nm s/rad
};

struct MotorTurn {
  int joint, with;  // j, k
  double sign;      // s = +-1
};

// The static law alone.
struct NoMemory {
  Status step(std::int64_t, const double*, const double*, const double*, const double*, double*) noexcept {
    return Status::unavailable;
  }
  void reset() noexcept {}
  bool follows(int) const noexcept { return false; }
  LevelPart level_part(int, double, double, double) const noexcept { return {}; }
  double unknown_level(int, double) const noexcept { return 0.0; }
};

using FrictionMemory = std::variant<NoMemory, EGms, Presliding>;

class FrictionStage {
 public:
  static constexpr double beyond = 0.1;  // relative error of friction at twice the largest speed of the recordings

  FrictionStage(FrictionMap map, const FrictionStageParameters& p, FrictionMemory memory = {})
      : map_(std::move(map)), p_(p), memory_(std::move(memory)), used_(map_.joints()), next_(map_.joints(), 0.0) {
    for (int i = 0; i < joints(); ++i) follows_[i] = std::visit([i](const auto& m) { return m.follows(i); }, memory_);
    require_range("relative_error", p.relative_error, 0.0, 10.0);
    require_range("stiction_speed", p.stiction_speed, 1e-6, 10.0);
    require_range("unknown_spread", p.unknown_spread, 0.0, 200.0);
    require_range("known_stiction", p.known_stiction, 0.0, 1.0);
    require_range("load_error", p.load_error, 0.0, 1.0);
    require_each("moving", p.moving.data(), map_.joints(), 0.0, 1e5);
    require_each("rest", p.rest.data(), map_.joints(), 0.0, 1e5);
    require_each("speed", p.speed.data(), map_.joints(), 0.0, 1e3);
  }

  // Throws std::invalid_argument naming the field.
  void couple(std::vector<CoupledMotor> motors) {
    for (const CoupledMotor& m : motors) {
      require_range("coupled joint", m.joint, 0, joints() - 1);
      require_range("coupled with", m.with, 0, joints() - 1);
      require_range("coupled sign", std::abs(m.sign), 1.0, 1.0);
      require_range("coupled eps", m.eps, 1e-6, 10.0);
      require_range("coupled coulomb", m.coulomb, 0.0, 1e4);
      require_range("coupled viscous", m.viscous, -1e5, 1e5);
    }
    coupled_ = std::move(motors);
  }

  // Presliding friction of motors that turn with two joints, one joint of it per turn. Throws like the above.
  void couple(std::vector<MotorTurn> turns, Presliding presliding) {
    require_range("motors", static_cast<int>(turns.size()), presliding.joints(), presliding.joints());
    for (const MotorTurn& m : turns) {
      require_range("motor joint", m.joint, 0, joints() - 1);
      require_range("motor with", m.with, 0, joints() - 1);
      require_range("motor sign", std::abs(m.sign), 1.0, 1.0);
      if (m.joint == m.with) throw std::invalid_argument("motor with = " + std::to_string(m.with) + " is its joint");
    }
    turns_ = std::move(turns);
    motors_ = std::move(presliding);
  }

  int joints() const noexcept { return map_.joints(); }
  const FrictionMap& map() const noexcept { return map_; }
  const FrictionStageParameters& parameters() const noexcept { return p_; }
  const FrictionMemory& memory() const noexcept { return memory_; }
  const std::vector<CoupledMotor>& coupled() const noexcept { return coupled_; }
  const std::vector<MotorTurn>& turns() const noexcept { return turns_; }
  const std::optional<Presliding>& motors() const noexcept { return motors_; }
  bool remembers() const noexcept { return memory_.index() != 0; }
  void reset() noexcept {
    std::visit([](auto& m) { m.reset(); }, memory_);
    if (motors_) motors_->reset();
  }

  // position [rad], v [rad/s] (n); the load of the gear is load + contact_load [Nm]; all but v may be null or NaN =
  // absent. degraded: a temperature is outside the identified range. Without a position a model that needs it gives way
  // to the law. std may be null: nobody asks for it.
  Status step(std::int64_t stamp_ns, const double* position, const double* v, const double* load,
              const double* contact_load, const double* T, const double* variance, double* friction,
              double* std) noexcept {
    const int n = joints();
    if (absent(v, n)) return Status::unavailable;
    if (!all_finite(v, n)) return Status::dropped;
    Status status = Status::ok;
    for (int i = 0; i < n; ++i) {
      const double given = T ? T[i] : std::nan("");
      used_[i] = map_.used_temperature(i, given);
      if (std::isfinite(given) && used_[i] != given) status = Status::degraded;
    }
    for (int i = 0; i < n; ++i) {
      contact_[i] = finite_or_zero(contact_load, i);
      load_[i] = finite_or_zero(load, i) + contact_[i];
    }
    const Status memory = remember(stamp_ns, position, v);
    if (memory == Status::dropped) return memory;
    remembered_ = memory != Status::unavailable;
    double turned[max_joints];
    const Status motors = turn(stamp_ns, position, v, turned);
    if (motors == Status::dropped) return motors;
    for (int i = 0; i < n; ++i) {
      const bool known = remembered_ && follows_[i];
      const double tau = load_[i], law = known && !std ? 0.0 : map_.torque_at(i, v[i], tau, used_[i]);
      const double f = known ? next_[i] : law;
      if (!std::isfinite(f)) return Status::dropped;
      friction[i] = f;
      if (std) std[i] = deviation(i, v[i], tau, f, law, spread(i, T, variance), known);
    }
    const bool known = motors == Status::ok;
    for (const CoupledMotor& m : coupled_)
      if (!(known && presliding(m))) add(m, v, friction, std);
    for (std::size_t i = 0; i < turns_.size() && known; ++i)
      distribute(static_cast<int>(i), turned[i], v, friction, std);
    return status;
  }

  // Of the friction of the last step, at its v (n): what the Coulomb level contributes, and the level [Nm] (n), between
  // which and its negative friction may be at rest. Adaptation scales the former. Friction of motors that turn with two
  // joints is in the level alone.
  void split(const double* v, double* coulomb, double* level) const noexcept {
    const auto part = [&](const auto& m, int i) {
      return remembered_ && follows_[i] ? m.level_part(i, v[i], load_[i], used_[i])
                                        : map_.level_part(i, v[i], load_[i], used_[i]);
    };
    const auto parts = [&](const auto& m) {
      for (int i = 0; i < joints(); ++i) {
        const LevelPart own = part(m, i);
        coulomb[i] = own.torque, level[i] = own.level;
      }
    };
    std::visit(parts, memory_);
    for (const CoupledMotor& m : coupled_) level[m.joint] += m.coulomb;
    for (std::size_t i = 0; i < turns_.size(); ++i)
      for (const int j : {turns_[i].joint, turns_[i].with}) level[j] += motors_->level(static_cast<int>(i));
  }

 private:
  static double finite_or_zero(const double* x, int i) noexcept { return x && std::isfinite(x[i]) ? x[i] : 0.0; }

  // Steps the model with memory into next_; unavailable without one or without the position it needs.
  Status remember(std::int64_t stamp_ns, const double* position, const double* v) noexcept {
    if (absent(position, joints())) return Status::unavailable;
    const auto step = [&](auto& m) {
      const Status status = m.step(stamp_ns, position, v, load_.data(), used_.data(), next_.data());
      for (int i = 0; i < joints(); ++i) unknown_[i] = m.unknown_level(i, load_[i]);
      return status;
    };
    return std::visit(step, memory_);
  }

  double spread(int i, const double* T, const double* variance) const noexcept {
    if (!(T && std::isfinite(T[i]))) return p_.unknown_spread;
    return variance && variance[i] >= 0.0 ? std::sqrt(variance[i]) : 0.0;
  }

  double deviation(int i, double v, double tau, double f, double law, double sigma, bool known) const noexcept {
    const double x = v / p_.stiction_speed, rest = std::exp(-x * x), share = p_.relative_error * f;
    const double unknown = known ? unknown_[i] : 0.0;
    const double warm = sigma > 0 ? map_.torque_at(i, v, tau, used_[i] + sigma) - law : 0.0;
    double square = share * share + unknown * unknown / 3.0 + (std::isfinite(warm) ? warm * warm : 0.0);
    if (p_.moving[i] > 0.0 && (known || !remembers())) {
      const double contact = p_.load_error * contact_[i], fast = beyond * f * excess(i, v);
      square += p_.moving[i] * p_.moving[i] * (1.0 - rest) + p_.rest[i] * p_.rest[i] * rest;
      square += contact * contact + fast * fast;
    } else {
      const double stiction = (known ? p_.known_stiction : 1.0) * map_.coulomb(i, v, used_[i]) * rest;
      square += stiction * stiction / 3.0;
    }
    return std::sqrt(square);
  }

  // How far a speed is beyond the recordings, as share of their largest; at most ten times.
  double excess(int i, double v) const noexcept {
    const double over = std::abs(v) - p_.speed[i];
    return p_.speed[i] > 0.0 && over > 0.0 ? std::min(over / p_.speed[i], 10.0) : 0.0;
  }

  void add(const CoupledMotor& m, const double* v, double* friction, double* std) const noexcept {
    const double motor = v[m.joint] + m.sign * v[m.with], x = motor / p_.stiction_speed;
    const double f = m.coulomb * std::tanh(motor / m.eps) + m.viscous * v[m.with];
    const double rest = m.coulomb / std::sqrt(3.0) * std::exp(-x * x), slide = p_.relative_error * f;
    friction[m.joint] += f;
    if (std) std[m.joint] = std::sqrt(std[m.joint] * std[m.joint] + slide * slide + rest * rest);
  }

  // Friction of the motors that turn with two joints: ok, unavailable without any or without a position, or dropped.
  Status turn(std::int64_t stamp_ns, const double* position, const double* v, double* friction) noexcept {
    if (!motors_ || absent(position, joints())) return Status::unavailable;
    double q[max_joints], w[max_joints];
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const MotorTurn& m = turns_[i];
      q[i] = position[m.joint] + m.sign * position[m.with];
      w[i] = v[m.joint] + m.sign * v[m.with];
    }
    const Status status = motors_->step(stamp_ns, q, w, nullptr, nullptr, friction);
    return status == Status::dropped ? status : Status::ok;
  }

  // Whether the friction of this motor is a presliding one: v_k + s v_j is s (v_j + s v_k).
  bool presliding(const CoupledMotor& m) const noexcept {
    for (const MotorTurn& t : turns_)
      if (t.sign == m.sign && ((t.joint == m.joint && t.with == m.with) || (t.joint == m.with && t.with == m.joint)))
        return true;
    return false;
  }

  void distribute(int i, double f, const double* v, double* friction, double* std) const noexcept {
    const MotorTurn& m = turns_[i];
    const double x = (v[m.joint] + m.sign * v[m.with]) / p_.stiction_speed, slide = p_.relative_error * f;
    const double unknown = motors_->unknown_level(i, 0.0),
                 rest = p_.known_stiction * motors_->level(i) * std::exp(-x * x);
    friction[m.joint] += f;
    friction[m.with] += m.sign * f;
    if (!std) return;
    for (const int j : {m.joint, m.with}) {
      const double stiction = p_.moving[j] > 0.0 ? 0.0 : rest;  // residuals contain it
      std[j] = std::sqrt(std[j] * std[j] + slide * slide + (unknown * unknown + stiction * stiction) / 3.0);
    }
  }

  FrictionMap map_;
  FrictionStageParameters p_;
  FrictionMemory memory_;
  std::array<double, max_joints> load_{}, contact_{};  // of the gears, and what a contact adds to it [Nm]
  std::vector<CoupledMotor> coupled_;
  std::vector<MotorTurn> turns_;
  std::optional<Presliding> motors_;  // driven by the angles of turns_
  std::vector<double> used_, next_;
  std::array<double, max_joints> unknown_{};  // level of elements whose deflection is still unknown [Nm]
  std::array<bool, max_joints> follows_{};    // the memory's friction takes the place of the law's
  bool remembered_ = false;                   // in the last step
};

}  // namespace robot_dynamics
