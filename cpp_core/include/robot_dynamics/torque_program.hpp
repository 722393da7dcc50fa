// What the controller does with a state: rest, track a trajectory (computed torque with learned friction), hand
// guiding, or pass on what a topic says. The friction in front of everything learns in all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics/computed_torque.hpp"
#include "robot_dynamics/friction_feedforward.hpp"
#include "robot_dynamics/hand_guiding.hpp"

namespace robot_dynamics {

enum class TorqueMode : int { rest = 0, track = 1, guide = 2, external = 3 };

// q, qd, qdd (N, n) rows of 3 n numbers at `rate`; periodic: the end is followed by the beginning.
struct TorqueTrajectory {
  int n = 0;
  double rate = 500.0;
  bool periodic = false;
  std::vector<double> rows;
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(rows.size()) / (3 * n); }
};

struct ProgramOutput {
  std::array<double, max_joints> torque{}, q_d{}, qd_d{}, qdd_d{}, tau_d{}, friction{};
};

class TorqueProgram {
 public:
  static constexpr double start_tolerance = 0.05;  // rad between robot and trajectory at the start

  TorqueProgram(const ComputedTorque& tracking, const HandGuiding& guiding, const FrictionFeedforward& friction)
      : tracking_(tracking), guiding_(guiding), friction_(friction) {
    if (!(tracking.n() == guiding.n() && guiding.n() == friction.n()))
      throw std::invalid_argument("tracking, guiding and friction are of different numbers of joints");
  }

  int n() const noexcept { return tracking_.n(); }
  FrictionFeedforward& friction() noexcept { return friction_; }
  const FrictionFeedforward& friction() const noexcept { return friction_; }

  // False when the robot is not where the trajectory begins.
  bool begin(TorqueMode mode, const TorqueTrajectory* trajectory, const double* q) noexcept {
    if (mode == TorqueMode::track) {
      if (!trajectory) return false;
      for (int i = 0; i < n(); ++i)
        if (!(std::fabs(q[i] - trajectory->rows[i]) <= start_tolerance)) return false;
    }
    mode_ = mode;
    trajectory_ = trajectory;
    begun_ = false;
    tracking_.reset();
    return true;
  }

  void restart() noexcept {
    tracking_.reset();
    friction_.restart();
  }

  const TorqueTrajectory* trajectory() const noexcept { return trajectory_; }
  TorqueMode mode() const noexcept { return mode_; }
  bool finished() const noexcept { return finished_; }

  // Desired motion and torque for one state; fault when something is not finite (the torque is then zero).
  Status step(std::int64_t stamp_ns, double dt, const double* q, const double* qd, const double* T,
              ProgramOutput& out) noexcept {
    if (mode_ == TorqueMode::track) return track(stamp_ns, dt, q, qd, T, out);
    std::copy(q, q + n(), out.q_d.begin());
    std::copy(qd, qd + n(), out.qd_d.begin());
    out.qdd_d.fill(0.0);
    out.torque.fill(0.0);
    const double zero[max_joints] = {};
    rnea(tracking_.chain(), tracking_.chain().gravity, q, qd, zero, out.tau_d.data());
    friction_.predict(stamp_ns, q, qd, out.tau_d.data(), T, out.friction.data());
    if (mode_ == TorqueMode::guide) return guiding_.step(q, qd, out.friction.data(), out.torque.data());
    return Status::ok;
  }

 private:
  Status track(std::int64_t stamp_ns, double dt, const double* q, const double* qd, const double* T,
               ProgramOutput& out) noexcept {
    if (!begun_) begin_ns_ = stamp_ns;
    begun_ = true;
    desired(1e-9 * static_cast<double>(stamp_ns - begin_ns_), out);
    const Chain& chain = tracking_.chain();
    rnea(chain, chain.gravity, out.q_d.data(), out.qd_d.data(), out.qdd_d.data(), out.tau_d.data());
    friction_.predict(stamp_ns, out.q_d.data(), out.qd_d.data(), out.tau_d.data(), T, out.friction.data());
    return tracking_.step(dt, q, qd, out.q_d.data(), out.qd_d.data(), out.qdd_d.data(), out.friction.data(),
                          out.torque.data(), nullptr);
  }

  // The row of this time: lost samples are skipped, never replayed.
  void desired(double t, ProgramOutput& out) noexcept {
    const std::int64_t size = trajectory_->size();
    std::int64_t row = std::llround(t * trajectory_->rate);
    finished_ = !trajectory_->periodic && row >= size - 1;
    row = trajectory_->periodic ? row % size : std::min(row, size - 1);
    const double* p = trajectory_->rows.data() + row * 3 * n();
    std::copy(p, p + n(), out.q_d.begin());
    std::copy(p + n(), p + 2 * n(), out.qd_d.begin());
    std::copy(p + 2 * n(), p + 3 * n(), out.qdd_d.begin());
    if (finished_) {
      out.qd_d.fill(0.0);
      out.qdd_d.fill(0.0);
    }
  }

  ComputedTorque tracking_;
  HandGuiding guiding_;
  FrictionFeedforward friction_;
  const TorqueTrajectory* trajectory_ = nullptr;
  TorqueMode mode_ = TorqueMode::rest;
  std::int64_t begin_ns_ = 0;
  bool begun_ = false, finished_ = false;
};

}  // namespace robot_dynamics
