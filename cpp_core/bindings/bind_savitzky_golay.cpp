#include "bindings.hpp"
#include "robot_dynamics/signals/savitzky_golay.hpp"

namespace bindings::savitzky_golay {
using namespace robot_dynamics;

namespace {

// (signals, dt) -> derivative (signals,)
auto derivative(double (SavitzkyGolay::*of)(int, double) const) {
  return [of](const SavitzkyGolay& s, double dt) {
    Array out(s.signals());
    for (int i = 0; i < s.signals(); ++i) out.mutable_at(i) = (s.*of)(i, dt);
    return out;
  };
}

}  // namespace

void bind(py::module_& m) {
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
          "value", [](const SavitzkyGolay& s) { return Array(s.signals(), s.value()); },
          "Smoothed signals (signals,), `delay` samples ago.")
      .def("first", derivative(&SavitzkyGolay::first), py::arg("dt"),
           "First derivative (signals,) per second at the same instant; dt [s] is the sampling time.")
      .def("second", derivative(&SavitzkyGolay::second), py::arg("dt"),
           "Second derivative (signals,) per second squared at the same instant; dt [s].")
      .def("reset", &SavitzkyGolay::reset, "Forget all samples; parameters stay.")
      .def_property_readonly("ready", &SavitzkyGolay::ready, "True when a full window is there.")
      .def_property_readonly("delay", &SavitzkyGolay::delay, "Delay of all results in samples.");
}

}  // namespace bindings::savitzky_golay
