// Column-major matrices: a stacked regressor, and the memory of a large one.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "samples.hpp"

using FortranArray = py::array_t<double, py::array::f_style>;

// A column-major float64 array as it is: one that would have to be turned is refused.
inline FortranArray fortran_array(const py::object& value, const char* name) {
  if (!py::isinstance<py::array_t<double>>(value)) throw py::type_error(std::string(name) + " must be a float64 array");
  if (!py::isinstance<FortranArray>(value))
    throw std::invalid_argument(std::string(name) + " is not Fortran-contiguous");
  return py::reinterpret_borrow<FortranArray>(value);
}

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
  FortranArray array;
  bool zeroed = false;  // holds zeros already

  FortranOutput(const py::object& out, const Samples& x, py::ssize_t rows, py::ssize_t width) {
    if (out.is_none()) {
      allocate(rows, width);
    } else {
      array = fortran_array(out, "out");
      require_shape(array, "out", {rows, width});
      if (!array.writeable()) throw std::invalid_argument("out is read-only");
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
    array = FortranArray({rows, width}, static_cast<double*>(block->data), owner);
  }
};
