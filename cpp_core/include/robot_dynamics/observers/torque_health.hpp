// Which joints' torque signals are valid: one that stays exactly constant while the joint moves, and goes on so while
// the expected one changes by more than four of its steps (a current may come in coarse ones), or leaves the range of
// the drive, is isolated for a hold time; the estimators then give it no weight (faults of the sensor itself).
// One that jumps for one or two samples is left out there (spikes.hpp): a collision lasts longer, or changes the
// acceleration and with it what is expected.
// Where no drive carries anything and gravity is more than friction can hold, brakes are closed and no signal is valid;
// nor is one where all are exactly zero while the robot moves: the driver has no torque yet.
#pragma once

#include <algorithm>
#include <array>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/spikes.hpp"

namespace robot_dynamics {

class TorqueHealth {
 public:
  static constexpr double stuck_time = 0.5;               // s of exactly equal torque while moving
  static constexpr double settled = 0.1;                  // s of it until the expected one has no lag of before
  static constexpr double stuck_steps = 4.0;              // mean steps by which the expected one changes meanwhile
  static constexpr double stuck_speed = speeds::sliding;  // rad/s that counts as moving
  static constexpr double hold_time = 0.5;                // s a joint stays isolated after the last fault
  static constexpr double jump = 0.1 / 3;                 // share of bound, 10 % of the limit, within one sample
  static constexpr double idle = 0.01 / 3;                // share of bound, 1 % of the limit: a drive without power
  static constexpr double noisy = 3.0;                    // times idle, within which such a drive stays

  // bound (n) [Nm]: beyond it a torque is invalid; holds (n) [Nm]: what friction holds at most.
  TorqueHealth(int n, const double* bound, const double* holds) : n_(n) {
    require_each("torque_bound", bound, n, 1e-6, 1e9);
    std::copy_n(bound, n, bound_.begin());
    std::copy_n(holds, n, holds_.begin());
  }

  // True behind closed brakes, or without any torque. model (n) [Nm]: what the drives would have to carry.
  bool braked(const double* tau, const double* qd, const double* model) noexcept {
    bool stands = true, none = true, falls = false;
    for (int i = 0; i < n_; ++i) {
      const double noise = (braked_ ? noisy : 1.0) * idle * bound_[i];
      stands = stands && std::abs(tau[i]) <= noise && std::abs(qd[i]) <= speeds::sliding;
      none = none && tau[i] == 0.0;
      falls = falls || std::abs(model[i]) > holds_[i] + noise;
    }
    return braked_ = (stands || none) && falls;
  }

  // expected (n) [Nm]: model and friction.
  void step(double dt, const double* tau, const double* qd, const double* expected) noexcept {
    for (int i = 0; i < n_; ++i) {
      const bool bad = stuck(i, dt, tau[i], qd[i], expected[i]) || !(std::abs(tau[i]) <= bound_[i]);
      hold_[i] = bad ? hold_time : std::max(hold_[i] - dt, 0.0);
      isolated_[i] = bad || hold_[i] > 0.0;
      last_[i] = tau[i];
      spikes_.step(i, dt, tau[i], expected[i], jump * bound_[i]);
    }
  }
  bool healthy() const noexcept {  // the signal of every joint is valid
    return std::none_of(isolated_.begin(), isolated_.begin() + n_, [](bool isolated) { return isolated; });
  }
  bool isolated(int i) const noexcept { return isolated_[i]; }
  bool jumped(int i) const noexcept { return spikes_.now(i); }  // at the last sample
  void reset() noexcept {
    braked_ = false;
    last_.fill(std::nan(""));
    spikes_.reset();
    stuck_.fill(0.0);
    step_.fill(0.0);
    hold_.fill(0.0);
    isolated_.fill(false);
  }

 private:
  // step_: mean of the steps of the signal, of some hundred; 0 before the first.
  bool stuck(int i, double dt, double tau, double qd, double expected) noexcept {
    const double step = std::abs(tau - last_[i]);
    if (step > 0.0) step_[i] += (step_[i] > 0.0 ? 0.01 : 1.0) * (step - step_[i]);
    stuck_[i] = step == 0.0 && std::abs(qd) > stuck_speed ? stuck_[i] + dt : 0.0;
    if (stuck_[i] < settled) since_[i] = expected;
    return stuck_[i] >= stuck_time && std::abs(expected - since_[i]) > stuck_steps * step_[i];
  }

  int n_;
  std::array<double, max_joints> bound_{}, holds_{}, last_{}, stuck_{}, step_{}, since_{}, hold_{};
  Spikes spikes_;
  std::array<bool, max_joints> isolated_{};
  bool braked_ = false;
};

}  // namespace robot_dynamics
