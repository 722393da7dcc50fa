#include "arguments.hpp"
#include "robot_dynamics/control/computed_torque.hpp"
#include "robot_dynamics/control/flexible_feedforward.hpp"
#include "robot_dynamics/control/hand_guiding.hpp"
#include "robot_dynamics/control/joint_torque_feedback.hpp"

namespace bindings::controllers {
using namespace robot_dynamics;

namespace {

using Joints = std::array<double, max_joints>;

void bind_computed_torque(py::module_& m) {
  py::class_<ComputedTorque>(m, "ComputedTorque",
                             "u = f^ + M (qdd_d + v) + B (qdd_d + v) + C qd_d + g, v = -Kd e' - Kp e - Ki int e.")
      .def(py::init([](const Chain& chain, const py::kwargs& given) {
             ComputedTorqueGains gains;
             Keywords keys(given);
             keys.need("kp", gains.kp, chain.n);
             keys.need("kd", gains.kd, chain.n);
             keys.need("ki", gains.ki, chain.n);
             keys.need("rotor_inertia", gains.rotor_inertia, chain.n);
             keys.take("integral_limit", gains.integral_limit);
             keys.take("includes_gravity", gains.includes_gravity);
             keys.finish();
             return ComputedTorque(chain, gains);
           }),
           py::arg("chain"), "Gains (n,) by name: kp, kd, ki, rotor_inertia; integral_limit, includes_gravity.")
      .def(
          "step",
          [](ComputedTorque& c, double dt, const Array& q, const Array& qd, const Array& q_d, const Array& qd_d,
             const Array& qdd_d, const Array& friction, Array& u, Array& tau_d) {
            const int n = c.n();
            return c.step(dt, row(q, "q", n), row(qd, "qd", n), row(q_d, "q_d", n), row(qd_d, "qd_d", n),
                          row(qdd_d, "qdd_d", n), row(friction, "friction", n), row_out(u, "u", n),
                          row_out(tau_d, "tau_d", n));
          },
          py::arg("dt"), py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("q_d").noconvert(),
          py::arg("qd_d").noconvert(), py::arg("qdd_d").noconvert(), py::arg("friction").noconvert(),
          py::arg("u").noconvert(), py::arg("tau_d").noconvert(),
          "Torque command of one cycle: states and references (n,) [rad, rad/s, rad/s2], friction (n,) [Nm], dt [s]; "
          "writes\n"
          "u and tau_d (n,) [Nm]. Returns a Status.");
}

void bind_feedforward(py::module_& m) {
  py::class_<FlexibleFeedforward>(m, "FlexibleFeedforward",
                                  "Motor torque and rotor position of a flexible-joint robot on a smooth trajectory.")
      .def(py::init([](const Chain& chain, const py::kwargs& given) {
             Joints a1, a2, rotor_inertia;
             Keywords keys(given);
             keys.need("a1", a1, chain.n);
             keys.need("a2", a2, chain.n);
             keys.need("rotor_inertia", rotor_inertia, chain.n);
             keys.finish();
             return FlexibleFeedforward(chain, a1, a2, rotor_inertia);
           }),
           py::arg("chain"), "Arrays (n,) by name: a1 [Nm/rad], a2 [Nm/rad3], rotor_inertia [kg m2].")
      .def(
          "step",
          [](FlexibleFeedforward& f, const Array& q, const Array& qd, const Array& qdd, const Array& jerk,
             const Array& snap) {
            const int n = f.n();
            Array tau(n), theta(n);
            f.step(row(q, "q", n), row(qd, "qd", n), row(qdd, "qdd", n), row(jerk, "jerk", n), row(snap, "snap", n),
                   tau.mutable_data(), theta.mutable_data());
            return py::make_tuple(tau, theta);
          },
          py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("qdd").noconvert(), py::arg("jerk").noconvert(),
          py::arg("snap").noconvert(),
          "(motor torque [Nm], rotor position [rad]), (n,) each, of q, qd, qdd, jerk and snap (n,).");
}

void bind_torque_feedback(py::module_& m) {
  py::native_enum<JointTorqueSource>(m, "JointTorqueSource", "enum.IntEnum",
                                     "Where the torque behind the transmission comes from.")
      .value("none", JointTorqueSource::none)
      .value("deflection", JointTorqueSource::deflection)
      .value("sensor", JointTorqueSource::sensor)
      .finalize();
  m.def("joint_torque", &joint_torque, py::arg("a1"), py::arg("a2"), py::arg("damping"), py::arg("phi"),
        py::arg("phid"), "tau_J = (a1 + a2 phi^2) phi + D phid, Nm.");
  py::class_<JointTorqueFeedback>(m, "JointTorqueFeedback",
                                  "K_P (tau_Jd - tau_J) + K_I int (tau_Jd - tau_J) dt, bounded [Madsen2020 appB].")
      .def(py::init([](const py::kwargs& given) {
             Joints kp{}, ki{}, correction_limit{};
             Keywords keys(given);
             const int n = keys.joints("kp");
             keys.need("kp", kp, n);
             keys.need("ki", ki, n);
             keys.need("correction_limit", correction_limit, n);
             keys.finish();
             return JointTorqueFeedback(n, kp, ki, correction_limit);
           }),
           "Arrays (n,) by name: kp, ki [1/s], correction_limit [Nm].")
      .def(
          "step",
          [](JointTorqueFeedback& f, double dt, const Array& tau_Jd, const Array& tau_J, Array& correction) {
            const int n = f.n();
            return f.step(dt, row(tau_Jd, "tau_Jd", n), row(tau_J, "tau_J", n), row_out(correction, "correction", n));
          },
          py::arg("dt"), py::arg("tau_Jd").noconvert(), py::arg("tau_J").noconvert(), py::arg("correction").noconvert(),
          "One cycle of dt [s]: wanted and present joint torque (n,) [Nm]; writes correction (n,) [Nm].");
}

void bind_hand_guiding(py::module_& m) {
  py::class_<HandGuiding>(m, "HandGuiding",
                          "tau = C qd + g + s tau_f - Kd qd with speed damping and virtual walls [Liu2020 31].")
      .def(py::init([](const Chain& chain, const py::kwargs& given) {
             HandGuidingParameters p;
             Keywords keys(given);
             keys.need("damping", p.damping, chain.n);
             keys.need("speed_limit", p.speed_limit, chain.n);
             keys.need("torque_limit", p.torque_limit, chain.n);
             keys.need("position_lower", p.position_lower, chain.n);
             keys.need("position_upper", p.position_upper, chain.n);
             keys.need("wall_stiffness", p.wall_stiffness, chain.n);
             keys.take("friction_share", p.friction_share);
             keys.take("rest_share", p.rest_share);
             keys.take("includes_gravity", p.includes_gravity);
             keys.finish();
             return HandGuiding(chain, p);
           }),
           py::arg("chain"), "Members of HandGuidingParameters of the core by name, arrays (n,).")
      .def(
          "step",
          [](const HandGuiding& h, const Array& q, const Array& qd, const Array& friction, Array& tau) {
            const int n = h.n();
            return h.step(row(q, "q", n), row(qd, "qd", n), row(friction, "friction", n), row_out(tau, "tau", n));
          },
          py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("friction").noconvert(),
          py::arg("tau").noconvert(), "Torque (n,) [Nm] into tau of q, qd (n,) [rad, rad/s] and friction (n,) [Nm].");
}

}  // namespace

void bind(py::module_& m) {
  bind_computed_torque(m);
  bind_feedforward(m);
  bind_torque_feedback(m);
  bind_hand_guiding(m);
}

}  // namespace bindings::controllers
