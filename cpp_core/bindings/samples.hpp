// Inputs of one sample (n,) or a batch (N, n), and outputs that match them; every error names the argument.
#pragma once

#include <cstdint>

#include "arguments.hpp"

struct Input {
  const char* name;
  const Array& array;
};

// Data of the inputs; null for an absent one (index -1).
struct Inputs {
  const double* data[3] = {};
  const double* operator[](int k) const { return k < 0 ? nullptr : data[k]; }
};

// Up to three inputs of equal shape.
struct Samples {
  Array array[3];
  const char* name[3] = {};
  int inputs = 0;
  bool single = false;
  py::ssize_t count = 1;  // samples

  Samples(std::initializer_list<Input> given, int n, bool batch_only = false) {
    const Input& first = *given.begin();
    single = first.array.ndim() == 1 && !batch_only;
    if (!single) {
      require_shape(first.array, first.name, {-1, n});
      count = first.array.shape(0);
    }
    for (const Input& input : given) {
      if (single)
        require_shape(input.array, input.name, {n});
      else
        require_shape(input.array, input.name, {count, n});
      require_finite(input.array, input.name);
      name[inputs] = input.name;
      array[inputs] = input.array;
      data_.data[inputs++] = input.array.data();
    }
  }
  const double* operator[](int k) const { return data_[k]; }
  const Inputs& data() const { return data_; }

 private:
  Inputs data_;
};

inline void require_apart(const double* out, std::size_t size, const Samples& x, bool in_place) {
  const auto begin = reinterpret_cast<std::uintptr_t>(out), end = begin + size * sizeof(double);
  for (int k = 0; k < x.inputs; ++k) {
    const auto a = reinterpret_cast<std::uintptr_t>(x.array[k].data()), b = a + x.array[k].size() * sizeof(double);
    if (a < end && begin < b && !(in_place && a == begin))
      throw std::invalid_argument(std::string("out overlaps ") + x.name[k]);
  }
}

// (tail) for one sample, (N, tail) for a batch; allocated unless given.
struct BatchOutput {
  Array array;

  BatchOutput(const Maybe& out, const Samples& x, std::vector<py::ssize_t> shape) {
    const bool like_input = shape.size() == 1;
    if (!x.single) shape.insert(shape.begin(), x.count);
    array = out ? *out : Array(shape);
    array.require_type("out");
    require_shape(array, "out", shape.data(), shape.size());
    data_ = array.mutable_data();
    if (out) require_apart(data_, array.size(), x, like_input);
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
