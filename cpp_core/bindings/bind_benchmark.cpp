// Loops over single-sample calls, so that benchmarks and tests can time and compare them without Python in between.
#include "bindings.hpp"
#include "robot_dynamics/rnea.hpp"
#include "samples.hpp"

using namespace robot_dynamics;

namespace {

py::object repeat_rnea(const Chain& chain, const py::object& q, const py::object& qd, const py::object& qdd,
                       const py::object& out) {
  const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
  Output tau(out, x, {chain.n});
  const py::gil_scoped_release release;
  for (py::ssize_t k = 0; k < x.count; ++k) {
    const py::ssize_t at = k * chain.n;
    rnea(chain, x[0] + at, x[1] + at, x[2] + at, tau.data() + at);
  }
  return tau.array;
}

}  // namespace

void bind_benchmark(py::module_& m) {
  m.def("repeat_rnea", &repeat_rnea, py::arg("chain"), py::arg("q"), py::arg("qd"), py::arg("qdd"),
        py::arg("out") = py::none(), "rnea of one sample, called N times.");
}
