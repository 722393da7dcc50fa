#include "bindings.hpp"
#include "robot_dynamics/drivers/torque_link.hpp"

namespace bindings::torque_link {
using namespace robot_dynamics;

void bind(py::module_& m) {
  py::native_enum<LinkFlag>(m, "LinkFlag", "enum.IntFlag",
                            "What is special about one state sent to a torque link; bits.")
      .value("stopped", link_stopped)
      .value("gap", link_gap)
      .value("backwards", link_backwards)
      .value("effort", link_effort)
      .finalize();
  py::class_<TorqueLink>(m, "TorqueLink", "Torque loop that answers states arriving on a socket, in its own thread.")
      .def(py::init<std::shared_ptr<TorqueLoop>, int, bool, int>(), py::arg("loop"), py::arg("socket"), py::kw_only(),
           py::arg("follow_host_clock") = true, py::arg("realtime_priority") = 0)
      .def("stop", &TorqueLink::stop, py::call_guard<py::gil_scoped_release>(), "End the thread.")
      .def_property_readonly("realtime", &TorqueLink::realtime, "Whether real-time scheduling was permitted.")
      .def_property_readonly("unsent", &TorqueLink::unsent, "Torques that could not be sent.")
      .def_property_readonly("malformed", &TorqueLink::malformed, "States that could not be read.");
}

}  // namespace bindings::torque_link
