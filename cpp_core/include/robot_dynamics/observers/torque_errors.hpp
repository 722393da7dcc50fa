// Deviation of the external torque of each joint, and what is added to it in contact.
//
// In contact two errors of a joint's torque tau are added to what is published. Neither decision nor estimate uses
// them: the flag would drop out under the push that raises it, and a moment would explain what is a force (source:
// own).
//   (s tau / level)^2   s: deviation of friction, level: its breakaway
//   (e tau)^2           e: deviation of the torque constant, as share of it
//   lag^2               what the filters behind the observer have not followed yet (external_torque.hpp)
#pragma once

#include "robot_dynamics/friction/contact_load.hpp"
#include "robot_dynamics/observers/external_torque.hpp"

namespace robot_dynamics {

struct TorqueErrors {
  using Joints = std::array<double, max_joints>;

  TorqueErrors(const ExternalForceParameters& p, const ExternalTorque& torque, const ContactLoad& push, int n,
               const double* q, const double* friction_std, bool contact) noexcept {
    torque.payload(q, variance.data());
    for (int i = 0; i < n; ++i) {
      share[i] = relative_error(p, i, friction_std[i]);
      variance[i] = torque.variance(i) + share[i] * variance[i] * share[i] * variance[i];
      if (!contact) continue;
      behind[i] = torque.lag(i);
      model[i] = share[i] * push.held(i);
    }
  }
  double published(int i) const noexcept {
    return std::sqrt(variance[i] + model[i] * model[i] + behind[i] * behind[i]);
  }

  Joints share{};            // deviation that a load adds, as share of it
  Joints variance{};         // Nm^2, without what contact adds
  Joints model{}, behind{};  // Nm, what contact adds: the first two errors, and the lag
};

}  // namespace robot_dynamics
