// Temperature, stiffness, wear and rotor friction observers.
#include "batch.hpp"
#include "copies.hpp"
#include "robot_dynamics/chain.hpp"
#include "robot_dynamics/friction_observer.hpp"
#include "robot_dynamics/stiffness.hpp"
#include "robot_dynamics/temperature_observer.hpp"
#include "robot_dynamics/wear.hpp"

using namespace robot_dynamics;

namespace {

std::vector<double> numbers(const Array& a, const char* name) {
  require_shape(a, name, {-1});
  return std::vector<double>(a.data(), a.data() + a.size());
}

template <class R, class T, class F>
std::vector<R> each(const T& t, F member) {
  std::vector<R> x(t.joints());
  for (int i = 0; i < t.joints(); ++i) x[i] = (t.*member)(i);
  return x;
}

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

void bind_temperature(py::module_& m) {
  using O = TemperatureOptions;
  py::class_<O>(m, "TemperatureOptions")
      .def(py::init<>())
      .def_readwrite("ambient", &O::ambient)
      .def_readwrite("low", &O::low)
      .def_readwrite("high", &O::high)
      .def_readwrite("rate_limit", &O::rate_limit)
      .def_readwrite("moving", &O::moving)
      .def_readwrite("convergence_time", &O::convergence_time)
      .def_readwrite("observe_time", &O::observe_time)
      .def_readwrite("rearm_time", &O::rearm_time)
      .def_readwrite("initial_std", &O::initial_std)
      .def_readwrite("model_std", &O::model_std)
      .def_readwrite("observed_std", &O::observed_std)
      .def_readwrite("housing_std", &O::housing_std)
      .def_readwrite("max_gap", &O::max_gap);
  using T = TemperatureObserver;
  py::class_<T> c(m, "TemperatureObserver", "Lubricant temperature of n joints: heat balance, corrected by friction.");
  bind_copies(c);
  c.def(py::init(&make_temperature), py::arg("map"), py::arg("heat"), py::arg("gain"), py::arg("options"))
      .def("reset", &T::reset)
      .def("set_initial", &T::set_initial, py::arg("joint"), py::arg("lubricant"), py::arg("housing"),
           py::arg("variance"))
      .def("set_ambient", &T::set_ambient, py::arg("ambient"))
      .def("cool_down", &T::cool_down, py::arg("seconds"))
      .def_property_readonly("temperature", [](const T& t) { return each<double>(t, &T::temperature); })
      .def_property_readonly("housing", [](const T& t) { return each<double>(t, &T::housing); })
      .def_property_readonly("variance", [](const T& t) { return each<double>(t, &T::variance); })
      .def_property_readonly("armed", [](const T& t) { return each<bool>(t, &T::armed); })
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
          py::arg("housing").none(true), py::arg("contact").none(true), py::arg("temperature"), py::arg("variance"))
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
          py::arg("variance") = py::none());
  m.def("heat_balance", &balance, py::arg("heat"), py::arg("stamp_ns"), py::arg("base"), py::arg("stribeck"),
        py::arg("factors"), py::arg("ambient"), py::arg("T"), py::arg("Th"));
}

RlsOptions rls_options(int powers, double phi_ref, double time_constant, double delta, const std::vector<double>& P0) {
  RlsOptions o;
  o.powers = powers;
  o.phi_ref = phi_ref;
  o.time_constant = time_constant;
  o.delta = delta;
  for (std::size_t p = 0; p < P0.size() && p < max_powers; ++p) o.P0[p] = P0[p];
  validate(o);
  return o;
}

Array coefficients(const StiffnessEstimator& s) {
  const int n = s.joints(), P = s.rls(0).powers();
  Array a({n, P});
  for (int i = 0; i < n; ++i)
    for (int p = 0; p < P; ++p) a.mutable_at(i, p) = s.rls(i).coefficient(p);
  return a;
}

Array covariance(const RlsDf& r) {
  const int P = r.powers();
  Array a({P, P});
  for (int i = 0; i < P; ++i)
    for (int j = 0; j < P; ++j) a.mutable_at(i, j) = r.covariance(i, j);
  return a;
}

void bind_rls(py::module_& m) {
  py::class_<RlsDf>(m, "RlsDf", "RLS with directional forgetting for one joint's elastic torque.")
      .def(py::init([](int powers, double phi_ref, double time_constant, double delta, const std::vector<double>& P0) {
             return RlsDf(rls_options(powers, phi_ref, time_constant, delta, P0));
           }),
           py::arg("powers") = 2, py::arg("phi_ref") = 1e-3, py::arg("time_constant") = 20.0, py::arg("delta") = 100.0,
           py::arg("P0") = std::vector<double>{1e9, 1e18, 1e27, 1e36})
      .def("reset", &RlsDf::reset)
      .def("update", &RlsDf::update, py::arg("phi"), py::arg("torque"), py::arg("dt"))
      .def(
          "run",  // the same over phi and torque (N,) at a constant dt; returns the errors (N,)
          [](RlsDf& r, const Array& phi, const Array& torque, double dt) {
            const py::ssize_t N = phi.ndim() == 1 ? phi.shape(0) : -1;
            const double *p = row(phi, "phi", N), *y = row(torque, "torque", N);
            Array errors(N);
            double* e = errors.mutable_data();
            py::gil_scoped_release release;
            for (py::ssize_t k = 0; k < N; ++k) e[k] = r.update(p[k], y[k], dt);
            return errors;
          },
          py::arg("phi"), py::arg("torque"), py::arg("dt"))
      .def("torque", &RlsDf::torque)
      .def("stiffness", &RlsDf::stiffness)
      .def("stiffness_std", &RlsDf::stiffness_std)
      .def_property_readonly("covariance", &covariance)
      .def_property_readonly("residual_variance", &RlsDf::residual_variance)
      .def_property_readonly("explained", &RlsDf::explained)
      .def_property_readonly("coefficients", [](const RlsDf& r) {
        std::vector<double> a(r.powers());
        for (int p = 0; p < r.powers(); ++p) a[p] = r.coefficient(p);
        return a;
      });
}

// RLS-DF of several joints in one step, as the stiffness estimator runs it.
struct RlsJoints {
  std::vector<RlsDf> joints;
  py::tuple run(const Array& phi, const Array& torque, double dt, const Maybe& out) {
    const py::ssize_t N = phi.ndim() == 2 ? phi.shape(0) : -1, n = static_cast<py::ssize_t>(joints.size());
    const double *p = rows(phi, "phi", N, n), *y = rows(torque, "torque", N, n);
    Array errors = result(out, N, n);
    double* e = errors.mutable_data();
    std::array<bool, max_joints> all;
    all.fill(true);
    {
      py::gil_scoped_release release;
      for (py::ssize_t k = 0; k < N * n; k += n)
        RlsDf::update_each(joints.data(), static_cast<int>(n), p + k, y + k, dt, all.data(), e + k);
    }
    Array a({n, py::ssize_t(joints[0].powers())});
    for (py::ssize_t i = 0; i < n; ++i)
      for (int k = 0; k < joints[i].powers(); ++k) a.mutable_at(i, k) = joints[i].coefficient(k);
    return py::make_tuple(errors, a);
  }
};

void bind_rls_joints(py::module_& m) {
  py::class_<RlsJoints>(m, "RlsJoints", "RLS with directional forgetting of n joints side by side.")
      .def(py::init([](int n, int powers, double phi_ref, double time_constant, double delta,
                       const std::vector<double>& P0) {
             if (!(1 <= n && n <= max_joints)) throw std::invalid_argument("n_joints is outside 1..16");
             return RlsJoints{{std::size_t(n), RlsDf(rls_options(powers, phi_ref, time_constant, delta, P0))}};
           }),
           py::arg("n_joints"), py::arg("powers") = 2, py::arg("phi_ref") = 1e-3, py::arg("time_constant") = 20.0,
           py::arg("delta") = 100.0, py::arg("P0") = std::vector<double>{1e9, 1e18, 1e27, 1e36})
      .def("run", &RlsJoints::run, py::arg("phi"), py::arg("torque"), py::arg("dt"), py::arg("out") = py::none(),
           "Errors (N, n) and coefficients (n, P) after the last sample.");
}

void bind_stiffness(py::module_& m) {
  py::enum_<Wear>(m, "Wear", py::arithmetic(), "Wear status of a transmission.")
      .value("unknown", Wear::unknown)
      .value("ok", Wear::ok)
      .value("warn", Wear::warn)
      .value("error", Wear::error);
  using O = StiffnessOptions;
  py::class_<O>(m, "StiffnessOptions")
      .def(py::init<>())
      .def_readwrite("cutoff", &O::cutoff)
      .def_readwrite("deflection_gate", &O::deflection_gate)
      .def_readwrite("torque_gate", &O::torque_gate)
      .def_readwrite("moving", &O::moving)
      .def_readwrite("motor_std", &O::motor_std)
      .def_readwrite("link_std", &O::link_std)
      .def_readwrite("sensor_std", &O::sensor_std)
      .def_readwrite("publish_ratio", &O::publish_ratio)
      .def_readwrite("explained", &O::explained)
      .def_readwrite("learn_time", &O::learn_time)
      .def_readwrite("max_gap", &O::max_gap);
  using S = StiffnessEstimator;
  py::class_<S>(m, "StiffnessEstimator", "Transmission stiffness of n joints while they work.")
      .def(py::init([](const Array& joints, const Array& error, const O& options, int powers, double phi_ref,
                       double time_constant, double delta, const std::vector<double>& P0) {
             const py::ssize_t n = joints.ndim() == 2 ? joints.shape(0) : -1;
             const double* p = rows(joints, "joints", n, 3);
             require_shape(error, "kinematic_error", {n, -1});
             std::vector<StiffnessJoint> list(n);
             for (py::ssize_t i = 0; i < n; ++i) list[i] = {p[3 * i], p[3 * i + 1], p[3 * i + 2]};
             return S(list, rls_options(powers, phi_ref, time_constant, delta, P0), options,
                      PeriodicTable(static_cast<int>(n), static_cast<int>(error.shape(1)), error.data()));
           }),
           py::arg("joints"), py::arg("kinematic_error"), py::arg("options"), py::arg("powers") = 2,
           py::arg("phi_ref") = 1e-3, py::arg("time_constant") = 20.0, py::arg("delta") = 100.0,
           py::arg("P0") = std::vector<double>{1e9, 1e18, 1e27, 1e36})
      .def("reset", &S::reset)
      .def_property_readonly("coefficients", &coefficients)
      .def("covariance", [](const S& s, int joint) { return covariance(s.rls(joint)); })
      .def(
          "set_coefficients",
          [](S& s, const Array& a) {
            const double* p = rows(a, "a", s.joints(), s.rls(0).powers());
            for (int i = 0; i < s.joints(); ++i)
              for (int k = 0; k < s.rls(0).powers(); ++k) s.rls(i).set_coefficient(k, p[i * s.rls(0).powers() + k]);
          },
          py::arg("a"))
      .def(
          "set_baseline",
          [](S& s, const Array& a, double T, double warn, double error, double hold, double band) {
            s.set_baseline(rows(a, "a", s.joints(), s.rls(0).powers()), T, {warn, error, hold, band, 2.0});
          },
          py::arg("a"), py::arg("temperature"), py::arg("warn"), py::arg("error"), py::arg("hold"),
          py::arg("temperature_band"))
      .def_property_readonly("wear", [](const S& s) { return each<Wear>(s, &S::wear); })
      .def_property_readonly("wear_drop", [](const S& s) { return each<double>(s, &S::wear_drop); })
      .def_property_readonly("confidence", [](const S& s) { return each<double>(s, &S::confidence); })
      .def_property_readonly("deflection", [](const S& s) { return each<double>(s, &S::deflection); })
      .def(
          "step",
          [](S& s, std::int64_t stamp, const Array& theta, const Array& q, const Maybe& omega, const Maybe& motor,
             const Maybe& friction, const Maybe& link, const Maybe& sensor, const Maybe& temperature, Array& k,
             Array& k_std) {
            const int n = s.joints();
            require_shape(k, "stiffness", {n});
            require_shape(k_std, "stiffness_std", {n});
            const StiffnessInputs in{row(theta, "theta", n),          row(q, "q", n),
                                     row(omega, "omega", n),          row(motor, "motor_torque", n),
                                     row(friction, "friction", n),    row(link, "link_torque", n),
                                     row(sensor, "sensor_torque", n), row(temperature, "temperature", n)};
            return s.step(stamp, in, k.mutable_data(), k_std.mutable_data());
          },
          py::arg("stamp_ns"), py::arg("theta"), py::arg("q"), py::arg("omega").none(true),
          py::arg("motor_torque").none(true), py::arg("friction").none(true), py::arg("link_torque").none(true),
          py::arg("sensor_torque").none(true), py::arg("temperature").none(true), py::arg("stiffness"),
          py::arg("stiffness_std"))
      .def(
          "run",
          [](S& s, const Stamps& stamps, const Array& theta, const Array& q, const Maybe& omega, const Maybe& motor,
             const Maybe& friction, const Maybe& link, const Maybe& sensor, const Maybe& temperature, const Maybe& k,
             const Maybe& k_std) {
            const py::ssize_t N = samples(stamps), n = s.joints();
            const double *pt = rows(theta, "theta", N, n), *pq = rows(q, "q", N, n);
            const double *pw = rows(omega, "omega", N, n), *pm = rows(motor, "motor_torque", N, n);
            const double *pf = rows(friction, "friction", N, n), *pl = rows(link, "link_torque", N, n);
            const double *ps = rows(sensor, "sensor_torque", N, n), *pT = rows(temperature, "temperature", N, n);
            rows(k, "stiffness", N, n), rows(k_std, "stiffness_std", N, n);
            Array K = result(k, N, n), D = result(k_std, N, n);
            double *pk = K.mutable_data(), *pd = D.mutable_data();
            const std::int64_t* t = stamps.data();
            const Codes codes = run_batch(N, [&](py::ssize_t j) {
              if (!k) hold_row(pk, j, n);
              if (!k_std) hold_row(pd, j, n);
              const StiffnessInputs in{pt + j * n,   pq + j * n,   at(pw, j, n), at(pm, j, n),
                                       at(pf, j, n), at(pl, j, n), at(ps, j, n), at(pT, j, n)};
              return s.step(t[j], in, pk + j * n, pd + j * n);
            });
            return py::make_tuple(K, D, codes);
          },
          py::arg("stamp_ns"), py::arg("theta"), py::arg("q"), py::arg("omega") = py::none(),
          py::arg("motor_torque") = py::none(), py::arg("friction") = py::none(), py::arg("link_torque") = py::none(),
          py::arg("sensor_torque") = py::none(), py::arg("temperature") = py::none(), py::arg("stiffness") = py::none(),
          py::arg("stiffness_std") = py::none());

  py::class_<WearMonitor>(m, "WearMonitor", "Sustained relative drop of stiffness against a baseline.")
      .def(py::init([](double warn, double error, double hold, double band, double sigmas) {
             return WearMonitor({warn, error, hold, band, sigmas});
           }),
           py::arg("warn") = 0.15, py::arg("error") = 0.30, py::arg("hold") = 60.0, py::arg("temperature_band") = 10.0,
           py::arg("sigmas") = 2.0)
      .def("reset", &WearMonitor::reset)
      .def("update", &WearMonitor::update, py::arg("k"), py::arg("k_std"), py::arg("baseline"), py::arg("temperature"),
           py::arg("baseline_temperature"), py::arg("dt"))
      .def_property_readonly("level", &WearMonitor::level)
      .def_property_readonly("drop", &WearMonitor::drop);
}

void bind_rotor_friction(py::module_& m) {
  using R = RotorFrictionObserver;
  py::class_<R> c(m, "RotorFrictionObserver", "Friction from both encoders [Madsen2020 appB].");
  bind_copies(c);
  c.def(py::init([](const Array& B, const Array& L, double max_gap) {
          return R(numbers(B, "B"), numbers(L, "L"), max_gap);
        }),
        py::arg("B"), py::arg("L"), py::arg("max_gap") = 0.1)
      .def("reset", &R::reset)
      .def(
          "step",
          [](R& s, std::int64_t stamp, const Array& omega, const Array& tau_m, const Array& tau_J, Array& friction) {
            const int n = s.joints();
            require_shape(friction, "friction", {n});
            return s.step(stamp, row(omega, "omega", n), row(tau_m, "tau_m", n), row(tau_J, "tau_J", n),
                          friction.mutable_data());
          },
          py::arg("stamp_ns"), py::arg("omega"), py::arg("tau_m"), py::arg("tau_J"), py::arg("friction"))
      .def(
          "run",
          [](R& s, const Stamps& stamps, const Array& omega, const Array& tau_m, const Array& tau_J, const Maybe& out) {
            const py::ssize_t N = samples(stamps), n = s.joints();
            const double *pw = rows(omega, "omega", N, n), *pm = rows(tau_m, "tau_m", N, n);
            const double* pj = rows(tau_J, "tau_J", N, n);
            Array r = result(out, N, n);
            double* po = r.mutable_data();
            const std::int64_t* t = stamps.data();
            const Codes codes = run_batch(N, [&](py::ssize_t k) {
              if (!out) hold_row(po, k, n);
              return s.step(t[k], pw + k * n, pm + k * n, pj + k * n, po + k * n);
            });
            return py::make_tuple(r, codes);
          },
          py::arg("stamp_ns"), py::arg("omega"), py::arg("tau_m"), py::arg("tau_J"), py::arg("out") = py::none());
}

}  // namespace

void bind_joints(py::module_& m) {
  bind_temperature(m);
  bind_rls(m);
  bind_rls_joints(m);
  bind_stiffness(m);
  bind_rotor_friction(m);
}
