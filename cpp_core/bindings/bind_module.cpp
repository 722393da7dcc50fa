// The extension module. Each file binds one subject; the order here puts a type before the signatures that name it.
#include "bindings.hpp"

#define SUBJECTS(each)                                                                                             \
  each(chain) each(friction) each(rigid_body) each(normal_qr) each(savitzky_golay) each(plant) each(controllers)   \
      each(guard) each(hysteresis) each(temperature) each(stiffness) each(rotor_friction) each(row_step)           \
          each(friction_stage) each(motion) each(force) each(power) each(friction_feedforward) each(torque_record) \
              each(torque) each(torque_link) each(rtde)

#define DECLARED(subject)       \
  namespace bindings::subject { \
  void bind(py::module_&);      \
  }
#define BOUND(subject) bindings::subject::bind(m);

SUBJECTS(DECLARED)

PYBIND11_MODULE(_core, m) {
  m.doc() = "C++ core of robot_dynamics_ros: equations, observers, controllers and the simulated plant.";
  SUBJECTS(BOUND)
}
