// Array arguments that are never converted silently: a copy of an output would lose its results, a copy of an input
// would hide a wrong type. The error names the argument, so it is raised by the shape check, which knows the name.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>

namespace py = pybind11;

// Row-major array of exactly T. Lists and strided views of T are copied where they are inputs of one call.
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
    if (same_type || (convert && !is_array && !argument.is_none())) {
      array = TypedArray(Base::ensure(argument));
      array.copied_ = true;
    }
    if (array.ptr() == nullptr) {
      PyErr_Clear();
      array = is_array ? TypedArray(argument, py::object::borrowed_t{}) : TypedArray(py::ssize_t(0));
      array.wrong_ = py::reinterpret_borrow<py::object>(argument);
    }
    return array;
  }

  // Called by every shape check with the argument's name, which must last as long as the array is used.
  void require_type(const char* name) const {
    name_ = name;
    if (!wrong_) return;
    const py::object type = py::isinstance<py::array>(wrong_) ? wrong_.attr("dtype") : type_name(wrong_);
    throw py::type_error(text(" must be a " + wanted() + " array, got " + std::string(py::str(type))));
  }

  template <class... Index>
  const T* data(Index... index) const {
    require_type(name_);
    return Base::data(index...);
  }
  template <class... Index>
  const T& at(Index... index) const {
    require_type(name_);
    return Base::at(index...);
  }
  // To read where the pointer outlives the call, which a copy would not.
  const T* own_data() const {
    require_type(name_);
    if (copied_) throw std::invalid_argument(text(" must be a C-contiguous " + wanted() + " array: it is not copied"));
    return Base::data();
  }
  template <class... Index>
  T* mutable_data(Index... index) {
    own_data();
    if (!this->writeable()) throw std::invalid_argument(text(" is read-only"));
    return Base::mutable_data(index...);
  }

 private:
  bool copied_ = false;
  py::object wrong_;  // what was given instead
  mutable const char* name_ = "array";

  std::string text(const std::string& what) const { return name_ + what; }
  static std::string wanted() { return py::str(py::dtype::of<T>()); }
  static py::object type_name(const py::object& x) { return py::type::of(x).attr("__name__"); }
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
