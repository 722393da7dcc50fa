// The kernel table of the instruction set that the including source names (src/kernels/kernel_*.cpp).
#pragma once

#include "robot_dynamics/rigid_body/kernel/batch.hpp"
#include "robot_dynamics/rigid_body/kernel/fused_qr.hpp"
#include "robot_dynamics/rigid_body/kernel/gradient.hpp"
#include "robot_dynamics/rigid_body/kernel/posterior.hpp"
#include "robot_dynamics/rigid_body/kernel/rnea_batch.hpp"
#include "robot_dynamics/rigid_body/kernel/rows.hpp"
#include "robot_dynamics/rigid_body/kernel/single.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// 2 * peak_accumulators * lanes operations per round, none of which waits for another: what the machine can do at most.
inline double multiply_add(std::size_t rounds) {
  Vec x[peak_accumulators], a = fill<Vec>(0.999), b = fill<Vec>(1e-3);
  for (int k = 0; k < peak_accumulators; ++k) x[k] = fill<Vec>(1.0 + k);
  for (std::size_t r = 0; r < rounds; ++r) {
    RD_UNROLL
    for (int k = 0; k < peak_accumulators; ++k) x[k] = fma(x[k], a, b);
  }
  for (int k = 1; k < peak_accumulators; ++k) x[0] += x[k];
  return sum(x[0]);
}

inline void rnea_batch(const ChainView& chain, std::size_t N, const double* q, const double* qd, const double* qdd,
                       double* tau) {
  with_size(chain.n, [&](auto size) { rnea_batch_of<size.n>(chain, N, q, qd, qdd, tau); });
}
inline void regressor_batch(const ChainView& chain, std::size_t N, const double* q, const double* qd, const double* qdd,
                            double* Y) {
  with_size(chain.n, [&](auto size) { regressor_batch_of<size.n>(chain, N, q, qd, qdd, Y); });
}
inline void stacked_regressor(const ChainView& chain, std::size_t N, const double* q, const double* qd,
                              const double* qdd, const int* columns, int n_columns, bool zeroed, double* block,
                              double* W) {
  with_size(chain.n, [&](auto size) {
    stacked_regressor_of<size.n>(chain, N, q, qd, qdd, columns, n_columns, zeroed, block, W);
  });
}

inline void fused_qr(const ChainView& chain, const QrSamples& data, const QrJoint* joints) {
  with_size(chain.n, [&](auto size) { fused_qr_of<size.n>(chain, data, joints); });
}

inline KernelTable table(const char* isa) {
  return {isa,
          lanes,
          rnea_single,
          rnea_rows,
          mass_matrix_single,
          regressor_single,
          forward_kinematics_single,
          jacobian_single,
          wrench_posterior,
          weigh,
          all_finite,
          rnea_batch,
          mass_matrix_batch,
          regressor_batch,
          stacked_regressor,
          forward_kinematics_batch,
          jacobian_batch,
          fused_qr,
          absorb_block,
          regressor_gradient_batch,
          torque_gradient_batch,
          multiply_add};
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
