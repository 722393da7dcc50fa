// What the controller does with a state: rest, track a trajectory (computed torque with learned friction), hand
// guiding, or pass on the torque of a topic. The friction compensation adapts in all of them. Tracking may also
// hold the torque behind the transmission, and move the rotors of flexible joints ahead.
//
// All inverse dynamics of a cycle are one call with a row for each: smoothed motion, desired motion, command.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/control/computed_torque.hpp"
#include "robot_dynamics/control/flexible_feedforward.hpp"
#include "robot_dynamics/control/friction_feedforward.hpp"
#include "robot_dynamics/control/hand_guiding.hpp"
#include "robot_dynamics/control/joint_torque_feedback.hpp"
#include "robot_dynamics/control/torque_record.hpp"

namespace robot_dynamics {

enum class TorqueMode : int { rest = 0, track = 1, guide = 2, external = 3 };

// q, qd, qdd and, where `smooth`, jerk and snap: rows of 3 n or 5 n numbers at `rate`; periodic: the end is followed by
// the beginning.
struct TorqueTrajectory {
  int n = 0;
  bool smooth = false;
  double rate = 500.0;
  bool periodic = false;
  std::vector<double> rows;
  int width() const noexcept { return (smooth ? 5 : 3) * n; }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(rows.size()) / width(); }
};

inline void validate(const TorqueTrajectory& t) {
  if (t.n < 1 || t.n > max_joints || t.rows.empty())
    throw std::invalid_argument("trajectory: no rows, or not 1..16 joints");
  if (t.rows.size() % t.width() != 0) throw std::invalid_argument("trajectory: the last row is not complete");
  require_range("rate", t.rate, 1.0, 1e4);
  for (const double x : t.rows)
    if (!std::isfinite(x)) throw std::invalid_argument("trajectory holds a value that is not finite");
}

// What tracking may do beyond computed torque.
struct ProgramOptions {
  JointTorqueSource source = JointTorqueSource::none;           // of the joint torque that is fed back
  std::array<double, max_joints> a1{}, a2{}, damping{};         // tau_J = a1 phi + a2 phi^3 + D phid, for `deflection`
  std::optional<PeriodicTable> kinematic_error = std::nullopt;  // rad over theta, not deflection: phi = theta - q - it
  std::optional<JointTorqueFeedback> feedback = std::nullopt;   // where source is not none
  std::optional<FlexibleFeedforward> flexible = std::nullopt;
};

struct ProgramOutput : TorqueAim {
  std::array<double, max_joints> torque{}, qdd_d{};
};

class TorqueProgram {
 public:
  static constexpr double start_tolerance = 0.05;  // rad between robot and trajectory at the start ...
  static constexpr double largest_error = 0.3;     // ... and on the way, beyond which torque ends
  static constexpr double largest_repeat = 0.1;    // rad by which it moves on while a joint's state only repeats

  TorqueProgram(const ComputedTorque& tracking, const HandGuiding& guiding, const FrictionFeedforward& friction,
                const ProgramOptions& options = {})
      : tracking_(tracking), guiding_(guiding), friction_(friction), o_(options) {
    if (!(tracking.n() == guiding.n() && guiding.n() == friction.n()))
      throw std::invalid_argument("tracking, guiding and friction are of different numbers of joints");
    if ((o_.source != JointTorqueSource::none) != o_.feedback.has_value())
      throw std::invalid_argument("a source of joint torque and gains of its feedback go together");
    if (o_.source == JointTorqueSource::deflection) require_positive("a1", o_.a1.data(), n());
    if (o_.kinematic_error && o_.kinematic_error->joints() != n())
      throw std::invalid_argument("kinematic_error is of another number of joints");
    if ((o_.feedback && o_.feedback->n() != n()) || (o_.flexible && o_.flexible->n() != n()))
      throw std::invalid_argument("feedback and flexible feedforward are of another number of joints");
  }

  int n() const noexcept { return tracking_.n(); }
  FrictionFeedforward& friction() noexcept { return friction_; }

  // False when a trajectory for flexible joints comes without jerk and snap.
  bool suits(const TorqueTrajectory* trajectory) const noexcept {
    return !o_.flexible || !trajectory || trajectory->smooth;
  }

  // False when the robot is not where the trajectory begins.
  bool begin(TorqueMode mode, const TorqueTrajectory* trajectory, const double* q) noexcept {
    if (mode == TorqueMode::track) {
      if (!trajectory) return false;
      for (int i = 0; i < n(); ++i)
        if (!(std::fabs(q[i] - trajectory->rows[i]) <= start_tolerance)) return false;
    }
    mode_ = mode;
    trajectory_ = trajectory;
    begun_ = finished_ = false;
    rest();
    return true;
  }

  void restart() noexcept {
    rest();
    friction_.restart();
  }

  const TorqueTrajectory* trajectory() const noexcept { return trajectory_; }
  TorqueMode mode() const noexcept { return mode_; }
  bool finished() const noexcept { return finished_; }

  // Desired motion and torque for one state, dt [s] after the last one; fault when something is not finite (the torque
  // is then zero). saturated: the last command was cut.
  Status step(const TorqueState& in, double dt, bool saturated, ProgramOutput& out) noexcept {
    const bool learns = in.tau && friction_.observe(in.stamp_ns, in.q, in.tau, in.T, saturated) == Status::ok && dt > 0;
    if (!(dt > 0)) return Status::dropped;
    double a[max_joints];
    const bool tracks = mode_ == TorqueMode::track;
    const Status asked = tracks ? aim(in, dt, out, a) : stay(in, out);
    ask(learns, asked == Status::ok, a, out);
    if (learns) friction_.adapt(in.stamp_ns, in.T);
    friction_.predict(in.stamp_ns, out.q_d.data(), out.qd_d.data(), out.tau_d.data(), in.T, out.friction.data());
    if (asked != Status::ok) return asked;
    if (tracks) return command(in, dt, a, out);
    if (mode_ == TorqueMode::guide) return guiding_.add(in.q, in.qd, out.friction.data(), out.torque.data());
    return Status::ok;
  }

 private:
  void rest() noexcept {
    tracking_.reset();
    if (o_.feedback) o_.feedback->reset();
  }

  // Where no motion is prescribed, the measured one is the desired one.
  Status stay(const TorqueState& in, ProgramOutput& out) noexcept {
    std::copy(in.q, in.q + n(), out.q_d.begin());
    std::copy(in.qd, in.qd + n(), out.qd_d.begin());
    out.qdd_d.fill(0.0);
    out.torque.fill(0.0);
    return Status::ok;
  }

  Status aim(const TorqueState& in, double dt, ProgramOutput& out, double* a) noexcept {
    if (!begun_) begin_ns_ = in.stamp_ns;
    begun_ = true;
    desired(seconds_between(in.stamp_ns, begin_ns_), out);
    out.torque.fill(0.0);
    return tracking_.ask(dt, in.q, in.qd, out.q_d.data(), out.qd_d.data(), out.qdd_d.data(), a);
  }

  // Everything that is to be known of the dynamics in this cycle, side by side.
  void ask(bool learns, bool commands, const double* a, ProgramOutput& out) noexcept {
    const double *q = out.q_d.data(), *qd = out.qd_d.data(), *qdd = out.qdd_d.data();
    DynamicsRow rows[6];
    int count = 0;
    rows[count++] = {q, qd, qdd, out.tau_d.data(), 1.0};
    if (mode_ == TorqueMode::track && commands) {
      rows[count++] = tracking_.question(q, qd, a, out.torque.data());
      if (o_.feedback) rows[count++] = {q, nullptr, nullptr, gravity_.data(), 1.0};
      if (o_.flexible) {
        o_.flexible->ask(q, qd, qdd, jerk_, snap_, rows + count);
        count += 2;
      }
    } else if (mode_ == TorqueMode::guide) {
      rows[count++] = guiding_.question(q, qd, out.torque.data());
    }
    if (learns) rows[count++] = friction_.question();
    rnea_rows(tracking_.chain(), rows, count);
  }

  Status command(const TorqueState& in, double dt, const double* a, ProgramOutput& out) noexcept {
    Status status = o_.feedback ? correct(in, dt, out) : Status::ok;  // reads the torque before rotors and friction
    if (o_.flexible) {
      double phi[max_joints], rotor[max_joints];
      o_.flexible->answer(out.tau_d.data(), phi, rotor);
      for (int i = 0; i < n(); ++i) out.torque[i] += rotor[i];
    }
    if (o_.feedback)
      for (int i = 0; i < n(); ++i) out.torque[i] += out.correction[i];
    const Status added = tracking_.add(a, out.friction.data(), out.torque.data());
    return added == Status::ok ? status : added;
  }

  // Joint torque controlled to the value that the desired acceleration needs behind the transmission.
  Status correct(const TorqueState& in, double dt, ProgramOutput& out) noexcept {
    double wanted[max_joints];
    const bool has_gravity = tracking_.includes_gravity();
    for (int i = 0; i < n(); ++i) {
      wanted[i] = out.torque[i] + (has_gravity ? 0.0 : gravity_[i]);
      out.joint_torque[i] = measured(in, i);
    }
    return o_.feedback->step(dt, wanted, out.joint_torque.data(), out.correction.data());
  }

  double measured(const TorqueState& in, int i) const noexcept {
    if (o_.source == JointTorqueSource::sensor) return in.joint_torque ? in.joint_torque[i] : std::nan("");
    if (!in.theta || !in.omega) return std::nan("");
    const double error = o_.kinematic_error ? o_.kinematic_error->value(i, in.theta[i]) : 0.0;  // [ch4 30]
    return joint_torque(o_.a1[i], o_.a2[i], o_.damping[i], in.theta[i] - in.q[i] - error, in.omega[i] - in.qd[i]);
  }

  // The row of this time: lost samples are skipped, never replayed.
  void desired(double t, ProgramOutput& out) noexcept {
    const std::int64_t size = trajectory_->size();
    std::int64_t row = std::llround(std::max(0.0, t) * trajectory_->rate);  // stamps may have gone back
    finished_ = !trajectory_->periodic && row >= size - 1;
    row = trajectory_->periodic ? row % size : std::min(row, size - 1);
    const double* p = trajectory_->rows.data() + row * trajectory_->width();
    std::copy(p, p + n(), out.q_d.begin());
    std::copy(p + n(), p + 2 * n(), out.qd_d.begin());
    std::copy(p + 2 * n(), p + 3 * n(), out.qdd_d.begin());
    jerk_ = trajectory_->smooth && !finished_ ? p + 3 * n() : still_;
    snap_ = trajectory_->smooth && !finished_ ? p + 4 * n() : still_;
    if (finished_) {
      out.qd_d.fill(0.0);
      out.qdd_d.fill(0.0);
    }
  }

  ComputedTorque tracking_;
  HandGuiding guiding_;
  FrictionFeedforward friction_;
  ProgramOptions o_;
  std::array<double, max_joints> gravity_{};
  double still_[max_joints] = {};
  const double *jerk_ = still_, *snap_ = still_;  // of the row in use
  const TorqueTrajectory* trajectory_ = nullptr;
  TorqueMode mode_ = TorqueMode::rest;
  std::int64_t begin_ns_ = 0;
  bool begun_ = false, finished_ = false;
};

}  // namespace robot_dynamics
