#include <map>
#include <optional>

#include "bindings.hpp"
#include "robot_dynamics/plant.hpp"

using namespace robot_dynamics;
using namespace robot_dynamics::plant;
using PlantModel = robot_dynamics::plant::Plant;

namespace {

struct Field {  // a per-joint number, or a row of `width` numbers per joint
  double* (*at)(JointParameters&);
  int width;
};
#define SCALAR(block, name) {#block "." #name, {[](JointParameters& p) { return &p.block.name; }, 1}}
#define ROW(block, name, count)                                     \
  {                                                                 \
    #block "." #name, {                                             \
      [](JointParameters& p) { return p.block.name.data(); }, count \
    }                                                               \
  }

const std::map<std::string, Field>& fields() {
  static const std::map<std::string, Field> table = {SCALAR(drive, rotor_inertia),
                                                     SCALAR(drive, torque_constant),
                                                     SCALAR(drive, torque_limit),
                                                     SCALAR(drive, current_lag),
                                                     ROW(drive, ripple_amplitude, ripple_orders),
                                                     ROW(drive, ripple_phase, ripple_orders),
                                                     SCALAR(friction, coulomb),
                                                     SCALAR(friction, stribeck),
                                                     SCALAR(friction, stribeck_velocity),
                                                     SCALAR(friction, load),
                                                     SCALAR(friction, load_torque),
                                                     SCALAR(friction, attraction),
                                                     SCALAR(friction, presliding),
                                                     SCALAR(friction, viscous),
                                                     SCALAR(friction, shear_velocity),
                                                     SCALAR(friction, viscosity_rate),
                                                     SCALAR(friction, boundary_rate),
                                                     SCALAR(friction, reference_temperature),
                                                     ROW(friction, span, friction_elements),
                                                     ROW(friction, share, friction_elements),
                                                     SCALAR(transmission, stiffness),
                                                     SCALAR(transmission, hardening),
                                                     SCALAR(transmission, damping),
                                                     SCALAR(transmission, backlash),
                                                     SCALAR(transmission, backlash_variation),
                                                     SCALAR(transmission, backlash_phase),
                                                     SCALAR(transmission, soft_windup),
                                                     SCALAR(transmission, gear_ratio),
                                                     SCALAR(transmission, bearing_friction),
                                                     SCALAR(transmission, bearing_presliding),
                                                     ROW(transmission, error_amplitude, harmonics),
                                                     ROW(transmission, error_phase, harmonics),
                                                     SCALAR(thermal, lubricant_capacity),
                                                     SCALAR(thermal, housing_capacity),
                                                     SCALAR(thermal, inner_conductance),
                                                     SCALAR(thermal, outer_conductance),
                                                     SCALAR(thermal, copper_loss),
                                                     SCALAR(thermal, idle_power),
                                                     SCALAR(sensing, link_quantum),
                                                     SCALAR(sensing, rotor_quantum),
                                                     SCALAR(sensing, link_offset),
                                                     SCALAR(sensing, velocity_bandwidth),
                                                     SCALAR(sensing, encoder_skew),
                                                     SCALAR(sensing, current_noise),
                                                     SCALAR(sensing, current_offset),
                                                     SCALAR(sensing, current_ripple),
                                                     SCALAR(sensing, pole_pairs),
                                                     SCALAR(sensing, temperature_quantum),
                                                     SCALAR(sensing, temperature_noise),
                                                     SCALAR(sensing, torque_noise),
                                                     SCALAR(sensing, torque_gain),
                                                     SCALAR(sensing, torque_offset),
                                                     SCALAR(control, rotor_inertia),
                                                     SCALAR(control, torque_constant),
                                                     SCALAR(control, transmission_stiffness),
                                                     SCALAR(control, stiffness_gain),
                                                     SCALAR(control, damping_gain),
                                                     SCALAR(control, integral_gain),
                                                     SCALAR(control, integral_limit),
                                                     SCALAR(control, viscous),
                                                     SCALAR(control, coulomb),
                                                     SCALAR(control, torque_feedback)};
  return table;
}
#undef SCALAR
#undef ROW

PlantModel make_plant(const Chain& chain, const Chain& nominal, const std::map<std::string, Array>& values,
                      double inner_rate, int refresh, double implicitness, std::uint64_t seed) {
  PlantParameters p;
  p.chain = chain;
  p.nominal = nominal;
  p.inner_rate = inner_rate;
  p.refresh = refresh;
  p.implicitness = implicitness;
  for (const auto& [name, array] : values) {
    const auto found = fields().find(name);
    if (found == fields().end()) throw std::invalid_argument("parameters: unknown name " + name);
    const Field& field = found->second;
    if (field.width == 1)
      require_shape(array, name.c_str(), {chain.n});
    else
      require_shape(array, name.c_str(), {chain.n, field.width});
    for (int j = 0; j < chain.n; ++j)
      for (int k = 0; k < field.width; ++k) field.at(p.joint[j])[k] = array.data()[j * field.width + k];
  }
  return PlantModel(p, seed);
}

// Signals of one cycle by name, all (n,) unless said otherwise.
struct Output {
  const double* (*at)(const PlantModel&);
  int width;  // 0 = joints
};
#define MEASURED(name) {#name, {[](const PlantModel& p) { return p.measurement().name.data(); }, 0}}
#define TRUTH(name) {"true_" #name, {[](const PlantModel& p) { return p.truth().name.data(); }, 0}}

const std::map<std::string, Output>& outputs() {
  static const std::map<std::string, Output> table = {
      MEASURED(q),
      MEASURED(qd),
      MEASURED(theta),
      MEASURED(omega),
      MEASURED(current),
      MEASURED(effort),
      MEASURED(joint_torque),
      MEASURED(temperature),
      MEASURED(q_d),
      MEASURED(qd_d),
      MEASURED(qdd_d),
      MEASURED(target_moment),
      MEASURED(target_current),
      TRUTH(q),
      TRUTH(qd),
      TRUTH(theta),
      TRUTH(omega),
      TRUTH(motor_torque),
      TRUTH(joint_torque),
      TRUTH(friction_torque),
      TRUTH(rotor_friction_torque),
      TRUTH(link_friction_torque),
      TRUTH(external_joint_torque),
      TRUTH(deflection),
      TRUTH(lubricant_temperature),
      TRUTH(housing_temperature),
      TRUTH(friction_power),
      {"true_external_wrench", {[](const PlantModel& p) { return p.truth().external_wrench.data(); }, 6}},
      {"true_tcp_position", {[](const PlantModel& p) { return p.truth().tcp.p.data(); }, 3}},
      {"true_tcp_rotation", {[](const PlantModel& p) { return p.truth().tcp.R.data(); }, 9}},
      {"true_penetration", {[](const PlantModel& p) { return &p.truth().penetration; }, 1}}};
  return table;
}
#undef MEASURED
#undef TRUTH

Array copy(const PlantModel& plant, const Output& output) {
  const int width = output.width ? output.width : plant.n();
  Array result(width);
  std::copy_n(output.at(plant), width, result.mutable_data());
  return result;
}

void take(PerJoint& target, const Array& values, const char* name, int n) {
  require_shape(values, name, {n});
  std::copy_n(values.data(), n, target.begin());
}

Status cycle_position(PlantModel& plant, const Array& q, const Array& qd, const Array& qdd, double dt) {
  Command command;
  take(command.q, q, "q_d", plant.n());
  take(command.qd, qd, "qd_d", plant.n());
  take(command.qdd, qdd, "qdd_d", plant.n());
  return plant.cycle(command, dt);
}

Status cycle_torque(PlantModel& plant, const Array& torque, const Array& viscous, const Array& coulomb, double dt) {
  Command command;
  command.mode = Mode::torque;
  take(command.torque, torque, "torque", plant.n());
  take(command.viscous_scale, viscous, "viscous_scale", plant.n());
  take(command.coulomb_scale, coulomb, "coulomb_scale", plant.n());
  return plant.cycle(command, dt);
}

// Batch of cycles with the GIL released; the very same cycle() per row. Every `keep`-th row is written to `out`.
py::array_t<int> run(PlantModel& plant, const std::string& mode, const Array& a, const Array& b, const Array& c,
                     double dt, const std::map<std::string, Array>& out, const std::optional<Array>& wrench,
                     const std::optional<Array>& ambient, int keep) {
  if (mode != "position" && mode != "torque")
    throw std::invalid_argument("mode = " + mode + ", use position or torque");
  if (!(keep >= 1)) throw std::invalid_argument("keep = " + std::to_string(keep) + " is below 1");
  const int n = plant.n();
  const py::ssize_t rows = a.ndim() == 2 ? a.shape(0) : -1;
  const bool position = mode == "position";
  require_shape(a, position ? "q_d" : "torque", {rows, n});
  require_shape(b, position ? "qd_d" : "viscous_scale", {rows, n});
  require_shape(c, position ? "qdd_d" : "coulomb_scale", {rows, n});
  if (wrench) require_shape(*wrench, "wrench", {rows, 6});
  if (ambient) require_shape(*ambient, "ambient", {rows});
  struct Target {
    const Output* output;
    double* data;
    int width;
  };
  std::vector<Target> targets;
  for (const auto& [name, array] : out) {
    const auto found = outputs().find(name);
    if (found == outputs().end()) throw std::invalid_argument("out: unknown signal " + name);
    const int width = found->second.width ? found->second.width : n;
    require_shape(array, name.c_str(), {rows / keep, width});
    targets.push_back({&found->second, const_cast<Array&>(array).mutable_data(), width});
  }
  py::array_t<int> status(rows);
  int* s = status.mutable_data();
  const double *pa = a.data(), *pb = b.data(), *pc = c.data(), *pw = wrench ? wrench->data() : nullptr,
               *pt = ambient ? ambient->data() : nullptr;
  py::gil_scoped_release release;
  for (py::ssize_t i = 0; i < rows; ++i) {
    Command command;
    command.mode = position ? Mode::position : Mode::torque;
    std::copy_n(pa + i * n, n, position ? command.q.begin() : command.torque.begin());
    std::copy_n(pb + i * n, n, position ? command.qd.begin() : command.viscous_scale.begin());
    std::copy_n(pc + i * n, n, position ? command.qdd.begin() : command.coulomb_scale.begin());
    if (pw) plant.set_wrench(pw + i * 6);
    if (pt) plant.set_ambient(pt[i]);
    s[i] = static_cast<int>(plant.cycle(command, dt));
    if ((i + 1) % keep == 0)
      for (const Target& t : targets) std::copy_n(t.output->at(plant), t.width, t.data + (i / keep) * t.width);
  }
  return status;
}

Wall make_wall(const std::array<double, 3>& point, const std::array<double, 3>& normal, double stiffness,
               double damping, double friction) {
  const double length = std::sqrt(dot(normal, normal));
  require(length > 1e-9 && length < 1e9, "normal (length)", -1, length, "> 0");
  require(stiffness > 0 && stiffness <= 1e8, "stiffness", -1, stiffness, "(0, 1e8] N/m");
  require(damping >= 0 && damping <= 1e6, "damping", -1, damping, "[0, 1e6] N s/m");
  require(friction >= 0 && friction <= 2, "friction", -1, friction, "[0, 2]");
  Wall wall;
  wall.enabled = true;
  wall.point = point;
  wall.normal = (1.0 / length) * normal;
  wall.stiffness = stiffness;
  wall.damping = damping;
  wall.friction = friction;
  return wall;
}

}  // namespace

void bind_plant(py::module_& m) {
  py::class_<PlantModel>(m, "Plant", "Simulated robot: flexible joints, friction, heat, sensors and inner controller.")
      .def(py::init(&make_plant), py::arg("chain"), py::arg("nominal"), py::arg("parameters"),
           py::arg("inner_rate") = 8000.0, py::arg("refresh") = 4, py::arg("implicitness") = 0.5, py::arg("seed") = 0)
      .def_static("parameter_widths",
                  [] {
                    std::map<std::string, int> widths;
                    for (const auto& [name, field] : fields()) widths[name] = field.width;
                    return widths;
                  })
      .def_static("output_widths",
                  [] {
                    std::map<std::string, int> widths;
                    for (const auto& [name, output] : outputs()) widths[name] = output.width;
                    return widths;
                  })
      .def_property_readonly("n_joints", &PlantModel::n)
      .def(
          "reset",
          [](PlantModel& plant, const Array& q) {
            require_shape(q, "q", {plant.n()});
            plant.reset(q.data());
          },
          py::arg("q"))
      .def("cycle_position", &cycle_position, py::arg("q_d"), py::arg("qd_d"), py::arg("qdd_d"), py::arg("dt"))
      .def("cycle_torque", &cycle_torque, py::arg("torque"), py::arg("viscous_scale"), py::arg("coulomb_scale"),
           py::arg("dt"))
      .def("run", &run, py::arg("mode"), py::arg("a"), py::arg("b"), py::arg("c"), py::arg("dt"), py::arg("out"),
           py::arg("wrench") = py::none(), py::arg("ambient") = py::none(), py::arg("keep") = 1)
      .def(
          "get",
          [](const PlantModel& plant, const std::string& name) {
            const auto found = outputs().find(name);
            if (found == outputs().end()) throw std::invalid_argument("unknown signal " + name);
            return copy(plant, found->second);
          },
          py::arg("name"))
      .def("energy", &PlantModel::energy)
      .def(
          "set_temperatures",
          [](PlantModel& plant, const Array& lubricant, const Array& housing) {
            require_shape(lubricant, "lubricant", {plant.n()});
            require_shape(housing, "housing", {plant.n()});
            plant.set_temperatures(lubricant.data(), housing.data());
          },
          py::arg("lubricant"), py::arg("housing"))
      .def("set_ambient", &PlantModel::set_ambient, py::arg("celsius"))
      .def(
          "set_wrench",
          [](PlantModel& plant, const Array& wrench) {
            require_shape(wrench, "wrench", {6});
            plant.set_wrench(wrench.data());
          },
          py::arg("wrench"))
      .def(
          "set_wall",
          [](PlantModel& plant, const std::array<double, 3>& point, const std::array<double, 3>& normal,
             double stiffness, double damping,
             double friction) { plant.set_wall(make_wall(point, normal, stiffness, damping, friction)); },
          py::arg("point"), py::arg("normal"), py::arg("stiffness") = 2e4, py::arg("damping") = 100.0,
          py::arg("friction") = 0.0)
      .def("clear_wall", [](PlantModel& plant) { plant.set_wall(Wall{}); })
      .def("set_payload", &PlantModel::set_payload, py::arg("mass"), py::arg("com"), py::arg("inertia"))
      .def("set_nominal_payload", &PlantModel::set_nominal_payload, py::arg("mass"), py::arg("com"), py::arg("inertia"))
      .def(
          "scale_stiffness",
          [](PlantModel& plant, int joint, double factor) {
            require(joint >= 0 && joint < plant.n(), "joint", -1, joint, "0..n-1");
            require(factor > 0 && factor <= 10, "factor", -1, factor, "(0, 10]");
            plant.scale_stiffness(joint, factor);
          },
          py::arg("joint"), py::arg("factor"));
}
