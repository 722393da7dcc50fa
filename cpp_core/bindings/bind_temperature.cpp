// Temperature observer, and the heat balance alone.
#include "batch.hpp"
#include "robot_dynamics/observers/temperature_observer.hpp"
#include "row_step.hpp"
#include "views.hpp"

namespace bindings::temperature {
using namespace robot_dynamics;

namespace {

TemperatureObserver make_temperature(const FrictionMap& map, const Array& heat, const Array& gain,
                                     const TemperatureOptions& options) {
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

RowStep rows_of(const py::object& stage, py::ssize_t N, const py::object& v, const py::object& load,
                const py::object& friction, const py::object& housing, const py::object& contact,
                const py::object& temperature, const py::object& variance) {
  TemperatureObserver& s = stage.cast<TemperatureObserver&>();
  const py::ssize_t n = s.joints();
  const double *pv = views::in(v, "v", {N, n}), *pl = views::maybe(load, "load", {N, n});
  const double *pf = views::maybe(friction, "friction", {N, n}), *ph = views::maybe(housing, "housing", {N, n});
  const double* pc = views::maybe(contact, "contact", {N, n + 1});
  double *pT = views::out(temperature, "temperature", {N, n}), *pV = views::out(variance, "variance", {N, n});
  const auto step = [=, &s](std::int64_t stamp, py::ssize_t k) {
    return s.step(stamp, pv + k * n, at(pl, k, n), at(pf, k, n), at(ph, k, n), at(pc, k, n + 1), pT + k * n,
                  pV + k * n);
  };
  return {step, N, stage, py::make_tuple(v, load, friction, housing, contact, temperature, variance)};
}

// The measured temperature as estimate, where the friction law has no thermal part.
Status pass_on(const Array& measured, double low, double high, double expected, Array& temperature, Array& variance) {
  const py::ssize_t n = measured.size();
  const double* z = row(measured, "measured", n);
  require_shape(temperature, "temperature", {n});
  require_shape(variance, "variance", {n});
  double *T = temperature.mutable_data(), *V = variance.mutable_data();
  bool all = true;
  for (py::ssize_t i = 0; i < n; ++i) {
    const bool good = low <= z[i] && z[i] <= high;
    T[i] = good ? z[i] : NAN;
    V[i] = good ? expected : NAN;
    all = all && good;
  }
  return all ? Status::degraded : Status::unavailable;
}

}  // namespace

void bind(py::module_& m) {
  using O = TemperatureOptions;
  py::class_<O>(m, "TemperatureOptions", "Options of the temperature observer.")
      .def(py::init<>())
      .def_readwrite("ambient", &O::ambient, "Ambient temperature [deg C].")
      .def_readwrite("low", &O::low, "Lower bound of the temperature [deg C].")
      .def_readwrite("high", &O::high, "Upper bound of the temperature [deg C].")
      .def_readwrite("rate_limit", &O::rate_limit, "Largest rate of the correction [K/s].")
      .def_readwrite("moving", &O::moving, "Speed above which a joint counts as moving [rad/s].")
      .def_readwrite("convergence_time", &O::convergence_time,
                     "Time constant of the correction without a given gain [s].")
      .def_readwrite("observe_time", &O::observe_time, "Time of correction before the gate closes [s].")
      .def_readwrite("rearm_time", &O::rearm_time, "Time from closing to arming again [s].")
      .def_readwrite("initial_std", &O::initial_std, "Standard deviation after a reset [K].")
      .def_readwrite("housing_sensor", &O::housing_sensor, "False: the robot has no housing sensor.")
      .def_readwrite("max_gap", &O::max_gap, "Longest gap between samples [s].");
  using T = TemperatureObserver;
  py::class_<T> c(m, "TemperatureObserver", "Lubricant temperature of n joints: heat balance, corrected by friction.");
  c.def(py::init(&make_temperature), py::arg("map"), py::arg("heat"), py::arg("gain"), py::arg("options"))
      .def("reset", &T::reset, "Return to the initial state.")
      .def("set_initial", &T::set_initial, py::arg("joint"), py::arg("lubricant"), py::arg("housing"),
           py::arg("variance"),
           "State after a reset of one joint: lubricant and housing [deg C], variance of the lubricant [K2].")
      .def("set_ambient", &T::set_ambient, py::arg("ambient"), "Ambient temperature [deg C].")
      .def("cool_down", &T::cool_down, py::arg("seconds"),
           "Advance the heat balance by `seconds` without friction power.")
      .def_property_readonly(
          "temperature", [](const T& t) { return each<double>(t, &T::temperature); },
          "Lubricant temperature (n,) [deg C].")
      .def_property_readonly(
          "housing", [](const T& t) { return each<double>(t, &T::housing); }, "Housing temperature (n,) [deg C].")
      .def_property_readonly(
          "variance", [](const T& t) { return each<double>(t, &T::variance); },
          "Variance of the lubricant temperature (n,) [K2].")
      .def_property_readonly(
          "armed", [](const T& t) { return each<bool>(t, &T::armed); },
          "True for each joint (n,) whose friction may correct the temperature.")
      .def(
          "step",
          [](T& s, std::int64_t stamp, const Array& v, const Maybe& load, const Maybe& friction, const Maybe& housing,
             const Maybe& contact, Array& temperature, Array& variance) {
            const int n = s.joints();
            require_shape(temperature, "temperature", {n});
            require_shape(variance, "variance", {n});
            return s.step(stamp, row(v, "v", n), row(load, "load", n), row(friction, "friction", n),
                          row(housing, "housing", n), row(contact, "contact", n + 1), temperature.mutable_data(),
                          variance.mutable_data());
          },
          py::arg("stamp_ns"), py::arg("v"), py::arg("load").none(true), py::arg("friction").none(true),
          py::arg("housing").none(true), py::arg("contact").none(true), py::arg("temperature"), py::arg("variance"),
          "One sample: v, load, friction, housing (n,) [rad/s, Nm, Nm, deg C], contact (n + 1,), or None; writes "
          "temperature [deg C]\n"
          "and variance [K2] (n,). Returns a Status.")
      .def(
          "run",
          [](T& s, const Stamps& stamps, const Array& v, const Maybe& load, const Maybe& friction, const Maybe& housing,
             const Maybe& contact, const Maybe& temperature, const Maybe& variance) {
            const py::ssize_t N = samples(stamps), n = s.joints();
            const double *pv = rows(v, "v", N, n), *pl = rows(load, "load", N, n);
            const double *pf = rows(friction, "friction", N, n), *ph = rows(housing, "housing", N, n);
            const double* pc = rows(contact, "contact", N, n + 1);
            rows(temperature, "temperature", N, n), rows(variance, "variance", N, n);
            Array T = result(temperature, N, n), V = result(variance, N, n);
            double *pT = T.mutable_data(), *pV = V.mutable_data();
            const std::int64_t* t = stamps.data();
            const Codes codes = run_batch(N, [&](py::ssize_t k) {
              if (!temperature) hold_row(pT, k, n);
              if (!variance) hold_row(pV, k, n);
              return s.step(t[k], pv + k * n, at(pl, k, n), at(pf, k, n), at(ph, k, n), at(pc, k, n + 1), pT + k * n,
                            pV + k * n);
            });
            return py::make_tuple(T, V, codes);
          },
          py::arg("stamp_ns"), py::arg("v"), py::arg("load") = py::none(), py::arg("friction") = py::none(),
          py::arg("housing") = py::none(), py::arg("contact") = py::none(), py::arg("temperature") = py::none(),
          py::arg("variance") = py::none(),
          "(temperature [deg C], variance [K2], status codes): (N, n), (N, n), (N,); arguments as in step(), (N, ...) "
          "each.");
  c.def("rows", &rows_of, py::arg("N"), py::arg("v"), py::arg("load"), py::arg("friction"), py::arg("housing"),
        py::arg("contact"), py::arg("temperature"), py::arg("variance"),
        "RowStep over N records; arguments as in run(), None where a signal is absent.");
  m.def("pass_temperature", &pass_on, py::arg("measured"), py::arg("low"), py::arg("high"), py::arg("expected"),
        py::arg("temperature"), py::arg("variance"),
        "Write measured (n,) [deg C] into temperature (n,) and `expected` [K2] into variance (n,), NaN where it is "
        "outside low..high; Status degraded, or unavailable where one is.");
  m.def(
      "heat_balance", &balance, py::arg("heat"), py::arg("stamp_ns"), py::arg("base"), py::arg("stribeck"),
      py::arg("factors"), py::arg("ambient"), py::arg("T"), py::arg("Th"),
      "Temperatures (N, 2) of lubricant and housing [deg C] from base and Stribeck power (N,) [W] [Simoni2017 6, 8].");
}

}  // namespace bindings::temperature
