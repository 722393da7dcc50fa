#include "arguments.hpp"
#include "robot_dynamics/drivers/rtde_reader.hpp"

namespace bindings::rtde {
namespace rd = robot_dynamics::rtde;

namespace {

using Meta = TypedArray<std::int64_t>;

void take_limits(Keywords& keys, rd::MonitorLimits& limits) {
  keys.take("rate", limits.rate);
  keys.take("degraded_gap", limits.degraded_gap);
  keys.take("safe_gap", limits.safe_gap);
  keys.take("frozen_repeats", limits.frozen_repeats);
}

std::unique_ptr<rd::Reader> make_reader(const py::kwargs& given) {
  rd::ReaderOptions o;
  Keywords keys(given);
  take_limits(keys, o.limits);
  o.session.rate = o.limits.rate;
  keys.take("host", o.session.host);
  keys.take("port", o.session.port);
  keys.take("timeout", o.session.timeout);
  keys.take("minimum_major", o.session.minimum_major);
  keys.take("torque_inputs", o.session.torque_inputs);
  keys.take("ring", o.ring);
  keys.take("silence", o.silence);
  keys.take("follow_host_clock", o.follow_host_clock);
  keys.take("realtime_priority", o.realtime_priority);
  keys.finish();
  return std::make_unique<rd::Reader>(o);
}

// Oldest waiting sample into values (sample_width,) and meta (stamp_ns, receive_ns, flags, missed); False when none.
bool pop(rd::Reader& reader, Array values, Meta meta) {
  require_shape(values, "values", {rd::sample_width});
  require_shape(meta, "meta", {4});
  const rd::Sample* s = reader.front();
  if (s == nullptr) return false;
  std::copy(s->values.begin(), s->values.end(), values.mutable_data());
  std::int64_t* m = meta.mutable_data();
  m[0] = s->stamp_ns;
  m[1] = s->receive_ns;
  m[2] = s->flags;
  m[3] = s->missed;
  reader.drop();
  return true;
}

py::dict layout() {
  py::dict places;
  for (int i = 0; i < rd::n_fields; ++i) {
    places[rd::fields[i].name] = py::make_tuple(rd::offset_of(i), rd::fields[i].width);
  }
  return places;
}

py::dict counts(const rd::StreamCounts& c) {
  py::dict d;
  d["samples"] = c.samples.load();
  d["missed"] = c.missed.load();
  d["duplicates"] = c.duplicates.load();
  d["frozen"] = c.frozen.load();
  d["backwards"] = c.backwards.load();
  d["non_finite"] = c.non_finite.load();
  d["stalls"] = c.stalls.load();
  return d;
}

py::object judge(rd::StreamMonitor& monitor, double time, const Array& measured, bool moving, int safety_mode,
                 std::int64_t now_ns) {
  require_shape(measured, "measured", {-1});
  if (measured.shape(0) > rd::Observed::max_measured) throw std::invalid_argument("measured has more than 64 values");
  const rd::Observed o{time, measured.data(), static_cast<int>(measured.shape(0)), moving, safety_mode};
  std::uint32_t flags = 0, missed = 0;
  if (!monitor.accept(o, now_ns, flags, missed)) return py::none();
  return py::make_tuple(flags, missed);
}

py::dict statistics(const rd::Reader& r) {
  py::dict d = counts(r.monitor().counts());
  d["overruns"] = r.overruns();
  d["reconnects"] = r.reconnects();
  d["malformed"] = r.malformed();
  d["pending"] = r.pending();
  d["unsent"] = r.unsent();
  return d;
}

py::array_t<double> answered(const rd::Reader& r) {
  const auto& log = r.answered();
  const auto n = static_cast<py::ssize_t>(log.size());
  py::array_t<double> seconds({n, py::ssize_t(2)});
  for (py::ssize_t k = 0; k < n; ++k)
    for (int which = 0; which < 2; ++which)
      *seconds.mutable_data(k, which) = 1e-9 * static_cast<double>(log.at(static_cast<std::size_t>(k), which));
  return seconds;
}

py::tuple version(const rd::Reader& r) {
  const rd::Version v = r.version();
  return py::make_tuple(v.major, v.minor, v.bugfix, v.build);
}

void bind_state(py::module_& m) {
  py::native_enum<rd::StreamState>(m, "StreamState", "enum.IntEnum", "How far the robot's state stream can be trusted.")
      .value("ok", rd::StreamState::ok)
      .value("degraded", rd::StreamState::degraded)
      .value("safe", rd::StreamState::safe)
      .value("fault", rd::StreamState::fault)
      .finalize();
  py::native_enum<rd::SampleFlag>(m, "SampleFlag", "enum.IntFlag", "What is special about one received sample.")
      .value("first_after_connect", rd::first_after_connect)
      .value("frozen", rd::frozen)
      .value("clock_backwards", rd::clock_backwards)
      .value("late", rd::late)
      .finalize();
}

// Monitor alone, with the clock given by the caller: for drivers of other protocols and tests of the fault rules.
void bind_monitor(py::module_& m) {
  py::class_<rd::StreamMonitor>(m, "StreamMonitor", "The rules that judge a state stream, with the clock as argument.")
      .def(py::init([](const py::kwargs& given) {
             rd::MonitorLimits limits;
             Keywords keys(given);
             take_limits(keys, limits);
             keys.finish();
             return std::make_unique<rd::StreamMonitor>(limits);
           }),
           "Options by name: rate [Hz], degraded_gap, safe_gap [s], frozen_repeats.")
      .def("judge", &judge, py::arg("time"), py::arg("measured").noconvert(), py::arg("moving"), py::arg("safety_mode"),
           py::arg("now_ns"), "(flags, missed) of a sample of any robot, None: drop it; time [s] by its own clock.")
      .def("restart", &rd::StreamMonitor::restart, "A new connection: forget the last sample.")
      .def_property_readonly(
          "counts", [](const rd::StreamMonitor& monitor) { return counts(monitor.counts()); },
          "Counts of samples and faults.")
      .def("condition", &rd::StreamMonitor::condition, py::arg("now_ns"), "State of the stream at now_ns.")
      .def("latched", &rd::StreamMonitor::latched, py::arg("now_ns"),
           "Worst state since rearm(), or at now_ns: safe and fault stay until then.")
      .def("rearm", &rd::StreamMonitor::rearm, "Clear a latched state.")
      .def("set_connected", &rd::StreamMonitor::set_connected, py::arg("connected"),
           "Set whether the robot is connected.");
}

void bind_clock(py::module_& m) {
  py::class_<rd::ClockMap>(m, "ClockMap", "Controller time to host time by the least delayed package.")
      .def(py::init<bool>(), py::arg("follow") = true)
      .def("observe", &rd::ClockMap::observe, py::arg("controller_ns"), py::arg("receive_ns"),
           "Take in a pair of controller time and receive time [ns]; False while the offset is still being found.")
      .def("stamp", &rd::ClockMap::stamp, py::arg("controller_ns"), "Host time [ns] of a controller time [ns].")
      .def("anchor", &rd::ClockMap::anchor, "Forget the offset: a new connection, or the controller restarted.")
      .def_property_readonly("reanchored", &rd::ClockMap::reanchored, "True when the last pair renewed the offset.");
}

}  // namespace

void bind(py::module_& m) {
  py::register_exception<rd::ConnectionError>(m, "RtdeConnectionError", PyExc_ConnectionError).attr("__doc__") =
      "No RTDE connection to the robot.";
  bind_state(m);
  bind_monitor(m);
  bind_clock(m);
  m.attr("RTDE_WIDTH") = rd::sample_width;
  m.attr("RTDE_LAYOUT") = layout();
  using Release = py::call_guard<py::gil_scoped_release>;
  py::class_<rd::Reader>(m, "RtdeReader", "RTDE state reader with a receiving thread of its own.")
      .def(py::init(&make_reader),
           "Options by name: those of StreamMonitor; host, port, timeout [s], minimum_major, torque_inputs,\n"
           "ring [samples], silence [s], follow_host_clock, realtime_priority.")
      .def(
          "set_torque_loop",
          [](rd::Reader& r, std::shared_ptr<robot_dynamics::TorqueLoop> loop, const Array& torque_constant) {
            std::array<double, 6> K;
            copy_joints(K, torque_constant, "torque_constant", 6);
            r.set_loop(std::move(loop), K);
          },
          py::arg("loop"), py::arg("torque_constant").noconvert(),
          "Run this torque loop in the receiving thread; torque_constant (6,) [Nm/A].")
      .def("start", &rd::Reader::start, Release(), "Connect and start the thread.")
      .def("stop", &rd::Reader::stop, Release(), "End the thread.")
      .def("wait", &rd::Reader::wait, py::arg("timeout"), Release(),
           "Wait for a sample, at most timeout [s]; True when there is one.")
      .def("pop", &pop, py::arg("values").noconvert(), py::arg("meta").noconvert(),
           "Oldest waiting sample into values (width,) and meta (4,): stamp, receive time [ns], flags, missed; False "
           "when none.")
      .def("rearm", &rd::Reader::rearm, "Clear a latched state.")
      .def("statistics", &statistics, "Counts of samples, faults and reconnections.")
      .def_property_readonly("answered", &answered,
                             "Of the last states (N, 2) [s], N <= 8192: from arrival on this machine, and from reading "
                             "in the thread, until the torque was sent.")
      .def_property_readonly("condition", &rd::Reader::condition, "State of the stream.")
      .def_property_readonly("latched", &rd::Reader::latched, "Worst state since rearm(), or now.")
      .def_property_readonly("silence", &rd::Reader::silence, "Time since the last accepted sample [s].")
      .def_property_readonly("connected", &rd::Reader::connected, "True while connected.")
      .def_property_readonly(
          "realtime", [](const rd::Reader& r) { return r.realtime().done(); },
          "Whether real-time scheduling was permitted.")
      .def_property_readonly(
          "realtime_text", [](const rd::Reader& r) { return schedule_text(r.realtime()); },
          "The scheduling of the thread in words.")
      .def_property_readonly("version", &version, "(major, minor, bugfix, build) of the controller.")
      .def_property_readonly("rate", &rd::Reader::rate, "Sampling rate [Hz].")
      .def_property_readonly("available", &rd::Reader::available,
                             "Names of the outputs that the controller offers, of those that were asked for.")
      .def_property_readonly("last_error", &rd::Reader::last_error, "Text of the last error, empty when none.");
}

}  // namespace bindings::rtde
