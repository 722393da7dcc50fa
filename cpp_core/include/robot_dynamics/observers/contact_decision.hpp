// Is the robot touched: decided per joint and for the wrench of all joints together, from the onset to the end.
//
// Contact needs significance against zero and against what a payload or bias explains of the torque. A push takes the
// gears to another place of their presliding friction, which shows once it is over (source: own).
#pragma once

#include <cstdint>

#include "robot_dynamics/observers/contact.hpp"
#include "robot_dynamics/observers/release.hpp"
#include "robot_dynamics/observers/wrench.hpp"

namespace robot_dynamics {

struct ContactEvidence {
  const double *J, *torque, *std;  // (6, n), (n): external torque, its deviation without that of a contact
  const double *rest, *rest_std;   // (n): what a payload or bias leaves of the whole torque, deviation in all
  const double* pushed;            // (n) Nm: largest torque that friction may keep something of; 0: none
  bool explained;                  // by a payload or bias that is not taken off
  bool stands;                     // errors at rest are absorbed, and a payload is known or there is none
  bool early;                      // the torque may be older than the estimator: a payload is looked for first
};

class ContactDecision {
 public:
  static constexpr double min_free_time = 0.5;  // s without contact before a contact is evidence against a tare
  static constexpr double unseen_end = 2.0;     // s after a flag that falls while its torque lasts: the push may go on
  static constexpr double clear = 5.0;          // of `force`: least force that the threshold at rest takes
  static constexpr double displaced = 0.05;     // deviation of what friction keeps of a push, as share of it

  // force [N]: least one at the TCP that can be a contact.
  ContactDecision(int n, const ContactParameters& p, double force)
      : n_(n), rest_share_(p.rest_share), least_(force), contact_(n + 1, p), release_(n, p.on_ratio, p.off_time) {
    require_range("contact_force", force, 0.0, 1e6);
  }

  bool any() const noexcept { return contact_.any(); }
  bool may_last() const noexcept { return pushed_ > 0.0; }  // a push whose end was not seen
  bool was_free() const noexcept { return free_time_ >= min_free_time; }

  // The user says so, by a tare.
  void declare_free() noexcept { free_time_ = min_free_time; }

  void reset() noexcept {
    pushed_ = free_time_ = 0.0;
    contact_.reset();
    release_.reset();
  }

  // True once when a push ends, also one that was taken for a payload (explained); before the decision of the same
  // sample.
  bool ended(std::int64_t stamp_ns, double dt, const double* torque, const double* std, bool explained) noexcept {
    if (!release_.step(stamp_ns, dt, torque, std, any() || explained)) return false;
    contact_.reset();
    return true;
  }

  // -> contact 0/1 (n + 1: joints, TCP). estimate: of the torque and its deviation. settled: no contact is free time.
  void step(double dt, const ContactEvidence& e, const WrenchInverse& inverse, const WrenchEstimate& estimate,
            bool settled, double* contact) noexcept {
    double magnitude[max_joints + 1], std[max_joints + 1];
    bool other = false;  // deviations than those of the estimate
    for (int i = 0; i < n_; ++i) {
      magnitude[i] = std::min(std::abs(e.torque[i]), std::abs(e.rest[i]));
      const double left = displaced * std::max(e.pushed[i] - std::abs(e.torque[i]), 0.0);
      std[i] = std::sqrt(e.std[i] * e.std[i] + left * left);
      other = other || left > 0.0;
    }
    WrenchEstimate known;
    magnitude[n_] = significance(other && inverse.solve(e.J, e.torque, std, known) ? known : estimate);
    std[n_] = 1.0;
    if (WrenchEstimate left; e.explained && inverse.solve(e.J, e.rest, e.rest_std, left))
      magnitude[n_] = std::min(magnitude[n_], significance(left));
    // else a payload that shows little, or friction of one wrist, which is a moment, would be a contact
    if (e.stands && force(estimate) >= clear * least_) std[n_] *= rest_share_;
    if (e.early) std::fill_n(magnitude, n_ + 1, 0.0);
    const bool before = any();
    contact_.step(dt, magnitude, std, contact);
    if (before && !any() && release_.lasting()) pushed_ = unseen_end;
    pushed_ = std::max(pushed_ - dt, 0.0);
    const bool free = settled && !any() && !e.explained;
    free_time_ = free ? free_time_ + dt : was_free() ? free_time_ : 0.0;
  }

 private:
  // Of a wrench whose force is large enough to be a contact at the TCP, else 0.
  double significance(const WrenchEstimate& e) const noexcept {
    const double share = contact_.active(n_) ? ContactDetector::off_share : 1.0;
    return force(e) >= share * least_ ? e.significance : 0.0;
  }
  static double force(const WrenchEstimate& e) noexcept { return std::hypot(e.wrench[0], e.wrench[1], e.wrench[2]); }

  int n_;
  double rest_share_, least_;
  ContactDetector contact_;
  Release release_;
  double free_time_ = 0.0, pushed_ = 0.0;  // s without contact; s for which a push may go on whose end was not seen
};

}  // namespace robot_dynamics
