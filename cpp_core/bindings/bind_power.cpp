#include "robot_dynamics/observers/power.hpp"
#include "stage.hpp"

namespace bindings::power {
using namespace robot_dynamics;

namespace {

PowerMeter make(int n, const py::kwargs& given) {
  require_range("n", n, 1, max_joints);
  PowerParameters p;
  Keywords keys(given);
  keys.take("gear_ratio", p.gear_ratio, n);
  keys.take("motor_constant", p.motor_constant, n);
  keys.take("back_emf_ratio", p.back_emf_ratio, n);
  keys.finish();
  return PowerMeter(n, p);
}

constexpr auto out = Column::Use::write;
constexpr std::array<Column, 8> columns{{{"torque"},
                                         {"velocity"},
                                         {"electrical_power", out, 1},
                                         {"mechanical_power", out, 1},
                                         {"electrical_energy", out, 1},
                                         {"electrical_energy_clamped", out, 1},
                                         {"mechanical_energy", out, 1},
                                         {"efficiency", out, 1}}};

}  // namespace

void bind(py::module_& m) {
  py::class_<PowerMeter> c(
      m, "PowerMeter", "Electric and mechanical power and energy, per joint and total [Clochiatti2024, eq. 19-26].");
  c.def(py::init(&make), py::arg("n")).def("reset", &PowerMeter::reset, "Set the energies to zero.");
  def_stage(c, columns,
            "One sample: torque (n,) [Nm], velocity (n,) [rad/s]; writes powers [W], energies [J] and efficiency (n + "
            "1,), the robot last.\n"
            "Returns a Status.",
            [](PowerMeter& s, std::int64_t stamp, const auto& x) {
              return s.step(stamp, x[0], x[1], {x[2], x[3], x[4], x[5], x[6], x[7]});
            });
}

}  // namespace bindings::power
