#include <optional>

#include "robot_dynamics/common/realtime.hpp"
#include "torque_cycle.hpp"

namespace bindings::torque {
using namespace robot_dynamics;

namespace {

std::shared_ptr<TorqueTrajectory> make_trajectory(const Array& q, const Array& qd, const Array& qdd, double rate,
                                                  bool periodic, const Maybe& jerk, const Maybe& snap) {
  require_shape(q, "q", {-1, -1});
  const py::ssize_t N = q.shape(0), n = q.shape(1);
  if (jerk.has_value() != snap.has_value()) throw std::invalid_argument("jerk and snap go together");
  std::vector<const double*> columns{q.data(), rows(qd, "qd", N, n), rows(qdd, "qdd", N, n)};
  if (jerk) columns.insert(columns.end(), {rows(jerk, "jerk", N, n), rows(snap, "snap", N, n)});
  auto t = std::make_shared<TorqueTrajectory>();
  t->n = static_cast<int>(n);
  t->rate = rate;
  t->periodic = periodic;
  t->smooth = columns.size() == 5;
  t->rows.reserve(columns.size() * N * n);
  for (py::ssize_t k = 0; k < N; ++k)
    for (const double* c : columns) t->rows.insert(t->rows.end(), c + k * n, c + (k + 1) * n);
  validate(*t);
  return t;
}

ProgramOptions options_of(int n, JointTorqueSource source, const Maybe& a1, const Maybe& a2, const Maybe& damping,
                          const JointTorqueFeedback* feedback, const PeriodicTable* kinematic_error,
                          const FlexibleFeedforward* flexible) {
  ProgramOptions o;
  o.source = source;
  if (a1) copy_joints(o.a1, *a1, "a1", n);
  if (a2) copy_joints(o.a2, *a2, "a2", n);
  if (damping) copy_joints(o.damping, *damping, "damping", n);
  if (feedback) o.feedback = *feedback;
  if (kinematic_error) o.kinematic_error = *kinematic_error;
  if (flexible) o.flexible = *flexible;
  return o;
}

Record cycle(TorqueLoop& loop, std::int64_t stamp_ns, std::int64_t steady_ns, const Array& q, const Array& qd,
             const Maybe& tau, const Maybe& T, double payload, bool stopped, bool gap, bool backwards, bool program,
             const Maybe& theta, const Maybe& omega, const Maybe& joint_torque) {
  TorqueState s;
  s.stamp_ns = stamp_ns;
  s.steady_ns = steady_ns;
  s.q = row(q, "q", loop.n());
  s.qd = row(qd, "qd", loop.n());
  s.tau = row(tau, "tau", loop.n());
  s.T = row(T, "temperature", loop.n());
  s.theta = row(theta, "theta", loop.n());
  s.omega = row(omega, "omega", loop.n());
  s.joint_torque = row(joint_torque, "joint_torque", loop.n());
  s.payload_kg = payload;
  s.stopped = stopped;
  s.gap = gap;
  s.backwards = backwards;
  s.program = program;
  const TorqueRecord r = loop.cycle(s);
  loop.publish();
  return {r, loop.n()};
}

void bind_loop(py::module_& m) {
  py::class_<TorqueTrajectory, std::shared_ptr<TorqueTrajectory>>(m, "TorqueTrajectory",
                                                                  "q, qd, qdd, maybe jerk and snap (N, n) at a rate.")
      .def(py::init(&make_trajectory), py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("qdd").noconvert(),
           py::arg("rate") = 500.0, py::arg("periodic") = false, py::arg("jerk") = py::none(),
           py::arg("snap") = py::none())
      .def("__len__", &TorqueTrajectory::size);
  using What = LoopRequest;
  py::class_<TorqueLoop, std::shared_ptr<TorqueLoop>>(m, "TorqueLoop",
                                                      "State -> learning friction -> controller -> guard -> torque.")
      .def(py::init([](const ComputedTorque& tracking, const HandGuiding& guiding, const FrictionFeedforward& friction,
                       const GuardLimits& limits, double time_scale, std::size_t ring, JointTorqueSource source,
                       const Maybe& a1, const Maybe& a2, const Maybe& damping, const JointTorqueFeedback* feedback,
                       const PeriodicTable* kinematic_error, const FlexibleFeedforward* flexible) {
             const auto options =
                 options_of(tracking.n(), source, a1, a2, damping, feedback, kinematic_error, flexible);
             return std::make_shared<TorqueLoop>(TorqueProgram(tracking, guiding, friction, options), limits,
                                                 time_scale, ring);
           }),
           py::arg("tracking"), py::arg("guiding"), py::arg("friction"), py::arg("limits"), py::kw_only(),
           py::arg("time_scale") = 1.0, py::arg("ring") = 4096, py::arg("source") = JointTorqueSource::none,
           py::arg("a1") = py::none(), py::arg("a2") = py::none(), py::arg("damping") = py::none(),
           py::arg("feedback") = py::none(), py::arg("kinematic_error") = py::none(), py::arg("flexible") = py::none())
      .def(
          "enable",
          [](TorqueLoop& l, TorqueMode mode, std::shared_ptr<TorqueTrajectory> trajectory,
             std::optional<std::uint32_t> since) { return l.enable(mode, trajectory, since.value_or(l.ends())); },
          py::arg("mode"), py::arg("trajectory") = nullptr, py::arg("since") = py::none(),
          "Ask for a mode, with a trajectory to track; withdrawn when torque was ended after `ends` had the value "
          "`since`; False when the queue is full.")
      .def("disable", &TorqueLoop::disable, "Ramp torque out, past all requests that wait.")
      .def(
          "rearm", [](TorqueLoop& l) { return l.request(What::rearm); }, "Ask to clear a latched state.")
      .def(
          "refresh", [](TorqueLoop& l) { return l.request(What::refresh); }, "Renew the enable before its timeout.")
      .def(
          "contact", [](TorqueLoop& l) { return l.request(What::contact); }, "Report a contact: learning is held.")
      .def(
          "freeze", [](TorqueLoop& l, bool on) { return l.request(What::freeze, 0, nullptr, {}, on); }, py::arg("on"),
          "Freeze learning, or release it.")
      .def("trip", &TorqueLoop::trip, py::arg("reason"), "Stop for this reason, past all requests that wait.")
      .def(
          "command",
          [](TorqueLoop& l, std::int64_t stamp_ns, const Array& torque, bool includes_gravity, bool link_side) {
            return l.request(What::command, stamp_ns, row(torque, "torque", l.n()), {includes_gravity, link_side});
          },
          py::arg("stamp_ns"), py::arg("torque").noconvert(), py::arg("includes_gravity"), py::arg("link_side"),
          "Torque (n,) [Nm] of an external controller, with its stamp [ns] and semantics.")
      .def(
          "restore",
          [](TorqueLoop& l, const Array& coulomb, const Array& viscous) {
            double values[2 * max_joints];
            std::copy_n(row(coulomb, "coulomb", l.n()), l.n(), values);
            std::copy_n(row(viscous, "viscous", l.n()), l.n(), values + l.n());
            return l.request(What::restore, 0, values);
          },
          py::arg("coulomb").noconvert(), py::arg("viscous").noconvert(),
          "Set the learned friction: coulomb and viscous (n,).")
      .def("cycle", &cycle, py::arg("stamp_ns"), py::arg("steady_ns"), py::arg("q").noconvert(),
           py::arg("qd").noconvert(), py::arg("tau") = py::none(), py::arg("temperature") = py::none(), py::kw_only(),
           py::arg("payload") = std::nan(""), py::arg("stopped") = false, py::arg("gap") = false,
           py::arg("backwards") = false, py::arg("program") = true, py::arg("theta") = py::none(),
           py::arg("omega") = py::none(), py::arg("joint_torque") = py::none(),
           "One state of the robot (n,) at stamp_ns, received at steady_ns; returns the record of the cycle.")
      .def(
          "run",  // one state per row, without the interpreter in between: the same cycle(), for replay and timing
          [](TorqueLoop& l, const Stamps& stamps, const Array& q, const Array& qd, const Array& tau) {
            const py::ssize_t N = samples(stamps), n = l.n();
            const double *pq = rows(q, "q", N, n), *pv = rows(qd, "qd", N, n), *pt = rows(tau, "tau", N, n);
            Array out({N, n});
            double* po = out.mutable_data();
            const std::int64_t* t = stamps.data();
            py::gil_scoped_release release;
            TorqueState s;
            for (py::ssize_t k = 0; k < N; ++k) {
              s.stamp_ns = s.steady_ns = t[k];
              s.q = pq + k * n;
              s.qd = pv + k * n;
              s.tau = pt + k * n;
              const TorqueRecord& r = l.cycle(s);
              std::copy_n(r.torque.begin(), n, po + k * n);
            }
            return out;
          },
          py::arg("stamp_ns"), py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("tau").noconvert(),
          "Torques (N, n) [Nm] of recorded states (N, n), one cycle each.")
      .def(
          "idle",
          [](TorqueLoop& l, std::int64_t steady_ns) {
            const TorqueRecord r = l.idle(steady_ns);
            l.publish();
            return Record{r, l.n()};
          },
          py::arg("steady_ns"), "A cycle without a new state at steady_ns; returns its record.")
      .def("lost", &TorqueLoop::lost, "The connection to the robot was lost.")
      .def(
          "pop",
          [](TorqueLoop& l) -> std::optional<Record> {
            const TorqueRecord* r = l.front();
            if (r == nullptr) return std::nullopt;
            const Record record{*r, l.n()};
            l.drop();
            return record;
          },
          "Oldest waiting record, None when there is none.")
      .def("count", &TorqueLoop::count, py::arg("reason"), "How often the guard acted for this reason.")
      .def_property_readonly("n_joints", &TorqueLoop::n, "Number of joints n.")
      .def_property_readonly("state", &TorqueLoop::state, "State of the guard.")
      .def_property_readonly("reason", &TorqueLoop::reason, "Reason of the guard's last action.")
      .def_property_readonly("enabled", &TorqueLoop::enabled, "Result of the last enable request.")
      .def_property_readonly("ends", &TorqueLoop::ends, "How often torque was ended: disabled, tripped, robot stopped.")
      .def_property_readonly("held", &TorqueLoop::held, "True while the dead-man switch is held; always without one.")
      .def_property_readonly("running", &TorqueLoop::running,
                             "True while torque mode must go on, the ramp to zero included.")
      .def_property_readonly("finished", &TorqueLoop::finished, "True when the trajectory has been completed.")
      .def_property_readonly("cycles", &TorqueLoop::cycles, "Number of cycles.")
      .def_property_readonly("lost_records", &TorqueLoop::lost_records, "Records that found no room.");
}

}  // namespace

void bind(py::module_& m) {
  bind_loop(m);
  m.def(
      "lock_memory",
      [] {
        const RealtimeResult r = lock_memory();
        return py::make_tuple(r.done(), memory_text(r));
      },
      "Keep all pages in memory (mlockall): whether it was permitted, and in words.");
  m.def(
      "shorten_slice",
      [](double slice) {
        require_range("slice", slice, 1e-4, 0.1);
        return shorten_slice(static_cast<std::int64_t>(1e9 * slice)) == 0;
      },
      py::arg("slice") = 1e-4,
      "Time slice [s] of the calling thread and those it starts (sched_setattr), 1e-4..0.1: a short one runs sooner "
      "after it wakes. Whether the system accepted it; Linux before 6.12 accepts it without effect.");
}

}  // namespace bindings::torque
