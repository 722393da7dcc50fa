#include "arguments.hpp"
#include "robot_dynamics/control/guard.hpp"

namespace bindings::guard {
using namespace robot_dynamics;

namespace {

GuardLimits make_limits(const py::kwargs& given) {
  GuardLimits limits;
  Keywords keys(given);
  const int n = limits.n = keys.joints("torque");
  keys.need("torque", limits.torque, n);
  keys.need("torque_rate", limits.torque_rate, n);
  keys.need("velocity", limits.velocity, n);
  keys.need("position_lower", limits.position_lower, n);
  keys.need("position_upper", limits.position_upper, n);
  keys.need("deceleration", limits.deceleration, n);
  keys.take("includes_gravity", limits.semantics.includes_gravity);
  keys.take("link_side", limits.semantics.link_side);
  keys.take("cycle", limits.cycle);
  keys.take("degraded_gap", limits.degraded_gap);
  keys.take("safe_gap", limits.safe_gap);
  keys.take("ramp", limits.ramp);
  keys.take("enable_timeout", limits.enable_timeout);
  keys.finish();
  validate(limits);
  return limits;
}

}  // namespace

void bind(py::module_& m) {
  py::native_enum<GuardState>(m, "GuardState", "enum.IntEnum", "State of the torque guard; safe and fault are latched.")
      .value("idle", GuardState::idle)
      .value("ok", GuardState::ok)
      .value("degraded", GuardState::degraded)
      .value("safe", GuardState::safe)
      .value("fault", GuardState::fault)
      .finalize();
  py::native_enum<GuardReason>(m, "GuardReason", "enum.IntEnum", "Why the guard last acted.")
      .value("none", GuardReason::none)
      .value("command_not_finite", GuardReason::command_not_finite)
      .value("semantics", GuardReason::semantics)
      .value("magnitude", GuardReason::magnitude)
      .value("rate", GuardReason::rate)
      .value("command_age", GuardReason::command_age)
      .value("state_not_finite", GuardReason::state_not_finite)
      .value("state_gap", GuardReason::state_gap)
      .value("state_frozen", GuardReason::state_frozen)
      .value("state_clock", GuardReason::state_clock)
      .value("velocity", GuardReason::velocity)
      .value("position", GuardReason::position)
      .value("publisher", GuardReason::publisher)
      .value("robot_stopped", GuardReason::robot_stopped)
      .value("enable_lost", GuardReason::enable_lost)
      .value("external", GuardReason::external)
      .value("program_ended", GuardReason::program_ended)
      .value("tracking", GuardReason::tracking)
      .value("state_inconsistent", GuardReason::state_inconsistent)
      .finalize();
  py::class_<GuardLimits>(m, "GuardLimits", "Limits of the torque guard, SI units, per joint.")
      .def(py::init(&make_limits), "Members of GuardLimits of the core by name: the arrays (n,), and what differs.")
      .def_property_readonly(
          "torque", [](const GuardLimits& l) { return Array(l.n, l.torque.data()); }, "Largest torque (n,) [Nm].")
      .def_property_readonly(
          "torque_rate", [](const GuardLimits& l) { return Array(l.n, l.torque_rate.data()); },
          "Largest change of torque (n,) [Nm/s].")
      .def_readonly("cycle", &GuardLimits::cycle, "Cycle time of the robot [s].");
  py::class_<Guard>(m, "Guard", "The only way a torque leaves for a robot: finite, semantics, magnitude, rate, age.")
      .def(py::init<const GuardLimits&>(), py::arg("limits"))
      .def(
          "observe",
          [](Guard& g, std::int64_t stamp_ns, const Array& q, const Array& qd) {
            g.observe(stamp_ns, row(q, "q", g.limits().n), row(qd, "qd", g.limits().n));
          },
          py::arg("stamp_ns"), py::arg("q").noconvert(), py::arg("qd").noconvert(),
          "State of the robot: stamp [ns], q, qd (n,) [rad, rad/s].")
      .def(
          "command",
          [](Guard& g, std::int64_t stamp_ns, const Array& torque, bool includes_gravity, bool link_side) {
            g.command(stamp_ns, row(torque, "torque", g.limits().n), {includes_gravity, link_side});
          },
          py::arg("stamp_ns"), py::arg("torque").noconvert(), py::arg("includes_gravity"), py::arg("link_side"),
          "Torque command (n,) [Nm] with its stamp [ns] and semantics.")
      .def(
          "step",
          [](Guard& g, std::int64_t now_ns, Array& out) { return g.step(now_ns, row_out(out, "out", g.limits().n)); },
          py::arg("now_ns"), py::arg("out").noconvert(),
          "Writes the torque that may leave at now_ns into out (n,) [Nm]; returns the state.")
      .def("pass_time", &Guard::pass, py::arg("host_seconds"), "Seconds of the host's clock since the last call.")
      .def("enable", &Guard::enable, py::arg("now_ns"), "Start passing torques; refused while latched.")
      .def("refresh", &Guard::refresh, py::arg("now_ns"), "The enable device is still held at now_ns.")
      .def("disable", &Guard::disable, "Ramp the torque out, then idle.")
      .def("rearm", &Guard::rearm,
           "Lead a latched safe or fault state back to idle; False when nothing is latched or the ramp still runs.")
      .def("trip", &Guard::trip, py::arg("reason"), py::arg("hard") = false,
           "Report a fault found elsewhere; hard: without a ramp.")
      .def("count", &Guard::count, py::arg("reason"), "How often the guard acted for this reason.")
      .def_property_readonly("state", &Guard::state, "State of the guard.")
      .def_property_readonly("reason", &Guard::reason, "Reason of the last action.")
      .def_property_readonly("command_age", &Guard::command_age, "Age of the last command [s]; negative: none.");
}

}  // namespace bindings::guard
