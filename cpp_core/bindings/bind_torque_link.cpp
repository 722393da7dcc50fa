#include "bindings.hpp"
#include "robot_dynamics/drivers/torque_link.hpp"

using namespace robot_dynamics;

void bind_torque_link(py::module_& m) {
  py::enum_<LinkFlag>(m, "LinkFlag", py::arithmetic(), "What is special about one state sent to a torque link; bits.")
      .value("stopped", link_stopped)
      .value("gap", link_gap)
      .value("backwards", link_backwards)
      .value("effort", link_effort);
  py::class_<TorqueLink>(m, "TorqueLink", "Torque loop that answers states arriving on a socket, in its own thread.")
      .def(py::init<std::shared_ptr<TorqueLoop>, int, bool, int>(), py::arg("loop"), py::arg("socket"), py::kw_only(),
           py::arg("follow_host_clock") = true, py::arg("realtime_priority") = 0)
      .def("stop", &TorqueLink::stop, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("realtime", &TorqueLink::realtime)
      .def_property_readonly("alive", &TorqueLink::alive)
      .def_property_readonly("unsent", &TorqueLink::unsent)
      .def_property_readonly("malformed", &TorqueLink::malformed);
}
