// Several inverse dynamics of one chain at once, one per lane: a controller needs more than one in each cycle.
#pragma once

#include "robot_dynamics/rigid_body/kernel/dynamics.hpp"
#include "robot_dynamics/rigid_body/kernel/single.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

// Rows `of(l)` -> one vector per joint, a lane per row; lanes beyond `count` are zero.
template <class Of>
RD_INLINE void load_lanes(int n, int count, Wide* out, Of&& of) {
  for (int first = 0; first < n; first += lanes) {
    for (int l = 0; l < lanes; ++l)
      out[first + l].v = l < count ? load_first(of(l) + first, n - first < lanes ? n - first : lanes) : Vec{};
    transpose(raw(out) + first);
  }
}

// Sines of all joints of a row side by side, then turned to lanes: six joints cost one vector, not six.
RD_INLINE void sincos_lanes(const DynamicsRow* rows, int n, int count, Wide* s, Wide* c) {
  for (int first = 0; first < n; first += lanes) {
    for (int l = 0; l < lanes; ++l) {
      Wide &sine = s[first + l], &cosine = c[first + l];
      if (l >= count) {
        sine = cosine = 0.0;
      } else if (l > 0 && rows[l].q == rows[l - 1].q) {
        sine = s[first + l - 1];
        cosine = c[first + l - 1];
      } else {
        const Wide x = Wide::of(load_first(rows[l].q + first, n - first < lanes ? n - first : lanes));
        sincos_of<1>(&x, &sine, &cosine);
      }
    }
    transpose(raw(s) + first);
    transpose(raw(c) + first);
  }
}

// At most `lanes` rows.
template <int N, class Structure>
void rnea_lanes(const ChainView& chain, const Structure& structure, const DynamicsRow* rows, int count) {
  const int n = N ? N : chain.n;
  constexpr int most = padded(N ? N : most_joints);
  Wide s[most], c[most], qd[most], qdd[most], tau[most], share;
  sincos_lanes(rows, n, count, s, c);
  load_lanes(n, count, qd, [&](int l) { return rows[l].qd ? rows[l].qd : zeros; });
  load_lanes(n, count, qdd, [&](int l) { return rows[l].qdd ? rows[l].qdd : zeros; });
  for (int l = 0; l < lanes; ++l) share.v[l] = l < count ? -rows[l].gravity : 0.0;
  const V3<Wide> base{share * chain.gravity[0], share * chain.gravity[1], share * chain.gravity[2]};
  Motion<Wide> motion[N ? N : most_joints];
  forward<N>(chain, structure, base, s, c, qd, qdd, motion);
  for (int i = n; i < padded(n); ++i) tau[i] = 0.0;
  backward<N>(chain, structure, s, c, motion, tau);
  for (int first = 0; first < n; first += lanes) {
    transpose(raw(tau) + first);
    for (int l = 0; l < lanes; ++l) {
      if (l >= count) continue;
      if constexpr (N != 0 && N <= lanes)  // whole pieces: what is read next need not wait for a masked store
        std::memcpy(rows[l].tau, &tau[l], N * sizeof(double));
      else
        store_first(rows[l].tau + first, tau[first + l].v, n - first < lanes ? n - first : lanes);
    }
  }
}

inline void rnea_rows(const ChainView& chain, const DynamicsRow* rows, int count) {
  const KnownStructure known = known_structure(chain);
  with_size(chain.n, [&](auto size) {
    for (int first = 0; first < count; first += lanes)
      rnea_lanes<size.n>(chain, known, rows + first, count - first < lanes ? count - first : lanes);
  });
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
