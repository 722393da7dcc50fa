// What a law has learned some time ago: contact may have changed it before contact was detected.
#pragma once

namespace robot_dynamics {

template <class State>
class Snapshots {
 public:
  // All snapshots are `state`.
  void fill(const State& state) noexcept {
    newest_ = oldest_ = state;
    since_ = 0;
  }
  // dt [s] after the last call.
  void keep(double dt, const State& state) noexcept {
    since_ += dt;
    if (since_ < period) return;
    since_ = 0;
    oldest_ = newest_;
    newest_ = state;
  }
  const State& oldest() const noexcept { return oldest_; }  // of at least one period ago

 private:
  static constexpr double period = 0.25;  // s
  State newest_{}, oldest_{};
  double since_ = 0;
};

}  // namespace robot_dynamics
