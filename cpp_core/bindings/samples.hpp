// Inputs of one sample (n,) or a batch (N, n), and outputs that match them; every error names the argument.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "bindings.hpp"
#include "robot_dynamics/common/parallel.hpp"
#include "robot_dynamics/rigid_body/batch.hpp"

// As TypedArray takes it: a strided view is copied, numbers of lists are float64, another dtype is an error.
inline Array float_array(const py::handle& value, const char* name) {
  if (value.is_none()) throw py::type_error(std::string(name) + " must be a float64 array, got NoneType");
  const Array array = Array::given(value, true);
  array.require_type(name);
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

// float64 of this shape and finite, or nothing.
inline std::optional<Array> finite_input(const py::object& value, const char* name,
                                         std::initializer_list<py::ssize_t> shape) {
  if (value.is_none()) return std::nullopt;
  const Array a = float_array(value, name);
  require_shape(a, name, shape);
  require_finite(a, name);
  return a;
}

// Data of the inputs; null for an absent one (index -1).
struct Inputs {
  const double* data[3] = {};
  const double* operator[](int k) const { return k < 0 ? nullptr : data[k]; }
};

// Up to three inputs of equal shape.
struct Samples {
  static constexpr int most = 3;
  Array array[most];
  const char* name[most] = {};
  int inputs = 0;
  bool single = false;
  py::ssize_t count = 1;  // samples

  Samples(std::initializer_list<std::pair<const char*, py::object>> given, int n, bool batch_only = false,
          int threads = 1)
      : batch_only_(batch_only) {
    for (const auto& [text, value] : given) {
      name[inputs] = text;
      array[inputs] = float_array(value, text);
      check_shape(inputs, n);
      if (threads == 1) require_finite(array[inputs], text);
      ++inputs;
    }
    if (threads > 1 && !all_finite(threads))
      for (int k = 0; k < inputs; ++k) require_finite(array[k], name[k]);
  }
  // null for an absent input (index -1)
  const double* operator[](int k) const { return k < 0 ? nullptr : data_[k]; }
  // the inputs from sample `first` on
  Inputs from(std::size_t first) const {
    Inputs x;
    for (int k = 0; k < inputs; ++k) x.data[k] = data_[k] + first * (array[k].size() / std::max<py::ssize_t>(count, 1));
    return x;
  }

 private:
  const double* data_[most] = {};
  bool batch_only_;

  bool all_finite(int threads) const {
    std::atomic<bool> finite{true};
    const py::gil_scoped_release release;
    robot_dynamics::parallel(count, threads, [&](std::size_t first, std::size_t N) {
      const Inputs x = from(first);
      for (int k = 0; k < inputs; ++k) {
        const std::size_t size = N * (array[k].size() / std::max<py::ssize_t>(count, 1));
        if (robot_dynamics::first_not_finite(x[k], size) != size) finite = false;
      }
    });
    return finite;
  }

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
struct BatchOutput {
  Array array;

  BatchOutput(const py::object& out, const Samples& x, std::vector<py::ssize_t> shape) {
    const bool like_input = shape.size() == 1;
    if (!x.single) shape.insert(shape.begin(), x.count);
    if (out.is_none()) {
      array = Array(shape);
    } else {
      array = writable_output(out);
      if (!py::isinstance<Array>(out)) throw std::invalid_argument("out is not C-contiguous");
      require_shape(array, "out", shape.data(), shape.size());
      require_apart(array.data(), array.size(), x, like_input);
    }
    data_ = array.mutable_data();
  }
  double* data() const { return data_; }

 private:
  double* data_;
};

// Memory of a large result. The last block that Python let go of serves the next result: its pages are there already,
// and the system clears new ones for longer than it takes to fill them. One block of at most `most` bytes is kept; all
// of this happens with the interpreter lock held.
struct LargeBlock {
  static constexpr std::size_t least = std::size_t(4) << 20, most = std::size_t(128) << 20;
  void* data = nullptr;
  std::size_t size = 0;
  bool zeroed = false;  // holds zeros already

  // At least `bytes`, in huge pages where the system has them.
  static LargeBlock take(std::size_t bytes) {
    LargeBlock& free = kept();
    if (free.data != nullptr && bytes <= free.size && free.size <= bytes + bytes / 4)
      return std::exchange(free, LargeBlock{});
    LargeBlock fresh{nullptr, bytes, true};
#if defined(__linux__)
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    madvise(data, bytes, MADV_HUGEPAGE);
    fresh.data = data;
#else
    fresh.data = std::calloc(bytes, 1);
    if (fresh.data == nullptr) throw std::bad_alloc();
#endif
    return fresh;
  }
  void give() const {
    if (size > most) return release();
    kept().release();
    kept() = {data, size, false};
  }

 private:
  static LargeBlock& kept() {
    static LargeBlock* block = new LargeBlock;  // outlives every array
    return *block;
  }
  void release() const {
    if (data == nullptr) return;
#if defined(__linux__)
    munmap(data, size);
#else
    std::free(data);
#endif
  }
};

// (rows, width), column-major
struct FortranOutput {
  py::array_t<double, py::array::f_style> array;
  bool zeroed = false;  // holds zeros already

  FortranOutput(const py::object& out, const Samples& x, py::ssize_t rows, py::ssize_t width) {
    if (out.is_none()) {
      allocate(rows, width);
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

  void allocate(py::ssize_t rows, py::ssize_t width) {
    const std::size_t bytes = std::size_t(rows) * width * sizeof(double);
    if (bytes < LargeBlock::least) {
      array = py::module_::import("numpy").attr("zeros")(py::make_tuple(rows, width), "float64", "F");
      zeroed = true;
      return;
    }
    const auto* block = new LargeBlock(LargeBlock::take(bytes));
    zeroed = block->zeroed;
    const py::capsule owner(block, [](void* p) {
      const auto* block = static_cast<const LargeBlock*>(p);
      block->give();
      delete block;
    });
    array = py::array_t<double, py::array::f_style>({rows, width}, static_cast<double*>(block->data), owner);
  }
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
