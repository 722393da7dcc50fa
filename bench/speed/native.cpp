// Loops over single calls, so that benchmarks and tests can time and compare them without Python in between. A module
// of its own: the core of users holds no benchmarks.
#include "operations.hpp"
#include "robot_dynamics/friction/elements.hpp"
#include "robot_dynamics/observers/contact_force_file.hpp"
#include "robot_dynamics/observers/wrench.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"
#include "robot_dynamics/signals/savitzky_golay.hpp"
#include "robot_dynamics/transmission/rls_df.hpp"
#include "samples.hpp"

using namespace robot_dynamics;

namespace {

Array repeat_rnea(const Chain& chain, const Array& q, const Array& qd, const Array& qdd, const Maybe& out) {
  const Samples x({{"q", q}, {"qd", qd}, {"qdd", qdd}}, chain.n, true);
  BatchOutput tau(out, x, {chain.n});
  const py::gil_scoped_release release;
  for (py::ssize_t k = 0; k < x.count; ++k) {
    const py::ssize_t at = k * chain.n;
    rnea(chain, x[0] + at, x[1] + at, x[2] + at, tau.data() + at);
  }
  return tau.array;
}

// F with J'F = tau, where six joints determine all of it
bool plain_solve(const Chain& chain, const double* q, const double* tau, double* F) {
  double J[6 * max_joints];
  jacobian(chain, q, J);
  std::array<double, 36> A;
  for (int r = 0; r < 6; ++r) {
    F[r] = 0;
    for (int i = 0; i < chain.n; ++i) F[r] += J[r * chain.n + i] * tau[i];
    for (int c = 0; c <= r; ++c) {
      double sum = r == c ? 1e-9 : 0.0;
      for (int i = 0; i < chain.n; ++i) sum += J[r * chain.n + i] * J[c * chain.n + i];
      A[6 * r + c] = A[6 * c + r] = sum;
    }
  }
  Cholesky<6> factored;
  if (!factored.factor(A)) return false;
  factored.solve(F);
  return true;
}

// Everything an estimator does with one sample, from measured position, torque and rotor angle to the wrench.
class EstimatorCycle {
 public:
  EstimatorCycle(const Chain& chain, const Elements& gms, int window, bool covariance)
      : chain_(chain),
        gms_(gms),
        smooth_(3 * chain.n, window, 2),
        rls_(chain.n),
        inverse_(chain, every_prior()),
        covariance_(covariance) {
    learns_.fill(true);
    std_.fill(1.0);
    if (gms.joints() != chain.n) throw std::invalid_argument("gms and chain differ in the number of joints");
  }

  static WrenchParameters every_prior() {
    WrenchParameters p;
    p.small_contact = 0.25;
    return p;
  }

  void run(std::int64_t step_ns, py::ssize_t N, const double* q, const double* tau, const double* theta, double* F) {
    for (py::ssize_t k = 0; k < N; ++k, stamp_ns_ += step_ns) step(1e-9 * step_ns, q, tau, theta, F, k);
  }
  int n() const { return chain_.n; }

 private:
  using Joints = std::array<double, max_joints>;

  void step(double dt, const double* q, const double* tau, const double* theta, double* F, py::ssize_t k) {
    const int n = chain_.n;
    std::copy_n(q + k * n, n, x_.data());
    std::copy_n(tau + k * n, n, x_.data() + n);
    std::copy_n(theta + k * n, n, x_.data() + 2 * n);
    smooth_.push(x_.data());
    const double *position = smooth_.value(), *torque = position + n, *rotor = torque + n;
    Joints w, wd, model, H, deflection, residual;
    for (int i = 0; i < n; ++i) {
      w[i] = smooth_.first(i, dt);
      wd[i] = smooth_.second(i, dt);
    }
    rnea(chain_, position, w.data(), wd.data(), model.data());
    gms_.step(stamp_ns_, rotor, H.data());
    for (int i = 0; i < n; ++i) {
      deflection[i] = rotor[i] - position[i];
      residual[i] = torque[i] - model[i] - H[i];
    }
    RlsDf::update_each(rls_.data(), n, deflection.data(), torque, dt, learns_.data(), nullptr);
    if (!covariance_) return void(plain_solve(chain_, position, residual.data(), F + 6 * k));
    inverse_.step(position, residual.data(), std_.data(), estimate_);
    std::copy(estimate_.wrench.begin(), estimate_.wrench.end(), F + 6 * k);
  }

  Chain chain_;
  Elements gms_;
  SavitzkyGolay smooth_;
  std::vector<RlsDf> rls_;
  WrenchInverse inverse_;
  WrenchEstimate estimate_;
  Joints std_;
  std::array<double, 3 * max_joints> x_{};
  std::array<bool, max_joints> learns_;
  bool covariance_;
  std::int64_t stamp_ns_ = 0;
};

Array run_cycle(EstimatorCycle& cycle, std::int64_t step_ns, const Array& q, const Array& tau, const Array& theta,
                const Maybe& out) {
  const py::ssize_t N = q.ndim() == 2 ? q.shape(0) : -1, n = cycle.n();
  const double *a = rows(q, "q", N, n), *b = rows(tau, "tau", N, n), *c = rows(theta, "theta", N, n);
  Array F = result(out, N, 6);
  double* f = F.mutable_data();
  const py::gil_scoped_release release;
  cycle.run(step_ns, N, a, b, c, f);
  return F;
}

py::tuple repeat_contact_force(const std::string& parameters, const Stamps& stamps, const Array& q, const Array& qd,
                               const Array& effort) {
  ContactForceEstimator estimator(contact_force_parameters(parameters));
  const py::ssize_t N = samples(stamps), n = estimator.joints();
  const double *a = rows(q, "q", N, n), *b = rows(qd, "qd", N, n), *c = rows(effort, "effort", N, n);
  const std::int64_t* t = stamps.data();
  Array wrench({N, py::ssize_t(6)});
  double* F = wrench.mutable_data();
  const Codes status = run_batch(N, [&](py::ssize_t k) {
    const Status done = estimator.update(t[k], a + k * n, b + k * n, c + k * n);
    std::copy_n(estimator.estimate().wrench.begin(), 6, F + 6 * k);
    return done;
  });
  return py::make_tuple(wrench, status);
}

py::tuple repeat_rls(const Array& phi, const Array& torque, double dt, const Maybe& out) {
  const py::ssize_t N = phi.ndim() == 2 ? phi.shape(0) : -1, n = phi.ndim() == 2 ? phi.shape(1) : -1;
  const double *p = rows(phi, "phi", N, n), *y = rows(torque, "torque", N, n);
  require_range("joints of phi", static_cast<double>(n), 1, max_joints);
  Array errors = result(out, N, n), coefficients({n, py::ssize_t(RlsDf::powers)});
  double* e = errors.mutable_data();
  std::vector<RlsDf> joints(n);
  std::array<bool, max_joints> all;
  all.fill(true);
  {
    const py::gil_scoped_release release;
    for (py::ssize_t k = 0; k < N * n; k += n)
      RlsDf::update_each(joints.data(), static_cast<int>(n), p + k, y + k, dt, all.data(), e + k);
  }
  for (py::ssize_t i = 0; i < n; ++i)
    for (int k = 0; k < RlsDf::powers; ++k) coefficients.mutable_at(i, k) = joints[i].coefficient(k);
  return py::make_tuple(errors, coefficients);
}

double multiply_add(double operations) {
  const double each = 2.0 * peak_accumulators * active_kernels.lanes;
  const py::gil_scoped_release release;
  return active_kernels.multiply_add(static_cast<std::size_t>(operations / each));
}

}  // namespace

PYBIND11_MODULE(native, m) {
  const py::module_ core = py::module_::import("robot_dynamics_ros._core");  // binds the types of the arguments
  select_kernels(core.attr("isa")().cast<std::string>().c_str());
  m.def("repeat_rnea", &repeat_rnea, py::arg("chain"), py::arg("q"), py::arg("qd"), py::arg("qdd"),
        py::arg("out") = py::none(), "rnea of one sample, called N times.");
  m.def("repeat_contact_force", &repeat_contact_force, py::arg("parameters"), py::arg("stamp_ns"), py::arg("q"),
        py::arg("qd"), py::arg("effort"),
        "(wrench (N, 6), status codes (N,)) of ContactForceEstimator, one cycle after the other; parameters: the text "
        "of an export.");
  m.def("repeat_rls", &repeat_rls, py::arg("phi"), py::arg("torque"), py::arg("dt"), py::arg("out") = py::none(),
        "Errors (N, n) of RLS-DF of n joints side by side, one step after the other, and coefficients (n, 2) at last.");
  m.def("rnea_operations", &operations::of_rnea, py::arg("chain"),
        "Additions and multiplications of one batched sample.");
  m.def("multiply_add", &multiply_add, py::arg("operations"),
        "This many operations in independent multiply-adds of the instruction set in use: the machine's peak.");
  py::class_<EstimatorCycle>(m, "EstimatorCycle", "All estimators on one sample after the other, for benchmarks.")
      .def(py::init<const Chain&, const Elements&, int, bool>(), py::arg("chain"), py::arg("gms"),
           py::arg("window") = 51, py::arg("covariance") = false)
      .def("run", &run_cycle, py::arg("step_ns"), py::arg("q"), py::arg("tau"), py::arg("theta"),
           py::arg("out") = py::none(), "Wrenches (N, 6).");
}
