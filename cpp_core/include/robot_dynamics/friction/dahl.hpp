// One element of [Dahl1968], dH/dtheta = (1 - H sgn dtheta) / D, exact over a step; of joints side by side.
#pragma once

#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics {

// e^-x for x >= 0, to 1e-11 of it: 2^k e^r by the Taylor series to r^9.
RD_INLINE portable::Vec decay(portable::Vec x) noexcept {
  using namespace portable;
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: rounds to the nearest integer
  x = least(x, fill<Vec>(700.0));
  const Vec shifted = x * -1.4426950408889634 + shifter, k = shifted - shifter;
  const Vec r = -x - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10;
  Vec y = fill<Vec>(1.0 / 362880.0);
  for (const double c : {1.0 / 40320.0, 1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0})
    y = y * r + c;
  return y * (Vec)(((Ints)shifted + 1023) << 52);
}

// H of a Dahl element after x = dtheta / D.
RD_INLINE portable::Vec dahl(portable::Vec H, portable::Vec x) noexcept {
  using namespace portable;
  const Ints back = (Ints)(x < 0.0);
  const Vec s = select(back, fill<Vec>(-1.0), fill<Vec>(1.0));
  return s + (H - s) * decay(select(back, -x, x));
}

}  // namespace robot_dynamics
