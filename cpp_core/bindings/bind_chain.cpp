#include "bindings.hpp"
#include "robot_dynamics/chain.hpp"
#include "robot_dynamics/status.hpp"

using namespace robot_dynamics;

namespace {

Placement placement(const Array& T, const char* name) {
  require_shape(T, name, {4, 4});
  Placement P;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) P.R[3 * i + j] = T.at(i, j);
    P.p[i] = T.at(i, 3);
  }
  return P;
}

Chain make_chain(const Array& placements, const Array& inertia, const Array& tool, const Array& gravity) {
  const py::ssize_t n = inertia.ndim() == 2 ? inertia.shape(0) : -1;
  require_shape(inertia, "inertia", {n, link_parameters});
  require_shape(placements, "placements", {n, 4, 4});
  require_shape(gravity, "gravity", {3});
  Chain chain;
  chain.n = static_cast<int>(n);
  validate(chain);
  for (int i = 0; i < chain.n; ++i) {
    const Array T = Array::ensure(placements[py::int_(i)]);
    chain.placement[i] = placement(T, "placements");
    for (int k = 0; k < link_parameters; ++k) chain.inertia[i][k] = inertia.at(i, k);
  }
  chain.tool = placement(tool, "tool");
  for (int k = 0; k < 3; ++k) chain.gravity[k] = gravity.at(k);
  return chain;
}

}  // namespace

void bind_chain(py::module_& m) {
  py::enum_<Status>(m, "Status", py::arithmetic(), "Result of one step of a stage.")
      .value("ok", Status::ok)
      .value("warming_up", Status::warming_up)
      .value("dropped", Status::dropped)
      .value("reset", Status::reset)
      .value("degraded", Status::degraded)
      .value("saturated", Status::saturated)
      .value("unavailable", Status::unavailable)
      .value("fault", Status::fault);
  py::class_<Chain>(m, "Chain", "Serial chain of revolute joints turning about the z axis of their link frames.")
      .def(py::init(&make_chain), py::arg("placements"), py::arg("inertia"), py::arg("tool"), py::arg("gravity"))
      .def("with_payload", &with_payload, py::arg("mass"), py::arg("com"), py::arg("inertia"))
      .def_readonly("n_joints", &Chain::n)
      .def_readonly("gravity", &Chain::gravity);
}
