// Compiles every kernel for the instruction set the including source names; the sources in src/ are two lines each.
#pragma once

#include "robot_dynamics/kernel/batch.hpp"
#include "robot_dynamics/kernel/fused_qr.hpp"
#include "robot_dynamics/kernel/single.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

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
          mass_matrix_single,
          regressor_single,
          forward_kinematics_single,
          jacobian_single,
          all_finite,
          rnea_batch,
          mass_matrix_batch,
          regressor_batch,
          stacked_regressor,
          forward_kinematics_batch,
          jacobian_batch,
          fused_qr,
          absorb_block};
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
