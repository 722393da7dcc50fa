// The step h in which n signals are reported: what divides all their changes, enough of which follow a repeated reading
// (source: own).
#pragma once

#include <array>
#include <cmath>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

class StepSize {
 public:
  static constexpr double alike = 0.1;  // of h: a change that is so near to a multiple of it is one
  static constexpr double few = 8.0;    // steps: larger changes say little, since h is known with an error
  static constexpr int enough = 10;     // changes that h divides; a steady acceleration makes equal ones, too

  explicit StepSize(double finest) : finest_(finest) { reset(); }

  // A reading of signal i.
  void look(int i, double x) noexcept {
    const double change = std::abs(x - last_[i]);
    const bool same = change < 1e-9, before = same_[i];
    last_[i] = x, same_[i] = same;
    if (same || count_[i] < 0 || change > few * size_[i]) return;
    const double times = std::round(change / size_[i]), rest = std::abs(change - times * size_[i]);
    if (times == 0.0 || rest > alike * size_[i])
      size_[i] = rest, count_[i] = rest < finest_ ? -1 : 0;  // -1: fine
    else if (before)
      ++count_[i];
    coarse_ = coarse_ || count_[i] == enough;
  }
  // h of signal i; 0 where it is below `finest`, or not known yet.
  double of(int i) const noexcept { return count_[i] < enough ? 0.0 : size_[i]; }
  bool coarse() const noexcept { return coarse_; }  // h of any signal is known
  void reset() noexcept {
    last_.fill(0.0);
    same_.fill(false);
    size_.fill(unknown);
    count_.fill(0);
    coarse_ = false;
  }

 private:
  static constexpr double unknown = 1e9;

  double finest_;
  std::array<double, max_joints> last_{}, size_{};
  std::array<int, max_joints> count_{};
  std::array<bool, max_joints> same_{};
  bool coarse_ = false;
};

}  // namespace robot_dynamics
