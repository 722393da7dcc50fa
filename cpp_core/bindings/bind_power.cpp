#include "batch.hpp"
#include "robot_dynamics/observers/power.hpp"
#include "views.hpp"

namespace bindings::power {
using namespace robot_dynamics;

namespace {

PowerMeter make(int n, const py::kwargs& given) {
  if (!(1 <= n && n <= max_joints)) throw std::invalid_argument("n = " + std::to_string(n) + " is no number of joints");
  PowerParameters p;
  views::Keywords keys(given);
  keys.take("gear_ratio", p.gear_ratio, n);
  keys.take("motor_constant", p.motor_constant, n);
  keys.take("back_emf_ratio", p.back_emf_ratio, n);
  keys.take("clamped", p.clamped);
  keys.finish();
  return PowerMeter(n, p);
}

struct Columns {
  const double *torque, *velocity;
  PowerOutput out;

  Columns(std::initializer_list<py::ssize_t> shape, std::initializer_list<py::ssize_t> wide, const py::object& torque_,
          const py::object& velocity_, const py::object& electrical_power, const py::object& mechanical_power,
          const py::object& electrical_energy, const py::object& electrical_energy_clamped,
          const py::object& mechanical_energy, const py::object& efficiency)
      : torque(views::maybe(torque_, "torque", shape)),
        velocity(views::maybe(velocity_, "velocity", shape)),
        out{views::out(electrical_power, "electrical_power", wide),
            views::out(mechanical_power, "mechanical_power", wide),
            views::out(electrical_energy, "electrical_energy", wide),
            views::out(electrical_energy_clamped, "electrical_energy_clamped", wide),
            views::out(mechanical_energy, "mechanical_energy", wide),
            views::out(efficiency, "efficiency", wide)} {}

  Status step(PowerMeter& core, std::int64_t stamp, py::ssize_t k, py::ssize_t n) const {
    const py::ssize_t w = k * (n + 1);
    return core.step(stamp, views::row(torque, k, n), views::row(velocity, k, n),
                     {out.electrical_power + w, out.mechanical_power + w, out.electrical_energy + w,
                      out.electrical_energy_clamped + w, out.mechanical_energy + w, out.efficiency + w});
  }
};

}  // namespace

void bind(py::module_& m) {
  py::class_<PowerMeter>(m, "PowerMeter",
                         "Electric and mechanical power and energy, per joint and total [Clochiatti2024, eq. 19-26].")
      .def(py::init(&make), py::arg("n"))
      .def("reset", &PowerMeter::reset, "Set the energies to zero.")
      .def(
          "step",
          [](PowerMeter& s, std::int64_t stamp, const py::object& torque, const py::object& velocity,
             const py::object& pe, const py::object& pm, const py::object& ee, const py::object& ec,
             const py::object& em, const py::object& eta) {
            const py::ssize_t n = s.joints();
            return Columns({n}, {n + 1}, torque, velocity, pe, pm, ee, ec, em, eta).step(s, stamp, 0, n);
          },
          py::arg("stamp_ns"), py::arg("torque"), py::arg("velocity"), py::arg("electrical_power"),
          py::arg("mechanical_power"), py::arg("electrical_energy"), py::arg("electrical_energy_clamped"),
          py::arg("mechanical_energy"), py::arg("efficiency"),
          "One sample: torque (n,) [Nm], velocity (n,) [rad/s]; writes powers [W], energies [J] and efficiency (n + "
          "1,), the robot last.\n"
          "Returns a Status.")
      .def(
          "run",
          [](PowerMeter& s, const Stamps& stamps, const py::object& torque, const py::object& velocity,
             const py::object& pe, const py::object& pm, const py::object& ee, const py::object& ec,
             const py::object& em, const py::object& eta) {
            const py::ssize_t N = samples(stamps), n = s.joints();
            const Columns c({N, n}, {N, n + 1}, torque, velocity, pe, pm, ee, ec, em, eta);
            const std::int64_t* t = stamps.data();
            return run_batch(N, [&](py::ssize_t k) { return c.step(s, t[k], k, n); });
          },
          py::arg("stamp_ns"), py::arg("torque"), py::arg("velocity"), py::arg("electrical_power"),
          py::arg("mechanical_power"), py::arg("electrical_energy"), py::arg("electrical_energy_clamped"),
          py::arg("mechanical_energy"), py::arg("efficiency"),
          "Status codes (N,); arguments as in step(), (N, ...) each.");
}

}  // namespace bindings::power
