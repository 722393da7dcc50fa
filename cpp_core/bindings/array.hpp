// Array arguments that are never converted silently: a copy of an output would lose its results, a copy of an input
// would hide a wrong type. The error names the argument, so it is raised by the shape check, which knows the name.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>

namespace py = pybind11;

// Row-major array of exactly T. Lists and strided views of T are copied where they are inputs.
template <class T>
class TypedArray : public py::array_t<T, py::array::c_style> {
  using Base = py::array_t<T, py::array::c_style>;

 public:
  using Base::Base;
  TypedArray() : Base(py::handle(), py::object::stolen_t{}) {}  // none at all: costs nothing
  TypedArray(const Base& array) : Base(array) {}

  // The argument as the caller gave it; a wrong type is kept, and refused where its data are first used.
  static TypedArray given(py::handle argument, bool convert) {
    if (Base::check_(argument)) return TypedArray(argument, py::object::borrowed_t{});
    const bool is_array = py::isinstance<py::array>(argument);
    const bool same_type = is_array && py::isinstance<py::array_t<T>>(argument);
    TypedArray array;
    if (same_type || (convert && !is_array)) {
      array = TypedArray(Base::ensure(argument));
      array.copied_ = true;
    }
    if (array.ptr() == nullptr) {
      PyErr_Clear();
      array = is_array ? TypedArray(argument, py::object::borrowed_t{}) : TypedArray(py::ssize_t(0));
      array.wrong_ = true;
      array.found_ = is_array ? std::string(py::str(py::reinterpret_borrow<py::array>(argument).dtype()))
                              : std::string(py::str(py::type::of(argument).attr("__name__")));
    }
    return array;
  }

  // Called by every shape check with the argument's name.
  void require_type(const char* name) const {
    name_ = name;
    if (wrong_) throw py::type_error(name_ + " must be a " + wanted() + " array, got " + found_);
  }

  template <class... Index>
  const T* data(Index... index) const {
    require_type(name_.c_str());
    return Base::data(index...);
  }
  template <class... Index>
  const T& at(Index... index) const {
    require_type(name_.c_str());
    return Base::at(index...);
  }
  template <class... Index>
  T* mutable_data(Index... index) {
    require_type(name_.c_str());
    if (copied_) throw py::type_error(name_ + " must be a C-contiguous " + wanted() + " array: it is written to");
    if (!this->writeable()) throw std::invalid_argument(name_ + " is read-only");
    return Base::mutable_data(index...);
  }

 private:
  bool wrong_ = false, copied_ = false;
  std::string found_;
  mutable std::string name_ = "array";

  static std::string wanted() { return py::str(py::dtype::of<T>()); }
};

namespace pybind11::detail {
template <class T>
struct pyobject_caster<TypedArray<T>> {
  using type = TypedArray<T>;
  bool load(handle source, bool convert) {
    value = type::given(source, convert);
    return true;
  }
  static handle cast(const handle& source, return_value_policy, handle) { return source.inc_ref(); }
  using Base = array_t<T, array::c_style>;
  PYBIND11_TYPE_CASTER(type, handle_type_name<Base>::name);
};
}  // namespace pybind11::detail
