// Numpy arguments as pointers whose shape is checked, results, options by name, one status per sample.
#pragma once

#include <optional>
#include <vector>

#include "bindings.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/batch.hpp"

using Stamps = TypedArray<std::int64_t>;
using Codes = py::array_t<std::int32_t, py::array::c_style>;
using Maybe = std::optional<Array>;

// Data of an (N, n) argument whose shape is checked; None gives nullptr.
inline const double* rows(const Array& a, const char* name, py::ssize_t N, py::ssize_t n) {
  require_shape(a, name, {N, n});
  return a.data();
}
inline const double* rows(const Maybe& a, const char* name, py::ssize_t N, py::ssize_t n) {
  return a ? rows(*a, name, N, n) : nullptr;
}
inline const double* row(const Array& a, const char* name, py::ssize_t n) {
  require_shape(a, name, {n});
  return a.data();
}
inline const double* row(const Maybe& a, const char* name, py::ssize_t n) { return a ? row(*a, name, n) : nullptr; }
// The same of an (n,) argument that is written.
inline double* row_out(Array& a, const char* name, py::ssize_t n) {
  require_shape(a, name, {n});
  return a.mutable_data();
}

// The numbers of an argument of one dimension.
inline std::vector<double> numbers(const Array& a, const char* name) {
  require_shape(a, name, {-1});
  return std::vector<double>(a.data(), a.data() + a.size());
}

// j, a joint of `core`.
template <class T>
int checked_joint(const T& core, int j) {
  robot_dynamics::require_range("joint", j, 0, core.joints() - 1);
  return j;
}

// The property that holds what `member` gives for each joint.
template <class T, class R>
auto each(R (T::*member)(int) const) {
  return [member](const T& t) {
    std::vector<std::decay_t<R>> x(t.joints());
    for (int i = 0; i < t.joints(); ++i) x[i] = (t.*member)(i);
    return x;
  };
}

// The k-th row of an optional (N, n) block.
inline const double* at(const double* block, py::ssize_t k, py::ssize_t n) { return block ? block + k * n : nullptr; }

// `out` when given (checked), else a new (N, n) array.
inline Array result(const Maybe& out, py::ssize_t N, py::ssize_t n) {
  if (!out) return Array({N, n});
  require_shape(*out, "out", {N, n});
  return *out;
}
inline py::ssize_t samples(const Stamps& stamps) {
  require_shape(stamps, "stamp_ns", {-1});
  return stamps.shape(0);
}

// Runs step(k) -> Status for k = 0..N-1 without the GIL and returns the (N,) codes.
template <class Step>
Codes run_batch(py::ssize_t N, Step&& step) {
  Codes codes(N);
  std::int32_t* code = codes.mutable_data();
  {
    py::gil_scoped_release release;
    for (py::ssize_t k = 0; k < N; ++k) code[k] = static_cast<std::int32_t>(step(k));
  }
  return codes;
}

// Carries the previous row forward where a step wrote nothing, so that a batch equals the values of a live reader.
inline void hold_row(double* block, py::ssize_t k, py::ssize_t n) {
  for (py::ssize_t i = 0; i < n; ++i) block[k * n + i] = k > 0 ? block[(k - 1) * n + i] : 0.0;
}

using Shape = std::initializer_list<py::ssize_t>;

// Memory of the caller that is used beyond this call: to read, None gives nullptr; and to write.
inline const double* own_input(py::handle argument, const char* name, Shape shape) {
  if (argument.is_none()) return nullptr;
  const Array a = Array::given(argument, false);
  require_shape(a, name, shape);
  return a.own_data();
}
inline double* own_output(py::handle argument, const char* name, Shape shape) {
  Array a = Array::given(argument, false);
  require_shape(a, name, shape);
  return a.mutable_data();
}

// Names the argument and the index of its first NaN or infinity.
inline void require_finite(const Array& a, const char* name) {
  const std::size_t size = a.size(), k = robot_dynamics::first_not_finite(a.data(), size);
  if (k == size) return;
  std::ostringstream text;
  text << name << "[";
  if (a.ndim() == 2) text << k / a.shape(1) << ", ";
  text << (a.ndim() == 2 ? k % a.shape(1) : k) << "] is " << a.data()[k] << ", expected a finite number";
  throw std::invalid_argument(text.str());
}

// Data of an optional argument of this shape and finite; None gives nullptr.
inline const double* finite_data(const Maybe& a, const char* name, Shape shape) {
  if (!a) return nullptr;
  require_shape(*a, name, shape);
  require_finite(*a, name);
  return a->data();
}

// Copies a per-joint argument of n values into a fixed-size array; the check names the argument.
template <std::size_t N>
void copy_joints(std::array<double, N>& target, const Array& values, const char* name, py::ssize_t n) {
  require_shape(values, name, {n});
  if (n > static_cast<py::ssize_t>(N))
    throw std::invalid_argument(std::string(name) + " has more than " + std::to_string(N) + " joints");
  std::copy(values.data(), values.data() + n, target.begin());
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
    const py::object given = left_.attr("pop")(name);
    copy_joints(values, Array::given(given, true), name, n);
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
    return static_cast<int>(Array::given(left_[name], true).size());
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

// `parameters`, of `joints` where there are some per joint, with those that are given by their for_each_parameter name.
template <class P, class... Joints>
P given_by_name(P parameters, const py::kwargs& given, Joints... joints) {
  Keywords keys(given);
  for_each_parameter(parameters, joints..., [&](const char* name, auto&&... value) { keys.take(name, value...); });
  keys.finish();
  return parameters;
}
