#include "arguments.hpp"
#include "robot_dynamics/friction/friction_map.hpp"

namespace bindings::friction {
using namespace robot_dynamics;

namespace {

FrictionMap make_map(const std::string& name, const Array& parameters, const Array& reference, const Maybe& range) {
  const FrictionLaw law = friction_law(name);
  const py::ssize_t n = parameters.ndim() == 2 ? parameters.shape(0) : -1;
  require_shape(parameters, "parameters", {n, FrictionMap::parameter_count(law)});
  require_range("joints of parameters", static_cast<double>(n), 1, 16);
  const double* T0 = row(reference, "reference", n);
  return FrictionMap(law, static_cast<int>(n), parameters.data(), T0, rows(range, "range", n, 2));
}

Array map_torque(const FrictionMap& map, const Array& v, const Maybe& load, const Maybe& T, const Maybe& out) {
  const py::ssize_t n = map.joints(), N = v.ndim() == 2 ? v.shape(0) : -1;
  const double *pv = rows(v, "v", N, n), *pl = rows(load, "load", N, n), *pt = rows(T, "temperature", N, n);
  Array r = result(out, N, n);
  double* po = r.mutable_data();
  py::gil_scoped_release release;
  for (py::ssize_t k = 0; k < N; ++k) map.torque(pv + k * n, at(pl, k, n), at(pt, k, n), po + k * n);
  return r;
}

}  // namespace

void bind(py::module_& m) {
  m.def(
      "friction_parameters", [](const std::string& law) { return FrictionMap::parameter_names(friction_law(law)); },
      py::arg("law"), "Names of the parameters of a static friction law, in the order of FrictionMap's columns.");
  py::class_<FrictionMap>(m, "FrictionMap", "Static friction of n joints by one law (see docs/friction.md).")
      .def(py::init(&make_map), py::arg("law"), py::arg("parameters"), py::arg("reference"),
           py::arg("range") = py::none())
      .def("torque", &map_torque, py::arg("v"), py::arg("load") = py::none(), py::arg("temperature") = py::none(),
           py::arg("out") = py::none(),
           "Friction torque [Nm] of v (N, n) [rad/s] under load (N, n) [Nm] at temperature (N, n) [deg C].")
      .def(
          "viscous",
          [](const FrictionMap& map, int joint, double v, double T) {
            return map.viscous(checked_joint(map, joint), v, T);
          },
          "Friction beyond the Coulomb level [Nm] of one joint at velocity v [rad/s] and temperature T [deg C].")
      .def(
          "coulomb",
          [](const FrictionMap& map, int joint, double s, double T) {
            return map.coulomb(checked_joint(map, joint), s, T);
          },
          "Coulomb level without load [Nm] of one joint at temperature T [deg C]; s: direction of motion.");
}

}  // namespace bindings::friction
