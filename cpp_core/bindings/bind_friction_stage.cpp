#include "robot_dynamics/observers/friction_stage.hpp"
#include "robot_dynamics/observers/parameter_names.hpp"
#include "stage.hpp"

namespace bindings::friction_stage {
using namespace robot_dynamics;

namespace {

constexpr auto out = Column::Use::write;
constexpr std::array<Column, 9> stage_columns{{{"position"},
                                               {"v"},
                                               {"load"},
                                               {"contact_load"},
                                               {"temperature"},
                                               {"temperature_variance"},
                                               {"rotor"},
                                               {"friction", out},
                                               {"friction_std", out}}};

// The stage over a log whose temperatures may be estimated in turn: position is the rotor's where it is known.
RowStep rows_of(const py::object& stage, py::ssize_t N, const py::args& args) {
  FrictionStage& s = stage.cast<FrictionStage&>();
  const py::ssize_t n = s.joints();
  constexpr const char* names[] = {"q",    "theta", "v", "load", "contact_load", "temperature", "temperature_variance",
                                   "rotor"};
  if (args.size() != 10) throw py::type_error("expected 8 inputs and 2 outputs after the number of records");
  std::array<const double*, 8> in;
  for (int a = 0; a < 8; ++a) in[a] = own_input(args[a], names[a], {N, n});
  const std::array<double*, 2> out{own_output(args[8], "friction", {N, n}),
                                   own_output(args[9], "friction_std", {N, n})};
  const auto known = [n](const double* block, py::ssize_t k) { return block && block[k * n] == block[k * n]; };
  const auto step = [&s, n, known, in, out](std::int64_t stamp, py::ssize_t k) {
    const auto [q, theta, v, load, contact_load, temperature, variance, rotor] = in;
    return s.step(stamp, at(known(theta, k) ? theta : q, k, n), at(v, k, n), at(load, k, n), at(contact_load, k, n),
                  at(temperature, k, n), at(variance, k, n), out[0] + k * n, out[1] + k * n, at(rotor, k, n));
  };
  return {step, N, stage, args};
}

// Rows (m, 3): joint, with, sign.
std::vector<MotorTurn> motor_turns(const Maybe& given) {
  if (!given) throw std::invalid_argument("turns are missing");
  require_shape(*given, "turns", {-1, 3});
  std::vector<MotorTurn> turns;
  for (py::ssize_t k = 0; k < given->shape(0); ++k) {
    const double* row = given->data(k, 0);
    turns.push_back({int(row[0]), int(row[1]), row[2]});
  }
  return turns;
}

}  // namespace

void bind(py::module_& m) {
  py::class_<FrictionStage> c(m, "FrictionStage",
                              "Friction with its standard deviation: a static law, or one with memory.");
  c.def(py::init([](const FrictionMap& map, const py::object& memory, const py::object& motors, const Maybe& turns,
                    const py::kwargs& given) {
          const auto p = given_by_name(FrictionStageParameters{}, given, map.joints());
          FrictionStage stage(memory.is_none() ? Friction(map) : memory.cast<Friction>(), p);
          if (!motors.is_none()) stage.couple(motor_turns(turns), motors.cast<Friction>());
          return stage;
        }),
        py::arg("map"), py::arg("memory") = py::none(), py::arg("motors") = py::none(), py::arg("turns") = py::none())
      .def("reset", &FrictionStage::reset, "Elements return to rest.");
  def_stage(
      c, stage_columns,
      "One sample: position, v, load, contact load, temperature and its variance, rotor (n,) [rad, rad/s, Nm, "
      "Nm, deg C, K2, rad] or None;\n"
      "writes friction and its standard deviation (n,) [Nm]. Returns a Status.",
      [](FrictionStage& s, std::int64_t stamp, const auto& x) {
        return s.step(stamp, x[0], x[1], x[2], x[3], x[4], x[5], x[7], x[8], x[6]);
      },
      false);
  c.def("rows", &rows_of,
        "RowStep over N records: rows(N, q, theta, v, load, contact_load, temperature, temperature_variance, rotor, "
        "friction, friction_std), (N, n) each, inputs may be None.");
}

}  // namespace bindings::friction_stage
