#include "bindings.hpp"
#include "robot_dynamics/control/computed_torque.hpp"
#include "robot_dynamics/control/flexible_feedforward.hpp"
#include "robot_dynamics/control/hand_guiding.hpp"
#include "robot_dynamics/control/joint_torque_feedback.hpp"

namespace bindings::controllers {
using namespace robot_dynamics;

namespace {

using Joints = std::array<double, max_joints>;

Joints joints(const Array& values, const char* name, int n) {
  Joints out{};
  copy_joints(out, values, name, n);
  return out;
}

const double* input(const Array& values, const char* name, int n) {
  require_shape(values, name, {n});
  return values.data();
}

void bind_computed_torque(py::module_& m) {
  py::class_<ComputedTorque>(m, "ComputedTorque",
                             "u = f^ + M (qdd_d + v) + B (qdd_d + v) + C qd_d + g, v = -Kd e' - Kp e - Ki int e.")
      .def(py::init([](const Chain& chain, const Array& kp, const Array& kd, const Array& ki,
                       const Array& rotor_inertia, double integral_limit, bool includes_gravity) {
             ComputedTorqueGains gains;
             gains.kp = joints(kp, "kp", chain.n);
             gains.kd = joints(kd, "kd", chain.n);
             gains.ki = joints(ki, "ki", chain.n);
             gains.rotor_inertia = joints(rotor_inertia, "rotor_inertia", chain.n);
             gains.integral_limit = integral_limit;
             gains.includes_gravity = includes_gravity;
             return ComputedTorque(chain, gains);
           }),
           py::arg("chain"), py::kw_only(), py::arg("kp"), py::arg("kd"), py::arg("ki"), py::arg("rotor_inertia"),
           py::arg("integral_limit") = 0.05, py::arg("includes_gravity") = false)
      .def(
          "step",
          [](ComputedTorque& c, double dt, const Array& q, const Array& qd, const Array& q_d, const Array& qd_d,
             const Array& qdd_d, const Array& friction, Array& u, Array& tau_d) {
            const int n = c.n();
            require_shape(u, "u", {n});
            require_shape(tau_d, "tau_d", {n});
            return c.step(dt, input(q, "q", n), input(qd, "qd", n), input(q_d, "q_d", n), input(qd_d, "qd_d", n),
                          input(qdd_d, "qdd_d", n), input(friction, "friction", n), u.mutable_data(),
                          tau_d.mutable_data());
          },
          py::arg("dt"), py::arg("q").noconvert(), py::arg("qd").noconvert(), py::arg("q_d").noconvert(),
          py::arg("qd_d").noconvert(), py::arg("qdd_d").noconvert(), py::arg("friction").noconvert(),
          py::arg("u").noconvert(), py::arg("tau_d").noconvert(),
          "Torque command of one cycle: states and references (n,) [rad, rad/s, rad/s2], friction (n,) [Nm], dt [s]; "
          "writes\n"
          "u and tau_d (n,) [Nm]. Returns a Status.")
      .def("reset", &ComputedTorque::reset, "Set the integral to zero.");
}

void bind_feedforward(py::module_& m) {
  py::class_<FlexibleFeedforward>(m, "FlexibleFeedforward",
                                  "Motor torque and rotor position of a flexible-joint robot on a smooth trajectory.")
      .def(py::init([](const Chain& chain, const Array& a1, const Array& a2, const Array& rotor_inertia) {
             return FlexibleFeedforward(chain, joints(a1, "a1", chain.n), joints(a2, "a2", chain.n),
                                        joints(rotor_inertia, "rotor_inertia", chain.n));
           }),
           py::arg("chain"), py::kw_only(), py::arg("a1"), py::arg("a2"), py::arg("rotor_inertia"))
      .def(
          "step",
          [](FlexibleFeedforward& f, const Array& q, const Array& qd, const Array& qdd, const Array& jerk,
             const Array& snap) {
            const int n = f.n();
            Array tau(n), theta(n);
            f.step(input(q, "q", n), input(qd, "qd", n), input(qdd, "qdd", n), input(jerk, "jerk", n),
                   input(snap, "snap", n), tau.mutable_data(), theta.mutable_data());
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
      .def(py::init([](const Array& kp, const Array& ki, const Array& correction_limit) {
             require_shape(kp, "kp", {-1});
             const int n = static_cast<int>(kp.shape(0));
             return JointTorqueFeedback(n, joints(kp, "kp", n), joints(ki, "ki", n),
                                        joints(correction_limit, "correction_limit", n));
           }),
           py::kw_only(), py::arg("kp"), py::arg("ki"), py::arg("correction_limit"))
      .def(
          "step",
          [](JointTorqueFeedback& f, double dt, const Array& tau_Jd, const Array& tau_J, Array& correction) {
            require_shape(correction, "correction", {f.n()});
            return f.step(dt, input(tau_Jd, "tau_Jd", f.n()), input(tau_J, "tau_J", f.n()), correction.mutable_data());
          },
          py::arg("dt"), py::arg("tau_Jd").noconvert(), py::arg("tau_J").noconvert(), py::arg("correction").noconvert(),
          "One cycle of dt [s]: wanted and present joint torque (n,) [Nm]; writes correction (n,) [Nm].")
      .def("reset", &JointTorqueFeedback::reset, "Set the integral to zero.");
}

void bind_hand_guiding(py::module_& m) {
  py::class_<HandGuiding>(m, "HandGuiding",
                          "tau = C qd + g + s tau_f - Kd qd with speed damping and virtual walls [Liu2020 31].")
      .def(py::init([](const Chain& chain, const Array& damping, const Array& speed_limit, const Array& torque_limit,
                       const Array& position_lower, const Array& position_upper, const Array& wall_stiffness,
                       double wall_margin, double friction_share, bool includes_gravity) {
             const int n = chain.n;
             HandGuidingParameters p;
             p.damping = joints(damping, "damping", n);
             p.speed_limit = joints(speed_limit, "speed_limit", n);
             p.torque_limit = joints(torque_limit, "torque_limit", n);
             p.position_lower = joints(position_lower, "position_lower", n);
             p.position_upper = joints(position_upper, "position_upper", n);
             p.wall_stiffness = joints(wall_stiffness, "wall_stiffness", n);
             p.wall_margin = wall_margin;
             p.friction_share = friction_share;
             p.includes_gravity = includes_gravity;
             return HandGuiding(chain, p);
           }),
           py::arg("chain"), py::kw_only(), py::arg("damping"), py::arg("speed_limit"), py::arg("torque_limit"),
           py::arg("position_lower"), py::arg("position_upper"), py::arg("wall_stiffness"),
           py::arg("wall_margin") = 0.1, py::arg("friction_share") = 0.8, py::arg("includes_gravity") = false)
      .def(
          "step",
          [](const HandGuiding& h, const Array& q, const Array& qd, const Array& friction, Array& tau) {
            require_shape(tau, "tau", {h.n()});
            return h.step(input(q, "q", h.n()), input(qd, "qd", h.n()), input(friction, "friction", h.n()),
                          tau.mutable_data());
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
