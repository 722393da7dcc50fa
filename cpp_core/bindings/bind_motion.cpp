#include "arguments.hpp"
#include "robot_dynamics/observers/motion_state.hpp"
#include "robot_dynamics/observers/parameter_names.hpp"
#include "robot_dynamics/rigid_body/momentum.hpp"
#include "robot_dynamics/signals/signal_alignment.hpp"
#include "stage.hpp"

namespace bindings::motion {
using namespace robot_dynamics;

namespace {

MotionState make(const Chain& chain, const py::kwargs& given) {
  MotionParameters p;
  p.effort_gain.fill(1.0);
  return MotionState(chain, given_by_name(p, given, chain.n));
}

SignalAlignment make_alignment(int joints, const py::kwargs& given) {
  require_range("joints", joints, 1, max_joints);
  return SignalAlignment(joints, given_by_name(SignalAlignmentParameters{}, given, joints));
}

// x, qd (N, n) and the steps (n) of q and v of one piece at seconds t (N,): they are known from the beginning, since it
// is read twice.
py::tuple within_steps(const Array& t, const Array& q, const Array& v) {
  const py::ssize_t N = q.ndim() == 2 ? q.shape(0) : -1, n = q.ndim() == 2 ? q.shape(1) : -1;
  const double *seconds = row(t, "t", N), *position = rows(q, "q", N, n), *reported = rows(v, "v", N, n);
  require_range("joints", n, 1, max_joints);
  VelocitySteps velocities(static_cast<int>(n));
  PositionSteps positions(static_cast<int>(n));
  Array x({N, n}), qd({N, n}), q_step(n), v_step(n);
  for (int time = 0; time < 2; ++time)
    for (py::ssize_t k = 0; k < N; ++k) {
      const double dt = k ? seconds[k] - seconds[k - 1] : 0.0, *at = position + k * n;
      velocities.step(dt, at, reported + k * n, qd.mutable_data() + k * n);
      positions.step(dt, at, qd.data() + k * n, x.mutable_data() + k * n);
    }
  for (int i = 0; i < n; ++i) q_step.mutable_at(i) = positions.size(i), v_step.mutable_at(i) = velocities.size(i);
  return py::make_tuple(x, qd, q_step, v_step);
}

constexpr auto out = Column::Use::write, both = Column::Use::update;
constexpr std::array<Column, 8> motion_columns{{{"q"},
                                                {"qd"},
                                                {"effort"},
                                                {"payload", Column::Use::read, 0, 4},
                                                {"qd_out", out},
                                                {"qdd", out},
                                                {"model_torque", out},
                                                {"drive_torque", out}}};
constexpr std::array<Column, 6> aligned_columns{
    {{"q", both}, {"theta", both}, {"qd", both}, {"effort", both}, {"current", both}, {"late", out, 0, 1}}};

}  // namespace

void bind(py::module_& m) {
  py::class_<MotionState> motion(m, "MotionState",
                                 "Velocity, acceleration, model torque and drive torque [Simoni2017 V, 16, 20].");
  motion.def(py::init(&make), py::arg("chain"))
      .def(
          "reset", [](MotionState& s) { s.reset(); }, "Forget all samples; parameters stay.")
      .def_property_readonly(
          "period", [](const MotionState& s) { return s.timing().period(); }, "Typical sampling time [s].")
      .def_property_readonly(
          "missed", [](const MotionState& s) { return s.timing().missed(); }, "Number of missed samples.")
      .def_property_readonly(
          "frozen", [](const MotionState& s) { return s.frozen(); }, "True when positions repeat without change.");
  def_stage(motion, motion_columns,
            "One sample: q, qd, effort (n,), payload (4,): m, x, y, z, or None; writes velocity, acceleration [rad/s, "
            "rad/s2], model torque and "
            "drive torque [Nm]\n"
            "(n,). Returns a Status.",
            [](MotionState& s, std::int64_t stamp, const auto& x) {
              return s.step(stamp, {x[0], x[1], x[2], x[3]}, {x[4], x[5], x[6], x[7]});
            });
  py::class_<SignalAlignment> alignment(
      m, "SignalAlignment", "Signals of one instant from signals with delays [s], velocity gain and bias [rad/s].");
  alignment.def(py::init(&make_alignment), py::arg("joints"))
      .def(
          "reset", [](SignalAlignment& s) { s.reset(); }, "Forget all samples; parameters stay.")
      .def_property_readonly(
          "latency", [](const SignalAlignment& s) { return s.latency(); }, "Age of the estimates [s].");
  def_stage(alignment, aligned_columns,
            "One sample, in place: arrays (n,) or None; writes how late its stamp is (1,) [ns].",
            [](SignalAlignment& s, std::int64_t stamp, const auto& x) {
              *x[5] = static_cast<double>(ns_between(stamp, s.step(stamp, {x[0], x[1], x[2], x[3], x[4]})));
              return Status::ok;
            });
  m.def(
      "within_steps", &within_steps, py::arg("t"), py::arg("q"), py::arg("v"),
      "Positions and velocities (N, n) [rad, rad/s] as the live nodes take them, and the steps h (n,) [rad, rad/s] in\n"
      "which q and v (N, n) are reported at t (N,) [s]: no farther than h / 2 from q and v. h = 0: fine, unchanged.");
  m.def(
      "generalised_momentum",
      [](const Chain& chain, const Array& q, const Array& qd) {
        Array p(chain.n), beta(chain.n);
        generalised_momentum(chain, row(q, "q", chain.n), row(qd, "qd", chain.n), p.mutable_data(),
                             beta.mutable_data());
        return py::make_tuple(p, beta);
      },
      py::arg("chain"), py::arg("q"), py::arg("qd"), "p = M qd and C' qd (n), (n).");
}

}  // namespace bindings::motion
