// Rigid-body functions of a chain for (n,) or (N, n) float64 arrays; see robot_dynamics_ros/models/robot_model.py.
#include <cstdlib>
#include <optional>
#include <vector>

#include "fortran.hpp"
#include "robot_dynamics/common/aligned.hpp"

namespace bindings::rigid_body {
using namespace robot_dynamics;

namespace {

// gravity given per call, or the chain's own
struct Gravity {
  std::array<double, 3> value;
  Gravity(const Maybe& gravity, const Chain& chain) : value(chain.gravity) {
    if (const double* g = finite_data(gravity, "gravity", {3})) std::copy_n(g, 3, value.begin());
  }
};

const std::array<double, 3> no_gravity{};

struct RigidBody {
  Chain chain;

  explicit RigidBody(const Chain& c) : chain(c) {}

  // One kernel for a single sample, one for a batch of N; absent inputs are null.
  template <class One, class Many>
  Array run(std::initializer_list<Input> inputs, std::vector<py::ssize_t> tail, const Maybe& out, const double* gravity,
            One&& one, Many&& many) const {
    const Samples x(inputs, chain.n);
    BatchOutput y(out, x, std::move(tail));
    const ChainView v = view(chain, gravity);
    if (x.single) {
      one(v, x.data(), y.data());
    } else if (x.count > 0) {
      const py::gil_scoped_release release;
      many(v, x.data(), x.count, y.data());
    }
    return y.array;
  }

  Array dynamics(std::initializer_list<Input> inputs, const Maybe& out, const double* gravity, int qd, int qdd) const {
    return run(
        inputs, {chain.n}, out, gravity,
        [&](const ChainView& v, const Inputs& x, double* y) { active_kernels.rnea(v, x[0], x[qd], x[qdd], y); },
        [=](const ChainView& v, const Inputs& x, std::size_t N, double* y) {
          active_kernels.rnea_batch(v, N, x[0], x[qd], x[qdd], y);
        });
  }

  Array rnea(const Array& q, const Array& qd, const Array& qdd, const Maybe& out, const Maybe& gravity) const {
    const Gravity g(gravity, chain);
    return dynamics({{"q", q}, {"qd", qd}, {"qdd", qdd}}, out, g.value.data(), 1, 2);
  }
  Array gravity(const Array& q, const Maybe& out, const Maybe& gravity) const {
    const Gravity g(gravity, chain);
    return dynamics({{"q", q}}, out, g.value.data(), -1, -1);
  }
  Array coriolis(const Array& q, const Array& qd, const Maybe& out) const {
    return dynamics({{"q", q}, {"qd", qd}}, out, no_gravity.data(), 1, -1);
  }
  // A function of the positions alone.
  template <class One, class Many>
  Array of_positions(const Array& q, std::vector<py::ssize_t> tail, const Maybe& out, One one, Many many) const {
    return run(
        {{"q", q}}, std::move(tail), out, chain.gravity.data(),
        [=](const ChainView& v, const Inputs& x, double* y) { one(v, x[0], y); },
        [=](const ChainView& v, const Inputs& x, std::size_t N, double* y) { many(v, N, x[0], y); });
  }
  Array mass_matrix(const Array& q, const Maybe& out) const {
    const KernelTable& k = active_kernels;
    return of_positions(q, {chain.n, chain.n}, out, k.mass_matrix, k.mass_matrix_batch);
  }
  Array fk(const Array& q, const Maybe& out) const {
    const KernelTable& k = active_kernels;
    return of_positions(q, {chain.n + 1, 4, 4}, out, k.forward_kinematics, k.forward_kinematics_batch);
  }
  Array jacobian(const Array& q, const Maybe& out) const {
    const KernelTable& k = active_kernels;
    return of_positions(q, {6, chain.n}, out, k.jacobian, k.jacobian_batch);
  }
  Array regressor(const Array& q, const Array& qd, const Array& qdd, const Maybe& out, const Maybe& gravity) const {
    const Gravity g(gravity, chain);
    return run(
        {{"q", q}, {"qd", qd}, {"qdd", qdd}}, {chain.n, 10 * chain.n}, out, g.value.data(),
        [](const ChainView& v, const Inputs& x, double* y) { active_kernels.regressor(v, x[0], x[1], x[2], y); },
        [=](const ChainView& v, const Inputs& x, std::size_t N, double* y) {
          active_kernels.regressor_batch(v, N, x[0], x[1], x[2], y);
        });
  }

  // W (n N, p) Fortran-ordered, joint 0's rows first
  FortranArray stacked_regressor(const Array& q, const Array& qd, const Array& qdd,
                                 const std::optional<std::vector<int>>& wanted, const py::object& out,
                                 const Maybe& gravity, bool keep_zeros) const {
    const Gravity g(gravity, chain);
    const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
    const std::vector<int> columns = checked_columns(wanted, 10 * chain.n);
    const py::ssize_t rows = chain.n * x.count, width = columns.size();
    FortranOutput W(out, x, rows, width);
    const ChainView v = view(chain, g.value.data());
    const bool zeroed = out.is_none() ? W.zeroed : keep_zeros;
    const py::gil_scoped_release release;
    AlignedDoubles block(std::size_t(chain.n) * 10 * chain.n * stack_rows);
    active_kernels.stacked_regressor(v, x.count, x[0], x[1], x[2], columns.data(), int(width), zeroed, block.data(),
                                     W.data());
    return W.array;
  }

  // What fill(chain, d_q, d_qd, d_qdd) writes, (N, n) each.
  template <class Fill>
  py::tuple gradients(const Samples& x, const double* gravity, Fill&& fill) const {
    const std::vector<py::ssize_t> shape{x.count, chain.n};
    Array q(shape), qd(shape), qdd(shape);
    double *d_q = q.mutable_data(), *d_qd = qd.mutable_data(), *d_qdd = qdd.mutable_data();
    {
      const py::gil_scoped_release release;
      fill(view(chain, gravity), d_q, d_qd, d_qdd);
    }
    return py::make_tuple(q, qd, qdd);
  }

  // weights (n N, p) Fortran-ordered, as W
  py::tuple regressor_gradient(const Array& q, const Array& qd, const Array& qdd, const py::object& weights,
                               const std::optional<std::vector<int>>& wanted, const Maybe& gravity) const {
    const Gravity g(gravity, chain);
    const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
    const std::vector<int> columns = checked_columns(wanted, 10 * chain.n);
    const auto given = fortran_array(weights, "weights");
    require_shape(given, "weights", {chain.n * x.count, py::ssize_t(columns.size())});
    return gradients(x, g.value.data(), [&](const ChainView& v, double* d_q, double* d_qd, double* d_qdd) {
      active_kernels.regressor_gradient(v, x.count, x[0], x[1], x[2], columns.data(), int(columns.size()), given.data(),
                                        d_q, d_qd, d_qdd);
    });
  }

  py::tuple torque_gradient(const Array& q, const Array& qd, const Array& qdd, const Array& weights,
                            const Maybe& gravity) const {
    const Gravity g(gravity, chain);
    const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
    require_shape(weights, "weights", {x.count, chain.n});
    require_finite(weights, "weights");
    const double* L = weights.data();
    return gradients(x, g.value.data(), [&](const ChainView& v, double* d_q, double* d_qd, double* d_qdd) {
      active_kernels.torque_gradient(v, x.count, x[0], x[1], x[2], L, d_q, d_qd, d_qdd);
    });
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

// The choice is made before Python can receive a warning.
void report_unavailable_isa() {
  if (active_kernels.isa == nullptr)
    throw py::import_error("the core holds no kernels for this processor; run: make build");
  const char* wanted = std::getenv("ROBOT_DYNAMICS_ISA");
  if (wanted == nullptr || isa() == wanted) return;
  const std::string text = "ROBOT_DYNAMICS_ISA = '" + std::string(wanted) + "' is not available; using " + isa();
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw py::error_already_set();
}

}  // namespace

void bind(py::module_& m) {
  report_unavailable_isa();
  const auto none = py::none();
  py::class_<RigidBody>(m, "RigidBody", "Rigid-body functions of a Chain for one sample (n,) or a batch (N, n).")
      .def(py::init<const Chain&>(), py::arg("chain"))
      .def_readonly("chain", &RigidBody::chain, "The chain.")
      .def("rnea", &RigidBody::rnea, py::arg("q"), py::arg("qd"), py::arg("qdd"), py::arg("out") = none,
           py::arg("gravity") = none,
           "Joint torque M(q) qdd + C(q, qd) qd + g(q) [Nm], (n,) or (N, n); gravity (3,) [m/s2] replaces the chain's.")
      .def("gravity", &RigidBody::gravity, py::arg("q"), py::arg("out") = none, py::arg("gravity") = none,
           "Gravity torque g(q) [Nm], (n,) or (N, n).")
      .def("coriolis", &RigidBody::coriolis, py::arg("q"), py::arg("qd"), py::arg("out") = none,
           "C(q, qd) qd [Nm], (n,) or (N, n).")
      .def("mass_matrix", &RigidBody::mass_matrix, py::arg("q"), py::arg("out") = none,
           "M(q) [kg m2], (n, n) or (N, n, n).")
      .def("regressor", &RigidBody::regressor, py::arg("q"), py::arg("qd"), py::arg("qdd"), py::arg("out") = none,
           py::arg("gravity") = none,
           "Y (n, 10 n) or (N, n, 10 n) with Y phi = rnea; phi per link XX XY XZ YY YZ ZZ mX mY mZ m [Liu2020 8].")
      .def("stacked_regressor", &RigidBody::stacked_regressor, py::arg("q"), py::arg("qd"), py::arg("qdd"),
           py::arg("columns") = none, py::arg("out") = none, py::arg("gravity") = none, py::arg("keep_zeros") = false,
           "W (n N, p), column-major, the rows of joint 0 first, of the chosen columns of the regressor. keep_zeros: "
           "`out` holds\n"
           "zeros already where W is zero by structure.")
      .def("regressor_gradient", &RigidBody::regressor_gradient, py::arg("q"), py::arg("qd"), py::arg("qdd"),
           py::arg("weights"), py::arg("columns") = none, py::arg("gravity") = none,
           "Gradients (N, n) of sum(weights * W) with respect to q, qd, qdd; weights (n N, p) column-major, as W.")
      .def("torque_gradient", &RigidBody::torque_gradient, py::arg("q"), py::arg("qd"), py::arg("qdd"),
           py::arg("weights"), py::arg("gravity") = none,
           "Gradients (N, n) of sum(weights * rnea) with respect to q, qd, qdd; weights (N, n).")
      .def("fk", &RigidBody::fk, py::arg("q"), py::arg("out") = none,
           "Poses (n + 1, 4, 4) or (N, n + 1, 4, 4) of the links, then the TCP, in the base frame [m].")
      .def("jacobian", &RigidBody::jacobian, py::arg("q"), py::arg("out") = none,
           "Geometric Jacobian of the TCP (6, n) or (N, 6, n): linear velocity, then angular velocity.");
  m.def("isa", &isa, "Instruction set of the kernels in use.");
  m.def("available_isas", &available_isas, "Instruction sets this machine can run, narrowest first.");
  m.def("select_isa", &select_isa, py::arg("name"), "Use the kernels of this instruction set from now on.");
}

}  // namespace bindings::rigid_body
