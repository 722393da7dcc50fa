// Contact force for a controller in C++: position, velocity and effort of a cycle in; wrench, deviations, contact out.
// The stages, their order and what is fed back are those of estimators/pipeline.py, and so are the results, bit for
// bit: alignment -> motion -> temperature -> friction -> force. update() allocates nothing and does not throw.
#pragma once

#include <optional>
#include <utility>

#include "robot_dynamics/observers/external_force.hpp"
#include "robot_dynamics/observers/friction_stage.hpp"
#include "robot_dynamics/observers/measured_temperature.hpp"
#include "robot_dynamics/observers/motion_state.hpp"
#include "robot_dynamics/observers/temperature_observer.hpp"
#include "robot_dynamics/signals/signal_alignment.hpp"

namespace robot_dynamics {

struct ContactForceParameters {
  std::vector<std::string> joint_names;  // from base to tip
  Chain chain;                           // payload included
  MotionParameters motion;
  std::optional<FrictionStage> friction;           // without: unknown, deviations are larger
  std::optional<TemperatureObserver> temperature;  // without: the given temperature is passed on
  bool motor_side = true;  // effort is sensed before the gear: it contains friction, which informs about temperature
  ExternalForceParameters force;
  SignalAlignmentParameters alignment;
  double least_rate = 0.0;  // of update() [Hz]: below it forces at rest are wrong several times as much
};

// n joints; NaN where nothing was estimated in this cycle
struct ContactForceEstimate {
  std::array<double, max_joints> torque{}, torque_std{};       // of the environment on the joints [Nm]
  std::array<double, 6> wrench{}, wrench_std{};                // at the TCP, base axes: force [N], moment [Nm]
  std::array<double, 36> covariance{};                         // of that wrench; kept where nothing was estimated
  std::array<double, 6> framed_wrench{}, framed_wrench_std{};  // axes and origin of the frame of the parameters
  std::array<double, max_joints + 1> contact{};                // 1: in contact; joints, then the TCP
  std::array<double, max_joints> friction{}, friction_std{}, model_torque{}, drive_torque{}, qd{}, qdd{};
  std::array<double, max_joints> temperature{}, temperature_variance{};  // [deg C], [K2]
  double singular_value = 0.0, payload_or_bias = 0.0;
  std::array<double, max_joints> contact_load{};
};

class ContactForceEstimator {
 public:
  // Throws std::invalid_argument naming argument, value and bound.
  explicit ContactForceEstimator(const ContactForceParameters& p)
      : names_(p.joint_names),
        motor_side_(p.motor_side),
        least_rate_(p.least_rate),
        alignment_(valid(p.chain).n, p.alignment),
        motion_(p.chain, p.motion),
        temperature_(p.temperature),
        measured_(p.chain.n),
        friction_(p.friction),
        force_(p.chain, p.force) {
    const int n = p.chain.n;
    if (names_.size() != static_cast<std::size_t>(n))
      throw std::invalid_argument("joint_names has " + std::to_string(names_.size()) + " names, expected " +
                                  std::to_string(n));
    require_range("least_rate", least_rate_, 0.0, 1e6);
    if (friction_) require_range("joints of friction", friction_->joints(), n, n);
    if (temperature_) require_range("joints of temperature", temperature_->joints(), n, n);
    reset();
  }

  // One cycle: stamp [ns], q [rad], qd [rad/s], effort (as the robot file declares it) and measured temperature
  // [deg C] of n joints, payload (4) as of CarryingChain (see refused_payload); all but q may be null or NaN = absent.
  // Returns the status of the force estimate; `dropped` and `unavailable`: estimate() holds NaN. With an alignment the
  // estimates are of the instant that it says.
  Status update(std::int64_t stamp_ns, const double* q, const double* qd, const double* effort,
                const double* measured_temperature = nullptr, const double* payload = nullptr) noexcept {
    clear();
    if (qd) std::copy_n(qd, joints(), e_.qd.begin());
    const Status status = estimate_aligned(stamp_ns, q, effort, measured_temperature, payload);
    if (!absent(qd, joints())) std::copy_n(qd, joints(), e_.qd.begin());
    return status;
  }

  const ContactForceEstimate& estimate() const noexcept { return e_; }
  // A joint or the TCP is in contact.
  bool in_contact() const noexcept {
    for (int i = 0; i <= joints(); ++i)
      if (e_.contact[i] > 0.0) return true;
    return false;
  }
  int joints() const noexcept { return force_.joints(); }
  double least_rate() const noexcept { return least_rate_; }  // as in the parameters [Hz]
  const std::vector<std::string>& joint_names() const noexcept { return names_; }

  // The mean external torque of the last window becomes the new zero; the result gives the reason of a refusal.
  TareResult tare() noexcept { return force_.tare(); }
  void set_bias(const double* bias) noexcept { force_.set_bias(bias); }  // (n) [Nm]
  const double* bias() const noexcept { return force_.bias(); }
  // Reason to refuse a named payload (4), empty where it is plausible; update() does not check it.
  std::string refused_payload(const double* payload) const {
    const Chain& chain = force_.chain();
    return robot_dynamics::refused_payload(payload, force_.parameters().tare_payload, chain.inertia[chain.n - 1][9]);
  }
  // Keeps a recognised payload, refuses any, or judges anew. False: there is none to keep.
  bool answer_payload(PayloadCheck::Answer a) noexcept { return force_.answer_payload(a); }

  // Forgets all state; a tare stays.
  void reset() noexcept {
    alignment_.reset();
    motion_.reset();
    if (temperature_) temperature_->reset();
    if (friction_) friction_->reset();
    force_.reset();
    clear();
    last_load_.fill(absent_);
    last_contact_.fill(absent_);
  }

 private:
  static constexpr double absent_ = std::numeric_limits<double>::quiet_NaN();

  // e_.qd holds the reported velocity, NaN where it is absent.
  Status estimate_aligned(std::int64_t stamp_ns, const double* q, const double* effort,
                          const double* measured_temperature, const double* payload) noexcept {
    std::array<double, max_joints> position, torque;
    for (int i = 0; i < joints(); ++i) {
      position[i] = q ? q[i] : absent_;
      torque[i] = effort ? effort[i] : absent_;
    }
    const std::int64_t taken =
        alignment_.step(stamp_ns, {position.data(), nullptr, e_.qd.data(), torque.data(), nullptr});
    return run_stages(taken, position.data(), torque.data(), measured_temperature, payload);
  }

  Status run_stages(std::int64_t stamp_ns, const double* q, const double* effort, const double* measured_temperature,
                    const double* payload) noexcept {
    const Status moved = motion_.step(stamp_ns, {q, e_.qd.data(), effort, payload},
                                      {e_.qd.data(), e_.qdd.data(), e_.model_torque.data(), e_.drive_torque.data()});
    if (!usable(moved)) return moved;
    estimate_temperature(stamp_ns, measured_temperature);
    if (friction_)
      friction_->step(stamp_ns, q, e_.qd.data(), e_.model_torque.data(), last_load_.data(), e_.temperature.data(),
                      e_.temperature_variance.data(), e_.friction.data(), e_.friction_std.data());
    e_.contact_load = last_load_;
    if (temperature_) e_.contact = last_contact_;
    const Status status = estimate_force(stamp_ns, q, payload);
    e_.covariance = force_.covariance();
    last_load_ = e_.contact_load;
    last_contact_ = e_.contact;
    return status;
  }

  static const Chain& valid(const Chain& chain) {
    validate(chain);
    return chain;
  }

  void clear() noexcept {
    for (auto* values : {&e_.torque, &e_.torque_std, &e_.friction, &e_.friction_std, &e_.model_torque, &e_.drive_torque,
                         &e_.qd, &e_.qdd, &e_.temperature, &e_.temperature_variance, &e_.contact_load})
      values->fill(absent_);
    for (auto* values : {&e_.wrench, &e_.wrench_std, &e_.framed_wrench, &e_.framed_wrench_std}) values->fill(absent_);
    e_.contact.fill(absent_);
    e_.singular_value = e_.payload_or_bias = absent_;
  }

  void estimate_temperature(std::int64_t stamp_ns, const double* measured) noexcept {
    if (!temperature_) {
      measured_.step(measured, e_.temperature.data(), e_.temperature_variance.data());
    } else {
      double friction[max_joints];
      for (int i = 0; i < joints(); ++i) friction[i] = e_.drive_torque[i] - e_.model_torque[i];
      temperature_->step(stamp_ns, e_.qd.data(), e_.model_torque.data(), motor_side_ ? friction : nullptr, measured,
                         last_contact_.data(), e_.temperature.data(), e_.temperature_variance.data());
    }
  }

  Status estimate_force(std::int64_t stamp_ns, const double* q, const double* payload) noexcept {
    return force_.step(stamp_ns,
                       {q, e_.qd.data(), e_.model_torque.data(), e_.drive_torque.data(), e_.qdd.data(),
                        e_.friction.data(), e_.friction_std.data(), payload},
                       {e_.torque.data(), e_.torque_std.data(), e_.wrench.data(), e_.wrench_std.data(),
                        &e_.singular_value, e_.contact.data(), &e_.payload_or_bias, e_.contact_load.data(),
                        e_.framed_wrench.data(), e_.framed_wrench_std.data()});
  }

  std::vector<std::string> names_;
  bool motor_side_;
  double least_rate_;
  SignalAlignment alignment_;
  MotionState motion_;
  std::optional<TemperatureObserver> temperature_;
  MeasuredTemperature measured_;  // without it
  std::optional<FrictionStage> friction_;
  ExternalForce force_;
  ContactForceEstimate e_;
  std::array<double, max_joints> last_load_{};         // fed back: what contact and payload add to the load
  std::array<double, max_joints + 1> last_contact_{};  // fed back
};

}  // namespace robot_dynamics
