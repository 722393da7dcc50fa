// Arguments of batch calls: stamps, (N, n) arrays, optional ones, results, one status per sample.
#pragma once

#include <optional>

#include "bindings.hpp"
#include "robot_dynamics/common/status.hpp"

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

// The numbers of an argument of one dimension.
inline std::vector<double> numbers(const Array& a, const char* name) {
  require_shape(a, name, {-1});
  return std::vector<double>(a.data(), a.data() + a.size());
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
