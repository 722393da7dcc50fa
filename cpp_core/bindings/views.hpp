// Numpy arguments as pointers, nothing converted or copied: a wrong dtype, layout or shape is an error that names the
// argument. None is a null pointer where the argument is optional.
#pragma once

#include "bindings.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"

namespace views {

inline const py::array& float64(const py::handle& h, const char* name) {
  if (!py::isinstance<Array>(h)) {
    if (py::isinstance<py::array>(h))
      throw py::type_error(std::string(name) + " must be a C-contiguous float64 array, not " +
                           std::string(py::str(h.attr("dtype"))));
    throw py::type_error(std::string(name) + " must be a float64 array, not " +
                         std::string(py::str(py::type::of(h).attr("__name__"))));
  }
  return *reinterpret_cast<const py::array*>(&h);
}

inline const double* in(const py::handle& h, const char* name, std::initializer_list<py::ssize_t> shape) {
  const py::array& a = float64(h, name);
  require_shape(a, name, shape);
  return static_cast<const double*>(a.data());
}

inline const double* maybe(const py::handle& h, const char* name, std::initializer_list<py::ssize_t> shape) {
  return h.is_none() ? nullptr : in(h, name, shape);
}

inline double* out(const py::handle& h, const char* name, std::initializer_list<py::ssize_t> shape) {
  const double* data = in(h, name, shape);
  if (!reinterpret_cast<const py::array*>(&h)->writeable()) throw py::type_error(std::string(name) + " is read-only");
  return const_cast<double*>(data);
}

// Keyword arguments of a constructor: each is taken once, what is left over is an error.
class Keywords {
 public:
  explicit Keywords(const py::kwargs& given) : left_(py::dict(given)) {}

  template <class T>
  void take(const char* name, T& value) {
    if (!left_.contains(name)) return;
    try {
      value = left_.attr("pop")(name).template cast<T>();
    } catch (const py::cast_error&) {
      throw py::type_error(std::string(name) + " has the wrong type");
    }
  }
  template <std::size_t M>
  void take(const char* name, std::array<double, M>& values, int n) {
    if (!left_.contains(name)) return;
    if (n > static_cast<int>(M))
      throw py::value_error(std::string(name) + " has more than " + std::to_string(M) + " joints");
    const py::object given = left_.attr("pop")(name);
    const double* data = in(given, name, {n});
    std::copy(data, data + n, values.begin());
  }
  // Of a joint each; must be given.
  template <std::size_t M>
  void need(const char* name, std::array<double, M>& values, int n) {
    require(name);
    take(name, values, n);
  }
  // Number of joints that an argument holds.
  int joints(const char* name) const {
    require(name);
    return static_cast<int>(py::len(left_[name]));
  }
  void finish() const {
    if (left_.size() == 0) return;
    throw py::type_error("unknown argument " + std::string(py::str(left_.begin()->first)));
  }

 private:
  void require(const char* name) const {
    if (!left_.contains(name)) throw py::type_error("missing argument " + std::string(name));
  }
  py::dict left_;
};

}  // namespace views
