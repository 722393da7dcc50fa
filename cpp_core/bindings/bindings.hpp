// What the thin bindings share: array types and shape checks that name the argument.
#pragma once

#include <pybind11/native_enum.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>

#include "array.hpp"
#include "robot_dynamics/common/status.hpp"

namespace pybind11::detail {
// Every step returns a Status: its member of the Python enumeration is looked up once, not in every call.
template <>
class type_caster<robot_dynamics::Status> : public type_caster_enum_type<robot_dynamics::Status> {
  using Base = type_caster_enum_type<robot_dynamics::Status>;

 public:
  static handle cast(robot_dynamics::Status status, return_value_policy policy, handle parent) {
    static std::array<PyObject*, 8> members{};
    PyObject*& member = members.at(static_cast<std::size_t>(status));
    if (member == nullptr) member = Base::cast(status, policy, parent).ptr();
    return handle(member).inc_ref();
  }
};
}  // namespace pybind11::detail

using Array = TypedArray<double>;

// Shape check for setup and batch calls; -1 matches any length.
inline void require_shape(const py::array& a, const char* name, const py::ssize_t* shape, std::size_t dimensions) {
  const auto fits = [](py::ssize_t found, py::ssize_t wanted) { return wanted < 0 || wanted == found; };
  if (std::equal(a.shape(), a.shape() + a.ndim(), shape, shape + dimensions, fits)) return;
  std::ostringstream text;
  text << name << " has shape (";
  for (py::ssize_t i = 0; i < a.ndim(); ++i) text << (i ? ", " : "") << a.shape(i);
  text << "), expected (";
  for (std::size_t i = 0; i < dimensions; ++i)
    text << (i ? ", " : "") << (shape[i] < 0 ? std::string("N") : std::to_string(shape[i]));
  throw std::invalid_argument(text.str() + ")");
}
inline void require_shape(const py::array& a, const char* name, std::initializer_list<py::ssize_t> shape) {
  require_shape(a, name, shape.begin(), shape.size());
}
template <class T>
void require_shape(const TypedArray<T>& a, const char* name, std::initializer_list<py::ssize_t> shape) {
  a.require_type(name);
  require_shape(static_cast<const py::array&>(a), name, shape);
}
