// Regressor straight into Householder updates, one triangle per joint; the stacked regressor W is never stored.
// A joint's rows are zero in the columns of the links before it, so its triangle leaves them out.
#pragma once

#include "robot_dynamics/rigid_body/kernel/batch.hpp"
#include "robot_dynamics/rigid_body/kernel/householder.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

RD_INLINE Column* columns_of(const QrJoint& joint) { return reinterpret_cast<Column*>(joint.block); }

// Vector b of the block: `lanes` samples from `first` on.
template <int N>
RD_INLINE void fill_regressor(const ChainView& chain, const KnownStructure& structure, const QrSamples& data,
                              std::size_t first, int rows, int b, const QrJoint* joints) {
  Block x;
  x.read<N>(chain, first, rows, data.q, data.qd, data.qdd);
  regressor<N>(chain, structure, x.q, x.qd, x.qdd, [&](int j, int i, int e, Wide value) {
    double* place = joints[j].place[10 * i + e];
    if (place != nullptr) store(place + b * lanes, value.v);
  });
}

RD_INLINE void fill_user_columns(int n, const QrSamples& data, std::size_t first, int rows, int b,
                                 const QrJoint* joints) {
  Vec target[padded(most_joints)], extra[padded(most_extra_columns)];
  load_columns(data.target + first * n, n, n, rows, target);
  const std::size_t all = joints[n - 1].offset + joints[n - 1].extra;
  for (int j = 0; j < n; ++j) {
    const int k = joints[j].extra;
    Column* columns = columns_of(joints[j]) + joints[j].width - 1 - k;
    if (k > 0) load_columns(data.extra + first * all + joints[j].offset, all, k, rows, extra);
    for (int c = 0; c < k; ++c) columns[c][b] = extra[c];
    columns[k][b] = target[j];
  }
}

// Multiplies vector b by the row weights; lanes beyond the data get weight zero.
RD_INLINE void weigh(int n, const QrSamples& data, std::size_t first, int rows, int b, const QrJoint* joints) {
  Vec weight[padded(most_joints)], present{};
  for (int l = 0; l < lanes; ++l) present[l] = l < rows ? 1.0 : 0.0;
  for (int j = 0; j < n; ++j) weight[j] = fill<Vec>(1.0);
  if (data.weight != nullptr) load_columns(data.weight + first * n, n, n, rows, weight);
  for (int j = 0; j < n; ++j)
    for (int c = 0; c < joints[j].width; ++c) columns_of(joints[j])[c][b] *= weight[j] * present;
}

template <int N>
void fused_qr_of(const ChainView& chain, const QrSamples& data, const QrJoint* joints) {
  const int n = N ? N : chain.n;
  const KnownStructure structure = structure_of(chain);
  for (std::size_t start = 0; start < data.count; start += qr_block_rows) {
    if (start + qr_block_rows > data.count)  // the last block: rows that are not filled must be zero
      for (int j = 0; j < n; ++j) std::memset(joints[j].block, 0, joints[j].width * sizeof(Column));
    for (int b = 0; b < row_vectors; ++b) {
      const std::size_t first = start + b * lanes;
      if (first >= data.count) break;
      const int rows = data.count - first < std::size_t(lanes) ? int(data.count - first) : lanes;
      fill_regressor<N>(chain, structure, data, first, rows, b, joints);
      fill_user_columns(n, data, first, rows, b, joints);
      if (data.weight != nullptr || rows < lanes) weigh(n, data, first, rows, b, joints);
    }
    for (int j = 0; j < n; ++j)
      if (data.joints >> j & 1u) absorb(joints[j].R, joints[j].width, joints[j].stride, columns_of(joints[j]));
  }
}

inline void absorb_block(double* R, int width, int stride, double* block) {
  absorb(R, width, stride, reinterpret_cast<Column*>(block));
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
