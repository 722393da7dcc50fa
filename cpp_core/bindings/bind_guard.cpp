#include "bindings.hpp"
#include "robot_dynamics/control/guard.hpp"

using namespace robot_dynamics;

namespace {

GuardLimits make_limits(const Array& torque, const Array& torque_rate, const Array& velocity,
                        const Array& position_lower, const Array& position_upper, const Array& deceleration,
                        bool includes_gravity, bool link_side, double cycle, double degraded_gap, double safe_gap,
                        double ramp, double enable_timeout, int hold_cycles, int frozen_cycles, int sustained_cycles) {
  require_shape(torque, "torque", {-1});
  GuardLimits limits;
  limits.n = static_cast<int>(torque.shape(0));
  copy_joints(limits.torque, torque, "torque", limits.n);
  copy_joints(limits.torque_rate, torque_rate, "torque_rate", limits.n);
  copy_joints(limits.velocity, velocity, "velocity", limits.n);
  copy_joints(limits.position_lower, position_lower, "position_lower", limits.n);
  copy_joints(limits.position_upper, position_upper, "position_upper", limits.n);
  copy_joints(limits.deceleration, deceleration, "deceleration", limits.n);
  limits.semantics = {includes_gravity, link_side};
  limits.cycle = cycle;
  limits.degraded_gap = degraded_gap;
  limits.safe_gap = safe_gap;
  limits.ramp = ramp;
  limits.enable_timeout = enable_timeout;
  limits.hold_cycles = hold_cycles;
  limits.frozen_cycles = frozen_cycles;
  limits.sustained_cycles = sustained_cycles;
  validate(limits);
  return limits;
}

}  // namespace

void bind_guard(py::module_& m) {
  py::enum_<GuardState>(m, "GuardState", "State of the torque guard; safe and fault are latched.")
      .value("idle", GuardState::idle)
      .value("ok", GuardState::ok)
      .value("degraded", GuardState::degraded)
      .value("safe", GuardState::safe)
      .value("fault", GuardState::fault);
  py::enum_<GuardReason>(m, "GuardReason", "Why the guard last acted.")
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
      .value("program_ended", GuardReason::program_ended);
  const GuardLimits d;  // its values are the defaults
  py::class_<GuardLimits>(m, "GuardLimits", "Limits of the torque guard, SI units, per joint.")
      .def(py::init(&make_limits), py::kw_only(), py::arg("torque"), py::arg("torque_rate"), py::arg("velocity"),
           py::arg("position_lower"), py::arg("position_upper"), py::arg("deceleration"),
           py::arg("includes_gravity") = d.semantics.includes_gravity, py::arg("link_side") = d.semantics.link_side,
           py::arg("cycle") = d.cycle, py::arg("degraded_gap") = d.degraded_gap, py::arg("safe_gap") = d.safe_gap,
           py::arg("ramp") = d.ramp, py::arg("enable_timeout") = d.enable_timeout,
           py::arg("hold_cycles") = d.hold_cycles, py::arg("frozen_cycles") = d.frozen_cycles,
           py::arg("sustained_cycles") = d.sustained_cycles)
      .def_readonly("n_joints", &GuardLimits::n)
      .def_property_readonly("torque", [](const GuardLimits& l) { return Array(l.n, l.torque.data()); })
      .def_property_readonly("torque_rate", [](const GuardLimits& l) { return Array(l.n, l.torque_rate.data()); })
      .def_readonly("ramp", &GuardLimits::ramp)
      .def_readonly("cycle", &GuardLimits::cycle);
  py::class_<Guard>(m, "Guard", "The only way a torque leaves for a robot: finite, semantics, magnitude, rate, age.")
      .def(py::init<const GuardLimits&>(), py::arg("limits"))
      .def(
          "observe",
          [](Guard& g, std::int64_t stamp_ns, const Array& q, const Array& qd) {
            require_shape(q, "q", {g.limits().n});
            require_shape(qd, "qd", {g.limits().n});
            g.observe(stamp_ns, q.data(), qd.data());
          },
          py::arg("stamp_ns"), py::arg("q").noconvert(), py::arg("qd").noconvert())
      .def(
          "command",
          [](Guard& g, std::int64_t stamp_ns, const Array& torque, bool includes_gravity, bool link_side) {
            require_shape(torque, "torque", {g.limits().n});
            g.command(stamp_ns, torque.data(), {includes_gravity, link_side});
          },
          py::arg("stamp_ns"), py::arg("torque").noconvert(), py::arg("includes_gravity"), py::arg("link_side"))
      .def(
          "step",
          [](Guard& g, std::int64_t now_ns, Array& out, double host_seconds) {
            require_shape(out, "out", {g.limits().n});
            return g.step(now_ns, out.mutable_data(), host_seconds);
          },
          py::arg("now_ns"), py::arg("out").noconvert(), py::arg("host_seconds") = 0.0)
      .def("enable", &Guard::enable, py::arg("now_ns"))
      .def("refresh", &Guard::refresh, py::arg("now_ns"))
      .def("disable", &Guard::disable)
      .def("rearm", &Guard::rearm)
      .def("trip", &Guard::trip, py::arg("reason"), py::arg("hard") = false)
      .def("count", &Guard::count, py::arg("reason"))
      .def_property_readonly("state", &Guard::state)
      .def_property_readonly("reason", &Guard::reason)
      .def_property_readonly("command_age", &Guard::command_age);
}
