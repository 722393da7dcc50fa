// Friction from both encoders.
#include "robot_dynamics/observers/friction_observer.hpp"
#include "stage.hpp"

namespace bindings::rotor_friction {
using namespace robot_dynamics;

void bind(py::module_& m) {
  using R = RotorFrictionObserver;
  using Use = Column::Use;
  constexpr std::array<Column, 5> columns{
      {{"omega"}, {"tau_m"}, {"tau_J"}, {"friction", Use::write}, {"friction_std", Use::write}}};
  py::class_<R> c(m, "RotorFrictionObserver", "Friction from both encoders [Madsen2020 appB].");
  c.def(py::init([](const Array& B, const Array& L, double max_gap) {
          return R(numbers(B, "B"), numbers(L, "L"), max_gap);
        }),
        py::arg("B"), py::arg("L"), py::arg("max_gap") = 0.1)
      .def("reset", &R::reset, "Start again at the next sample.");
  def_stage(
      c, columns,
      "One sample: rotor velocity (n,) [rad/s], motor and joint torque (n,) [Nm], or None; writes friction and its "
      "standard deviation (n,) [Nm]. Returns a Status.",
      [](R& s, std::int64_t stamp, const auto& x) { return s.step(stamp, x[0], x[1], x[2], x[3], x[4]); });
}

}  // namespace bindings::rotor_friction
