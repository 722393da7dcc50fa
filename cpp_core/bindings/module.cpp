// The one extension module: each concept binds itself, this file lists them, a type before
// whoever mentions it: signatures name only what is bound already.
#include "bindings.hpp"

void bind_chain(py::module_&);
void bind_friction(py::module_&);
void bind_rigid_body(py::module_&);
void bind_benchmark(py::module_&);
void bind_normal_qr(py::module_&);
void bind_adaptive(py::module_&);
void bind_plant(py::module_&);
void bind_rtde(py::module_&);
void bind_torque(py::module_&);
void bind_torque_link(py::module_&);
void bind_controllers(py::module_&);
void bind_guard(py::module_&);
void bind_hysteresis(py::module_&);
void bind_temperature(py::module_&);
void bind_stiffness(py::module_&);
void bind_rotor_friction(py::module_&);
void bind_friction_stage(py::module_&);
void bind_motion(py::module_&);
void bind_force(py::module_&);
void bind_power(py::module_&);

PYBIND11_MODULE(_core, m) {
  m.doc() = "C++ core of robot_dynamics_ros: equations, observers, controllers and the simulated plant.";
  bind_chain(m);
  bind_friction(m);
  bind_rigid_body(m);
  bind_normal_qr(m);
  bind_adaptive(m);
  bind_plant(m);
  bind_controllers(m);
  bind_guard(m);
  bind_hysteresis(m);
  bind_temperature(m);
  bind_stiffness(m);
  bind_rotor_friction(m);
  bind_friction_stage(m);
  bind_motion(m);
  bind_force(m);
  bind_power(m);
  bind_torque(m);
  bind_torque_link(m);
  bind_rtde(m);
  bind_benchmark(m);
}
