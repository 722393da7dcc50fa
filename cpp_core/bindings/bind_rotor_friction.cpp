// Friction from both encoders.
#include "batch.hpp"
#include "robot_dynamics/observers/friction_observer.hpp"

namespace bindings::rotor_friction {
using namespace robot_dynamics;

void bind(py::module_& m) {
  using R = RotorFrictionObserver;
  py::class_<R> c(m, "RotorFrictionObserver", "Friction from both encoders [Madsen2020 appB].");
  c.def(py::init([](const Array& B, const Array& L, double max_gap) {
          return R(numbers(B, "B"), numbers(L, "L"), max_gap);
        }),
        py::arg("B"), py::arg("L"), py::arg("max_gap") = 0.1)
      .def("reset", &R::reset, "Start again at the next sample.")
      .def(
          "step",
          [](R& s, std::int64_t stamp, const Array& omega, const Array& tau_m, const Array& tau_J, Array& friction) {
            const int n = s.joints();
            require_shape(friction, "friction", {n});
            return s.step(stamp, row(omega, "omega", n), row(tau_m, "tau_m", n), row(tau_J, "tau_J", n),
                          friction.mutable_data());
          },
          py::arg("stamp_ns"), py::arg("omega"), py::arg("tau_m"), py::arg("tau_J"), py::arg("friction"),
          "One sample: rotor velocity (n,) [rad/s], motor and joint torque (n,) [Nm]; writes friction (n,) [Nm]. "
          "Returns a Status.")
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
          py::arg("stamp_ns"), py::arg("omega"), py::arg("tau_m"), py::arg("tau_J"), py::arg("out") = py::none(),
          "(friction (N, n) [Nm], status codes (N,)); arguments as in step(), (N, n) each.");
}

}  // namespace bindings::rotor_friction
