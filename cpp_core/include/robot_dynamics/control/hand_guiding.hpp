// Hand guiding [Liu2020 31]: tau = C(q, qd) qd + g(q) + s tau_f - Kd qd, no position term, so the arm stays where it is
// left and moves where it is pushed. Around the source's law: a share s < 1 of the friction (pre-sliding friction
// compensated in full would drift), damping that rises near the speed limit, and virtual walls at the joint limits that
// only ever push inwards. Friction at rest is elastic: compensated by a law whose spans are shorter than the joint's,
// it drives the arm to and fro and away. So only a part of s is used at rest, up to `slow`, and all of it from
// `sliding` on (speeds.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "robot_dynamics/common/speeds.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

struct HandGuidingParameters {
  static constexpr double wall_margin = 0.1;        // rad before the limit
  std::array<double, max_joints> damping{};         // Nm s/rad
  std::array<double, max_joints> speed_limit{};     // rad/s
  std::array<double, max_joints> torque_limit{};    // Nm
  std::array<double, max_joints> position_lower{};  // rad
  std::array<double, max_joints> position_upper{};  // rad
  std::array<double, max_joints> wall_stiffness{};  // Nm/rad
  double friction_share = 0.8;                      // s, in [0, 0.95]
  double rest_share = 1.0;                          // of s at rest, in [0, 1]
  bool includes_gravity = false;                    // false: the robot adds g(q) itself
};

inline void validate(const HandGuidingParameters& p, int n) {
  require_not_negative("damping", p.damping.data(), n);
  require_positive("speed_limit", p.speed_limit.data(), n);
  require_positive("torque_limit", p.torque_limit.data(), n);
  require_not_negative("wall_stiffness", p.wall_stiffness.data(), n);
  for (int i = 0; i < n; ++i)
    require(p.position_upper[i] - p.position_lower[i] > 2 * p.wall_margin, element("position_upper", i),
            p.position_upper[i], "more than two wall margins above position_lower");
  require(0 <= p.friction_share && p.friction_share <= 0.95, "friction_share", p.friction_share, "in [0, 0.95]");
  require(0 <= p.rest_share && p.rest_share <= 1, "rest_share", p.rest_share, "in [0, 1]");
}

class HandGuiding {
 public:
  HandGuiding(const Chain& chain, const HandGuidingParameters& parameters) : chain_(chain), p_(parameters) {
    validate(chain);
    validate(p_, chain.n);
  }

  int n() const noexcept { return chain_.n; }

  // Measured q, qd and the friction model's torque at that state (Nm, opposing motion positive with qd).
  Status step(const double* q, const double* qd, const double* friction, double* tau) const noexcept {
    const DynamicsRow row = question(q, qd, tau);
    rnea_rows(chain_, &row, 1);
    return add(q, qd, friction, tau);
  }

  // The same in two parts, for a caller with more questions to the dynamics of this instant: C qd + g, then the rest.
  DynamicsRow question(const double* q, const double* qd, double* tau) const noexcept {
    return {q, qd, nullptr, tau, p_.includes_gravity ? 1.0 : 0.0};
  }
  Status add(const double* q, const double* qd, const double* friction, double* tau) const noexcept {
    const int n = chain_.n;
    if (!all_finite(q, n) || !all_finite(qd, n) || !all_finite(friction, n) || !all_finite(tau, n)) {
      std::fill(tau, tau + n, 0.0);
      return Status::fault;
    }
    bool saturated = false;
    for (int i = 0; i < n; ++i) {
      const double sum = tau[i] + assist(i, q[i], qd[i], friction[i]) - drag(i, qd[i]) + wall(i, q[i]);
      tau[i] = std::clamp(sum, -p_.torque_limit[i], p_.torque_limit[i]);
      saturated |= tau[i] != sum;
    }
    return saturated ? Status::saturated : Status::ok;
  }

 private:
  // Friction is only compensated while it helps to stay below the speed limit and off the walls. Towards the limit it
  // fades, as the drag grows: cut at once, it would come and go with the noise of the speed.
  double assist(int i, double q, double qd, double friction) const noexcept {
    const bool into_wall = (q > p_.position_upper[i] - p_.wall_margin && friction > 0) ||
                           (q < p_.position_lower[i] + p_.wall_margin && friction < 0);
    if (into_wall) return 0.0;
    const double left = (p_.speed_limit[i] - std::fabs(qd)) / ((1.0 - fast) * p_.speed_limit[i]);
    const double slower = friction * qd > 0 ? std::clamp(left, 0.0, 1.0) : 1.0;
    return p_.friction_share * part(qd) * slower * friction;
  }

  // Part of s at this speed.
  double part(double qd) const noexcept {
    const double slides = (std::fabs(qd) - speeds::slow) / (speeds::sliding - speeds::slow);
    return p_.rest_share + (1.0 - p_.rest_share) * std::clamp(slides, 0.0, 1.0);
  }

  // Kd qd, and ten times as much for the part of the speed above 80 % of its limit.
  double drag(int i, double qd) const noexcept {
    const double excess = std::max(0.0, std::fabs(qd) - fast * p_.speed_limit[i]);
    return p_.damping[i] * (qd + 10.0 * std::copysign(excess, qd));
  }

  double wall(int i, double q) const noexcept {
    const double low = p_.position_lower[i] + p_.wall_margin - q, high = q - (p_.position_upper[i] - p_.wall_margin);
    return p_.wall_stiffness[i] * (std::max(0.0, low) - std::max(0.0, high));
  }

  static constexpr double fast = 0.8;  // share of the speed limit from which an arm is braked

  Chain chain_;
  HandGuidingParameters p_;
};

}  // namespace robot_dynamics
