#include "arguments.hpp"
#include "robot_dynamics/control/friction_feedforward.hpp"

namespace bindings::friction_feedforward {
using namespace robot_dynamics;

namespace {

FrictionFeedforward make_feedforward(const Chain& chain, const FrictionStage& model, LearningLaw law,
                                     const py::kwargs& given) {
  FeedforwardOptions o;
  o.law = law;
  Keywords keys(given);
  keys.take("adaptation_time", o.adaptation_time);
  keys.take("rotor_inertia", o.rotor_inertia, chain.n);
  keys.take("contact_margin", o.contact_margin, chain.n);
  keys.take("memory", o.memory);
  keys.take("rate", o.rate);
  keys.take("window", o.window);
  keys.take("payload", o.payload);
  keys.finish();
  return FrictionFeedforward(chain, model, o);
}

std::pair<Array, Array> learned(const FrictionFeedforward& f) {
  Array coulomb(f.n()), viscous(f.n());
  f.learned(coulomb.mutable_data(), viscous.mutable_data());
  return {coulomb, viscous};
}

}  // namespace

void bind(py::module_& m) {
  py::native_enum<LearningLaw>(m, "LearningLaw", "enum.IntEnum", "How the friction feedforward learns.")
      .value("fixed", LearningLaw::fixed)
      .value("scales", LearningLaw::scales)
      .value("rls", LearningLaw::rls)
      .finalize();
  py::native_enum<FreezeReason>(m, "FreezeReason", "enum.IntFlag", "Why learning rests; bits.")
      .value("contact", freeze_contact)
      .value("saturation", freeze_saturation)
      .value("payload", freeze_payload)
      .value("thermal", freeze_thermal)
      .value("asked", freeze_asked)
      .finalize();
  py::class_<FrictionFeedforward>(m, "FrictionFeedforward", "Friction feedforward that learns [Madsen2020 ch6].")
      .def(py::init(&make_feedforward), py::arg("chain"), py::arg("model"), py::arg("law") = LearningLaw::scales,
           "Options by name: adaptation_time [s], rotor_inertia, contact_margin (n,), memory, rate, window, payload "
           "[kg].")
      .def(
          "learn",
          [](FrictionFeedforward& f, std::int64_t stamp_ns, const Array& q, const Array& tau, const Maybe& T,
             bool saturated) {
            return f.learn(stamp_ns, row(q, "q", f.n()), row(tau, "tau", f.n()), row(T, "temperature", f.n()),
                           saturated);
          },
          py::arg("stamp_ns"), py::arg("q").noconvert(), py::arg("tau").noconvert(),
          py::arg("temperature") = py::none(), py::arg("saturated") = false,
          "Learn from one measured sample: q [rad], tau [Nm] (n,), temperature (n,) [deg C] or None. Returns a Status.")
      .def(
          "predict",
          [](FrictionFeedforward& f, std::int64_t stamp_ns, const Array& q_d, const Array& qd_d, const Array& tau_d,
             const Maybe& T) {
            Array out(f.n());
            f.predict(stamp_ns, row(q_d, "q_d", f.n()), row(qd_d, "qd_d", f.n()), row(tau_d, "tau_d", f.n()),
                      row(T, "temperature", f.n()), out.mutable_data());
            return out;
          },
          py::arg("stamp_ns"), py::arg("q_d").noconvert(), py::arg("qd_d").noconvert(), py::arg("tau_d").noconvert(),
          py::arg("temperature") = py::none(), "Friction torque (n,) [Nm] along the reference q_d, qd_d, tau_d (n,).")
      .def(
          "restore",
          [](FrictionFeedforward& f, const Array& coulomb, const Array& viscous) {
            return f.restore(row(coulomb, "coulomb", f.n()), row(viscous, "viscous", f.n()));
          },
          py::arg("coulomb").noconvert(), py::arg("viscous").noconvert(),
          "Set coulomb and viscous (n,) as learned in an earlier run; False when not finite.")
      .def_property_readonly(
          "coulomb", [](const FrictionFeedforward& f) { return learned(f).first; },
          "Scale of the Coulomb part (n,); with the RLS law its level [Nm].")
      .def_property_readonly(
          "viscous", [](const FrictionFeedforward& f) { return learned(f).second; },
          "Scale of the viscous part (n,); with the RLS law its coefficient [Nm s/rad].");
  m.def("same_payload", &same_payload, py::arg("model"), py::arg("setting"),
        "Whether a controller's payload setting [kg] is that of the model: within 50 g + 2 %; False where one is NaN.");
}

}  // namespace bindings::friction_feedforward
