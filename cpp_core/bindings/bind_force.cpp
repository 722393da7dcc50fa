#include "robot_dynamics/observers/contact_force_file.hpp"
#include "stage.hpp"

namespace bindings::force {
using namespace robot_dynamics;

namespace {

ExternalForce make(const Chain& chain, const py::kwargs& given) {
  ExternalForceParameters p;
  p.frame = chain.n;
  p.gain.fill(20.0);
  p.torque_std.fill(1.0);
  p.torque_bound.fill(1e6);
  return ExternalForce(chain, given_by_name(p, given, chain.n));
}

constexpr auto out = Column::Use::write;
constexpr std::array<Column, 18> columns{{{"q"},
                                          {"qd"},
                                          {"model_torque"},
                                          {"drive_torque"},
                                          {"qdd"},
                                          {"friction"},
                                          {"friction_std"},
                                          {"payload", Column::Use::read, 0, 4},
                                          {"torque", out},
                                          {"torque_std", out},
                                          {"wrench", out, 0, 6},
                                          {"wrench_std", out, 0, 6},
                                          {"singular_value", out, 0, 1},
                                          {"contact", out, 1},
                                          {"payload_or_bias", out, 0, 1},
                                          {"contact_load", out},
                                          {"framed_wrench", out, 0, 6},
                                          {"framed_wrench_std", out, 0, 6}}};

std::string parameter_text(const std::vector<std::string>& names, const MotionState& motion,
                           const std::optional<TemperatureObserver>& temperature, bool motor_side,
                           const std::optional<FrictionStage>& friction, const ExternalForce& force,
                           const SignalAlignment& alignment, double least_rate) {
  return contact_force_text({names, force.chain(), motion.parameters(), friction, temperature, motor_side,
                             force.parameters(), alignment.parameters(), least_rate});
}

WrenchInverse inverse(const Chain& chain, const py::kwargs& given) {
  return WrenchInverse(chain, given_by_name(WrenchParameters{}, given));
}

py::tuple invert(const Chain& chain, const Array& q, const Array& tau, const Array& std, const py::kwargs& given) {
  WrenchEstimate e;
  const int n = chain.n;
  if (!inverse(chain, given).step(row(q, "q", n), row(tau, "tau", n), row(std, "std", n), e))
    throw std::invalid_argument("tau or std is not finite, or std is not positive");
  Array F(6), C({6, 6});
  std::copy(e.wrench.begin(), e.wrench.end(), F.mutable_data());
  std::copy(e.covariance.begin(), e.covariance.end(), C.mutable_data());
  return py::make_tuple(F, C, e.singular_value);
}

Array significance(const Chain& chain, const Array& q, const Array& tau, const Array& std, const py::kwargs& given) {
  const WrenchInverse solver = inverse(chain, given);
  const py::ssize_t n = chain.n, N = q.ndim() == 2 ? q.shape(0) : 0;
  const double *at_q = rows(q, "q", N, n), *at_tau = rows(tau, "tau", N, n), *at_std = rows(std, "std", N, n);
  Array out(N);
  for (py::ssize_t k = 0; k < N; ++k) {
    WrenchEstimate e;
    const bool finite = solver.step(at_q + k * n, at_tau + k * n, at_std + k * n, e);
    out.mutable_data()[k] = finite ? e.significance : std::nan("");
  }
  return out;
}

}  // namespace

void bind(py::module_& m) {
  py::native_enum<TareResult>(m, "TareResult", "enum.IntEnum", "Why a tare was refused, or that it was accepted.")
      .value("accepted", TareResult::accepted)
      .value("too_early", TareResult::too_early)
      .value("in_contact", TareResult::in_contact)
      .value("unsteady", TareResult::unsteady)
      .value("unexplained", TareResult::unexplained)
      .finalize();
  py::native_enum<PayloadCheck::Verdict>(m, "PayloadVerdict", "enum.IntEnum",
                                         "What explains a lasting external torque.")
      .value("none", PayloadCheck::Verdict::none)
      .value("payload", PayloadCheck::Verdict::payload)
      .value("bias", PayloadCheck::Verdict::bias)
      .finalize();
  py::native_enum<PayloadCheck::Answer>(m, "PayloadAnswer", "enum.IntEnum", "What the user says of a payload.")
      .value("judge", PayloadCheck::Answer::judge)
      .value("keep", PayloadCheck::Answer::keep)
      .value("refuse", PayloadCheck::Answer::refuse)
      .finalize();
  m.attr("SHARE_STD") = FrictionDriftParameters{}.share;
  m.attr("VISCOUS_STD") = FrictionDrift::viscous_std;
  m.attr("GAIN_STD") = FrictionDrift::gain_std;
  m.attr("DRY_SPAN") = DryJoints::span;
  m.attr("CONTACT_ENDS") = ContactDetector::off_ratio;
  m.attr("LEAST_SINGULAR_VALUE") = WrenchInverse::least;
  py::class_<ExternalForce> c(m, "ExternalForce",
                              "External joint torque, wrench at the TCP and contact (see docs/force.md).");
  c.def(py::init(&make), py::arg("chain"))
      .def("reset", &ExternalForce::reset, "Start again at the next sample; the bias stays.")
      .def("take_over", &ExternalForce::take_over, py::arg("other"),
           "Start with what another one of the same robot has learned: tare, payload, changes of friction.")
      .def("tare", &ExternalForce::tare, "Take the present external torque as bias; says why it was refused.")
      .def_property(
          "bias", [](const ExternalForce& s) { return Array(s.joints(), s.bias()); },
          [](ExternalForce& s, const Array& bias) {
            const double* given = row(bias, "bias", s.joints());
            require_each("bias", given, s.joints(), -1e6, 1e6);
            s.set_bias(given);
          },
          "Bias of the external torque (n,) [Nm].")
      .def_property_readonly(
          "moved_zero",
          [](const ExternalForce& s) {
            Array zero(s.joints());
            s.moved_zero(zero.mutable_data());
            return zero;
          },
          "What motion has shown that the zero of each torque is off (n,) [Nm]: a tare takes it off.")
      .def_property_readonly(
          "friction_drift",
          [](const ExternalForce& s) {
            const py::ssize_t n = s.joints(), k = FrictionDrift::taken;
            Array value({n, k}), covariance({n, k, k});
            for (int i = 0; i < n; ++i)
              s.drift().state(i, value.mutable_data() + k * i, covariance.mutable_data() + k * k * i);
            return py::make_tuple(value, covariance);
          },
          "Beyond the robot file: viscosity [Nm s/rad], shares of friction and drive torque (n, 3), covariance.")
      .def_property_readonly(
          "payload_verdict", [](const ExternalForce& s) { return s.payload().verdict(); },
          "What explains a lasting external torque.")
      .def_property_readonly(
          "payload_error", [](const ExternalForce& s) { return Array(4, s.payload().load().theta.data()); },
          "Excess payload (4,): m [kg], mX, mY, mZ [kg m].")
      .def_property_readonly(
          "payload_mass_std", [](const ExternalForce& s) { return s.payload().load().mass_std(); },
          "Standard deviation of its mass [kg].")
      .def_property_readonly(
          "payload_held", [](const ExternalForce& s) { return s.payload().held(); },
          "Whether the excess payload is taken off the external torque.")
      .def("answer_payload", &ExternalForce::answer_payload, py::arg("answer"),
           "Keep or refuse a payload until `judge`, which starts anew; False: there is none to keep.")
      .def_property_readonly(
          "period", [](const ExternalForce& s) { return s.timing().period(); }, "Typical sampling time [s].")
      .def_property_readonly(
          "isolated",
          [](const ExternalForce& s) {
            std::vector<bool> isolated;
            for (int i = 0; i < s.joints(); ++i) isolated.push_back(s.health().isolated(i));
            return isolated;
          },
          "True for each joint (n,) whose sensor is not trusted.");
  def_stage(c, columns,
            "One sample: seven inputs (n,) and payload (4,) or None, ten outputs written in place. Returns a Status.",
            [](ExternalForce& s, std::int64_t stamp, const auto& x) {
              return s.step(stamp, {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]},
                            {x[8], x[9], x[10], x[11], x[12], x[13], x[14], x[15], x[16], x[17]});
            });
  m.def("contact_force_text", &parameter_text, py::arg("joint_names"), py::arg("motion"), py::arg("temperature"),
        py::arg("motor_side"), py::arg("friction"), py::arg("force"), py::arg("alignment") = py::none(),
        py::arg("least_rate") = 0.0,
        "Parameters of configured stages as the text that a C++ ContactForceEstimator reads; temperature, friction and "
        "alignment may be None.");
  m.def(
      "refused_payload",
      [](const Array& payload, double largest, double held) {
        return refused_payload(row(payload, "payload", 4), largest, held);
      },
      py::arg("payload"), py::arg("largest"), py::arg("held"),
      "Reason to refuse a named payload (4) [kg, m], empty where it is plausible. largest [kg]: what the arm carries; "
      "held [kg]: payload and last link, which can be put down.");
  m.def("invert_wrench", &invert, py::arg("chain"), py::arg("q"), py::arg("tau"), py::arg("std"),
        "Wrench (6), covariance (6, 6) and smallest singular value of joint torques tau with standard deviations std.");
  m.def(
      "wrench_significance", &significance, py::arg("chain"), py::arg("q"), py::arg("tau"), py::arg("std"),
      "How rare joint torques tau (N, n) are without any wrench, in standard deviations of one normal variable (N,).");
}

}  // namespace bindings::force
