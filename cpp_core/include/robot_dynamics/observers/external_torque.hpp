// External torque of each joint: an observer behind the sensors' checks, its variance, and what its filters still lack.
//
// Standard deviation: sqrt(sensor^2 + friction^2 + (model_error |model torque|)^2), rising at once and falling with the
// observer's bandwidth, because the estimate is filtered as slowly; that of a stuck joint which slides again with K,
// because such a change is followed as fast.
//   lag = (r - y) + y'/K   what the filters behind the momentum observer's input r have not followed yet, through K
//   ahead = 3/4 l^3 / (l^2 + 4 std^2)   l: the smaller of the lag before and behind this filter, no noise where it is
//                                       large: under a contact the published torque is further by it than y, and
//                                       exceeds no step
// ahead is 0 where fast changes are not followed faster. Where pushes end, and what is absorbed, is judged by y, which
// does not swing (source: own).
#pragma once

#include "robot_dynamics/observers/external_force_parameters.hpp"
#include "robot_dynamics/observers/momentum_observer.hpp"
#include "robot_dynamics/observers/torque_health.hpp"

namespace robot_dynamics {

// The sign, once: observers give the torque of the robot on the environment, we publish that of the environment on the
// robot (tau = J'F with both).
inline double environment_on_robot(double robot_on_environment) noexcept { return -robot_on_environment; }
inline double robot_on_environment(double environment_on_robot) noexcept { return -environment_on_robot; }

class ExternalTorque {
 public:
  static constexpr double isolated_std = 1e4;  // Nm: an isolated joint has no weight

  ExternalTorque(const Chain& chain, const ExternalForceParameters& p)
      : n_(chain.n),
        p_(p),
        fastest_(fastest(p)),
        momentum_(chain, p.rotor_inertia.data(), p.coupled_inertia, fastest_.data()),
        dry_(chain.n, p.dry.data(), p.friction_level.data()),
        change_(chain.n, rest_of_lag(p).data(), following(p).data()),
        health_(chain.n, p.torque_bound.data(), friction_at_rest(p).data()) {
    require_each("torque_std", p.torque_std.data(), chain.n, 1e-6, 1e6);
    require_range("model_error", p.model_error, 0.0, 1.0);
  }

  // drifted (n): variance of what was learned of friction.
  void step(double dt, const ForceInput& in, const double* friction, const double* friction_std,
            const double* drifted) noexcept {
    Joints expected{};
    for (int i = 0; i < n_; ++i) expected[i] = in.model_torque[i] + friction[i];
    health_.step(dt, in.drive_torque, in.qd, expected.data());
    observe(dt, in, friction);
    for (int i = 0; i < n_; ++i) {
      const double model = p_.model_error * in.model_torque[i];
      double now = p_.torque_std[i] * p_.torque_std[i] + friction_std[i] * friction_std[i] + drifted[i] +
                   dry_.variance(i) + model * model;
      if (health_.isolated(i)) now = isolated_std * isolated_std;
      const double k = dry_.slides(i) ? fastest_[i] : p_.gain[i];
      const double falling = variance_[i] + lowpass_weight(k, dt) * (now - variance_[i]);
      variance_[i] = std::max(now, std::isfinite(falling) ? falling : now);
    }
    follow(dt);
  }

  // The next sample starts the observer with this torque r (n) of the robot on the environment [Nm].
  void begin(const double* r) noexcept {
    std::copy_n(r, n_, r_.begin());
    change_.start(r);
  }
  // A payload (4), see CarryingChain; whether it is another one: then the observer starts with the torque of before.
  bool carry(const double* payload) noexcept {
    if (!momentum_.carry(payload)) return false;
    pause();
    return true;
  }
  const CarryingChain& chain() const noexcept { return momentum_.chain(); }
  void payload(const double* q, double* tau) const noexcept { momentum_.payload(q, tau); }
  // The next sample starts the observer with the torque of before.
  void pause() noexcept { fresh_ = true; }
  // The same after samples that are missing.
  void resume() noexcept {
    pause();
    variance_.fill(0.0);
    lag_.fill(0.0);
  }
  void reset() noexcept {
    dry_.reset();
    health_.reset();
  }

  double r(int i) const noexcept { return r_[i]; }                // Nm, robot on environment
  double variance(int i) const noexcept { return variance_[i]; }  // Nm^2
  double lag(int i) const noexcept { return lag_[i]; }            // Nm
  double ahead(int i) const noexcept {                            // Nm
    if (!(fastest_[i] > p_.gain[i]) || !(lag_[i] * now_[i] > 0.0)) return 0.0;
    const double l = std::abs(now_[i]) < std::abs(lag_[i]) ? now_[i] : lag_[i];
    return 0.75 * l * l * l / (l * l + 4.0 * variance_[i]);
  }
  bool stuck() const noexcept {
    for (int i = 0; i < n_; ++i)
      if (dry_.stuck(i)) return true;
    return false;
  }
  bool slides(int i) const noexcept { return dry_.slides(i); }  // a joint of dry friction began to
  bool braked(const ForceInput& in) noexcept { return health_.braked(in.drive_torque, in.qd, in.model_torque); }
  const TorqueHealth& health() const noexcept { return health_; }
  double slowest() const noexcept {  // rad/s
    return *std::min_element(p_.gain.begin(), p_.gain.begin() + n_);
  }

 private:
  using Joints = std::array<double, max_joints>;

  // The observer's r of healthy joints that are not stuck.
  void observe(double dt, const ForceInput& in, const double* friction) noexcept {
    Joints tau{}, clean{}, balance{};
    for (int i = 0; i < n_; ++i) balance[i] = in.drive_torque[i] - in.model_torque[i];
    dry_.step(dt, in.qd, friction, balance.data());
    for (int i = 0; i < n_; ++i) {  // r of an isolated joint stays as it is, of a stuck one as far as it can
      const bool unknown = health_.isolated(i) || health_.jumped(i);
      const double r = unknown ? r_[i] : dry_.kept(i, r_[i]);
      tau[i] = unknown || dry_.stuck(i) ? in.model_torque[i] + friction[i] + r : in.drive_torque[i];
      clean[i] = tau[i] - friction[i];
    }
    if (fresh_)
      momentum_.start(in.q, in.qd, clean.data(), r_.data());
    else
      momentum_.step(dt, in.q, in.qd, clean.data());
  }

  // The filter of changes behind the observer.
  void follow(double dt) noexcept {
    if (!fresh_) change_.step(dt, momentum_.r(), variance_.data());
    const double* y = change_.y();
    for (int i = 0; i < n_; ++i) {
      now_[i] = fresh_ ? 0.0 : momentum_.r()[i] - y[i] + (y[i] - r_[i]) / (dt * fastest_[i]);
      lag_[i] += lowpass_weight(fastest_[i], dt) * (now_[i] - lag_[i]);
      r_[i] = y[i];
    }
    fresh_ = false;
  }

  int n_;
  ExternalForceParameters p_;
  Joints fastest_;  // K
  MomentumObserver momentum_;
  DryJoints dry_;
  ChangeFilter change_;
  TorqueHealth health_;
  Joints variance_{}, r_{}, now_{}, lag_{};  // now_: the lag before its filter
  bool fresh_ = true;
};

}  // namespace robot_dynamics
