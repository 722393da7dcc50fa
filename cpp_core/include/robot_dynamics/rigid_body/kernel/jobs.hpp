// What the kernels of the fused QR and of the wrench's posterior read and write.
#pragma once

#include <cstddef>

namespace robot_dynamics {

// Fused QR (kernel/fused_qr.hpp); memory belongs to FusedQR (normal_qr.hpp).
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
  const double* extra;         // count x extra columns: joint 0's, joint 1's, ..., or null
  const double* weight;        // count x n, or null: each row is multiplied by its weight
  unsigned joints;             // bit j: joint j takes in its rows
};

// Posterior of the wrench (kernel/posterior.hpp, observers/wrench.hpp).
struct WrenchProblem {
  int n;                             // joints
  const double* J;                   // 6 x n, row-major: forces first
  const double* tau;                 // n
  const double* std;                 // n, standard deviations of tau
  double force_prior, moment_prior;  // inverse variances
  double small;                      // deviation of the smaller prior of each over that of the wider one; 1: none
  bool moments;                      // false: a force alone
  double per_length;                 // 1/m, makes the force rows dimensionless for the singular value
  double least_square;               // square of the smallest singular value of a regular pose
};

struct WrenchSolution {
  double wrench[6];
  double covariance[36];
  double chi2;            // b' A^-1 b of the wider priors
  double singular_value;  // smallest, where `regular`
  bool regular;
};

}  // namespace robot_dynamics
