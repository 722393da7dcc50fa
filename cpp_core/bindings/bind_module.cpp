// The extension module. Each file binds one subject; the order below puts a type before the signatures that name it.
#include "bindings.hpp"

namespace bindings::chain {
void bind(py::module_&);
}
namespace bindings::friction {
void bind(py::module_&);
}
namespace bindings::rigid_body {
void bind(py::module_&);
}
namespace bindings::normal_qr {
void bind(py::module_&);
}
namespace bindings::savitzky_golay {
void bind(py::module_&);
}
namespace bindings::plant {
void bind(py::module_&);
}
namespace bindings::controllers {
void bind(py::module_&);
}
namespace bindings::guard {
void bind(py::module_&);
}
namespace bindings::hysteresis {
void bind(py::module_&);
}
namespace bindings::temperature {
void bind(py::module_&);
}
namespace bindings::stiffness {
void bind(py::module_&);
}
namespace bindings::row_step {
void bind(py::module_&);
}
namespace bindings::rotor_friction {
void bind(py::module_&);
}
namespace bindings::friction_stage {
void bind(py::module_&);
}
namespace bindings::motion {
void bind(py::module_&);
}
namespace bindings::force {
void bind(py::module_&);
}
namespace bindings::power {
void bind(py::module_&);
}
namespace bindings::friction_feedforward {
void bind(py::module_&);
}  // namespace bindings::friction_feedforward
namespace bindings::torque_record {
void bind(py::module_&);
}  // namespace bindings::torque_record
namespace bindings::torque {
void bind(py::module_&);
}
namespace bindings::torque_link {
void bind(py::module_&);
}
namespace bindings::rtde {
void bind(py::module_&);
}

PYBIND11_MODULE(_core, m) {
  m.doc() = "C++ core of robot_dynamics_ros: equations, observers, controllers and the simulated plant.";
  bindings::chain::bind(m);
  bindings::friction::bind(m);
  bindings::rigid_body::bind(m);
  bindings::normal_qr::bind(m);
  bindings::savitzky_golay::bind(m);
  bindings::plant::bind(m);
  bindings::controllers::bind(m);
  bindings::guard::bind(m);
  bindings::hysteresis::bind(m);
  bindings::temperature::bind(m);
  bindings::stiffness::bind(m);
  bindings::rotor_friction::bind(m);
  bindings::row_step::bind(m);
  bindings::friction_stage::bind(m);
  bindings::motion::bind(m);
  bindings::force::bind(m);
  bindings::power::bind(m);
  bindings::friction_feedforward::bind(m);
  bindings::torque_record::bind(m);
  bindings::torque::bind(m);
  bindings::torque_link::bind(m);
  bindings::rtde::bind(m);
}
