// step() over one sample and run() over a log of a stage, from one table of its columns.
#pragma once

#include <type_traits>

#include "batch.hpp"
#include "views.hpp"

// An argument (n + more,) of step(), (N, n + more) of run(). None is a null pointer where a column is not `write`.
struct Column {
  enum class Use { read, write, update };
  const char* name;
  Use use = Use::read;
  int more = 0;

  double* data(const py::object& x, std::initializer_list<py::ssize_t> shape) const {
    if (use == Use::write || (use == Use::update && !x.is_none())) return views::out(x, name, shape);
    return const_cast<double*>(views::maybe(x, name, shape));
  }
};

template <std::size_t>
using Argument = const py::object&;

// step(core, stamp, pointers of the columns) -> Status or nothing.
template <class Core, std::size_t K, class Step, std::size_t... I>
void def_stage(py::class_<Core>& c, const std::array<Column, K>& columns, const char* text, Step step,
               std::index_sequence<I...>) {
  using Pointers = std::array<double*, K>;
  c.def(
      "step",
      [columns, step](Core& core, std::int64_t stamp, Argument<I>... x) {
        const py::ssize_t n = core.joints();
        return step(core, stamp, Pointers{columns[I].data(x, {n + columns[I].more})...});
      },
      py::arg("stamp_ns"), py::arg(columns[I].name)..., text);
  c.def(
      "run",
      [columns, step](Core& core, const Stamps& stamps, Argument<I>... x) {
        const py::ssize_t N = samples(stamps), n = core.joints();
        const Pointers first{columns[I].data(x, {N, n + columns[I].more})...};
        const std::int64_t* t = stamps.data();
        const auto row = [&](py::ssize_t k) {
          return step(core, t[k], Pointers{(first[I] ? first[I] + k * (n + columns[I].more) : nullptr)...});
        };
        if constexpr (std::is_void_v<decltype(row(0))>) {
          const py::gil_scoped_release release;
          for (py::ssize_t k = 0; k < N; ++k) row(k);
        } else {
          return run_batch(N, row);
        }
      },
      py::arg("stamp_ns"), py::arg(columns[I].name)..., "Status codes (N,); arguments as in step(), (N, ...) each.");
}

template <class Core, std::size_t K, class Step>
void def_stage(py::class_<Core>& c, const std::array<Column, K>& columns, const char* text, Step step) {
  def_stage(c, columns, text, step, std::make_index_sequence<K>());
}
