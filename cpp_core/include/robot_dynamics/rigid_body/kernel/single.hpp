// One sample per call: scalar recursions, unrolled for six and seven joints, with all sines in one vector call.
#pragma once

#include "robot_dynamics/rigid_body/kernel/kinematics.hpp"
#include "robot_dynamics/rigid_body/kernel/regressor.hpp"
#include "robot_dynamics/rigid_body/kernel/weigh.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// f(integral_constant) with the number of joints where a specialisation is compiled, else 0
template <class F>
RD_INLINE void with_size(int n, F&& f) {
  if (n == 6) return f(Size<6>{});
  if (n == 7) return f(Size<7>{});
  f(Size<0>{});
}

inline const double zeros[most_joints] = {};

inline void rnea_single(const ChainView& chain, const double* q, const double* qd, const double* qdd, double* tau) {
  const KnownStructure known = known_structure(chain);
  with_size(chain.n, [&](auto size) {
    rnea<size.n>(chain, known, real(q), real(qd ? qd : zeros), real(qdd ? qdd : zeros), real(tau));
  });
}

inline void mass_matrix_single(const ChainView& chain, const double* q, double* M) {
  with_size(chain.n, [&](auto size) { mass_matrix<size.n>(chain, real(q), real(M)); });
}

inline void regressor_single(const ChainView& chain, const double* q, const double* qd, const double* qdd, double* Y) {
  const int width = 10 * chain.n;
  for (int j = 1; j < chain.n; ++j) std::memset(Y + j * width, 0, 10 * j * sizeof(double));
  with_size(chain.n, [&](auto size) {
    regressor<size.n>(chain, AnyStructure{}, real(q), real(qd ? qd : zeros), real(qdd ? qdd : zeros),
                      [&](int j, int i, int e, Real value) { Y[j * width + 10 * i + e] = value.v; });
  });
}

inline void forward_kinematics_single(const ChainView& chain, const double* q, double* T) {
  forward_kinematics(chain, real(q), real(T));
}
inline void jacobian_single(const ChainView& chain, const double* q, double* J) { jacobian(chain, real(q), real(J)); }

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
