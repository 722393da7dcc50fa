// Contact decisions per channel (joints, then the TCP): hysteresis, thresholds that follow the standard deviation,
// debounce in time, never in samples.
#pragma once

#include <array>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics {

struct ContactParameters {
  double on_ratio = 3.5;                       // magnitude / std at which contact begins; with residuals: theirs
  double rest_share = 1.0;                     // of on_ratio, where a robot that stands shows less error
  double on_time = 0.010;                      // s above the threshold before contact is declared
  double off_time = 0.050;                     // s below before it is over
  std::array<double, max_joints + 1> floor{};  // least magnitude that can be a contact (joints: Nm)
};

class ContactDetector {
 public:
  // of the ratio and of the floor, below which a contact may end: no chatter (source: own)
  static constexpr double off_ratio = 0.9, off_share = 0.6;

  ContactDetector(int channels, const ContactParameters& p) : channels_(channels), p_(p) {
    require_range("channels", channels, 1, max_joints + 1);
    require_range("contact_on_ratio", p.on_ratio, 0.1, 100.0);
    require_range("contact_rest_share", p.rest_share, 0.01, 1.0);
    require_range("contact_on_time", p.on_time, 0.0, 10.0);
    require_range("contact_off_time", p.off_time, 0.0, 10.0);
    require_each("contact_floor", p.floor.data(), channels, 0.0, 1e6);
  }

  // magnitude >= 0 and std (channels) -> contact 0/1 (channels)
  void step(double dt, const double* magnitude, const double* std, double* contact) noexcept {
    for (int i = 0; i < channels_; ++i) {
      const bool above = magnitude[i] > std::max(p_.on_ratio * std[i], p_.floor[i]);
      const bool below = magnitude[i] < std::max(off_ratio * p_.on_ratio * std[i], off_share * p_.floor[i]);
      const bool pending = active_[i] ? below : above;
      timer_[i] = pending ? timer_[i] + dt : 0.0;
      if (pending && timer_[i] >= (active_[i] ? p_.off_time : p_.on_time)) {
        active_[i] = !active_[i];
        timer_[i] = 0.0;
      }
      contact[i] = active_[i] ? 1.0 : 0.0;
    }
  }

  bool active(int channel) const noexcept { return active_[channel]; }
  bool any() const noexcept {
    bool any = false;
    for (int i = 0; i < channels_; ++i) any = any || active_[i];
    return any;
  }
  void reset() noexcept {
    active_.fill(false);
    timer_.fill(0.0);
  }

 private:
  int channels_;
  ContactParameters p_;
  std::array<bool, max_joints + 1> active_{};
  std::array<double, max_joints + 1> timer_{};
};

}  // namespace robot_dynamics
