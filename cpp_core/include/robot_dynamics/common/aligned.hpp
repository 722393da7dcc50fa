// Zeroed doubles on a cache line boundary, for the blocks of the vector kernels, which may read one vector beyond.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace robot_dynamics {

class AlignedDoubles {
 public:
  explicit AlignedDoubles(std::size_t size) : memory_(size + 16, 0.0) {
    void* p = memory_.data();
    std::size_t space = memory_.size() * sizeof(double);
    data_ = static_cast<double*>(std::align(64, size * sizeof(double), p, space));
  }
  AlignedDoubles(const AlignedDoubles&) = delete;
  AlignedDoubles& operator=(const AlignedDoubles&) = delete;
  double* data() { return data_; }

 private:
  std::vector<double> memory_;
  double* data_;
};

}  // namespace robot_dynamics
