// step(), run() and rows() of a stage: over one sample, over a log, and bound to a log, from one table of its columns.
#pragma once

#include <type_traits>

#include "row_step.hpp"
#include "views.hpp"

// An argument (n + more,) or (fixed,) of step(), with N rows of run(). None is a null pointer in `read` and `update`.
struct Column {
  enum class Use { read, need, write, update };
  const char* name;
  Use use = Use::read;
  int more = 0, fixed = 0;

  py::ssize_t width(py::ssize_t n) const { return fixed > 0 ? fixed : n + more; }
  double* data(const py::object& x, std::initializer_list<py::ssize_t> shape) const {
    if (use == Use::write || (use == Use::update && !x.is_none())) return views::out(x, name, shape);
    return const_cast<double*>(use == Use::need ? views::in(x, name, shape) : views::maybe(x, name, shape));
  }
};

template <std::size_t>
using Argument = const py::object&;

// Binds step(core, stamp, pointers of the columns) -> Status or nothing.
template <class Core, std::size_t K, class Step, class Indices = std::make_index_sequence<K>>
class StageBinding;
template <class Core, std::size_t K, class Step, std::size_t... I>
class StageBinding<Core, K, Step, std::index_sequence<I...>> {
 public:
  using Pointers = std::array<double*, K>;
  StageBinding(py::class_<Core>& c, const std::array<Column, K>& columns, Step step)
      : class_(c), columns_(columns), step_(step) {}

  void def_step(const char* text) {
    class_.def(
        "step",
        [columns = columns_, step = step_](Core& core, std::int64_t stamp, Argument<I>... x) {
          const py::ssize_t n = core.joints();
          return step(core, stamp, Pointers{columns[I].data(x, {columns[I].width(n)})...});
        },
        py::arg("stamp_ns"), py::arg(columns_[I].name)..., text);
  }
  void def_run() {
    class_.def(
        "run",
        [log = over_log()](Core& core, const Stamps& stamps, Argument<I>... x) {
          const py::ssize_t N = samples(stamps);
          const auto row = log(core, N, x...);
          const std::int64_t* t = stamps.data();
          if constexpr (std::is_void_v<decltype(row(0, 0))>) {
            const py::gil_scoped_release release;
            for (py::ssize_t k = 0; k < N; ++k) row(t[k], k);
          } else {
            return run_batch(N, [&](py::ssize_t k) { return row(t[k], k); });
          }
        },
        py::arg("stamp_ns"), py::arg(columns_[I].name)..., "Status codes (N,); arguments as in step(), (N, ...) each.");
  }
  void def_rows() {
    class_.def(
        "rows",
        [log = over_log()](const py::object& stage, py::ssize_t N, Argument<I>... x) {
          return RowStep{log(stage.cast<Core&>(), N, x...), N, stage, py::make_tuple(x...)};
        },
        py::arg("N"), py::arg(columns_[I].name)..., "RowStep over N records; arguments as in run().");
  }

 private:
  auto over_log() const {  // -> (stamp, k): step of record k
    return [columns = columns_, step = step_](Core& core, py::ssize_t N, Argument<I>... x) {
      const py::ssize_t n = core.joints();
      const Pointers first{columns[I].data(x, {N, columns[I].width(n)})...};
      const std::array<py::ssize_t, K> width{columns[I].width(n)...};
      return [step, &core, first, width](std::int64_t stamp, py::ssize_t k) {
        return step(core, stamp, Pointers{(first[I] ? first[I] + k * width[I] : nullptr)...});
      };
    };
  }

  py::class_<Core>& class_;
  std::array<Column, K> columns_;
  Step step_;
};

template <class Core, std::size_t K, class Step>
void def_stage(py::class_<Core>& c, const std::array<Column, K>& columns, const char* text, Step step,
               bool rows = false) {
  StageBinding<Core, K, Step> binding(c, columns, step);
  binding.def_step(text);
  binding.def_run();
  if constexpr (!std::is_void_v<decltype(step(std::declval<Core&>(), 0, std::array<double*, K>{}))>)
    if (rows) binding.def_rows();
}
