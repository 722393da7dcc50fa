// copy() and assign(other) of a bound object: to come back to a state later.
#pragma once

#include "bindings.hpp"

template <class T>
void bind_copies(py::class_<T>& c) {
  c.def(
       "copy", [](const T& s) { return T(s); }, "A copy with its state.")
      .def(
          "assign", [](T& s, const T& other) { s = other; }, py::arg("other"),
          "Take over parameters and state of `other`.");
}
