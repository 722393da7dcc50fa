// The simulated plant allocates nothing in a cycle; its own elementary functions and rigid-body terms are right.
#include "robot_dynamics/plant/plant.hpp"

#include <cmath>

#include "arm.hpp"
#include "check.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

using namespace robot_dynamics;
using namespace robot_dynamics::plant;

namespace {

Random draw(7);
double uniform() { return 2.0 * draw.uniform() - 1.0; }

void elementary_functions() {
  for (int k = 0; k < 100000; ++k) {
    const double x = 600.0 * uniform(), angle = 1e4 * uniform();
    CHECK(std::fabs(exponential(x) / std::exp(x) - 1.0) < 1e-15);
    double s, c;
    sine_cosine(angle, s, c);
    CHECK(std::fabs(s - std::sin(angle)) < 4e-16 + 1e-20 * std::fabs(angle));
    CHECK(std::fabs(c - std::cos(angle)) < 4e-16 + 1e-20 * std::fabs(angle));
  }
  CHECK(exponential(0.0) == 1.0);
  CHECK(quantised(0.26, 0.1) == 0.1 * 3 && quantised(-0.26, 0.1) == 0.1 * -3 && quantised(0.26, 0.0) == 0.26);
}

// Same seed, same numbers; another seed, others; moments of a standard normal.
void random_numbers() {
  Random a(0), b(0), c(1);
  CHECK(a.bits() == b.bits());
  CHECK(a.bits() != c.bits());
  double mean = 0.0, square = 0.0;
  constexpr int N = 100000;
  for (int k = 0; k < N; ++k) {
    const double x = a.normal();
    mean += x / N;
    square += x * x / N;
  }
  CHECK(std::fabs(mean) < 0.02 && std::fabs(square - 1.0) < 0.02);
}

void rigid_body(int n) {
  const Chain chain = arm(n);
  Dynamics dynamics(chain);
  RigidBody body;
  double q[max_joints], qd[max_joints], bias[max_joints], M[max_joints * max_joints];
  const double zero[max_joints] = {};
  for (int i = 0; i < n; ++i) q[i] = 3.0 * uniform(), qd[i] = 2.0 * uniform();
  CHECK(allocations_of([&] { dynamics.evaluate(q, qd, true, body); }) == 0);
  rnea(chain, q, qd, zero, bias);
  mass_matrix(chain, q, M);
  for (int i = 0; i < n; ++i) {
    CHECK(std::fabs(body.bias[i] - bias[i]) < 1e-10 * (1.0 + std::fabs(bias[i])));
    for (int j = 0; j < n; ++j) CHECK(std::fabs(body.M[i * n + j] - M[i * n + j]) < 1e-10);
  }
}

void cycles(int n) {
  PlantParameters p;
  p.chain = p.nominal = arm(n);
  for (int j = 0; j < n; ++j) {
    FrictionParameters& f = p.joint[j].friction;
    f.coulomb = 2.0;
    f.stribeck = 3.0;
    for (int i = 0; i < friction_elements; ++i) f.span[i] = (i + 1.0) / friction_elements, f.share[i] = 0.125;
    p.joint[j].transmission.backlash = 1e-4;
    p.joint[j].transmission.error_amplitude[0] = 1e-4;
  }
  plant::Plant robot(p, 3);
  Wall wall;
  wall.point = robot.truth().tcp.p;
  wall.friction = 0.2;
  robot.set_wall(checked(wall));
  Command position, torque;
  torque.mode = Mode::torque;
  for (int j = 0; j < n; ++j) position.q[j] = 0.1, torque.torque[j] = 5.0;
  CHECK(allocations_of([&] {
          for (int k = 0; k < 50; ++k) {
            const Status moved = robot.cycle(position, 0.002), pushed = robot.cycle(torque, 0.002);
            CHECK(moved != Status::fault && pushed != Status::fault);
          }
        }) == 0);
  position.qd[0] = NAN;
  CHECK(robot.cycle(position, 0.002) == Status::dropped);
  CHECK(robot.cycle(torque, NAN) == Status::dropped);
  CHECK(robot.cycle(torque, -0.002) == Status::dropped);
}

}  // namespace

int main() {
  elementary_functions();
  random_numbers();
  for (const int n : {1, 2, 6, 7, 16}) rigid_body(n);
  for (const int n : {1, 6, 7}) cycles(n);
  return failures ? 1 : 0;
}
