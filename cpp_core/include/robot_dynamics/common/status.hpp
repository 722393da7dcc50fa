// Result of one step of a stage: loops return these, only construction throws.
#pragma once

namespace robot_dynamics {

enum class Status : int {
  ok = 0,
  warming_up = 1,   // output written, not yet trustworthy (initial state unknown)
  dropped = 2,      // sample ignored: duplicate stamp or non-finite input; outputs keep their last value
  reset = 3,        // clock went backwards or gap too long: state was reset
  degraded = 4,     // output written with inflated uncertainty (missing or implausible side signal)
  saturated = 5,    // a bound or rate limit was active
  unavailable = 6,  // a required signal is absent; no output
  fault = 7,        // internal non-finite value; output zero, latched until reset()
};

// Whether the step wrote its output.
constexpr bool usable(Status s) noexcept {
  return s != Status::dropped && s != Status::unavailable && s != Status::fault;
}

}  // namespace robot_dynamics
