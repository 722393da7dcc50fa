// The torque loop in every mode: no allocation in a cycle, and nothing but finite torque whatever comes in.
#include "robot_dynamics/control/torque_loop.hpp"

#include <cmath>
#include <limits>
#include <thread>

#include "arm.hpp"
#include "check.hpp"
#include "robot_dynamics/friction/gms.hpp"

using namespace robot_dynamics;

namespace {

constexpr int n = 6;
constexpr std::int64_t ms = 1000000;
const double nan_ = std::numeric_limits<double>::quiet_NaN();
using Joints = std::array<double, max_joints>;

Joints all(double x) {
  Joints v{};
  v.fill(x);
  return v;
}

FrictionStage friction_model() {
  double D[4], k[4];
  gms_spacing(4, 4.0, 2.0, D, k);
  std::vector<double> Ds, ks, backlash(n, 1e-3), level(n, 5.0), zero(n, 0.0);
  for (int i = 0; i < n; ++i) {
    Ds.insert(Ds.end(), D, D + 4);
    ks.insert(ks.end(), k, k + 4);
  }
  const Elements H = gms(n, 4, Ds.data(), ks.data(), PeriodicTable(n, 1, backlash.data()));
  return FrictionStage(egms(viscous_coulomb(n), H, level.data(), zero.data(), PeriodicTable(n, 1, zero.data())), {});
}

TorqueProgram program(LearningLaw law, JointTorqueSource source, bool flexible) {
  ComputedTorqueGains gains;
  gains.kp = all(144);
  gains.kd = all(24);
  gains.rotor_inertia = all(1.0);
  HandGuidingParameters guide;
  guide.damping = all(2);
  guide.speed_limit = all(1);
  guide.torque_limit = all(100);
  guide.position_lower = all(-6);
  guide.position_upper = all(6);
  FeedforwardOptions learning;
  learning.law = law;
  learning.contact_margin = all(5);
  learning.rotor_inertia = all(1.0);
  ProgramOptions options;
  options.source = source;
  options.a1 = all(2e4);
  if (source != JointTorqueSource::none) options.feedback = JointTorqueFeedback(n, all(0.3), all(2), all(10));
  if (flexible) options.flexible = FlexibleFeedforward(arm(n), all(2e4), all(1e9), all(1.0));
  return TorqueProgram(ComputedTorque(arm(n), gains), HandGuiding(arm(n), guide),
                       FrictionFeedforward(arm(n), friction_model(), learning), options);
}

GuardLimits limits() {
  GuardLimits l;
  l.n = n;
  l.torque = all(150);
  l.torque_rate = all(3000);
  l.velocity = all(3);
  l.position_lower = all(-6);
  l.position_upper = all(6);
  l.deceleration = all(10);
  return l;
}

double angle(double t, int i) { return 0.2 * (1 - std::cos(t)) + 0.1 * i; }

std::shared_ptr<TorqueTrajectory> motion() {
  auto path = std::make_shared<TorqueTrajectory>();
  path->n = n;
  path->smooth = true;
  path->periodic = true;
  for (int k = 0; k < 3142; ++k) {
    const double t = 0.002 * k, s = std::sin(t), c = std::cos(t);
    for (int i = 0; i < n; ++i) path->rows.push_back(angle(t, i));
    for (double x : {0.2 * s, 0.2 * c, -0.2 * s, -0.2 * c}) path->rows.insert(path->rows.end(), n, x);
  }
  return path;
}

struct State : TorqueState {
  double x[5][n] = {};
  explicit State(int k) {
    stamp_ns = steady_ns = 1000 * ms + 2 * ms * k;
    const double t = 0.002 * k;
    for (int i = 0; i < n; ++i) {
      x[0][i] = angle(t, i);
      x[1][i] = x[3][i] = 0.2 * std::sin(t);
      x[2][i] = x[4][i] = 20 * std::cos(t);
      x[3][i] = x[0][i] + 1e-3;
    }
    q = x[0], qd = x[1], tau = x[2], T = x[2], theta = x[3], omega = x[1], joint_torque = x[4];
  }
};

// 3000 cycles with lost, repeated, late and broken states and requests of another thread between them.
void survives(const char* name, TorqueMode mode, LearningLaw law, JointTorqueSource source, bool flexible) {
  TorqueLoop loop(program(law, source, flexible), limits());
  const auto path = motion();
  loop.cycle(State(0));
  loop.publish();
  loop.enable(mode, path, loop.ends());
  loop.cycle(State(1));
  loop.publish();
  CHECK(loop.enabled() == EnableResult::done);
  double torque[n] = {1, 1, 1, 1, 1, 1}, most = 0;
  int ran = 0;
  const long count = allocations_of([&] {
    for (int k = 2; k < 3000; ++k) {
      State s(k);
      if (k % 500 == 7) s.stamp_ns -= 2 * ms;  // the same stamp twice
      if (k % 700 == 11) s.x[1][3] = nan_;     // broken
      if (k % 900 == 13) s.theta = s.joint_torque = nullptr;
      if (k % 311 == 5) continue;  // lost
      if (k == 2900) s.backwards = true, s.stamp_ns -= 500 * ms;
      if (mode == TorqueMode::external) loop.request(LoopRequest::command, s.stamp_ns, torque, {});
      if (k % 1000 == 17) loop.request(LoopRequest::contact);
      const TorqueRecord& r = loop.cycle(s);
      ran += r.run;
      for (int i = 0; i < n; ++i) {
        CHECK(std::isfinite(r.torque[i]) && std::fabs(r.torque[i]) <= 150);
        most = std::max(most, std::fabs(r.torque[i]));
      }
      loop.publish();
      while (loop.front()) loop.drop();
    }
    loop.idle(State(3100).steady_ns);
  });
  if (count || ran < 2800 || !(most > 0)) std::printf("%s: %ld allocations, %d cycles ran\n", name, count, ran);
  CHECK(count == 0);
  CHECK(ran > 2800);
  CHECK(most > 0 || mode == TorqueMode::rest);
}

// Torque that flows ends in the cycle after a disable or a trip, however many requests wait; a stop ends it at once.
void ends_past_a_full_ring() {
  const GuardReason why[] = {GuardReason::none, GuardReason::publisher, GuardReason::robot_stopped,
                             GuardReason::program_ended};
  for (int ending = 0; ending < 4; ++ending) {
    TorqueLoop loop(program(LearningLaw::fixed, JointTorqueSource::none, false), limits());
    loop.cycle(State(0));
    loop.enable(TorqueMode::guide, nullptr, loop.ends());
    loop.cycle(State(1));
    CHECK(loop.enabled() == EnableResult::done && loop.state() == GuardState::ok && loop.running());  // with the answer
    loop.publish();
    CHECK(loop.enabled() == EnableResult::done && loop.state() == GuardState::ok);
    while (loop.request(LoopRequest::refresh)) continue;
    State s(2);
    if (ending == 0) loop.disable();
    if (ending == 1) loop.trip(GuardReason::publisher);
    if (ending == 2) s.stopped = true;
    if (ending == 3) s.program = false;
    const TorqueRecord& r = loop.cycle(s);
    loop.publish();
    CHECK(loop.state() == (ending == 0 ? GuardState::idle : ending == 1 ? GuardState::safe : GuardState::fault));
    CHECK(loop.reason() == why[ending]);
    CHECK(ending < 2 || !r.run);
  }
}

// Trajectories that come faster than they are answered: each lives until it has been looked at (seen by ASan).
void keeps_every_trajectory_that_waits() {
  TorqueLoop loop(program(LearningLaw::fixed, JointTorqueSource::none, false), limits());
  std::atomic<bool> ended{false};
  std::thread robot([&] {
    for (int k = 0; !ended; ++k) loop.cycle(State(k));
  });
  for (int k = 0; k < 20000; ++k) {
    auto path = std::make_shared<TorqueTrajectory>();
    path->n = n;
    path->rows.assign(3 * n, 0.0);
    loop.enable(TorqueMode::track, path, loop.ends());
    if (k % 7 == 0) loop.disable();
  }
  ended = true;
  robot.join();
}

// Stamps and host times at both ends of their range: no overflow (undefined, seen by UBSan), finite torque.
void survives_extreme_times() {
  TorqueLoop loop(program(LearningLaw::fixed, JointTorqueSource::none, false), limits());
  const std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  for (std::int64_t stamp : {std::int64_t{1}, most, least, std::int64_t{0}, least, most})
    for (std::int64_t host : {most, least, std::int64_t{1000} * ms}) {
      State s(1);
      s.stamp_ns = stamp;
      s.steady_ns = host;
      loop.enable(TorqueMode::guide, nullptr, loop.ends());
      const TorqueRecord& r = loop.cycle(s);
      for (int i = 0; i < n; ++i) CHECK(std::isfinite(r.torque[i]));
      loop.idle(least);
      loop.idle(most);
      loop.publish();
    }
}

// Rows side by side are the same torques as one after the other.
void rows_agree() {
  const Chain chain = arm(n);
  double q[3][n], qd[3][n], qdd[3][n], tau[4][n], alone[n];
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) q[k][i] = 0.3 * i + k, qd[k][i] = 0.5 - 0.2 * k + 0.1 * i, qdd[k][i] = 2.0 * k - i;
  const DynamicsRow rows[] = {{q[0], qd[0], qdd[0], tau[0], 1.0},
                              {q[0], qd[1], qdd[1], tau[1], 0.0},
                              {q[2], nullptr, nullptr, tau[2], 1.0},
                              {q[1], qd[2], nullptr, tau[3], 1.0}};
  rnea_rows(chain, rows, 4);
  for (int k = 0; k < 4; ++k) {
    rnea(chain, rows[k].gravity ? Vec3(chain.gravity) : Vec3{}, rows[k].q, rows[k].qd, rows[k].qdd, alone);
    for (int i = 0; i < n; ++i) CHECK(std::fabs(tau[k][i] - alone[i]) < 1e-11);
  }
}

}  // namespace

int main() {
  using Law = LearningLaw;
  using Source = JointTorqueSource;
  rows_agree();
  survives("track", TorqueMode::track, Law::scales, Source::none, false);
  survives("track, rls", TorqueMode::track, Law::rls, Source::none, false);
  survives("track, deflection fed back", TorqueMode::track, Law::scales, Source::deflection, false);
  survives("track, sensor fed back, flexible", TorqueMode::track, Law::scales, Source::sensor, true);
  survives("guide", TorqueMode::guide, Law::fixed, Source::none, false);
  survives("external", TorqueMode::external, Law::scales, Source::none, false);
  ends_past_a_full_ring();
  survives_extreme_times();
  keeps_every_trajectory_that_waits();
  return failures ? 1 : 0;
}
