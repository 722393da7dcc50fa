// Inputs of one sample (n,) or a batch (N, n), and outputs that match them; every error names the argument.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "bindings.hpp"
#include "robot_dynamics/batch.hpp"

// float64 arrays as they are (a strided view is copied), numbers in lists and tuples as float64; any other dtype is an
// error rather than a silent conversion.
inline Array float_array(const py::handle& value, const char* name) {
  if (py::isinstance<Array>(value)) return py::reinterpret_borrow<Array>(value);
  const bool sequence = py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value);
  if (!sequence && !py::isinstance<py::array_t<double>>(value)) {
    const std::string got = py::isinstance<py::array>(value)
                                ? std::string(py::str(py::reinterpret_borrow<py::array>(value).dtype()))
                                : std::string(py::str(py::type::of(value).attr("__name__")));
    throw py::type_error(std::string(name) + " must be a float64 array, got " + got);
  }
  const Array array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  if (!array) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + " must be a float64 array, got a sequence that is not numeric");
  }
  return array;
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

// Up to three inputs of equal shape.
struct Samples {
  static constexpr int most = 3;
  Array array[most];
  const char* name[most] = {};
  int inputs = 0;
  bool single = false;
  py::ssize_t count = 1;  // samples

  Samples(std::initializer_list<std::pair<const char*, py::object>> given, int n, bool batch_only = false)
      : batch_only_(batch_only) {
    for (const auto& [text, value] : given) {
      name[inputs] = text;
      array[inputs] = float_array(value, text);
      check_shape(inputs, n);
      require_finite(array[inputs], text);
      ++inputs;
    }
  }
  // null for an absent input (index -1)
  const double* operator[](int k) const { return k < 0 ? nullptr : data_[k]; }

 private:
  const double* data_[most] = {};
  bool batch_only_;

  void check_shape(int k, int n) {
    const Array& a = array[k];
    if (k == 0) {
      single = a.ndim() == 1 && !batch_only_;
      if (!single && a.ndim() != 2) require_shape(a, name[0], {-1, n});
      count = single ? 1 : a.shape(0);
    }
    if (single)
      require_shape(a, name[k], {n});
    else if (k == 0)
      require_shape(a, name[k], {-1, n});
    else
      require_shape(a, name[k], {count, n});
    data_[k] = a.data();
  }
};

inline void require_apart(const double* out, std::size_t size, const Samples& x, bool in_place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(out), end = begin + size * sizeof(double);
  for (int k = 0; k < x.inputs; ++k) {
    const auto a = reinterpret_cast<std::uintptr_t>(x.array[k].data()), b = a + x.array[k].size() * sizeof(double);
    if (a < end && begin < b && !(in_place && a == begin))
      throw std::invalid_argument(std::string("out overlaps ") + x.name[k]);
  }
}

inline Array writable_output(const py::object& out) {
  if (!py::isinstance<py::array_t<double>>(out)) throw py::type_error("out must be a float64 array");
  if (!py::reinterpret_borrow<py::array>(out).writeable()) throw std::invalid_argument("out is read-only");
  return py::reinterpret_borrow<Array>(out);
}

// (tail) for one sample, (N, tail) for a batch; allocated unless given.
struct Output {
  Array array;

  Output(const py::object& out, const Samples& x, std::vector<py::ssize_t> shape) {
    const bool like_input = shape.size() == 1;
    if (!x.single) shape.insert(shape.begin(), x.count);
    if (out.is_none()) {
      array = Array(shape);
    } else {
      array = writable_output(out);
      if (!py::isinstance<Array>(out)) throw std::invalid_argument("out is not C-contiguous");
      bool same = array.ndim() == py::ssize_t(shape.size());
      for (std::size_t k = 0; same && k < shape.size(); ++k) same = array.shape(k) == shape[k];
      if (!same) wrong_shape(shape);
      require_apart(array.data(), array.size(), x, like_input);
    }
    data_ = array.mutable_data();
  }
  double* data() const { return data_; }

 private:
  double* data_;

  void wrong_shape(const std::vector<py::ssize_t>& shape) const {
    if (shape.size() == 1) require_shape(array, "out", {shape[0]});
    if (shape.size() == 2) require_shape(array, "out", {shape[0], shape[1]});
    if (shape.size() == 3) require_shape(array, "out", {shape[0], shape[1], shape[2]});
    require_shape(array, "out", {shape[0], shape[1], shape[2], shape[3]});
  }
};

// Fewer page faults when a large new array is filled; numpy does the same for arrays that it does not zero.
inline void prefer_huge_pages(void* data, std::size_t bytes) {
#if defined(__linux__)
  constexpr std::uintptr_t page = 4096, least = std::uintptr_t(4) << 20;
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  if (bytes > least) madvise(reinterpret_cast<void*>(first), bytes - page, MADV_HUGEPAGE);
#else
  (void)data, (void)bytes;
#endif
}

// (rows, width), column-major
struct FortranOutput {
  py::array_t<double, py::array::f_style> array;

  FortranOutput(const py::object& out, const Samples& x, py::ssize_t rows, py::ssize_t width) {
    if (out.is_none()) {
      // zeros from the system cost nothing until they are written
      const py::object zeros = py::module_::import("numpy").attr("zeros");
      array = zeros(py::make_tuple(rows, width), "float64", "F");
      prefer_huge_pages(array.mutable_data(), rows * width * sizeof(double));
    } else {
      require_shape(writable_output(out), "out", {rows, width});
      if (!py::isinstance<py::array_t<double, py::array::f_style>>(out))
        throw std::invalid_argument("out is not Fortran-contiguous");
      array = py::reinterpret_borrow<py::array_t<double, py::array::f_style>>(out);
      require_apart(array.data(), array.size(), x, false);
    }
    data_ = array.mutable_data();
  }
  double* data() const { return data_; }

 private:
  double* data_;
};

// Column indices below `width`, each at most once; all of them when none are given.
inline std::vector<int> checked_columns(const std::optional<std::vector<int>>& wanted, int width) {
  std::vector<int> columns;
  if (!wanted) {
    for (int k = 0; k < width; ++k) columns.push_back(k);
    return columns;
  }
  std::vector<bool> seen(width, false);
  for (const int k : *wanted) {
    if (!(0 <= k && k < width))
      throw std::invalid_argument("columns contains " + std::to_string(k) + ", outside 0.." +
                                  std::to_string(width - 1));
    if (seen[k]) throw std::invalid_argument("columns contains " + std::to_string(k) + " twice");
    seen[k] = true;
  }
  return *wanted;
}
