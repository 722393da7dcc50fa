// Temperature observer, and the heat balance alone.
#include "robot_dynamics/observers/measured_temperature.hpp"
#include "robot_dynamics/observers/parameter_names.hpp"
#include "stage.hpp"

namespace bindings::temperature {
using namespace robot_dynamics;

namespace {

TemperatureObserver make_temperature(const FrictionMap& map, const Array& heat, const Array& gain,
                                     const py::kwargs& given) {
  const auto options = given_by_name(TemperatureOptions{}, given);
  const int n = map.joints();
  const double* p = rows(heat, "heat", n, 4);
  std::vector<HeatParameters> parameters(n);
  for (int i = 0; i < n; ++i) parameters[i] = {p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]};
  return TemperatureObserver(map, parameters, numbers(gain, "gain"), options);
}

// The heat balance alone, for identification: T (N, 2) of lubricant and housing from the friction power at T0 (N,), its
// base and Stribeck parts scaled by the temperature factors (T0, alpha, beta, gamma, delta) [Simoni2017 6, 8].
Array balance(const Array& heat, const Stamps& stamps, const Array& base, const Array& stribeck, const Array& factors,
              const Array& ambient, double T, double Th) {
  const py::ssize_t N = samples(stamps);
  const double *h = row(heat, "heat", 4), *b = row(base, "base", N), *s = row(stribeck, "stribeck", N);
  const double *f = row(factors, "factors", 5), *e = row(ambient, "ambient", N);
  const HeatParameters parameters{h[0], h[1], h[2], h[3]};
  validate(parameters, 0);
  Array r({N, py::ssize_t(2)});
  double* out = r.mutable_data();
  const std::int64_t* t = stamps.data();
  py::gil_scoped_release release;
  for (py::ssize_t k = 0; k < N; ++k) {
    const double dt = k > 0 ? 1e-9 * static_cast<double>(t[k] - t[k - 1]) : 0.0;
    if (dt > 0) {
      const double power = heat_power(b[k - 1], s[k - 1], f, T);
      const TwoTemperatures x = advance(parameters, {T, Th}, power, e[k - 1], dt);
      T = x.lubricant;
      Th = x.housing;
    }
    out[2 * k] = T;
    out[2 * k + 1] = Th;
  }
  return r;
}

using Use = Column::Use;
constexpr std::array<Column, 7> columns{{{"v"},
                                         {"load"},
                                         {"friction"},
                                         {"housing"},
                                         {"contact", Use::read, 1},
                                         {"temperature", Use::write},
                                         {"variance", Use::write}}};

}  // namespace

void bind(py::module_& m) {
  using T = TemperatureObserver;
  py::class_<T> c(m, "TemperatureObserver", "Lubricant temperature of n joints: heat balance, corrected by friction.");
  c.def(py::init(&make_temperature), py::arg("map"), py::arg("heat"), py::arg("gain"),
        "Options by name, as in TemperatureOptions of the core.")
      .def("reset", &T::reset, "Return to the initial state.")
      .def("take_over", &T::take_over, py::arg("other"),
           "Start with the temperatures that another one of the same robot has learned.")
      .def("set_initial", &T::set_initial, py::arg("joint"), py::arg("lubricant"), py::arg("housing"),
           py::arg("variance"),
           "State after a reset of one joint: lubricant and housing [deg C], variance of the lubricant [K2].")
      .def_property_readonly("housing", each(&T::housing), "Housing temperature (n,) [deg C].")
      .def_property_readonly("armed", each(&T::armed),
                             "True for each joint (n,) whose friction may correct the temperature.");
  def_stage(
      c, columns,
      "One sample: v, load, friction, housing (n,) [rad/s, Nm, Nm, deg C], contact (n + 1,), or None; "
      "writes temperature [deg C]\n"
      "and variance [K2] (n,). Returns a Status.",
      [](T& s, std::int64_t stamp, const auto& x) { return s.step(stamp, x[0], x[1], x[2], x[3], x[4], x[5], x[6]); });
  using M = MeasuredTemperature;
  py::class_<M> measured(m, "MeasuredTemperature",
                         "Measured temperature as that of the lubricant, without a thermal model.");
  measured.def(py::init<int>(), py::arg("joints")).def("reset", [](M&) {}, "Nothing: it has no state.");
  def_stage(measured, columns,
            "One sample as of TemperatureObserver, of which only the housing counts; Status ok, or unavailable "
            "where it is outside -20..120 deg C, or 0.",
            [](M& s, std::int64_t, const auto& x) { return s.step(x[3], x[5], x[6]); });
  m.def("possible_temperature", py::vectorize(&M::possible), py::arg("reading"),
        "Whether readings (any shape) [deg C] can be a joint's; 0 is that of a sensor which is not ready.");
  m.attr("COLDEST") = M::low;
  m.attr("HOTTEST") = M::high;
  m.def(
      "heat_balance", &balance, py::arg("heat"), py::arg("stamp_ns"), py::arg("base"), py::arg("stribeck"),
      py::arg("factors"), py::arg("ambient"), py::arg("T"), py::arg("Th"),
      "Temperatures (N, 2) of lubricant and housing [deg C] from base and Stribeck power (N,) [W] [Simoni2017 6, 8].");
}

}  // namespace bindings::temperature
