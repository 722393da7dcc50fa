// Stages of a feedback run in turn over a log.
#include "row_step.hpp"

namespace bindings::row_step {
using namespace robot_dynamics;

namespace {

// A signal that goes back: its rows in the log, and its value after the record before the first.
struct FedBack {
  double *rows, *last;
  py::ssize_t width;
};

FedBack fed_back(const py::handle& pair, py::ssize_t N) {
  const auto given = pair.cast<std::pair<py::object, py::object>>();
  const py::ssize_t width = py::len(given.second);
  return {own_output(given.first, "fed back signal", {N, width}), own_output(given.second, "last", {width}), width};
}

// Status codes (S, N) of S stages. What goes back is, for every stage of record k, what the last record that the first
// stage has used left; of a record that it refuses the others see nothing, and their codes mean nothing.
Codes run_in_turn(const Stamps& stamps, const std::vector<const RowStep*>& stages, const py::list& signals) {
  const py::ssize_t N = samples(stamps), S = static_cast<py::ssize_t>(stages.size());
  for (const RowStep* stage : stages)
    if (!stage || stage->rows != N) throw std::invalid_argument("a stage has another number of records than stamp_ns");
  std::vector<FedBack> fed;
  for (const py::handle& pair : signals) fed.push_back(fed_back(pair, N));
  Codes codes({S, N});
  std::int32_t* code = codes.mutable_data();
  const std::int64_t* t = stamps.data();
  py::gil_scoped_release release;
  for (py::ssize_t k = 0; k < N; ++k) {
    for (const FedBack& f : fed) std::copy_n(f.last, f.width, f.rows + k * f.width);
    bool seen = true;
    for (py::ssize_t s = 0; s < S; ++s) {
      const Status status = seen ? stages[s]->step(t[k], k) : Status::dropped;
      code[s * N + k] = static_cast<std::int32_t>(status);
      seen = seen && (s > 0 || usable(status));
    }
    for (const FedBack& f : fed) {
      double* row = f.rows + k * f.width;
      if (seen)
        std::copy_n(row, f.width, f.last);
      else
        std::fill_n(row, f.width, NAN);
    }
  }
  return codes;
}

}  // namespace

void bind(py::module_& m) {
  py::class_<RowStep>(m, "RowStep", "A stage bound to the arrays of a log, for run_in_turn().")
      .def(py::init([](const Codes& codes) {
             const std::int32_t* code = codes.data();
             const auto known = [code](std::int64_t, py::ssize_t k) { return static_cast<Status>(code[k]); };
             return RowStep{known, codes.size(), py::none(), codes};
           }),
           py::arg("codes"), "A stage that has been run already: its status codes (N,).")
      .def(py::init([](const py::function& step, py::ssize_t N) {
             const auto called = [step](std::int64_t, py::ssize_t k) {
               const py::gil_scoped_acquire held;
               return step(k).cast<Status>();
             };
             return RowStep{called, N, py::none(), py::none()};
           }),
           py::arg("step"), py::arg("N"), "A stage written in Python: step(k) advances it by record k of N.");
  m.def("run_in_turn", &run_in_turn, py::arg("stamp_ns"), py::arg("stages"), py::arg("fed_back") = py::list(),
        "Status codes (S, N) of S stages, run record by record: stamps (N,) [ns], a RowStep each; of a record that the "
        "first one refuses the others see nothing. fed_back: pairs of a signal (N, w) and its last value (w,), with "
        "which the next record begins. Writes both.");
}

}  // namespace bindings::row_step
