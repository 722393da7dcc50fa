// Rigid-body functions of a chain for (n,) or (N, n) float64 arrays; see robot_dynamics_ros/models/robot_model.py.
#include <cstdlib>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "robot_dynamics/aligned.hpp"
#include "robot_dynamics/batch.hpp"
#include "samples.hpp"

using namespace robot_dynamics;

namespace {

// gravity given per call, or the chain's own
struct Gravity {
  std::array<double, 3> value;
  Gravity(const py::object& gravity, const Chain& chain) : value(chain.gravity) {
    if (gravity.is_none()) return;
    const Array g = float_array(gravity, "gravity");
    require_shape(g, "gravity", {3});
    require_finite(g, "gravity");
    for (int k = 0; k < 3; ++k) value[k] = g.data()[k];
  }
};

using Optional = py::object;
const std::array<double, 3> no_gravity{};

struct RigidBody {
  Chain chain;

  explicit RigidBody(const Chain& c) : chain(c) {}

  // One kernel for a single sample, one for a batch; absent inputs are null.
  template <class One, class Many>
  py::object run(std::initializer_list<std::pair<const char*, py::object>> inputs, std::vector<py::ssize_t> tail,
                 const Optional& out, const double* gravity, One&& one, Many&& many) const {
    const Samples x(inputs, chain.n);
    Output y(out, x, std::move(tail));
    const ChainView v = view(chain, gravity);
    if (x.single) {
      one(v, x, y.data());
    } else {
      const py::gil_scoped_release release;
      many(v, x, y.data());
    }
    return y.array;
  }

  py::object dynamics(std::initializer_list<std::pair<const char*, py::object>> inputs, const Optional& out,
                      const double* gravity, int qd, int qdd) const {
    return run(
        inputs, {chain.n}, out, gravity,
        [&](const ChainView& v, const Samples& x, double* y) { active_kernels.rnea(v, x[0], x[qd], x[qdd], y); },
        [&](const ChainView& v, const Samples& x, double* y) {
          active_kernels.rnea_batch(v, x.count, x[0], x[qd], x[qdd], y);
        });
  }

  py::object rnea(const py::object& q, const py::object& qd, const py::object& qdd, const Optional& out,
                  const py::object& gravity) const {
    const Gravity g(gravity, chain);
    return dynamics({{"q", q}, {"qd", qd}, {"qdd", qdd}}, out, g.value.data(), 1, 2);
  }
  py::object gravity(const py::object& q, const Optional& out, const py::object& gravity) const {
    const Gravity g(gravity, chain);
    return dynamics({{"q", q}}, out, g.value.data(), -1, -1);
  }
  py::object coriolis(const py::object& q, const py::object& qd, const Optional& out) const {
    return dynamics({{"q", q}, {"qd", qd}}, out, no_gravity.data(), 1, -1);
  }
  py::object mass_matrix(const py::object& q, const Optional& out) const {
    return run(
        {{"q", q}}, {chain.n, chain.n}, out, chain.gravity.data(),
        [](const ChainView& v, const Samples& x, double* y) { active_kernels.mass_matrix(v, x[0], y); },
        [](const ChainView& v, const Samples& x, double* y) { active_kernels.mass_matrix_batch(v, x.count, x[0], y); });
  }
  py::object regressor(const py::object& q, const py::object& qd, const py::object& qdd, const Optional& out,
                       const py::object& gravity) const {
    const Gravity g(gravity, chain);
    return run(
        {{"q", q}, {"qd", qd}, {"qdd", qdd}}, {chain.n, 10 * chain.n}, out, g.value.data(),
        [](const ChainView& v, const Samples& x, double* y) { active_kernels.regressor(v, x[0], x[1], x[2], y); },
        [](const ChainView& v, const Samples& x, double* y) {
          active_kernels.regressor_batch(v, x.count, x[0], x[1], x[2], y);
        });
  }
  py::object fk(const py::object& q, const Optional& out) const {
    return run(
        {{"q", q}}, {chain.n + 1, 4, 4}, out, chain.gravity.data(),
        [](const ChainView& v, const Samples& x, double* y) { active_kernels.forward_kinematics(v, x[0], y); },
        [](const ChainView& v, const Samples& x, double* y) {
          active_kernels.forward_kinematics_batch(v, x.count, x[0], y);
        });
  }
  py::object jacobian(const py::object& q, const Optional& out) const {
    return run(
        {{"q", q}}, {6, chain.n}, out, chain.gravity.data(),
        [](const ChainView& v, const Samples& x, double* y) { active_kernels.jacobian(v, x[0], y); },
        [](const ChainView& v, const Samples& x, double* y) { active_kernels.jacobian_batch(v, x.count, x[0], y); });
  }

  // W (n N, p) Fortran-ordered, joint 0's rows first
  py::object stacked_regressor(const py::object& q, const py::object& qd, const py::object& qdd,
                               const std::optional<std::vector<int>>& wanted, const Optional& out,
                               const py::object& gravity, bool keep_zeros) const {
    const Gravity g(gravity, chain);
    const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
    const std::vector<int> columns = checked_columns(wanted, 10 * chain.n);
    const py::ssize_t rows = chain.n * x.count, width = columns.size();
    FortranOutput W(out, x, rows, width);
    const ChainView v = view(chain, g.value.data());
    const bool zeroed = out.is_none() || keep_zeros;
    const py::gil_scoped_release release;
    AlignedDoubles block(std::size_t(chain.n) * width * stack_rows);
    active_kernels.stacked_regressor(v, x.count, x[0], x[1], x[2], columns.data(), int(width), zeroed, block.data(),
                                     W.data());
    return W.array;
  }
};

std::string isa() { return active_kernels.isa; }

std::vector<std::string> available_isas() {
  KernelTable tables[most_tables];
  const int count = available_kernels(tables);
  std::vector<std::string> names;
  for (int k = 0; k < count; ++k) names.push_back(tables[k].isa);
  return names;
}

void select_isa(const std::string& name) {
  if (!select_kernels(name.c_str()))
    throw std::invalid_argument("isa = '" + name + "' is unknown or not supported by this machine");
}

// The choice is made before Python can be told about it.
void report_unavailable_isa() {
  const char* wanted = std::getenv("ROBOT_DYNAMICS_ISA");
  if (wanted == nullptr || isa() == wanted) return;
  const std::string text = "ROBOT_DYNAMICS_ISA = '" + std::string(wanted) + "' is not available; using " + isa();
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace

void bind_rigid_body(py::module_& m) {
  report_unavailable_isa();
  const auto none = py::none();
  py::class_<RigidBody>(m, "RigidBody", "Rigid-body functions of a Chain for one sample (n,) or a batch (N, n).")
      .def(py::init<const Chain&>(), py::arg("chain"))
      .def_readonly("chain", &RigidBody::chain)
      .def("rnea", &RigidBody::rnea, py::arg("q"), py::arg("qd"), py::arg("qdd"), py::arg("out") = none,
           py::arg("gravity") = none)
      .def("gravity", &RigidBody::gravity, py::arg("q"), py::arg("out") = none, py::arg("gravity") = none)
      .def("coriolis", &RigidBody::coriolis, py::arg("q"), py::arg("qd"), py::arg("out") = none)
      .def("mass_matrix", &RigidBody::mass_matrix, py::arg("q"), py::arg("out") = none)
      .def("regressor", &RigidBody::regressor, py::arg("q"), py::arg("qd"), py::arg("qdd"), py::arg("out") = none,
           py::arg("gravity") = none)
      .def("stacked_regressor", &RigidBody::stacked_regressor, py::arg("q"), py::arg("qd"), py::arg("qdd"),
           py::arg("columns") = none, py::arg("out") = none, py::arg("gravity") = none, py::arg("keep_zeros") = false)
      .def("fk", &RigidBody::fk, py::arg("q"), py::arg("out") = none)
      .def("jacobian", &RigidBody::jacobian, py::arg("q"), py::arg("out") = none);
  m.def("isa", &isa, "Instruction set of the kernels in use.");
  m.def("available_isas", &available_isas, "Instruction sets this machine can run, narrowest first.");
  m.def("select_isa", &select_isa, py::arg("name"), "Use the kernels of this instruction set from now on.");
}
