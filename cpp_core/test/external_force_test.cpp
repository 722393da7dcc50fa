// The force chain allocates nothing in step(), whatever the samples, and never gives a number that is not finite.
#include "robot_dynamics/observers/external_force.hpp"

#include <cstdint>
#include <limits>

#include "arm.hpp"
#include "check.hpp"
#include "robot_dynamics/observers/motion_state.hpp"

using namespace robot_dynamics;

namespace {

ExternalForceParameters parameters() {
  ExternalForceParameters p;
  p.gain.fill(25.0);
  p.rotor_inertia.fill(1.0);
  p.torque_std.fill(1.0);
  p.friction_std.fill(5.0);
  p.torque_bound.fill(500.0);
  p.frame = 0;
  return p;
}

using Row = std::array<double, max_joints>;

void whole_chain(int n) {
  const Chain chain = arm(n);
  MotionParameters motion_parameters;
  motion_parameters.effort_gain.fill(1.0);
  motion_parameters.effort_lacks_gravity = n % 2 == 0;
  MotionState motion(chain, motion_parameters);
  ExternalForce force(chain, parameters());
  Row qd{}, qdd{}, model{}, drive{}, friction{}, torque{}, std{}, load{};
  std::array<double, 6> wrench{}, wrench_std{}, framed{}, framed_std{};
  std::array<double, max_joints + 1> contact{};
  double singular = 0, payload = 0;
  FaultyStream stream;
  int used = 0;
  const long count = allocations_of([&] {
    for (int k = 0; k < 4000; ++k) {
      stream.next(k, n);
      const Status moved = motion.step(stream.stamp, {stream.q.data(), stream.qd.data(), stream.effort.data()},
                                       {qd.data(), qdd.data(), model.data(), drive.data()});
      if (moved == Status::dropped || moved == Status::unavailable) continue;
      const ForceInput in{stream.q.data(), qd.data(), model.data(), drive.data(), qdd.data(), friction.data(), nullptr};
      const Status status = force.step(stream.stamp, in,
                                       {torque.data(), std.data(), wrench.data(), wrench_std.data(), &singular,
                                        contact.data(), &payload, load.data(), framed.data(), framed_std.data()});
      used += status != Status::unavailable;
      CHECK(status != Status::fault);
      CHECK(all_finite(torque.data(), n) && all_finite(wrench.data(), 6) && all_finite(wrench_std.data(), 6));
      CHECK(all_finite(framed.data(), 6) && all_finite(framed_std.data(), 6));
      bool touched = false;
      for (int i = 0; i <= n; ++i) touched = touched || contact[i] > 0.0;
      for (int i = 0; i < n; ++i) CHECK(std::abs(load[i]) <= (touched ? 500.0 : 0.0));  // the bound of torque, or zero
      if (k == 3000) force.tare();
    }
    motion.reset();
    force.reset();
  });
  CHECK(count == 0);
  CHECK(used > 3000);
}

}  // namespace

int main() {
  for (int n = 1; n <= max_joints; ++n) whole_chain(n);
  return failures ? 1 : 0;
}
