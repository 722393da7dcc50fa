#include "batch.hpp"
#include "robot_dynamics/friction_stage.hpp"
#include "views.hpp"

using namespace robot_dynamics;

namespace {

struct Columns {
  const double *v, *load, *T, *variance;
  double *friction, *std;

  Columns(std::initializer_list<py::ssize_t> shape, const py::object& v_, const py::object& load_, const py::object& T_,
          const py::object& variance_, const py::object& friction_, const py::object& std_)
      : v(views::maybe(v_, "v", shape)),
        load(views::maybe(load_, "load", shape)),
        T(views::maybe(T_, "temperature", shape)),
        variance(views::maybe(variance_, "temperature_variance", shape)),
        friction(views::out(friction_, "friction", shape)),
        std(views::out(std_, "friction_std", shape)) {}

  Status step(const FrictionStage& s, py::ssize_t k, py::ssize_t n) const {
    return s.step(views::row(v, k, n), views::row(load, k, n), views::row(T, k, n), views::row(variance, k, n),
                  friction + k * n, std + k * n);
  }
};

}  // namespace

void bind_friction_stage(py::module_& m) {
  py::class_<FrictionStage>(m, "FrictionStage", "Friction of a static law with its standard deviation.")
      .def(py::init([](const FrictionMap& map, const py::kwargs& given) {
             FrictionStageParameters p;
             views::Keywords keys(given);
             keys.take("relative_error", p.relative_error);
             keys.take("stiction_speed", p.stiction_speed);
             keys.take("stiction", p.stiction);
             keys.take("unknown_spread", p.unknown_spread);
             keys.finish();
             return FrictionStage(map, p);
           }),
           py::arg("map"))
      .def(
          "step",
          [](const FrictionStage& s, const py::object& v, const py::object& load, const py::object& T,
             const py::object& variance, const py::object& friction, const py::object& std) {
            return Columns({s.joints()}, v, load, T, variance, friction, std).step(s, 0, s.joints());
          },
          py::arg("v"), py::arg("load"), py::arg("temperature"), py::arg("temperature_variance"), py::arg("friction"),
          py::arg("friction_std"))
      .def(
          "run",
          [](const FrictionStage& s, const py::array& v, const py::object& load, const py::object& T,
             const py::object& variance, const py::object& friction, const py::object& std) {
            const py::ssize_t N = v.ndim() == 2 ? v.shape(0) : -1, n = s.joints();
            const Columns c({N, n}, v, load, T, variance, friction, std);
            return run_batch(N, [&](py::ssize_t k) { return c.step(s, k, n); });
          },
          py::arg("v"), py::arg("load"), py::arg("temperature"), py::arg("temperature_variance"), py::arg("friction"),
          py::arg("friction_std"));
}
