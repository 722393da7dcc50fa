// What the fused QR kernels read and write; memory belongs to FusedQR (normal_qr.hpp).
#pragma once

#include <cstddef>

namespace robot_dynamics {

constexpr int qr_block_rows = 64;       // samples per block: a joint's block and triangle fit the first-level cache
constexpr int most_extra_columns = 64;  // user columns per joint
constexpr int qr_spare_columns = 8;     // zero columns beyond the width, one widest vector

struct QrJoint {
  double* R;       // upper triangle, row-major, rows `stride` apart
  double* block;   // columns of qr_block_rows doubles, 64-byte aligned
  double** place;  // 10 n: place of a regressor column in the block, null where it is not used
  int width;       // regressor columns wanted, extra columns, target
  int stride;
  int extra;   // user columns of this joint
  int offset;  // of its first user column in a sample's row of them
};

struct QrSamples {
  std::size_t count;
  const double *q, *qd, *qdd;  // count x n
  const double* target;        // count x n
  const double* extra;         // count x extra_columns: joint 0's, joint 1's, ..., or null
  const double* weight;        // count x n, or null: each row is multiplied by its weight
  int extra_columns;           // of all joints together
  unsigned joints;             // bit j: joint j takes in its rows
};

}  // namespace robot_dynamics
