// A stage bound to the arrays of a log: step(stamp, k) advances it by record k. Stages whose results go back to earlier
// ones are run in turn, record by record, without the interpreter.
#pragma once

#include <functional>

#include "arguments.hpp"

struct RowStep {
  std::function<robot_dynamics::Status(std::int64_t, py::ssize_t)> step;
  py::ssize_t rows;
  py::object stage, arrays;  // kept alive
};
