#include "torque_cycle.hpp"

namespace bindings::torque_record {
using namespace robot_dynamics;
using bindings::torque::Record;

namespace {

void bind_modes(py::module_& m) {
  py::native_enum<TorqueMode>(m, "TorqueMode", "enum.IntEnum", "Mode of the torque loop.")
      .value("rest", TorqueMode::rest)
      .value("track", TorqueMode::track)
      .value("guide", TorqueMode::guide)
      .value("external", TorqueMode::external)
      .finalize();
  py::native_enum<EnableResult>(m, "EnableResult", "enum.IntEnum", "Result of an enable request.")
      .value("pending", EnableResult::pending)
      .value("done", EnableResult::done)
      .value("latched", EnableResult::latched)
      .value("no_state", EnableResult::no_state)
      .value("start_mismatch", EnableResult::start_mismatch)
      .value("not_smooth", EnableResult::not_smooth)
      .value("ramping", EnableResult::ramping)
      .value("stopped", EnableResult::stopped)
      .value("no_program", EnableResult::no_program)
      .value("withdrawn", EnableResult::withdrawn)
      .value("not_held", EnableResult::not_held)
      .finalize();
}

void bind_torque_record(py::module_& m) {
  py::class_<Record> c(m, "TorqueRecord", "One cycle of the torque loop; record[name] is the same as the attribute.");
  const auto vector = [&c](const char* name, std::array<double, max_joints> TorqueRecord::* field, const char* text) {
    c.def_property_readonly(name, [field](const Record& r) { return Array(r.n, (r.value.*field).data()); }, text);
  };
  c.def_property_readonly(
       "stamp_ns", [](const Record& r) { return r.value.stamp_ns; }, "Stamp of the state [ns].")
      .def_property_readonly(
          "state", [](const Record& r) { return GuardState(r.value.state); }, "State of the guard.")
      .def_property_readonly(
          "reason", [](const Record& r) { return GuardReason(r.value.reason); }, "Reason of the guard's last action.")
      .def_property_readonly(
          "mode", [](const Record& r) { return TorqueMode(r.value.mode); }, "Mode of the loop.")
      .def_property_readonly(
          "status", [](const Record& r) { return Status(r.value.status); }, "Status of the controller.")
      .def_property_readonly(
          "frozen", [](const Record& r) { return r.value.frozen; }, "Bits of FreezeReason.")
      .def_property_readonly(
          "run", [](const Record& r) { return r.value.run; }, "True while torque mode must go on.")
      .def_property_readonly(
          "age", [](const Record& r) { return r.value.age; }, "Age of the command when it left [s]; negative: none.")
      .def("__getitem__", [](const py::object& r, const py::str& name) { return py::object(r.attr(name)); });
  vector("q", &TorqueRecord::q, "Position (n,) [rad].");
  vector("qd", &TorqueRecord::qd, "Velocity (n,) [rad/s].");
  vector("q_d", &TorqueRecord::q_d, "Desired position (n,) [rad].");
  vector("qd_d", &TorqueRecord::qd_d, "Desired velocity (n,) [rad/s].");
  vector("tau_d", &TorqueRecord::tau_d, "Torque of the model along the reference (n,) [Nm].");
  vector("tau", &TorqueRecord::tau, "Measured torque (n,) [Nm].");
  vector("torque", &TorqueRecord::torque, "Torque that left, after the guard (n,) [Nm].");
  vector("wanted", &TorqueRecord::wanted, "Torque of the controller, before the guard (n,) [Nm].");
  vector("friction", &TorqueRecord::friction, "Friction feedforward (n,) [Nm].");
  vector("joint_torque", &TorqueRecord::joint_torque, "Torque behind the transmission (n,) [Nm].");
  vector("correction", &TorqueRecord::correction, "Correction of the joint torque feedback (n,) [Nm].");
  vector("coulomb", &TorqueRecord::a1, "Learned scale of the Coulomb part (n,).");
  vector("viscous", &TorqueRecord::a2, "Learned viscous coefficient (n,) [Nm s/rad].");
}

}  // namespace

void bind(py::module_& m) {
  bind_modes(m);
  bind_torque_record(m);
}

}  // namespace bindings::torque_record
