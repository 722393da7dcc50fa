// Rigid-body functions of a chain for (n,) or (N, n) float64 arrays; see robot_dynamics_ros/models/robot_model.py.
#include <cstdlib>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "robot_dynamics/common/aligned.hpp"
#include "robot_dynamics/common/parallel.hpp"
#include "robot_dynamics/rigid_body/batch.hpp"
#include "samples.hpp"

namespace bindings::rigid_body {
using namespace robot_dynamics;

namespace {

// gravity given per call, or the chain's own
struct Gravity {
  std::array<double, 3> value;
  Gravity(const py::object& gravity, const Chain& chain) : value(chain.gravity) {
    if (const auto g = finite_input(gravity, "gravity", {3})) std::copy_n(g->data(), 3, value.begin());
  }
};

// A column-major float64 array as it is: one that would have to be turned is refused.
py::array_t<double, py::array::f_style> fortran_array(const py::object& value, const char* name) {
  if (!py::isinstance<py::array_t<double>>(value)) throw py::type_error(std::string(name) + " must be a float64 array");
  if (!py::isinstance<py::array_t<double, py::array::f_style>>(value))
    throw std::invalid_argument(std::string(name) + " is not Fortran-contiguous");
  return py::reinterpret_borrow<py::array_t<double, py::array::f_style>>(value);
}

using Optional = py::object;

void require_threads(int threads) {
  if (threads < 1) throw std::invalid_argument("threads = " + std::to_string(threads) + ", expected at least 1");
}
const std::array<double, 3> no_gravity{};

struct RigidBody {
  Chain chain;

  explicit RigidBody(const Chain& c) : chain(c) {}

  // One kernel for a single sample, one for a batch of N; absent inputs are null.
  template <class One, class Many>
  py::object run(std::initializer_list<std::pair<const char*, py::object>> inputs, std::vector<py::ssize_t> tail,
                 const Optional& out, const double* gravity, int threads, One&& one, Many&& many) const {
    require_threads(threads);
    const Samples x(inputs, chain.n, false, threads);
    BatchOutput y(out, x, std::move(tail));
    const ChainView v = view(chain, gravity);
    if (x.single) {
      one(v, x.from(0), y.data());
    } else if (x.count > 0) {
      const py::gil_scoped_release release;
      const std::size_t values = y.array.size() / x.count;
      parallel(x.count, threads,
               [&](std::size_t first, std::size_t N) { many(v, x.from(first), N, y.data() + first * values); });
    }
    return y.array;
  }

  py::object dynamics(std::initializer_list<std::pair<const char*, py::object>> inputs, const Optional& out,
                      const double* gravity, int threads, int qd, int qdd) const {
    return run(
        inputs, {chain.n}, out, gravity, threads,
        [&](const ChainView& v, const Inputs& x, double* y) { active_kernels.rnea(v, x[0], x[qd], x[qdd], y); },
        [=](const ChainView& v, const Inputs& x, std::size_t N, double* y) {
          active_kernels.rnea_batch(v, N, x[0], x[qd], x[qdd], y);
        });
  }

  py::object rnea(const py::object& q, const py::object& qd, const py::object& qdd, const Optional& out,
                  const py::object& gravity, int threads) const {
    const Gravity g(gravity, chain);
    return dynamics({{"q", q}, {"qd", qd}, {"qdd", qdd}}, out, g.value.data(), threads, 1, 2);
  }
  py::object gravity(const py::object& q, const Optional& out, const py::object& gravity, int threads) const {
    const Gravity g(gravity, chain);
    return dynamics({{"q", q}}, out, g.value.data(), threads, -1, -1);
  }
  py::object coriolis(const py::object& q, const py::object& qd, const Optional& out, int threads) const {
    return dynamics({{"q", q}, {"qd", qd}}, out, no_gravity.data(), threads, 1, -1);
  }
  // A function of the positions alone.
  template <class One, class Many>
  py::object of_positions(const py::object& q, std::vector<py::ssize_t> tail, const Optional& out, int threads, One one,
                          Many many) const {
    return run(
        {{"q", q}}, std::move(tail), out, chain.gravity.data(), threads,
        [=](const ChainView& v, const Inputs& x, double* y) { one(v, x[0], y); },
        [=](const ChainView& v, const Inputs& x, std::size_t N, double* y) { many(v, N, x[0], y); });
  }
  py::object mass_matrix(const py::object& q, const Optional& out, int threads) const {
    const KernelTable& k = active_kernels;
    return of_positions(q, {chain.n, chain.n}, out, threads, k.mass_matrix, k.mass_matrix_batch);
  }
  py::object fk(const py::object& q, const Optional& out, int threads) const {
    const KernelTable& k = active_kernels;
    return of_positions(q, {chain.n + 1, 4, 4}, out, threads, k.forward_kinematics, k.forward_kinematics_batch);
  }
  py::object jacobian(const py::object& q, const Optional& out, int threads) const {
    const KernelTable& k = active_kernels;
    return of_positions(q, {6, chain.n}, out, threads, k.jacobian, k.jacobian_batch);
  }
  py::object regressor(const py::object& q, const py::object& qd, const py::object& qdd, const Optional& out,
                       const py::object& gravity, int threads) const {
    const Gravity g(gravity, chain);
    return run(
        {{"q", q}, {"qd", qd}, {"qdd", qdd}}, {chain.n, 10 * chain.n}, out, g.value.data(), threads,
        [](const ChainView& v, const Inputs& x, double* y) { active_kernels.regressor(v, x[0], x[1], x[2], y); },
        [=](const ChainView& v, const Inputs& x, std::size_t N, double* y) {
          active_kernels.regressor_batch(v, N, x[0], x[1], x[2], y);
        });
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
    const bool zeroed = out.is_none() ? W.zeroed : keep_zeros;
    const py::gil_scoped_release release;
    AlignedDoubles block(std::size_t(chain.n) * 10 * chain.n * stack_rows);
    active_kernels.stacked_regressor(v, x.count, x[0], x[1], x[2], columns.data(), int(width), zeroed, block.data(),
                                     W.data());
    return W.array;
  }

  using Gradients = std::array<Array, 3>;
  Gradients gradients(const Samples& x) const {
    return {Array({x.count, py::ssize_t(chain.n)}), Array({x.count, py::ssize_t(chain.n)}),
            Array({x.count, py::ssize_t(chain.n)})};
  }

  // weights (n N, p) Fortran-ordered, as W
  py::tuple regressor_gradient(const py::object& q, const py::object& qd, const py::object& qdd,
                               const py::object& weights, const std::optional<std::vector<int>>& wanted,
                               const py::object& gravity) const {
    const Gravity g(gravity, chain);
    const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
    const std::vector<int> columns = checked_columns(wanted, 10 * chain.n);
    const auto given = fortran_array(weights, "weights");
    require_shape(given, "weights", {chain.n * x.count, py::ssize_t(columns.size())});
    Gradients d = gradients(x);
    double* const out[3] = {d[0].mutable_data(), d[1].mutable_data(), d[2].mutable_data()};
    const double* L = given.data();
    {
      const py::gil_scoped_release release;
      active_kernels.regressor_gradient(view(chain, g.value.data()), x.count, x[0], x[1], x[2], columns.data(),
                                        int(columns.size()), L, out[0], out[1], out[2]);
    }
    return py::make_tuple(d[0], d[1], d[2]);
  }

  py::tuple torque_gradient(const py::object& q, const py::object& qd, const py::object& qdd, const py::object& weights,
                            const py::object& gravity) const {
    const Gravity g(gravity, chain);
    const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
    const auto given = finite_input(weights, "weights", {x.count, chain.n});
    if (!given) throw std::invalid_argument("weights are missing");
    Gradients d = gradients(x);
    double* const out[3] = {d[0].mutable_data(), d[1].mutable_data(), d[2].mutable_data()};
    const double* L = given->data();
    {
      const py::gil_scoped_release release;
      active_kernels.torque_gradient(view(chain, g.value.data()), x.count, x[0], x[1], x[2], L, out[0], out[1], out[2]);
    }
    return py::make_tuple(d[0], d[1], d[2]);
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
           py::arg("gravity") = none, py::arg("threads") = 1,
           "Joint torque M(q) qdd + C(q, qd) qd + g(q) [Nm], (n,) or (N, n); gravity (3,) [m/s2] replaces the chain's.")
      .def("gravity", &RigidBody::gravity, py::arg("q"), py::arg("out") = none, py::arg("gravity") = none,
           py::arg("threads") = 1, "Gravity torque g(q) [Nm], (n,) or (N, n).")
      .def("coriolis", &RigidBody::coriolis, py::arg("q"), py::arg("qd"), py::arg("out") = none, py::arg("threads") = 1,
           "C(q, qd) qd [Nm], (n,) or (N, n).")
      .def("mass_matrix", &RigidBody::mass_matrix, py::arg("q"), py::arg("out") = none, py::arg("threads") = 1,
           "M(q) [kg m2], (n, n) or (N, n, n).")
      .def("regressor", &RigidBody::regressor, py::arg("q"), py::arg("qd"), py::arg("qdd"), py::arg("out") = none,
           py::arg("gravity") = none, py::arg("threads") = 1,
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
      .def("fk", &RigidBody::fk, py::arg("q"), py::arg("out") = none, py::arg("threads") = 1,
           "Poses (n + 1, 4, 4) or (N, n + 1, 4, 4) of the links, then the TCP, in the base frame [m].")
      .def("jacobian", &RigidBody::jacobian, py::arg("q"), py::arg("out") = none, py::arg("threads") = 1,
           "Geometric Jacobian of the TCP (6, n) or (N, 6, n): linear velocity, then angular velocity.");
  m.def("isa", &isa, "Instruction set of the kernels in use.");
  m.def("available_isas", &available_isas, "Instruction sets this machine can run, narrowest first.");
  m.def("select_isa", &select_isa, py::arg("name"), "Use the kernels of this instruction set from now on.");
}

}  // namespace bindings::rigid_body
