#include "batch.hpp"
#include "robot_dynamics/observers/motion_state.hpp"
#include "robot_dynamics/observers/parameter_names.hpp"
#include "robot_dynamics/signals/signal_alignment.hpp"
#include "robot_dynamics/rigid_body/momentum.hpp"
#include "views.hpp"

namespace bindings::motion {
using namespace robot_dynamics;

namespace {

MotionState make(const Chain& chain, const py::kwargs& given) {
  MotionParameters p;
  p.effort_gain.fill(1.0);
  views::Keywords keys(given);
  for_each_parameter(p, chain.n, [&](const char* name, auto&&... value) { keys.take(name, value...); });
  keys.finish();
  return MotionState(chain, p);
}

SignalAlignment make_alignment(int joints, const py::kwargs& given) {
  require_range("joints", joints, 1, max_joints);
  SignalAlignmentParameters p;
  views::Keywords keys(given);
  for_each_parameter(p, joints, [&](const char* name, auto&&... value) { keys.take(name, value...); });
  keys.finish();
  return SignalAlignment(joints, p);
}

struct AlignedColumns {
  double* at[5];

  AlignedColumns(std::initializer_list<py::ssize_t> shape, const py::object& q, const py::object& theta,
                 const py::object& qd, const py::object& effort, const py::object& current)
      : at{given(q, "q", shape), given(theta, "theta", shape), given(qd, "qd", shape), given(effort, "effort", shape),
           given(current, "current", shape)} {}

  static double* given(const py::object& x, const char* name, std::initializer_list<py::ssize_t> shape) {
    return x.is_none() ? nullptr : views::out(x, name, shape);
  }
  void step(SignalAlignment& s, std::int64_t stamp, py::ssize_t k) const {
    const py::ssize_t from = k * s.joints();
    const auto row = [&](int a) { return at[a] ? at[a] + from : nullptr; };
    s.step(stamp, {row(0), row(1), row(2), row(3), row(4)});
  }
};

struct Columns {
  const double *q, *qd, *effort;
  double *qd_out, *qdd, *model_torque, *drive_torque;

  Columns(std::initializer_list<py::ssize_t> shape, const py::object& q_, const py::object& qd_,
          const py::object& effort_, const py::object& qd_out_, const py::object& qdd_, const py::object& model_,
          const py::object& drive_)
      : q(views::maybe(q_, "q", shape)),
        qd(views::maybe(qd_, "qd", shape)),
        effort(views::maybe(effort_, "effort", shape)),
        qd_out(views::out(qd_out_, "qd_out", shape)),
        qdd(views::out(qdd_, "qdd", shape)),
        model_torque(views::out(model_, "model_torque", shape)),
        drive_torque(views::out(drive_, "drive_torque", shape)) {}

  Status step(MotionState& core, std::int64_t stamp, py::ssize_t k, py::ssize_t n) const {
    const MotionInput in{views::row(q, k, n), views::row(qd, k, n), views::row(effort, k, n)};
    const py::ssize_t at = k * n;
    return core.step(stamp, in, {qd_out + at, qdd + at, model_torque + at, drive_torque + at});
  }
};

}  // namespace

void bind(py::module_& m) {
  py::class_<MotionState>(m, "MotionState",
                          "Velocity, acceleration, model torque and drive torque [Simoni2017 V, 16, 20].")
      .def(py::init(&make), py::arg("chain"))
      .def(
          "reset", [](MotionState& s) { s.reset(); }, "Forget all samples; parameters stay.")
      .def(
          "step",
          [](MotionState& s, std::int64_t stamp, const py::object& q, const py::object& qd, const py::object& effort,
             const py::object& qd_out, const py::object& qdd, const py::object& model, const py::object& drive) {
            return Columns({s.joints()}, q, qd, effort, qd_out, qdd, model, drive).step(s, stamp, 0, s.joints());
          },
          py::arg("stamp_ns"), py::arg("q"), py::arg("qd"), py::arg("effort"), py::arg("qd_out"), py::arg("qdd"),
          py::arg("model_torque"), py::arg("drive_torque"),
          "One sample: q, qd, effort (n,) or None; writes velocity, acceleration [rad/s, rad/s2], model torque and "
          "drive torque [Nm]\n"
          "(n,). Returns a Status.")
      .def(
          "run",
          [](MotionState& s, const Stamps& stamps, const py::object& q, const py::object& qd, const py::object& effort,
             const py::object& qd_out, const py::object& qdd, const py::object& model, const py::object& drive) {
            const py::ssize_t N = samples(stamps);
            const Columns c({N, s.joints()}, q, qd, effort, qd_out, qdd, model, drive);
            const std::int64_t* t = stamps.data();
            return run_batch(N, [&](py::ssize_t k) { return c.step(s, t[k], k, s.joints()); });
          },
          py::arg("stamp_ns"), py::arg("q"), py::arg("qd"), py::arg("effort"), py::arg("qd_out"), py::arg("qdd"),
          py::arg("model_torque"), py::arg("drive_torque"), "Status codes (N,); arguments as in step(), (N, n) each.")
      .def_property_readonly(
          "period", [](const MotionState& s) { return s.timing().period(); }, "Typical sampling time [s].")
      .def_property_readonly(
          "missed", [](const MotionState& s) { return s.timing().missed(); }, "Number of missed samples.")
      .def_property_readonly(
          "frozen", [](const MotionState& s) { return s.frozen(); }, "True when positions repeat without change.");
  py::class_<SignalAlignment>(m, "SignalAlignment",
                              "Signals of one instant from signals with delays [s], velocity gain and bias [rad/s].")
      .def(py::init(&make_alignment), py::arg("joints"))
      .def(
          "reset", [](SignalAlignment& s) { s.reset(); }, "Forget all samples; parameters stay.")
      .def(
          "step",
          [](SignalAlignment& s, std::int64_t stamp, const py::object& q, const py::object& theta, const py::object& qd,
             const py::object& effort, const py::object& current) {
            AlignedColumns({s.joints()}, q, theta, qd, effort, current).step(s, stamp, 0);
          },
          py::arg("stamp_ns"), py::arg("q"), py::arg("theta"), py::arg("qd"), py::arg("effort"), py::arg("current"),
          "One sample, in place: arrays (n,) or None.")
      .def(
          "run",
          [](SignalAlignment& s, const Stamps& stamps, const py::object& q, const py::object& theta,
             const py::object& qd, const py::object& effort, const py::object& current) {
            const py::ssize_t N = samples(stamps);
            const AlignedColumns c({N, s.joints()}, q, theta, qd, effort, current);
            const std::int64_t* t = stamps.data();
            py::gil_scoped_release release;
            for (py::ssize_t k = 0; k < N; ++k) c.step(s, t[k], k);
          },
          py::arg("stamp_ns"), py::arg("q"), py::arg("theta"), py::arg("qd"), py::arg("effort"), py::arg("current"),
          "The same over stamps (N,) [ns] and arrays (N, n) or None.")
      .def_property_readonly(
          "latency", [](const SignalAlignment& s) { return s.latency(); }, "Age of the estimates [s].");
  m.def(
      "generalised_momentum",
      [](const Chain& chain, const py::object& q, const py::object& qd) {
        Array p(chain.n), beta(chain.n);
        generalised_momentum(chain, views::in(q, "q", {chain.n}), views::in(qd, "qd", {chain.n}), p.mutable_data(),
                             beta.mutable_data());
        return py::make_tuple(p, beta);
      },
      py::arg("chain"), py::arg("q"), py::arg("qd"), "p = M qd and C' qd (n), (n).");
}

}  // namespace bindings::motion
