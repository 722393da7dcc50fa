#include "arguments.hpp"
#include "robot_dynamics/friction/gms.hpp"

namespace bindings::hysteresis {
using namespace robot_dynamics;

namespace {

PeriodicTable table(const Array& values, const char* name) {
  require_shape(values, name, {-1, -1});
  return PeriodicTable(static_cast<int>(values.shape(0)), static_cast<int>(values.shape(1)), values.data());
}

Elements make_gms(const Array& D, const Array& k, const Array& backlash, double max_gap) {
  require_shape(D, "D", {-1, -1});
  const double* pk = rows(k, "k", D.shape(0), D.shape(1));
  return gms(static_cast<int>(D.shape(0)), static_cast<int>(D.shape(1)), D.data(), pk, table(backlash, "backlash"),
             max_gap);
}

py::tuple spacing(int elements, double r_D, double r_k) {
  std::vector<double> D(max_elements), k(max_elements);
  gms_spacing(elements, r_D, r_k, D.data(), k.data());
  return py::make_tuple(Array(elements, D.data()), Array(elements, k.data()));
}

void bind_gms(py::module_& m) {
  py::class_<Elements>(m, "Gms", "Discrete Maxwell-slip hysteresis H in [-1, 1] of n joints.")
      .def(py::init(&make_gms), py::arg("D"), py::arg("k"), py::arg("backlash"), py::arg("max_gap") = 0.1)
      .def("reset", &Elements::reset, "Elements return to rest.")
      .def_property_readonly("valid", each(&Elements::valid),
                             "True for each joint (n,) whose state is known since the last reset or gap.")
      .def_property_readonly(
          "state",
          [](const Elements& g) {
            Array d({g.joints(), g.elements()});
            for (int i = 0; i < g.joints(); ++i)
              for (int e = 0; e < g.elements(); ++e) d.mutable_at(i, e) = g.deflection(i, e);
            return d;
          },
          "Deflections of the elements (n, elements) [rad].")
      .def(
          "run",
          [](Elements& s, const Stamps& stamps, const Array& theta, const Maybe& out) {
            const py::ssize_t N = samples(stamps), n = s.joints();
            const double* p = rows(theta, "theta", N, n);
            Array r = result(out, N, n);
            double* po = r.mutable_data();
            const std::int64_t* t = stamps.data();
            const Codes codes = run_batch(N, [&](py::ssize_t k) {
              const Status status = s.step(t[k], p + k * n, po + k * n);
              if (status == Status::dropped) hold_row(po, k, n);
              return status;
            });
            return py::make_tuple(r, codes);
          },
          py::arg("stamp_ns"), py::arg("theta"), py::arg("out") = py::none(),
          "(H (N, n), status codes (N,)) of stamps (N,) [ns] and theta (N, n) [rad].")
      .def(
          "deflections",  // regressor of the identification: d_i / B of one joint, (N, M)
          [](Elements& s, const Array& theta) {
            if (s.joints() != 1) throw std::invalid_argument("deflections needs a model of one joint");
            const py::ssize_t N = theta.ndim() == 1 ? theta.shape(0) : -1, M = s.elements();
            const double* p = row(theta, "theta", N);
            Array r({N, M});
            double* po = r.mutable_data();
            py::gil_scoped_release release;
            s.reset();
            double H[8];  // one vector: g++ warns of a store beyond a single number
            for (py::ssize_t k = 0; k < N; ++k) {
              s.step(k * 1000000, p + k, H);
              for (py::ssize_t e = 0; e < M; ++e) po[k * M + e] = s.deflection(0, e) / s.backlash()->value(0, p[k]);
            }
            return r;
          },
          py::arg("theta"),
          "Deflections over backlash (N, elements) of one joint along theta (N,) [rad]: the regressor of the "
          "identification.");
}

// parameters (n, 16): load_limit, load_power, sliding_ratio, stribeck_velocity, fv1, fv2, fv0, v0, offset, fs, eps,
// rotor_time, viscous_slope, dahl_step, bearing, bearing_span
Friction make_friction(const FrictionMap& map, const Array& span, const Array& level, const Array& load,
                       const Array& parameters, double max_gap, const Maybe& widening) {
  const py::ssize_t n = map.joints(), M = span.ndim() == 2 ? span.shape(1) : -1;
  const double *D = rows(span, "span", n, M), *c = rows(level, "level", n, M), *l = rows(load, "load", n, M);
  const auto joints = SlidingJoint::rows(rows(parameters, "parameters", n, SlidingJoint::count), static_cast<int>(n));
  return Friction(map,
                  Elements(static_cast<int>(n), static_cast<int>(M), D, c, l, {}, max_gap,
                           widening ? rows(*widening, "widening", n, 2) : nullptr),
                  joints.data());
}

Friction make_egms(const FrictionMap& map, const Elements& gms, const Array& Fc0, const Array& Fc1,
                   const Array& error) {
  const int n = map.joints();
  return egms(map, gms, row(Fc0, "fc0", n), row(Fc1, "fc1", n), table(error, "kinematic_error"));
}

// Elements of unit level: H_k (N, elements) in [-1, 1] of positions theta (N,), starting anew where `start` is true;
// step > 0 [rad]: Dahl's.
Array unit_elements(const Array& theta, const Array& span, const py::array_t<bool>& start,
                    std::array<double, 2> widening, double step) {
  const py::ssize_t N = theta.ndim() == 1 ? theta.shape(0) : -1, M = span.ndim() == 1 ? span.shape(0) : -1;
  const double *q = row(theta, "theta", N), *D = row(span, "span", M);
  if (start.ndim() != 1 || start.shape(0) != N) throw std::invalid_argument("start does not have one value per sample");
  for (py::ssize_t e = 0; e < M; ++e)
    if (!(D[e] > 0)) throw std::invalid_argument("span = " + std::to_string(D[e]) + " is not > 0");
  using namespace portable;
  struct Group {  // of elements side by side: D, H
    Vec span, H;
  };
  std::vector<Group> state(static_cast<std::size_t>(padded(static_cast<int>(M)) / lanes), {fill<Vec>(1.0), Vec{}});
  for (py::ssize_t e = 0; e < M; ++e) state[e / lanes].span[e % lanes] = D[e];
  Array result({N, M});
  double *h = result.mutable_data(), ahead = 0.0;
  const Widening wide(widening[0], widening[1]);
  for (py::ssize_t k = 0; k < N; ++k) {
    const bool anew = k == 0 || *start.data(k);
    const double moved = anew ? 0.0 : (q[k] - q[k - 1]) * wide.inverse(q[k]);
    const double before = anew ? 0.0 : ahead + moved;
    ahead = std::min(std::max(before, -step), step);
    for (py::ssize_t e = 0; e < M; e += lanes) {
      Group& g = state[e / lanes];
      if (anew) g.H = Vec{};
      const Vec slipped = least(greatest(g.H + moved / g.span, fill<Vec>(-1.0)), fill<Vec>(1.0));
      g.H = step > 0.0 ? dahl(g.H, (before - ahead) / g.span) : slipped;
      store_first(h + k * M + e, step > 0.0 ? dahl(g.H, ahead / g.span) : g.H, std::min<int>(lanes, M - e));
    }
  }
  return result;
}

// theta_r (N, n) of one piece, continued where it begins at theta again; seconds t (N,).
Array rotor_positions(const Array& t, const Array& theta, const Array& v, double T) {
  const py::ssize_t N = theta.ndim() == 2 ? theta.shape(0) : -1, n = theta.ndim() == 2 ? theta.shape(1) : -1;
  const double *seconds = row(t, "t", N), *q = rows(theta, "theta", N, n), *speed = rows(v, "v", N, n);
  if (!(T > 0.0)) throw std::invalid_argument("time = " + std::to_string(T) + " is not > 0");
  Array result({N, n});
  double* r = result.mutable_data();
  std::vector<double> last(q, q + (N > 0 ? n : 0));
  std::copy(last.begin(), last.end(), r);
  bool slides = false;
  for (py::ssize_t k = 1; k < N; ++k) {
    if (slides) std::copy_n(q + (k - 1) * n, n, last.begin());
    slides = false;
    for (py::ssize_t j = k * n; j < (k + 1) * n; ++j) {
      double& before = last[j - k * n];
      const double after = rotor_after(seconds[k] - seconds[k - 1], before, q[j], speed[j - n], speed[j], T);
      r[j] = r[j - n] + (after - before);
      before = after;
      slides = slides || std::abs(speed[j]) > Friction::slides_at;
    }
  }
  return result;
}

void bind_friction(py::module_& m) {
  m.def("rotor_positions", &rotor_positions,
        "Positions (N, n) [rad] of the rotors that drive `Friction` with rotor_time = time [s], from the link's theta "
        "[rad] and the velocity v [rad/s] measured on the rotor (N, n) at t (N,) [s].",
        py::arg("t"), py::arg("theta"), py::arg("v"), py::arg("time"));
  m.def(
      "presliding_elements", &unit_elements,
      "H_k (N, elements) of elements of spans (elements,) [rad] that widen by (a, b): Maxwell slip, or Dahl's that are "
      "moved by a play of half width step > 0 [rad].",
      py::arg("theta"), py::arg("span"), py::arg("start"), py::arg("widening") = std::array<double, 2>{},
      py::arg("step") = 0.0);
  py::class_<Friction>(m, "Friction", "Friction of n joints: sliding level, Maxwell-slip elements, viscous terms.")
      .def(py::init(&make_friction), py::arg("map"), py::arg("span"), py::arg("level"), py::arg("load"),
           py::arg("parameters"), py::arg("max_gap") = 0.1, py::arg("widening") = py::none())
      .def_static("egms", &make_egms, py::arg("map"), py::arg("gms"), py::arg("fc0"), py::arg("fc1"),
                  py::arg("kinematic_error"),
                  "E-GMS: level fc0 + fc1 tau^2 (n,) times H, and all but the Coulomb level of the map.")
      .def("reset", &Friction::reset, "Elements return to rest.")
      .def_property_readonly("valid", each(&Friction::valid),
                             "True for each joint (n,) whose state is known since the last reset or gap.")
      .def(
          "step",
          [](Friction& s, std::int64_t stamp, const Array& theta, const Array& v, const Maybe& tau, const Maybe& T,
             Array& friction) {
            const int n = s.joints();
            return s.step(stamp, row(theta, "theta", n), row(v, "v", n), row(tau, "load", n), row(T, "temperature", n),
                          row_out(friction, "friction", n));
          },
          py::arg("stamp_ns"), py::arg("theta"), py::arg("v"), py::arg("load").none(true),
          py::arg("temperature").none(true), py::arg("friction"),
          "One sample: theta, v, load, temperature (n,) [rad, rad/s, Nm, deg C]; writes friction (n,) [Nm]. Returns a "
          "Status.")
      .def(
          "run",
          [](Friction& s, const Stamps& stamps, const Array& theta, const Array& v, const Maybe& tau, const Maybe& T,
             const Maybe& out, const Maybe& rotor) {
            const py::ssize_t N = samples(stamps), n = s.joints();
            const double *pq = rows(theta, "theta", N, n), *pv = rows(v, "v", N, n);
            const double *pl = rows(tau, "load", N, n), *pt = rows(T, "temperature", N, n);
            const double* pr = rows(rotor, "rotor", N, n);
            Array r = result(out, N, n);
            double* po = r.mutable_data();
            const std::int64_t* t = stamps.data();
            const Codes codes = run_batch(N, [&](py::ssize_t k) {
              hold_row(po, k, n);
              return s.step(t[k], pq + k * n, pv + k * n, at(pl, k, n), at(pt, k, n), po + k * n, at(pr, k, n));
            });
            return py::make_tuple(r, codes);
          },
          "The same over (N, n): (friction, status codes (N,)).", py::arg("stamp_ns"), py::arg("theta"), py::arg("v"),
          py::arg("load") = py::none(), py::arg("temperature") = py::none(), py::arg("out") = py::none(),
          py::arg("rotor") = py::none());
}

}  // namespace

void bind(py::module_& m) {
  m.def("gms_spacing", &spacing, py::arg("elements"), py::arg("r_D") = 4.0, py::arg("r_k") = 2.0,
        "(D, k): slip limits and stiffnesses (elements,) in geometric spacing.");
  py::class_<PeriodicTable>(m, "PeriodicTable",
                            "Periodic curves of n joints over one turn, samples (n, K), interpolated linearly.")
      .def(py::init([](const Array& values) { return table(values, "values"); }), py::arg("values"))
      .def(
          "value",
          [](const PeriodicTable& t, const Array& theta, const Maybe& out) {
            const py::ssize_t N = theta.ndim() == 2 ? theta.shape(0) : -1, n = t.joints();
            const double* p = rows(theta, "theta", N, n);
            Array r = result(out, N, n);
            double* po = r.mutable_data();
            py::gil_scoped_release release;
            for (py::ssize_t k = 0; k < N * n; ++k) po[k] = t.value(static_cast<int>(k % n), p[k]);
            return r;
          },
          py::arg("theta"), py::arg("out") = py::none(), "Values (N, n) of the joints' curves at theta (N, n) [rad].");
  bind_gms(m);
  bind_friction(m);
}

}  // namespace bindings::hysteresis
