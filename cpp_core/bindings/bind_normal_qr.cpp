#include <optional>
#include <variant>
#include <vector>

#include "robot_dynamics/rigid_body/normal_qr.hpp"
#include "samples.hpp"

namespace bindings::normal_qr {
using namespace robot_dynamics;

namespace {

using Counts = std::variant<int, std::vector<int>>;

std::vector<int> per_joint(const Counts& counts, int n) {
  if (const int* same = std::get_if<int>(&counts)) return std::vector<int>(n, *same);
  return std::get<std::vector<int>>(counts);
}

std::unique_ptr<FusedQR> make_qr(Chain chain, const std::optional<std::vector<int>>& columns, const Counts& extra,
                                 const Maybe& gravity) {
  if (const double* g = finite_data(gravity, "gravity", {3})) std::copy_n(g, 3, chain.gravity.begin());
  return std::make_unique<FusedQR>(chain, checked_columns(columns, 10 * chain.n), per_joint(extra, chain.n));
}

// User columns (N, K) of all joints one after the other; (N, n, k) is the same memory where every joint has k.
const double* user_columns(const FusedQR& qr, const Maybe& value, py::ssize_t count) {
  const py::ssize_t n = qr.joints(), all = qr.extra_columns();
  const bool by_joint = value && value->ndim() == 3;
  if (by_joint && all % n == 0) return finite_data(value, "extra", {count, n, all / n});
  return finite_data(value, "extra", {count, all});
}

unsigned chosen_joints(const FusedQR& qr, const std::optional<std::vector<int>>& joints) {
  if (!joints) return ~0u;
  unsigned chosen = 0;
  for (const int j : *joints) chosen |= 1u << checked_joint(qr, j);
  return chosen;
}

void update(FusedQR& qr, const Array& q, const Array& qd, const Array& qdd, const Maybe& tau, const Maybe& extra,
            const Maybe& weights, const std::optional<std::vector<int>>& joints) {
  const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, qr.joints(), true);
  const py::ssize_t n = qr.joints(), k = qr.extra_columns();
  const double* target = finite_data(tau, "tau", {x.count, n});
  const double* user = user_columns(qr, extra, x.count);
  const double* weight = finite_data(weights, "weights", {x.count, n});
  if (!user && k > 0) throw std::invalid_argument("extra is missing, expected (N, " + std::to_string(k) + ")");
  const std::vector<double> zero(target ? 0 : x.count * n, 0.0);
  const double* y = target ? target : zero.data();
  const QrSamples data{std::size_t(x.count), x[0], x[1], x[2], y, user, weight, chosen_joints(qr, joints)};
  const py::gil_scoped_release release;
  qr.update(data);
}

void absorb(FusedQR& qr, int j, const Array& rows, const Maybe& weights) {
  require_shape(rows, "rows", {-1, qr.joint(checked_joint(qr, j)).width});
  require_finite(rows, "rows");
  const double *data = rows.data(), *w = finite_data(weights, "weights", {rows.shape(0)});
  const std::size_t count = rows.shape(0);
  const py::gil_scoped_release release;
  qr.absorb(j, data, w, count);
}

Array triangle(const FusedQR& qr, int j) {
  const QrJoint& t = qr.joint(checked_joint(qr, j));
  Array R({t.width, t.width});
  for (int k = 0; k < t.width; ++k)
    for (int c = 0; c < t.width; ++c) R.mutable_at(k, c) = t.R[k * t.stride + c];
  return R;
}

Array fold(const FusedQR& qr, const Maybe& weights) {
  const double* given = finite_data(weights, "weights", {qr.joints()});
  const std::vector<double> ones(qr.joints(), 1.0);
  const py::ssize_t width = qr.parameters() + 1;
  Array R({width, width});
  qr.fold(given ? given : ones.data(), R.mutable_data());
  return R;
}

}  // namespace

void bind(py::module_& m) {
  const auto none = py::none();
  py::class_<FusedQR>(m, "FusedQR",
                      "Least squares of tau = Y phi + extra psi without storing Y: one triangle per joint.\n\n"
                      "FusedQR(chain, columns, extra_columns, gravity) picks `columns` (below 10 n) of the regressor\n"
                      "and `extra_columns` user columns per joint, one number or one for each (friction, rotor\n"
                      "inertia, offsets). Parameters: the columns in the order given, then joint 0's extra columns,\n"
                      "joint 1's, ...")
      .def(py::init(&make_qr), py::arg("chain"), py::arg("columns") = none, py::arg("extra_columns") = 0,
           py::arg("gravity") = none)
      .def("update", &update, py::arg("q"), py::arg("qd"), py::arg("qdd"), py::arg("tau") = none,
           py::arg("extra") = none, py::arg("weights") = none, py::arg("joints") = none,
           "Take in samples: q, qd, qdd, tau (N, n), extra (N, n, extra_columns) or (N, all extra columns), weights\n"
           "(N, n) of the rows. joints: only these take in their rows; others may get theirs from `absorb`.")
      .def("absorb", &absorb, py::arg("joint"), py::arg("rows"), py::arg("weights") = none,
           "Take in ready rows (N, width of the joint's triangle) of one joint, target last, times weights (N,).")
      .def("triangle", &triangle, py::arg("joint"), "Upper triangle [R z; 0 rho] of one joint; the target is last.")
      .def(
          "parameters_of", [](const FusedQR& qr, int j) { return qr.parameters_of(checked_joint(qr, j)); },
          py::arg("joint"), "Parameter of each column of the joint's triangle, without the target.")
      .def("fold", &fold, py::arg("weights") = none,
           "One triangle (P + 1, P + 1) of all joints, joint j's rows times weights[j].");
}

}  // namespace bindings::normal_qr
