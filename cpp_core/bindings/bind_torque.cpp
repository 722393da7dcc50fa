#include <optional>

#include "robot_dynamics/drivers/rtde_torque.hpp"
#include "torque_arguments.hpp"

namespace bindings::torque {
using namespace robot_dynamics;

namespace {

std::shared_ptr<TorqueTrajectory> make_trajectory(const Array& q, const Array& qd, const Array& qdd, double rate,
                                                  bool periodic, const py::object& jerk, const py::object& snap) {
  require_shape(q, "q", {-1, -1});
  const py::ssize_t N = q.shape(0), n = q.shape(1);
  if (jerk.is_none() != snap.is_none()) throw std::invalid_argument("jerk and snap go together");
  std::vector<Array> columns{q, qd, qdd};
  for (const py::object& more : {jerk, snap}) {
    if (more.is_none()) continue;
    if (!py::isinstance<Array>(more)) throw py::type_error("jerk or snap is not a float64 array");
    columns.push_back(py::reinterpret_borrow<Array>(more));
  }
  const char* names[] = {"q", "qd", "qdd", "jerk", "snap"};
  for (std::size_t c = 0; c < columns.size(); ++c) require_shape(columns[c], names[c], {N, n});
  auto t = std::make_shared<TorqueTrajectory>();
  t->n = static_cast<int>(n);
  t->rate = rate;
  t->periodic = periodic;
  t->smooth = columns.size() == 5;
  t->rows.reserve(columns.size() * N * n);
  for (py::ssize_t k = 0; k < N; ++k)
    for (const Array& c : columns) t->rows.insert(t->rows.end(), c.data() + k * n, c.data() + (k + 1) * n);
  validate(*t);
  return t;
}

ProgramOptions options_of(int n, JointTorqueSource source, const py::object& a1, const py::object& a2,
                          const py::object& damping, const JointTorqueFeedback* feedback,
                          const PeriodicTable* kinematic_error, const FlexibleFeedforward* flexible) {
  ProgramOptions o;
  o.source = source;
  Array keep;
  const auto fill = [&](Joints& to, const py::object& from, const char* name) {
    if (const double* p = optional(from, name, n, keep)) std::copy_n(p, n, to.begin());
  };
  fill(o.a1, a1, "a1");
  fill(o.a2, a2, "a2");
  fill(o.damping, damping, "damping");
  if (feedback) o.feedback = *feedback;
  if (kinematic_error) o.kinematic_error = *kinematic_error;
  if (flexible) o.flexible = *flexible;
  return o;
}

Record cycle(TorqueLoop& loop, std::int64_t stamp_ns, std::int64_t steady_ns, const Array& q, const Array& qd,
             const py::object& tau, const py::object& T, double payload, bool stopped, bool gap, bool backwards,
             bool program, const py::object& theta, const py::object& omega, const py::object& joint_torque) {
  Array keep_tau, keep_T, keep_theta, keep_omega, keep_sensor;
  TorqueState s;
  s.stamp_ns = stamp_ns;
  s.steady_ns = steady_ns;
  s.q = input(q, "q", loop.n());
  s.qd = input(qd, "qd", loop.n());
  s.tau = optional(tau, "tau", loop.n(), keep_tau);
  s.T = optional(T, "temperature", loop.n(), keep_T);
  s.theta = optional(theta, "theta", loop.n(), keep_theta);
  s.omega = optional(omega, "omega", loop.n(), keep_omega);
  s.joint_torque = optional(joint_torque, "joint_torque", loop.n(), keep_sensor);
  s.payload_kg = payload;
  s.stopped = stopped;
  s.gap = gap;
  s.backwards = backwards;
  s.program = program;
  const TorqueRecord r = loop.cycle(s);
  loop.publish(steady_ns);
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
                       const py::object& a1, const py::object& a2, const py::object& damping,
                       const JointTorqueFeedback* feedback, const PeriodicTable* kinematic_error,
                       const FlexibleFeedforward* flexible) {
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
            return l.request(What::command, stamp_ns, input(torque, "torque", l.n()), {includes_gravity, link_side});
          },
          py::arg("stamp_ns"), py::arg("torque").noconvert(), py::arg("includes_gravity"), py::arg("link_side"),
          "Torque (n,) [Nm] of an external controller, with its stamp [ns] and semantics.")
      .def(
          "restore",
          [](TorqueLoop& l, const Array& coulomb, const Array& viscous) {
            double values[2 * max_joints];
            std::copy_n(input(coulomb, "coulomb", l.n()), l.n(), values);
            std::copy_n(input(viscous, "viscous", l.n()), l.n(), values + l.n());
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
          [](TorqueLoop& l, const TypedArray<std::int64_t>& stamps, const Array& q, const Array& qd, const Array& tau) {
            require_shape(stamps, "stamp_ns", {-1});
            const py::ssize_t N = stamps.shape(0), n = l.n();
            for (const auto& [a, name] : {std::pair{&q, "q"}, std::pair{&qd, "qd"}, std::pair{&tau, "tau"}})
              require_shape(*a, name, {N, n});
            Array out({N, n});
            double* po = out.mutable_data();
            const std::int64_t* t = stamps.data();
            const double *pq = q.data(), *pv = qd.data(), *pt = tau.data();
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
            l.publish(steady_ns);
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
        if (!(1e-4 <= slice && slice <= 0.1)) throw std::invalid_argument("slice must be within 1e-4..0.1 s");
        return shorten_slice(static_cast<std::int64_t>(1e9 * slice)) == 0;
      },
      py::arg("slice"),
      "Time slice [s] of the calling thread and those it starts (sched_setattr), 1e-4..0.1: a short one runs sooner "
      "after it wakes. Whether the system accepted it; Linux before 6.12 accepts it without effect.");
}

}  // namespace bindings::torque
