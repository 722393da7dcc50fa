// Stiffness of transmissions, its least squares with directional forgetting, and wear.
#include "robot_dynamics/transmission/stiffness.hpp"
#include "stage.hpp"

namespace bindings::stiffness {
using namespace robot_dynamics;

namespace {

StiffnessEstimator make_estimator(const Array& joints, const Array& error, const py::kwargs& given) {
  const py::ssize_t n = joints.ndim() == 2 ? joints.shape(0) : -1;
  const double* p = rows(joints, "joints", n, 3);
  require_shape(error, "kinematic_error", {n, -1});
  std::vector<StiffnessJoint> list(n);
  for (py::ssize_t i = 0; i < n; ++i) list[i] = {p[3 * i], p[3 * i + 1], p[3 * i + 2]};
  StiffnessOptions o;
  double time_constant = 20.0;
  Keywords keys(given);
  keys.take("cutoff", o.cutoff);
  keys.take("deflection_gate", o.deflection_gate);
  keys.take("torque_gate", o.torque_gate);
  keys.take("motor_std", o.motor_std);
  keys.take("link_std", o.link_std);
  keys.take("publish_ratio", o.publish_ratio);
  keys.take("explained", o.explained);
  keys.take("learn_time", o.learn_time);
  keys.take("time_constant", time_constant);
  keys.finish();
  return StiffnessEstimator(list, time_constant, o,
                            PeriodicTable(static_cast<int>(n), static_cast<int>(error.shape(1)), error.data()));
}

using Use = Column::Use;
constexpr std::array<Column, 10> columns{{{"theta"},
                                          {"q"},
                                          {"omega"},
                                          {"motor_torque"},
                                          {"friction"},
                                          {"link_torque"},
                                          {"sensor_torque"},
                                          {"temperature"},
                                          {"stiffness", Use::write},
                                          {"stiffness_std", Use::write}}};

Array coefficients(const StiffnessEstimator& s) {
  const int n = s.joints(), P = RlsDf::powers;
  Array a({n, P});
  for (int i = 0; i < n; ++i)
    for (int p = 0; p < P; ++p) a.mutable_at(i, p) = s.rls(i).coefficient(p);
  return a;
}

Array covariance(const RlsDf& r) {
  const int P = RlsDf::powers;
  Array a({P, P});
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j) a.mutable_at(i, j) = r.covariance(i, j);
  return a;
}

}  // namespace

void bind(py::module_& m) {
  py::native_enum<Wear>(m, "Wear", "enum.IntEnum", "Wear status of a transmission.")
      .value("unknown", Wear::unknown)
      .value("ok", Wear::ok)
      .value("warn", Wear::warn)
      .value("error", Wear::error)
      .finalize();
  using S = StiffnessEstimator;
  py::class_<S> c(m, "StiffnessEstimator", "Transmission stiffness of n joints while they work.");
  c.def(py::init(&make_estimator), py::arg("joints"), py::arg("kinematic_error"),
        "joints (n, 3): rotor inertia, damping, skew; kinematic_error (n, points) [rad]. Options by name: those of\n"
        "StiffnessOptions of the core, and time_constant [s].")
      .def("reset", &S::reset, "Forget all samples; parameters stay.")
      .def("take_over", &S::take_over, py::arg("other"),
           "Start with the stiffness and wear that another one of the same robot has learned.")
      .def_property_readonly("coefficients", &coefficients, "Coefficients (n, 2) of phi and phi^3 [Nm/rad, Nm/rad3].")
      .def(
          "covariance", [](const S& s, int joint) { return covariance(s.rls(checked_joint(s, joint))); },
          "Covariance of a joint's coefficients (2, 2).")
      .def(
          "set_baseline",
          [](S& s, const Array& a, double T, double warn, double error, double hold) {
            s.set_baseline(rows(a, "a", s.joints(), RlsDf::powers), T, {warn, error, hold});
          },
          py::arg("a"), py::arg("temperature"), py::arg("warn"), py::arg("error"), py::arg("hold"),
          "Baseline of the wear status: coefficients (n, 2) at temperature [deg C]; relative drops warn and error, "
          "hold [s].")
      .def_property_readonly("wear", each(&S::wear), "Wear status of each joint (n,).")
      .def_property_readonly("wear_drop", each(&S::wear_drop), "Relative drop of stiffness against the baseline (n,).")
      .def_property_readonly("confidence", each(&S::confidence),
                             "Confidence of the stiffness (n,): 1 certain, 0 unknown.")
      .def_property_readonly("foreign", each(&S::foreign), "Whether theta - q is no deflection of a spring (n,).");
  def_stage(c, columns,
            "One sample: theta, q, omega (n,) [rad, rad, rad/s], torques (n,) [Nm], temperature (n,) [deg C]; absent "
            "ones are None;\n"
            "writes stiffness and its standard deviation (n,) [Nm/rad]. Returns a Status.",
            [](S& s, std::int64_t stamp, const auto& x) {
              return s.step(stamp, {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]}, x[8], x[9]);
            });
}

}  // namespace bindings::stiffness
