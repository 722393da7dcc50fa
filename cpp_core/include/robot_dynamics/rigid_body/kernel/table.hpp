// The kernels of one instruction set as function pointers; src/kernels/dispatch.cpp chooses a table when the library
// is loaded. Samples are row-major float64. A null qd or qdd means zero. No kernel allocates.
#pragma once

#include <cstddef>

#include "robot_dynamics/rigid_body/kernel/chain_view.hpp"
#include "robot_dynamics/rigid_body/kernel/jobs.hpp"

namespace robot_dynamics {

// A large W is filled in runs of so many samples: short ones stay in the first-level cache, where every column begins
// at the same place of a cache line; the others in the second-level cache.
constexpr int aligned_rows = 16, stack_rows = 128;
constexpr int peak_accumulators = 12;

struct KernelTable {
  const char* isa;
  int lanes;
  // one sample
  void (*rnea)(const ChainView&, const double* q, const double* qd, const double* qdd, double* tau);
  void (*rnea_rows)(const ChainView&, const DynamicsRow* rows, int count);
  void (*mass_matrix)(const ChainView&, const double* q, double* M);
  void (*regressor)(const ChainView&, const double* q, const double* qd, const double* qdd, double* Y);
  void (*forward_kinematics)(const ChainView&, const double* q, double* T);
  void (*jacobian)(const ChainView&, const double* q, double* J);
  bool (*wrench_posterior)(const WrenchProblem&, WrenchSolution& out);
  // out[s] = sum_k weights[k] x[k * stride + s] over 2 half + 1 rows; weights[half +- k] are equal, `stride` and `out`
  // hold whole vectors of eight
  void (*weigh)(const double* weights, int half, const double* x, std::size_t stride, int signals, double* out);
  bool (*all_finite)(const double* x, std::size_t size);
  // N samples
  void (*rnea_batch)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                     double* tau);
  void (*mass_matrix_batch)(const ChainView&, std::size_t N, const double* q, double* M);
  void (*regressor_batch)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                          double* Y);
  // W (column-major): column c holds joint 0's N samples, then joint 1's, ...; `columns` are indices below 10 n.
  // `block` holds 10 n n stack_rows doubles, 64-byte aligned; `zeroed`: W holds zeros already
  void (*stacked_regressor)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                            const int* columns, int n_columns, bool zeroed, double* block, double* W);
  void (*forward_kinematics_batch)(const ChainView&, std::size_t N, const double* q, double* T);
  void (*jacobian_batch)(const ChainView&, std::size_t N, const double* q, double* J);
  // adds samples to the triangles of the joints; adds one block of rows to a triangle (normal_qr.hpp)
  void (*fused_qr)(const ChainView&, const QrSamples&, const QrJoint* joints);
  void (*absorb)(double* R, int width, int stride, double* block);
  // gradients by q, qd, qdd (N, n) of <weights, W>; weights (n N, p) column-major as the stacked regressor W
  void (*regressor_gradient)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                             const int* columns, int n_columns, const double* weights, double* q_, double* qd_,
                             double* qdd_);
  // and of sum_kj weights_kj tau_kj; weights (N, n)
  void (*torque_gradient)(const ChainView&, std::size_t N, const double* q, const double* qd, const double* qdd,
                          const double* weights, double* q_, double* qd_, double* qdd_);
  double (*multiply_add)(std::size_t rounds);  // peak rate of the processor, for benchmarks
};

}  // namespace robot_dynamics
