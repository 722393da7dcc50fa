// When a known load is put down and taken up again, and whether parts that nobody names come and go (source: own).
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "robot_dynamics/observers/payload_fit.hpp"

namespace robot_dynamics {

// Samples are summed for a piece; where a load comes and goes, since they speak against what is assumed.
class LoadChange {
 public:
  // A sample, as a share of a piece: whether a load that is held was put down, or one that is not was taken up. A piece
  // that contradicts it shows the former; or `patience` pieces that are free of any torque, as they have to be while a
  // contact is flagged (touched). returns: the load has come and gone before.
  bool step(double share, const PayloadEvidence& s, const PayloadLoad& load, bool held, bool returns, bool touched,
            int patience) noexcept {
    recent_.add(share, s);
    touched_ = touched_ || touched;
    const double carried = recent_.explained(load.theta);
    const bool whole = recent_.amount + 1e-9 >= (touched_ ? std::max(1, patience) : 1);
    const bool free = !recent_.shows() && (whole || !touched_ || patience == 0);
    const bool up = returns && carried > PayloadEvidence::certain && recent_.explained_by(load);
    const bool down = (free || (whole && !touched_)) && recent_.contradicts(load);
    const bool changed = held ? down : up;
    if (changed || whole || (returns && (held ? carried >= 0.0 : carried <= 0.0))) *this = {};
    return changed;
  }

 private:
  PayloadEvidence recent_;
  bool touched_ = false;
};

// A load comes and goes where pieces of evidence (payload_evidence.hpp) show a torque between two that show none. The
// first and the last one do not count: it came and went in them. Where one payload explains the last loads, the arm
// carries parts of that mass.
class RecurringLoad {
 public:
  static constexpr int times = 3;  // loads that are alike: of pushes three are not

  // A sample of a moving arm with n joints, as a share of a piece. Whether it ends the last of `times` loads that one
  // payload explains: fit.
  bool add(double share, const PayloadEvidence& s, int n, PayloadLoad& fit) noexcept {
    piece_.add(share, s);
    if (piece_.amount < 1.0) return false;
    const PayloadEvidence piece = std::exchange(piece_, {});
    if (piece.shows()) {
      if (++shown_ > 2) load_.add(1.0, last_);
      last_ = piece;
      return false;
    }
    shown_ = 0;
    const PayloadEvidence load = std::exchange(load_, {});
    if (load.amount == 0.0) return false;
    std::rotate(loads_.begin(), loads_.begin() + 1, loads_.end());
    loads_.back() = {};
    loads_.back().add(1.0 / load.amount, load);
    return ++count_ >= times && alike(n, fit);
  }

 private:
  bool alike(int n, PayloadLoad& fit) const noexcept {
    fit = {};
    fit_payload(loads_.data(), times, n, fit);
    return fit.theta[0] > 0.0 &&
           std::all_of(loads_.begin(), loads_.end(), [&](const PayloadEvidence& s) { return s.explained_by(fit); });
  }

  std::array<PayloadEvidence, times> loads_{};
  PayloadEvidence piece_, last_, load_;  // under way, the last whole one, the inner ones of the load under way
  int shown_ = 0, count_ = 0;            // pieces of the load under way, loads
};

}  // namespace robot_dynamics
