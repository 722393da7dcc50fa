// Bindings of controllers, friction with memory, the torque loop and the state stream of the UR, in one unit (see
// unit_models.cpp).
#include "bind_controllers.cpp"
#include "bind_friction_feedforward.cpp"
#include "bind_guard.cpp"
#include "bind_hysteresis.cpp"
#include "bind_rtde.cpp"
#include "bind_torque.cpp"
#include "bind_torque_link.cpp"
#include "bind_torque_record.cpp"
