// step() and rows() of a stage: over one sample, and bound to a log, from one table of its columns.
#pragma once

#include "row_step.hpp"

// An argument (n + more,) or (fixed,) of step(), with N rows of rows(). None is a null pointer in `read` and `update`.
struct Column {
  enum class Use { read, write, update };
  const char* name;
  Use use = Use::read;
  int more = 0, fixed = 0;

  py::ssize_t width(py::ssize_t n) const { return fixed > 0 ? fixed : n + more; }
  double* data(const py::object& x, std::initializer_list<py::ssize_t> shape) const {
    if (use == Use::write || (use == Use::update && !x.is_none())) return own_output(x, name, shape);
    return const_cast<double*>(own_input(x, name, shape));
  }
};

// Pointers of the arrays that a call was given in the order of their columns, with N rows each; N < 0: without rows.
template <std::size_t K>
std::array<double*, K> pointers(const std::array<Column, K>& columns, const py::args& given, py::ssize_t n,
                                py::ssize_t N = -1) {
  if (given.size() != K) throw py::type_error("expected " + std::to_string(K) + " arrays");
  std::array<double*, K> found;
  for (std::size_t i = 0; i < K; ++i) {
    const py::ssize_t width = columns[i].width(n);
    found[i] = N < 0 ? columns[i].data(given[i], {width}) : columns[i].data(given[i], {N, width});
  }
  return found;
}

// Binds step(core, stamp, pointers of the columns) -> Status.
template <class Core, std::size_t K, class Step>
void def_stage(py::class_<Core>& c, const std::array<Column, K>& columns, const char* text, Step step,
               bool rows = true) {
  std::string names;
  for (const Column& column : columns) names += std::string(", ") + column.name;
  c.def(
      "step",
      [columns, step](Core& core, std::int64_t stamp, const py::args& arrays) {
        return step(core, stamp, pointers(columns, arrays, core.joints()));
      },
      py::arg("stamp_ns"), ("step(stamp_ns" + names + "). " + text).c_str());
  if (!rows) return;
  c.def(
      "rows",
      [columns, step](const py::object& stage, py::ssize_t N, const py::args& arrays) {
        Core& core = stage.cast<Core&>();
        const int n = core.joints();
        const auto first = pointers(columns, arrays, n, N);
        const auto row = [columns, step, &core, n, first](std::int64_t stamp, py::ssize_t k) {
          std::array<double*, K> x = first;
          for (std::size_t i = 0; i < K; ++i)
            if (x[i]) x[i] += k * columns[i].width(n);
          return step(core, stamp, x);
        };
        return RowStep{row, N, stage, arrays};
      },
      py::arg("N"), "RowStep over N records: arrays as of step(), (N, ...) each.");
}
