// ContactForceEstimator: no allocation in update(), the same estimates from a parameter file, errors that name the
// parameter, and a load on the arm that comes out as a force.
#include "robot_dynamics/observers/contact_force_estimator.hpp"

#include <cstring>
#include <functional>

#include "arm.hpp"
#include "check.hpp"
#include "robot_dynamics/friction/gms.hpp"
#include "robot_dynamics/observers/contact_force_file.hpp"

using namespace robot_dynamics;

namespace {

constexpr int n = 6;
using Row = std::array<double, n>;

Friction presliding(const FrictionMap& map) {
  std::vector<double> span, level, load;
  for (int i = 0; i < map.joints(); ++i) {
    span.insert(span.end(), {1e-4, 1e-3, 1e-2});
    level.insert(level.end(), {1.0, 2.0, 2.0});
    load.insert(load.end(), {0.02, 0.0, 0.05});
  }
  const SlidingJoint joints[n];
  return Friction(map, Elements(map.joints(), 3, span.data(), level.data(), load.data()), joints);
}

Friction spaced() {
  std::vector<double> D(4 * n), k(4 * n), fc0(n, 5.0), fc1(n, 1e-3), backlash(n, 1e-3), error(2 * n, 1e-5);
  for (int i = 0; i < n; ++i) gms_spacing(4, 4.0, 2.0, D.data() + 4 * i, k.data() + 4 * i);
  const Elements H = gms(n, 4, D.data(), k.data(), PeriodicTable(n, 1, backlash.data()));
  return egms(viscous_coulomb(n), H, fc0.data(), fc1.data(), PeriodicTable(n, 2, error.data()));
}

Friction friction(int kind) {
  switch (kind) {
    case 1:
      return presliding(viscous_coulomb(n));
    case 2:
      return spaced();
    default:
      return Friction(viscous_coulomb(n));
  }
}
constexpr int kinds = 3;

ContactForceParameters parameters(int kind, bool thermal) {
  ContactForceParameters p;
  for (int i = 0; i < n; ++i) p.joint_names.push_back("joint " + std::to_string(i) + " # odd");
  p.chain = arm(n);
  recognise_twists(p.chain);
  p.motion.effort_gain.fill(1.0);
  p.motion.rotor_inertia.fill(1.0);
  FrictionStageParameters stage;
  stage.moving.fill(0.3);
  stage.rest.fill(0.5);
  stage.speed.fill(0.1);
  p.friction = FrictionStage(friction(kind), stage);
  if (kind == 1) p.friction->couple({{4, 5, -1.0}, {3, 4, 1.0}}, presliding(FrictionMap::none(2)));
  if (thermal)
    p.temperature =
        TemperatureObserver(p.friction->law().map(), std::vector<HeatParameters>(n, {3000.0, 2.0, 5000.0, 3.0}),
                            std::vector<double>(n, 0.0), {});
  p.force.rotor_inertia.fill(1.0);
  p.force.gain.fill(25.0);
  p.force.recent_error = 0.25;
  p.force.torque_std.fill(1.0);
  p.force.friction_std.fill(5.0);
  p.force.torque_bound.fill(500.0);
  p.force.frame = n;
  if (kind % 2) {
    p.alignment.effort_delay = 0.003;
    p.alignment.velocity_delay = -0.0041;
    p.alignment.velocity_gain.fill(1.05);
  }
  return p;
}

bool same(const ContactForceEstimate& a, const ContactForceEstimate& b) {
  const auto equal = [](const auto& x, const auto& y) { return std::memcmp(x.data(), y.data(), sizeof x) == 0; };
  return equal(a.torque, b.torque) && equal(a.torque_std, b.torque_std) && equal(a.wrench, b.wrench) &&
         equal(a.covariance, b.covariance) && equal(a.framed_wrench, b.framed_wrench) && equal(a.contact, b.contact) &&
         equal(a.friction, b.friction) && equal(a.temperature, b.temperature);
}

void allocates_nothing_and_equals_its_file(int kind, bool thermal) {
  const ContactForceParameters given = parameters(kind, thermal);
  const std::string text = contact_force_text(given);
  CHECK(contact_force_text(contact_force_parameters(text)) == text);
  ContactForceEstimator estimator(given), from_text(contact_force_parameters(text));
  CHECK(from_text.joint_names() == given.joint_names);
  FaultyStream stream;
  int used = 0;
  const long count = allocations_of([&] {
    for (int k = 0; k < 3000; ++k) {
      stream.next(k, n);
      const double* temperature = k % 71 == 10 ? nullptr : stream.temperature.data();
      const double *qd = k % 73 == 11 ? nullptr : stream.qd.data(), *effort = stream.effort.data();
      const Status status = estimator.update(stream.stamp, stream.q.data(), qd, effort, temperature);
      CHECK(from_text.update(stream.stamp, stream.q.data(), qd, effort, temperature) == status);
      CHECK(same(estimator.estimate(), from_text.estimate()));
      CHECK(status != Status::fault);
      const bool known = status != Status::dropped && status != Status::unavailable;
      CHECK(std::isfinite(estimator.estimate().wrench[0]) == known);
      used += known;
      if (k == 2000) CHECK(estimator.tare() == from_text.tare());
    }
    estimator.reset();
  });
  CHECK(count == 0);
  CHECK(used > 2000);
  CHECK(!estimator.in_contact());
}

// A hand pulls with 60 N at the TCP: tau = M qdd + g - J'F, standing still.
void a_pull_is_found() {
  ContactForceParameters p = parameters(0, false);
  p.motion.rotor_inertia.fill(0.0);
  p.force.rotor_inertia.fill(0.0);
  p.friction.reset();
  p.force.ignore_friction = true;
  p.force.torque_std.fill(0.1);
  ContactForceEstimator estimator(p);
  const Row q{0.1, -0.9, 1.2, 0.4, 0.8, -0.3}, rest{};
  double J[6 * n], g[n], effort[n];
  jacobian(p.chain, q.data(), J);
  gravity_torque(p.chain, q.data(), g);
  Status status = Status::unavailable;
  for (int k = 0; k < 1500; ++k) {
    for (int i = 0; i < n; ++i) effort[i] = g[i] - (k > 700 ? 60.0 * J[i] : 0.0);  // row 0: force along x
    status = estimator.update(2000000L * k, q.data(), rest.data(), effort);
    if (k == 700) CHECK(!estimator.in_contact());
  }
  const auto& e = estimator.estimate();
  CHECK(status == Status::ok);
  CHECK(estimator.in_contact() && e.contact[n] == 1.0);
  CHECK(std::abs(e.wrench[0] - 60.0) < 3.0 * e.wrench_std[0] + 1.0);
  CHECK(std::abs(e.wrench[1]) < 3.0 * e.wrench_std[1] + 1.0);
  for (int k = 0; k < 6; ++k) CHECK(std::abs(std::sqrt(e.covariance[7 * k]) - e.wrench_std[k]) < 1e-12);
}

std::string refusal(const std::function<void()>& setup) {
  try {
    setup();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string with_line(std::string text, const std::string& name, const std::string& line) {
  const std::size_t begin = text.find("\n" + name + " ") + 1, end = text.find('\n', begin);
  return text.replace(begin, end - begin, line);
}

void refusals_name_the_parameter() {
  const std::string text = contact_force_text(parameters(1, true));
  const struct {
    const char *name, *line, *message;
  } cases[] = {
      {"force.gain", "force.gain 25 25 25", "force.gain has 3 values, expected 6"},
      {"force.model_error", "force.model_error 2", "model_error = 2 is outside 0..1"},
      {"force.torque_std", "force.torque_std 1 1 1 -1 1 1", "torque_std[3] = -1 is outside 1e-06..1e+06"},
      {"force.frame", "force.frame 1.5", "force.frame = 1.5"},
      {"force.frame", "force.frame 7", "frame = 7 is outside -1..6"},
      {"alignment.effort_delay", "alignment.effort_delay 0.2", "effort_delay = 0.2 is outside -0.05..0.05"},
      {"alignment.velocity_gain", "alignment.velocity_gain 1 1 0 1 1 1", "velocity_gain[2] = 0 is outside 0.1..10"},
      {"motion.acceleration_cutoff", "motion.acceleration_cutoff fast",
       "motion.acceleration_cutoff: 'fast' is no number"},
      {"motion.acceleration_cutoff", "motion.acceleration_cutof 1", "motion.acceleration_cutoff is missing"},
      {"motion.acceleration_cutoff", "motion.acceleration_cutoff 1\nmore 1", "more is no parameter"},
      {"motion.acceleration_cutoff", "motion.acceleration_cutoff 1\nmotor_side 1", "motor_side is given twice"},
      {"joints", "joints 17", "joints = 17"},
      {"robot_dynamics_core", "", "robot_dynamics_core is missing"},
      {"memory.elements", "memory.elements 17", "memory.elements = 17.000000 is no whole number in"},
      {"motors.turns", "motors.turns 6 0 1 3 4 1", "motors.turns joint = 6 is outside 0..5"},
      {"motors.turns", "motors.turns 4 4 1 3 4 1", "motor with = 4 is its joint"},
  };
  for (const auto& c : cases) {
    const std::string padded = "\n" + text;
    const std::string message = refusal([&] { contact_force_parameters(with_line(padded, c.name, c.line)); });
    CHECK(message.find(c.message) != std::string::npos);
    if (message.find(c.message) == std::string::npos) std::printf("%s -> '%s'\n", c.line, message.c_str());
  }
  CHECK(refusal([] { read_contact_force_parameters("/does/not/exist"); }) == "/does/not/exist: cannot be read");
  ContactForceParameters wrong = parameters(0, false);
  wrong.chain.n = 17;
  CHECK(refusal([&] { ContactForceEstimator estimator(wrong); }) == "n_joints = 17 is outside 1..16");
  wrong = parameters(0, false);
  wrong.joint_names.pop_back();
  CHECK(refusal([&] { ContactForceEstimator estimator(wrong); }) == "joint_names has 5 names, expected 6");
}

}  // namespace

int main() {
  for (int kind = 0; kind < kinds; ++kind)
    for (const bool thermal : {false, true}) allocates_nothing_and_equals_its_file(kind, thermal);
  a_pull_is_found();
  refusals_name_the_parameter();
  return failures ? 1 : 0;
}
