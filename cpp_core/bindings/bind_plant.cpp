#include <map>

#include "arguments.hpp"
#include "plant_names.hpp"

namespace bindings::plant {
using namespace robot_dynamics;
using namespace robot_dynamics::plant;
using PlantModel = robot_dynamics::plant::Plant;

namespace {

PlantModel make_plant(const Chain& chain, const Chain& nominal, const std::map<std::string, Array>& values,
                      double inner_rate, int refresh, double implicitness, std::uint64_t seed) {
  PlantParameters p;
  p.chain = chain;
  p.nominal = nominal;
  p.inner_rate = inner_rate;
  p.refresh = refresh;
  p.implicitness = implicitness;
  for (int j = 0; j < chain.n; ++j) {
    const auto table = fields(p.joint[j]);
    for (const auto& [name, array] : values) {
      const Field& field = named(table, name);
      if (field.width == 1)
        require_shape(array, name.c_str(), {chain.n});
      else
        require_shape(array, name.c_str(), {chain.n, field.width});
      std::copy_n(array.data() + j * field.width, field.width, field.data);
    }
  }
  return PlantModel(p, seed);
}

const double* checked_values(const Array& values, const char* name, py::ssize_t count) {
  require_shape(values, name, {count});
  for (py::ssize_t i = 0; i < count; ++i) finite(values.data()[i], name, static_cast<int>(i));
  return values.data();
}

Status cycle_position(PlantModel& plant, const Array& q, const Array& qd, const Array& qdd, double dt) {
  Command command;
  copy_joints(command.q, q, "q_d", plant.n());
  copy_joints(command.qd, qd, "qd_d", plant.n());
  copy_joints(command.qdd, qdd, "qdd_d", plant.n());
  return plant.cycle(command, dt);
}

Status cycle_torque(PlantModel& plant, const Array& torque, const Array& viscous, const Array& coulomb, double dt) {
  Command command;
  command.mode = Mode::torque;
  copy_joints(command.torque, torque, "torque", plant.n());
  copy_joints(command.viscous_scale, viscous, "viscous_scale", plant.n());
  copy_joints(command.coulomb_scale, coulomb, "coulomb_scale", plant.n());
  return plant.cycle(command, dt);
}

// Rows of one batch: the commands (three arrays of n columns), and what surrounds the robot.
struct Rows {
  py::ssize_t count;
  int n;
  const double *q, *qd, *qdd, *wrench, *ambient;

  Command command(py::ssize_t i) const {
    Command x;
    std::copy_n(q + i * n, n, x.q.begin());
    std::copy_n(qd + i * n, n, x.qd.begin());
    std::copy_n(qdd + i * n, n, x.qdd.begin());
    return x;
  }
  void surround(PlantModel& plant, py::ssize_t i) const {
    if (wrench) plant.set_wrench(wrench + i * 6);
    if (ambient) plant.set_ambient(ambient[i]);
  }
};

Rows rows_of(const PlantModel& plant, const Array& q, const Array& qd, const Array& qdd, const Maybe& wrench,
             const Maybe& ambient) {
  const py::ssize_t count = q.ndim() == 2 ? q.shape(0) : -1;
  const int n = plant.n();
  Rows all{count,
           n,
           rows(q, "q_d", count, n),
           rows(qd, "qd_d", count, n),
           rows(qdd, "qdd_d", count, n),
           rows(wrench, "wrench", count, 6),
           nullptr};
  if (wrench)
    for (py::ssize_t i = 0; i < 6 * count; ++i) finite(all.wrench[i], "wrench", static_cast<int>(i / 6));
  if (ambient) all.ambient = checked_values(*ambient, "ambient", count);
  return all;
}

struct Target {  // where a signal of every kept row goes
  const Output* output;
  double* data;
  int width;
};

std::vector<Target> targets_of(std::map<std::string, py::array>& out, py::ssize_t count, int n) {
  std::vector<Target> targets;
  for (auto& [name, array] : out) {
    const Output& output = named(outputs(), name);
    const int width = output.width ? output.width : n;
    const std::string text = "out['" + name + "']";
    targets.push_back({&output, own_output(array, text.c_str(), {count, width}), width});
  }
  return targets;
}

// Batch of cycles with the GIL released; the very same cycle() per row. Every `keep`-th row is written to `out`.
py::array_t<int> run(PlantModel& plant, const Array& q, const Array& qd, const Array& qdd, double dt,
                     std::map<std::string, py::array> out, const Maybe& wrench, const Maybe& ambient, int keep) {
  require(keep >= 1, "keep", -1, keep, ">= 1");
  const Rows given = rows_of(plant, q, qd, qdd, wrench, ambient);
  const std::vector<Target> targets = targets_of(out, given.count / keep, given.n);
  py::array_t<int> status(given.count);
  int* s = status.mutable_data();
  const py::gil_scoped_release release;
  for (py::ssize_t i = 0; i < given.count; ++i) {
    given.surround(plant, i);
    s[i] = static_cast<int>(plant.cycle(given.command(i), dt));
    if ((i + 1) % keep != 0) continue;
    for (const Target& t : targets) std::copy_n(t.output->at(plant), t.width, t.data + (i / keep) * t.width);
  }
  return status;
}

Array get(const PlantModel& plant, const std::string& name) {
  const Output& output = named(outputs(), name);
  const int width = output.width ? output.width : plant.n();
  Array result(width);
  std::copy_n(output.at(plant), width, result.mutable_data());
  return result;
}

void set_wall(PlantModel& plant, const Vec3& point, const Vec3& normal, double stiffness, double damping,
              double friction) {
  Wall wall;
  wall.point = point;
  wall.normal = normal;
  wall.stiffness = stiffness;
  wall.damping = damping;
  wall.friction = friction;
  plant.set_wall(checked(wall));
}

using Inertia = std::array<double, 6>;

// A method that sets a payload, behind the checks of its numbers.
auto payload(void (PlantModel::*set)(double, const Vec3&, const Inertia&)) {
  return [set](PlantModel& plant, double mass, const Vec3& com, const Inertia& inertia) {
    non_negative(mass, "mass", -1);
    for (double x : com) finite(x, "com", -1);
    for (double x : inertia) finite(x, "inertia", -1);
    (plant.*set)(mass, com, inertia);
  };
}

template <class Draw>
Array drawn(py::ssize_t count, Draw draw) {
  Array values(count);
  for (py::ssize_t i = 0; i < count; ++i) values.mutable_data()[i] = draw();
  return values;
}

}  // namespace

void bind(py::module_& m) {
  py::class_<Random>(m, "PlantRandom", "Random numbers of the plant: the same on every platform and in every release.")
      .def(py::init<std::uint64_t>(), py::arg("seed"))
      .def(
          "normal", [](Random& random, py::ssize_t n) { return drawn(n, [&] { return random.normal(); }); },
          "n numbers of the standard normal distribution.")
      .def(
          "uniform", [](Random& random, py::ssize_t n) { return drawn(n, [&] { return random.uniform(); }); },
          "n numbers, uniform in [0, 1).");
  py::class_<PlantModel>(m, "Plant", "Simulated robot: flexible joints, friction, heat, sensors and inner controller.")
      .def(py::init(&make_plant), py::arg("chain"), py::arg("nominal"), py::arg("parameters"),
           py::arg("inner_rate") = 8000.0, py::arg("refresh") = 4, py::arg("implicitness") = 0.5, py::arg("seed") = 0)
      .def_static(
          "parameter_widths",
          [] {
            JointParameters joint;
            return widths(fields(joint));
          },
          "Numbers per joint of each parameter.")
      .def_static(
          "output_widths", [] { return widths(outputs()); }, "Width of each signal, 0 = joints.")
      .def_property_readonly("n_joints", &PlantModel::n, "Number of joints n.")
      .def(
          "reset", [](PlantModel& plant, const Array& q) { plant.reset(checked_values(q, "q", plant.n())); },
          py::arg("q"), "At rest at link positions q (n,) [rad].")
      .def("cycle_position", &cycle_position, py::arg("q_d"), py::arg("qd_d"), py::arg("qdd_d"), py::arg("dt"),
           "One position-controlled cycle of dt [s]: q_d, qd_d, qdd_d (n,) [rad, rad/s, rad/s2]. Returns a Status.")
      .def("cycle_torque", &cycle_torque, py::arg("torque"), py::arg("viscous_scale"), py::arg("coulomb_scale"),
           py::arg("dt"),
           "One torque-controlled cycle of dt [s]: torque (n,) [Nm], scales of the friction compensation (n,). Returns "
           "a Status.")
      .def("run", &run, py::arg("q_d"), py::arg("qd_d"), py::arg("qdd_d"), py::arg("dt"), py::arg("out"),
           py::arg("wrench") = py::none(), py::arg("ambient") = py::none(), py::arg("keep") = 1,
           "A batch of position-controlled cycles of dt [s]: q_d, qd_d, qdd_d (N, n) [rad, rad/s, rad/s2];\n"
           "`out` names the signals to write, every `keep`-th cycle; wrench (N, 6) [N, Nm], ambient (N,) [deg C]. "
           "Status codes (N,).")
      .def("get", &get, py::arg("name"), "Present value of the signal of this name (output_widths).")
      .def("energy", &PlantModel::energy, "Kinetic and potential energy [J], without what the friction elements store.")
      .def(
          "set_temperatures",
          [](PlantModel& plant, const Array& lubricant, const Array& housing) {
            const double* inside = checked_values(lubricant, "lubricant", plant.n());
            plant.set_temperatures(inside, checked_values(housing, "housing", plant.n()));
          },
          py::arg("lubricant"), py::arg("housing"), "Temperatures of lubricant and housing (n,) [deg C].")
      .def(
          "set_ambient",
          [](PlantModel& plant, double celsius) {
            finite(celsius, "ambient", -1);
            plant.set_ambient(celsius);
          },
          py::arg("celsius"), "Ambient temperature [deg C].")
      .def(
          "set_wrench",
          [](PlantModel& plant, const Array& wrench) { plant.set_wrench(checked_values(wrench, "wrench", 6)); },
          py::arg("wrench"), "External wrench at the TCP (6,) in the base frame [N, Nm].")
      .def("set_wall", &set_wall, py::arg("point"), py::arg("normal"), py::arg("stiffness") = 2e4,
           py::arg("damping") = 100.0, py::arg("friction") = 0.0,
           "Wall through point (3,) [m] with outward normal (3,): stiffness [N/m], damping [N s/m], friction "
           "coefficient.")
      .def(
          "clear_wall", [](PlantModel& plant) { plant.set_wall(Wall{}); }, "Remove the wall.")
      .def("set_payload", payload(&PlantModel::set_payload), py::arg("mass"), py::arg("com"), py::arg("inertia"),
           "Payload the arm carries: mass [kg], com (3,) [m], inertia (6,) [kg m2].")
      .def("set_nominal_payload", payload(&PlantModel::set_nominal_payload), py::arg("mass"), py::arg("com"),
           py::arg("inertia"), "Payload the inner controller assumes: mass [kg], com (3,) [m], inertia (6,) [kg m2].");
}

}  // namespace bindings::plant
