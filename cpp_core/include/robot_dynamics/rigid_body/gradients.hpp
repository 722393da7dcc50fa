// Slopes of torque and regressor by the motion (kernel/gradient.hpp), compiled for each instruction set in
// src/gradient_*.cpp; needs src/. Samples are row-major float64, N x n; nothing here allocates.
#pragma once

#include <cstddef>

#include "robot_dynamics/rigid_body/kernel/chain_view.hpp"

namespace robot_dynamics {

struct GradientKernels {
  // of <weights, W> by q, qd, qdd; weights (n N, p) column-major as the stacked regressor W of the p columns
  void (*regressor)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                    const int* columns, int n_columns, const double* weights, double* q_, double* qd_, double* qdd_);
  // of the sum of weights times torques; weights N x n
  void (*torque)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                 const double* weights, double* q_, double* qd_, double* qdd_);
};

GradientKernels gradient_kernels(const char* isa);  // of an available instruction set, by the name in its KernelTable

}  // namespace robot_dynamics
