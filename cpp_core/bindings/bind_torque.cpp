#include "bindings.hpp"
#include "robot_dynamics/drivers/rtde_torque.hpp"

using namespace robot_dynamics;

namespace {

using Joints = std::array<double, max_joints>;

Array joints(const Joints& values, int n) { return Array(n, values.data()); }

const double* input(const Array& values, const char* name, int n) {
  require_shape(values, name, {n});
  return values.data();
}

const double* optional(const py::object& values, const char* name, int n, Array& keep) {
  if (values.is_none()) return nullptr;
  if (!py::isinstance<Array>(values)) throw py::type_error(std::string(name) + " is not a float64 array");
  keep = py::reinterpret_borrow<Array>(values);
  return input(keep, name, n);
}

FrictionFeedforward make_feedforward(const Chain& chain, const EGms& model, const AdaptiveParameters& adaptive,
                                     const Array& rotor_inertia, const Array& contact_margin, LearningLaw law,
                                     bool memory, double rate, int window, double rls_time, double contact_time,
                                     double hold, double thermal_rate) {
  FeedforwardOptions o;
  copy_joints(o.rotor_inertia, rotor_inertia, "rotor_inertia", chain.n);
  copy_joints(o.contact_margin, contact_margin, "contact_margin", chain.n);
  o.law = law;
  o.memory = memory;
  o.rate = rate;
  o.window = window;
  o.rls_time = rls_time;
  o.contact_time = contact_time;
  o.hold = hold;
  o.thermal_rate = thermal_rate;
  return FrictionFeedforward(chain, model, adaptive, o);
}

void bind_feedforward_law(py::module_& m) {
  py::enum_<LearningLaw>(m, "LearningLaw", "How the friction feedforward learns.")
      .value("fixed", LearningLaw::fixed)
      .value("gradient", LearningLaw::gradient)
      .value("rls", LearningLaw::rls);
  py::enum_<FreezeReason>(m, "FreezeReason", py::arithmetic(), "Why learning rests; bits.")
      .value("contact", freeze_contact)
      .value("saturation", freeze_saturation)
      .value("payload", freeze_payload)
      .value("thermal", freeze_thermal)
      .value("asked", freeze_asked);
  py::class_<FrictionFeedforward>(m, "FrictionFeedforward", "Friction feedforward that learns [Madsen2020 ch6].")
      .def(py::init(&make_feedforward), py::arg("chain"), py::arg("model"), py::arg("adaptive"), py::kw_only(),
           py::arg("rotor_inertia"), py::arg("contact_margin"), py::arg("law") = LearningLaw::gradient,
           py::arg("memory") = true, py::arg("rate") = 500.0, py::arg("window") = 51, py::arg("rls_time") = 20.0,
           py::arg("contact_time") = 0.01, py::arg("hold") = 0.5, py::arg("thermal_rate") = 0.05)
      .def(
          "learn",
          [](FrictionFeedforward& f, std::int64_t stamp_ns, const Array& q, const Array& tau, const py::object& T,
             bool saturated) {
            Array keep;
            return f.learn(stamp_ns, input(q, "q", f.n()), input(tau, "tau", f.n()),
                           optional(T, "temperature", f.n(), keep), saturated);
          },
          py::arg("stamp_ns"), py::arg("q").noconvert(), py::arg("tau").noconvert(),
          py::arg("temperature") = py::none(), py::arg("saturated") = false)
      .def(
          "predict",
          [](FrictionFeedforward& f, std::int64_t stamp_ns, const Array& q_d, const Array& qd_d, const Array& tau_d,
             const py::object& T) {
            Array out(f.n()), keep;
            f.predict(stamp_ns, input(q_d, "q_d", f.n()), input(qd_d, "qd_d", f.n()), input(tau_d, "tau_d", f.n()),
                      optional(T, "temperature", f.n(), keep), out.mutable_data());
            return out;
          },
          py::arg("stamp_ns"), py::arg("q_d").noconvert(), py::arg("qd_d").noconvert(), py::arg("tau_d").noconvert(),
          py::arg("temperature") = py::none())
      .def(
          "restore",
          [](FrictionFeedforward& f, const Array& coulomb, const Array& viscous) {
            return f.restore(input(coulomb, "coulomb", f.n()), input(viscous, "viscous", f.n()));
          },
          py::arg("coulomb").noconvert(), py::arg("viscous").noconvert())
      .def("payload_changed", &FrictionFeedforward::payload_changed)
      .def("contact_seen", &FrictionFeedforward::contact_seen)
      .def("ask_freeze", &FrictionFeedforward::ask_freeze, py::arg("on"))
      .def("restart", &FrictionFeedforward::restart)
      .def("reset", &FrictionFeedforward::reset)
      .def_property_readonly("n_joints", &FrictionFeedforward::n)
      .def_property_readonly("delay", &FrictionFeedforward::delay)
      .def_property_readonly("frozen", &FrictionFeedforward::frozen)
      .def_property_readonly("measure", [](const FrictionFeedforward& f) { return Array(f.n(), f.measure()); })
      .def_property_readonly("regressor", [](const FrictionFeedforward& f) { return Array(f.n(), f.regressor()); })
      .def_property_readonly("coulomb",
                             [](const FrictionFeedforward& f) { return Array(f.n(), f.adaptation().coulomb()); })
      .def_property_readonly("viscous",
                             [](const FrictionFeedforward& f) { return Array(f.n(), f.adaptation().viscous()); });
}

void bind_record(py::module_& m) {
  py::enum_<TorqueMode>(m, "TorqueMode", "What the torque loop does with a state.")
      .value("rest", TorqueMode::rest)
      .value("track", TorqueMode::track)
      .value("guide", TorqueMode::guide)
      .value("external", TorqueMode::external);
  py::enum_<EnableResult>(m, "EnableResult", "Result of an enable request.")
      .value("pending", EnableResult::pending)
      .value("done", EnableResult::done)
      .value("latched", EnableResult::latched)
      .value("no_state", EnableResult::no_state)
      .value("start_mismatch", EnableResult::start_mismatch)
      .value("not_smooth", EnableResult::not_smooth)
      .value("ramping", EnableResult::ramping)
      .value("stopped", EnableResult::stopped)
      .value("no_program", EnableResult::no_program)
      .value("withdrawn", EnableResult::withdrawn);
}

py::dict record_dict(const TorqueRecord& r, int n) {
  py::dict d;
  d["stamp_ns"] = r.stamp_ns;
  d["state"] = static_cast<GuardState>(r.state);
  d["reason"] = static_cast<GuardReason>(r.reason);
  d["mode"] = static_cast<TorqueMode>(r.mode);
  d["status"] = static_cast<Status>(r.status);
  d["frozen"] = r.frozen;
  d["run"] = r.run;
  d["age"] = r.age;
  d["computing"] = r.computing;
  d["q"] = joints(r.q, n);
  d["qd"] = joints(r.qd, n);
  d["q_d"] = joints(r.q_d, n);
  d["qd_d"] = joints(r.qd_d, n);
  d["tau_d"] = joints(r.tau_d, n);
  d["tau"] = joints(r.tau, n);
  d["torque"] = joints(r.torque, n);
  d["wanted"] = joints(r.wanted, n);
  d["friction"] = joints(r.friction, n);
  d["measure"] = joints(r.measure, n);
  d["joint_torque"] = joints(r.joint_torque, n);
  d["correction"] = joints(r.correction, n);
  d["coulomb"] = joints(r.a1, n);
  d["viscous"] = joints(r.a2, n);
  return d;
}

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
  if (N < 1 || n < 1 || n > max_joints) throw std::invalid_argument("trajectory: no rows, or not 1..16 joints");
  if (!(rate >= 1 && rate <= 1e4)) throw std::invalid_argument("rate must be within 1..10000 Hz");
  auto t = std::make_shared<TorqueTrajectory>();
  t->n = static_cast<int>(n);
  t->rate = rate;
  t->periodic = periodic;
  t->smooth = columns.size() == 5;
  t->rows.reserve(columns.size() * N * n);
  for (py::ssize_t k = 0; k < N; ++k)
    for (const Array& c : columns) t->rows.insert(t->rows.end(), c.data() + k * n, c.data() + (k + 1) * n);
  for (double x : t->rows)
    if (!std::isfinite(x)) throw std::invalid_argument("trajectory holds a value that is not finite");
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

py::dict cycle(TorqueLoop& loop, std::int64_t stamp_ns, std::int64_t steady_ns, const Array& q, const Array& qd,
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
  return record_dict(r, loop.n());
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
          [](TorqueLoop& l, TorqueMode mode, std::shared_ptr<TorqueTrajectory> trajectory) {
            return l.enable(mode, trajectory);
          },
          py::arg("mode"), py::arg("trajectory") = nullptr)
      .def("disable", &TorqueLoop::disable)
      .def("rearm", [](TorqueLoop& l) { return l.request(What::rearm); })
      .def("refresh", [](TorqueLoop& l) { return l.request(What::refresh); })
      .def("contact", [](TorqueLoop& l) { return l.request(What::contact); })
      .def(
          "freeze", [](TorqueLoop& l, bool on) { return l.request(What::freeze, 0, nullptr, {}, on); }, py::arg("on"))
      .def("trip", &TorqueLoop::trip, py::arg("reason"))
      .def(
          "command",
          [](TorqueLoop& l, std::int64_t stamp_ns, const Array& torque, bool includes_gravity, bool link_side) {
            return l.request(What::command, stamp_ns, input(torque, "torque", l.n()), {includes_gravity, link_side});
          },
          py::arg("stamp_ns"), py::arg("torque").noconvert(), py::arg("includes_gravity"), py::arg("link_side"))
      .def(
          "restore",
          [](TorqueLoop& l, const Array& coulomb, const Array& viscous) {
            double values[2 * max_joints];
            std::copy_n(input(coulomb, "coulomb", l.n()), l.n(), values);
            std::copy_n(input(viscous, "viscous", l.n()), l.n(), values + l.n());
            return l.request(What::restore, 0, values);
          },
          py::arg("coulomb").noconvert(), py::arg("viscous").noconvert())
      .def("cycle", &cycle, py::arg("stamp_ns"), py::arg("steady_ns"), py::arg("q").noconvert(),
           py::arg("qd").noconvert(), py::arg("tau") = py::none(), py::arg("temperature") = py::none(), py::kw_only(),
           py::arg("payload") = std::nan(""), py::arg("stopped") = false, py::arg("gap") = false,
           py::arg("backwards") = false, py::arg("program") = true, py::arg("theta") = py::none(),
           py::arg("omega") = py::none(),
           py::arg("joint_torque") = py::none())
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
          py::arg("stamp_ns"), py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("tau").noconvert())
      .def(
          "idle",
          [](TorqueLoop& l, std::int64_t steady_ns) {
            const TorqueRecord r = l.idle(steady_ns);
            l.publish(steady_ns);
            return record_dict(r, l.n());
          },
          py::arg("steady_ns"))
      .def("lost", &TorqueLoop::lost)
      .def("pop",
           [](TorqueLoop& l) -> py::object {
             const TorqueRecord* r = l.front();
             if (r == nullptr) return py::none();
             py::dict d = record_dict(*r, l.n());
             l.drop();
             return d;
           })
      .def("count", &TorqueLoop::count, py::arg("reason"))
      .def_property_readonly("n_joints", &TorqueLoop::n)
      .def_property_readonly("state", &TorqueLoop::state)
      .def_property_readonly("reason", &TorqueLoop::reason)
      .def_property_readonly("enabled", &TorqueLoop::enabled)
      .def_property_readonly("finished", &TorqueLoop::finished)
      .def_property_readonly("cycles", &TorqueLoop::cycles)
      .def_property_readonly("lost_records", &TorqueLoop::lost_records);
}

}  // namespace

void bind_torque(py::module_& m) {
  bind_feedforward_law(m);
  bind_record(m);
  bind_loop(m);
  m.def(
      "lock_memory",
      [] {
        const RealtimeResult r = lock_memory();
        return py::make_tuple(r.done(), memory_text(r));
      },
      "Keep all pages in memory (mlockall): whether it was permitted, and in words.");
}
