// What a payload or a bias that no file names explains of the external torque, and what of it is sure enough to be
// taken off (payload_check.hpp).
#pragma once

#include "robot_dynamics/observers/payload_check.hpp"

namespace robot_dynamics {

class CarriedLoad {
 public:
  static constexpr double delay = 10.0;   // s of contact after which a payload may have been picked up or put down
  static constexpr double forgets = 2.0;  // s that one without contact counts against them: ends of pushes interrupt it

  CarriedLoad(const Chain& chain, int pieces) : n_(chain.n), check_(chain, pieces), apart_(check_) {}

  // Another payload is named, or none. What was found of the arm without one was that one, or is no part of it. What is
  // beside a named one shows again when the same is named again: parts that come and go. A zero of the torques that
  // motion has shown to be off is so with every payload.
  void named(const CarryingChain& chain, const double* q) noexcept {
    const bool zero = flagged() && check_.moved_zero();  // a payload that the user keeps is for one name
    if (!zero && !carries_ && (flagged() || check_.held())) check_.reset();
    if (chain.carries() != carries_) {
      if (zero)
        apart_.take_over(check_);
      else
        apart_.follow(check_);
      std::swap(check_, apart_);
    }
    carries_ = chain.carries();
    if (carries_ && chain.payload() != name_) {
      if (!zero) check_.reset();
      name_ = chain.payload();
    }
    check_.declare(chain);
    const double still[max_joints] = {};
    take_off(q, still, still);
  }

  // torque, std (n): external torque and its deviation; error (n): deviation that a load adds, as share of it; f (n):
  // friction of the law.
  // collect: the torque is settled. What was seen before a contact that lasts says nothing of what is carried then.
  void step(double dt, const double* q, const double* qd, const double* qdd, const double* torque, const double* std,
            const double* error, const double* f, bool collect, bool contact) noexcept {
    contact_time_ = std::max(contact_time_ + (contact ? dt : -forgets * dt), 0.0);
    if (contact_time_ >= delay) check_.reset(), contact_time_ = 0.0;
    if (collect) check_.step(dt, q, qd, qdd, torque, std, f, contact);
    take_off(q, qd, qdd);
    for (int i = 0; i < n_; ++i) variance_[i] += error[i] * torque_[i] * (error[i] * torque_[i]);
    changed_ = check_.held() != held_;  // it may also change between steps: an answer, a clock that ran backwards
    held_ = check_.held();
  }

  // See PayloadCheck; a payload is kept for what is named now.
  bool answer(PayloadCheck::Answer a) noexcept {
    if (!check_.answer(a)) return false;
    if (a != PayloadCheck::Answer::keep) apart_.answer(a);
    return true;
  }
  void reset() noexcept {
    check_.reset(), apart_.reset();
    contact_time_ = 0.0;
    explained_.fill(0.0);
    if (!check_.held()) torque_.fill(0.0), variance_.fill(0.0);
  }
  void forget() noexcept { check_.forget(), apart_.forget(); }

  void take_over(const CarriedLoad& other) noexcept {
    check_.take_over(other.check_);
    apart_.take_over(other.apart_);
    name_ = other.name_;
    carries_ = other.carries_;
    held_ = other.held_;
    contact_time_ = other.contact_time_;
  }

  PayloadCheck& check() noexcept { return check_; }
  const PayloadCheck& check() const noexcept { return check_; }
  double torque(int i) const noexcept { return torque_[i]; }        // taken off
  double variance(int i) const noexcept { return variance_[i]; }    // of it
  double explained(int i) const noexcept { return explained_[i]; }  // of what is left
  bool changed() const noexcept { return changed_; }                // whether a payload is held, in this step
  bool flagged() const noexcept { return !check_.held() && check_.verdict() != PayloadCheck::Verdict::none; }

 private:
  void take_off(const double* q, const double* qd, const double* qdd) noexcept {
    explained_.fill(0.0), torque_.fill(0.0), variance_.fill(0.0);
    if (check_.held())
      check_.taken_off(q, qd, qdd, torque_.data(), variance_.data());
    else
      check_.explained(q, qd, qdd, explained_.data());
  }

  int n_;
  PayloadCheck check_, apart_;    // without a named payload while one is named, and the reverse
  std::array<double, 4> name_{};  // the last named payload
  bool carries_ = false;          // one is named
  std::array<double, max_joints> explained_{}, torque_{}, variance_{};
  bool held_ = false, changed_ = false;
  double contact_time_ = 0.0;  // s of contact, less `forgets` times those without
};

}  // namespace robot_dynamics
