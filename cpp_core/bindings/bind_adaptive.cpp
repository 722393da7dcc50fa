#include "bindings.hpp"
#include "robot_dynamics/control/adaptive.hpp"
#include "robot_dynamics/signals/savitzky_golay.hpp"

namespace bindings::adaptive {
using namespace robot_dynamics;

namespace {

AdaptiveParameters make_parameters(const Array& gamma_coulomb, const Array& gamma_viscous, double coulomb_lower,
                                   double coulomb_upper, double viscous_lower, double viscous_upper, double omega_min,
                                   double omega_time, double max_dt, double snapshot_period) {
  require_shape(gamma_coulomb, "gamma_coulomb", {-1});
  const auto n = gamma_coulomb.shape(0);
  AdaptiveParameters p;
  p.n = static_cast<int>(n);
  copy_joints(p.gamma_coulomb, gamma_coulomb, "gamma_coulomb", n);
  copy_joints(p.gamma_viscous, gamma_viscous, "gamma_viscous", n);
  p.coulomb_lower = coulomb_lower;
  p.coulomb_upper = coulomb_upper;
  p.viscous_lower = viscous_lower;
  p.viscous_upper = viscous_upper;
  p.omega_min = omega_min;
  p.omega_time = omega_time;
  p.max_dt = max_dt;
  p.snapshot_period = snapshot_period;
  validate(p);
  return p;
}

Array copy_of(const double* values, int n) { return Array(n, values); }

}  // namespace

void bind(py::module_& m) {
  m.def("savitzky_golay_weights", &savitzky_golay_weights, py::arg("window"), py::arg("order"),
        "Centre weights of a least-squares polynomial over `window` samples.");
  py::class_<SavitzkyGolay>(m, "SavitzkyGolay",
                            "Equal-delay smoothing and differentiation of several signals [Madsen2020 ch6 6.1].")
      .def(py::init<int, int, int>(), py::arg("signals"), py::arg("window") = 101, py::arg("order") = 2)
      .def(
          "push",
          [](SavitzkyGolay& s, const Array& x) {
            require_shape(x, "x", {s.signals()});
            return s.push(x.data());
          },
          py::arg("x").noconvert(), "Take in one sample x (signals,); True when a full window is there.")
      .def(
          "value", [](const SavitzkyGolay& s) { return copy_of(s.value(), s.signals()); },
          "Smoothed signals (signals,), `delay` samples ago.")
      .def(
          "first",
          [](const SavitzkyGolay& s, double dt) {
            Array out(s.signals());
            for (int i = 0; i < s.signals(); ++i) out.mutable_at(i) = s.first(i, dt);
            return out;
          },
          py::arg("dt"), "First derivative (signals,) per second at the same instant; dt [s] is the sampling time.")
      .def(
          "second",
          [](const SavitzkyGolay& s, double dt) {
            Array out(s.signals());
            for (int i = 0; i < s.signals(); ++i) out.mutable_at(i) = s.second(i, dt);
            return out;
          },
          py::arg("dt"), "Second derivative (signals,) per second squared at the same instant; dt [s].")
      .def("reset", &SavitzkyGolay::reset, "Forget all samples; parameters stay.")
      .def_property_readonly("ready", &SavitzkyGolay::ready, "True when a full window is there.")
      .def_property_readonly("delay", &SavitzkyGolay::delay, "Delay of all results in samples.");
  py::class_<AdaptiveParameters>(m, "AdaptiveParameters", "Gains, bounds and gates of the adaptive friction law.")
      .def(py::init(&make_parameters), py::kw_only(), py::arg("gamma_coulomb"), py::arg("gamma_viscous"),
           py::arg("coulomb_lower") = 0.4, py::arg("coulomb_upper") = 1.5, py::arg("viscous_lower") = -0.05,
           py::arg("viscous_upper") = 0.05, py::arg("omega_min") = 0.01, py::arg("omega_time") = 0.05,
           py::arg("max_dt") = 0.05, py::arg("snapshot_period") = 0.25);
  py::class_<AdaptiveFriction>(m, "AdaptiveFriction",
                               "Normalised gradient law of the friction feedforward [Madsen2020 ch6 24-28].")
      .def(py::init<const AdaptiveParameters&>(), py::arg("parameters"))
      .def(
          "step",
          [](AdaptiveFriction& a, double dt, const Array& Y1, const Array& omega, const Array& f_meas, bool frozen) {
            require_shape(Y1, "Y1", {a.n()});
            require_shape(omega, "omega", {a.n()});
            require_shape(f_meas, "f_meas", {a.n()});
            return a.step(dt, Y1.data(), omega.data(), f_meas.data(), frozen);
          },
          py::arg("dt"), py::arg("Y1").noconvert(), py::arg("omega").noconvert(), py::arg("f_meas").noconvert(),
          py::arg("frozen") = false,
          "One update: regressors Y1, omega and measured friction f_meas (n,) [-, rad/s, Nm], dt [s]; frozen: learn "
          "nothing.")
      .def(
          "friction",
          [](const AdaptiveFriction& a, const Array& Y1, const Array& omega) {
            require_shape(Y1, "Y1", {a.n()});
            require_shape(omega, "omega", {a.n()});
            Array f(a.n());
            a.friction(Y1.data(), omega.data(), f.mutable_data());
            return f;
          },
          py::arg("Y1").noconvert(), py::arg("omega").noconvert(),
          "Friction torque (n,) [Nm] of the regressors Y1 and omega (n,).")
      .def("restore", &AdaptiveFriction::restore,
           "Return to the values of at least one snapshot period ago, before a contact was detected.")
      .def("reset", &AdaptiveFriction::reset, "Return to the initial parameters.")
      .def(
          "set",
          [](AdaptiveFriction& a, const Array& coulomb, const Array& viscous) {
            require_shape(coulomb, "coulomb", {a.n()});
            require_shape(viscous, "viscous", {a.n()});
            return a.set(coulomb.data(), viscous.data());
          },
          py::arg("coulomb").noconvert(), py::arg("viscous").noconvert(),
          "Set coulomb (n,) [-] and viscous (n,) [Nm s/rad], projected into the bounds; False when not finite.")
      .def_property_readonly(
          "coulomb", [](const AdaptiveFriction& a) { return copy_of(a.coulomb(), a.n()); },
          "Scale of the Coulomb part (n,).")
      .def_property_readonly(
          "viscous", [](const AdaptiveFriction& a) { return copy_of(a.viscous(), a.n()); },
          "Viscous coefficient that was learned (n,) [Nm s/rad].");
}

}  // namespace bindings::adaptive
