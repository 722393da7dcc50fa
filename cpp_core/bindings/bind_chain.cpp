#include <optional>

#include "arguments.hpp"

namespace bindings::chain {
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

void set_frames(Chain& chain, const Array& frames) {
  require_shape(frames, "frames", {chain.n, 3, 3});
  chain.framed = true;
  for (int i = 0; i < chain.n; ++i)
    for (int k = 0; k < 9; ++k) chain.frame[i][k] = frames.at(i, k / 3, k % 3);
}

Chain make_chain(const Array& placements, const Array& inertia, const Array& tool, const Array& gravity,
                 const std::optional<Array>& frames) {
  const py::ssize_t n = inertia.ndim() == 2 ? inertia.shape(0) : -1;
  require_shape(inertia, "inertia", {n, link_parameters});
  require_shape(placements, "placements", {n, 4, 4});
  require_shape(gravity, "gravity", {3});
  require_shape(tool, "tool", {4, 4});
  require_finite(placements, "placements");
  require_finite(inertia, "inertia");
  require_finite(tool, "tool");
  require_finite(gravity, "gravity");
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
  if (frames) set_frames(chain, *frames);
  recognise_twists(chain);
  return chain;
}

Array matrix(const Placement& P) {
  Array T({4, 4});
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) T.mutable_at(i, j) = P.R[3 * i + j];
    T.mutable_at(i, 3) = P.p[i];
    T.mutable_at(3, i) = 0;
  }
  T.mutable_at(3, 3) = 1;
  return T;
}

Array placements_of(const Chain& chain) {
  Array all({chain.n, 4, 4});
  for (int i = 0; i < chain.n; ++i) all[py::int_(i)] = matrix(chain.placement[i]);
  return all;
}

Array frames_of(const Chain& chain) {
  decltype(chain.frame) identity{};
  for (auto& R : identity) R = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  return Array({chain.n, 3, 3}, (chain.framed ? chain.frame : identity)[0].data());
}

// What the regressor's columns multiply: the parameters in the reporting frames.
Array reported_parameters(const Chain& chain) {
  Array all(10 * chain.n);
  for (int i = 0; i < chain.n; ++i) {
    const auto X = chain.framed ? turned_parameters(chain.frame[i], chain.inertia[i]) : chain.inertia[i];
    for (int k = 0; k < link_parameters; ++k) all.mutable_at(10 * i + k) = X[k];
  }
  return all;
}

Array inertia_of(const Chain& chain) { return Array({chain.n, link_parameters}, chain.inertia[0].data()); }

}  // namespace

void bind(py::module_& m) {
  py::native_enum<Status>(m, "Status", "enum.IntEnum", "Result of one step of a stage.")
      .value("ok", Status::ok)
      .value("warming_up", Status::warming_up)
      .value("dropped", Status::dropped)
      .value("reset", Status::reset)
      .value("degraded", Status::degraded)
      .value("saturated", Status::saturated)
      .value("unavailable", Status::unavailable)
      .value("fault", Status::fault)
      .finalize();
  py::class_<Chain>(m, "Chain", "Serial chain of revolute joints turning about the z axis of their link frames.")
      .def(py::init(&make_chain), py::arg("placements"), py::arg("inertia"), py::arg("tool"), py::arg("gravity"),
           py::arg("frames") = py::none())
      .def("with_payload", &with_payload, py::arg("mass"), py::arg("com"), py::arg("inertia"),
           "The chain with a payload on its last link: mass [kg], com (3,) [m] in the frame of the last link, inertia "
           "(6,)\n"
           "XX XY XZ YY YZ ZZ [kg m2] about the centre of mass.")
      .def_readonly("n_joints", &Chain::n, "Number of joints n.")
      .def_readonly("gravity", &Chain::gravity, "Gravity (3,) in the base frame [m/s2].")
      .def_readonly("framed", &Chain::framed, "True when parameters are reported in frames other than the link frames.")
      .def_property_readonly("placements", &placements_of, "(n, 4, 4) link i-1 -> joint i at zero")
      .def_property_readonly("inertia", &inertia_of, "(n, 10) in the link frames, which turn about z")
      .def_property_readonly(
          "tool", [](const Chain& chain) { return matrix(chain.tool); }, "(4, 4) last link -> TCP")
      .def_property_readonly("frames", &frames_of, "(n, 3, 3) reporting frame <- link frame")
      .def_property_readonly("inertial_parameters", &reported_parameters, "(10 n,) in the reporting frames");
}

}  // namespace bindings::chain
