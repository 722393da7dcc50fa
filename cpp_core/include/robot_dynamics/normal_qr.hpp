// Least squares over any number of samples without the stacked regressor: tau = [Y(q, qd, qdd) phi]_columns + extra
// psi.
//
// Blocks of 64 samples go from states to regressor columns to Householder updates of one triangle per joint,
// [R_j z_j; 0 rho_j], inside the cache: the accuracy of an orthogonal solve of W (no normal equations) without storing
// it. As every joint keeps its own triangle, weighting the joints (WLS [Madsen2020 ch5]) costs a fold of the
// triangles, not a pass over the data.
//
// Parameters: the chosen regressor columns in the order given (p), then the extra columns of joint 0, of joint 1, ...
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics/aligned.hpp"
#include "robot_dynamics/kernels.hpp"

namespace robot_dynamics {

class FusedQR {
 public:
  // columns: distinct indices below 10 n of the regressor; extra: user columns per joint, 0..64
  FusedQR(const Chain& chain, std::vector<int> columns, int extra)
      : chain_(chain), columns_(std::move(columns)), extra_(extra), place_(chain.n * 10 * chain.n, nullptr) {
    validate(chain_);
    if (!(0 <= extra && extra <= most_extra_columns))
      throw std::invalid_argument("extra_columns = " + std::to_string(extra) + " is outside 0..64");
    for (const int c : columns_)
      if (!(0 <= c && c < 10 * chain_.n))
        throw std::invalid_argument("columns contains " + std::to_string(c) + ", outside the regressor");
    for (int j = 0; j < chain_.n; ++j) add_joint(j);
  }
  FusedQR(const FusedQR&) = delete;  // the jobs point into this object's memory
  FusedQR& operator=(const FusedQR&) = delete;

  int joints() const { return chain_.n; }
  int extra_columns() const { return extra_; }
  int parameters() const { return int(columns_.size()) + chain_.n * extra_; }
  std::size_t samples() const { return samples_; }
  const QrJoint& joint(int j) const { return jobs_[j]; }
  // parameter of each column of joint j's triangle but the last, which is the target
  const std::vector<int>& parameters_of(int j) const { return parameters_[j]; }

  // Takes in samples; finite values are the caller's duty.
  void update(QrSamples data) noexcept {
    data.extra_columns = extra_;
    active_kernels.fused_qr(view(chain_), data, jobs_.data());
    samples_ += data.count;
  }

  // One triangle over all parameters and the target, (P + 1) x (P + 1) row-major: joint j's rows times weights[j].
  void fold(const double* weights, double* out) const {
    const int width = parameters() + 1, stride = width + qr_spare_columns;
    std::vector<double> R(std::size_t(width) * stride, 0.0);
    AlignedDoubles block(std::size_t(stride) * qr_block_rows);
    int filled = 0;
    for (int j = 0; j < chain_.n; ++j)
      for (int k = 0; k < jobs_[j].width; ++k) {
        put_row(j, k, weights[j], block.data(), filled);
        if (++filled == qr_block_rows) flush(R, width, stride, block, filled);
      }
    flush(R, width, stride, block, filled);
    for (int k = 0; k < width; ++k)
      for (int c = 0; c < width; ++c) out[k * width + c] = R[std::size_t(k) * stride + c];
  }

  // Sum of squared residuals of every joint for parameters x, from the triangles alone: |R_j x - z_j|^2 + rho_j^2.
  void residual_squares(const double* x, double* out) const {
    for (int j = 0; j < chain_.n; ++j) {
      const QrJoint& t = jobs_[j];
      out[j] = 0;
      for (int k = 0; k < t.width; ++k) {
        double r = -t.R[k * t.stride + t.width - 1];
        for (int c = k; c < t.width - 1; ++c) r += t.R[k * t.stride + c] * x[parameters_[j][c]];
        out[j] += r * r;
      }
    }
  }

 private:
  void add_joint(int j) {
    std::vector<int> parameters;
    for (std::size_t k = 0; k < columns_.size(); ++k)
      if (columns_[k] / 10 >= j) parameters.push_back(int(k));
    const int from_regressor = int(parameters.size());
    for (int k = 0; k < extra_; ++k) parameters.push_back(int(columns_.size()) + j * extra_ + k);
    const int width = int(parameters.size()) + 1, stride = width + qr_spare_columns;
    triangles_.push_back(std::make_unique<std::vector<double>>(std::size_t(width) * stride, 0.0));
    blocks_.push_back(std::make_unique<AlignedDoubles>(std::size_t(stride) * qr_block_rows));
    double** place = place_.data() + j * 10 * chain_.n;
    for (int c = 0; c < from_regressor; ++c)
      place[columns_[parameters[c]]] = blocks_.back()->data() + c * qr_block_rows;
    jobs_.push_back({triangles_.back()->data(), blocks_.back()->data(), place, width, stride});
    parameters_.push_back(std::move(parameters));
  }

  void put_row(int j, int k, double weight, double* block, int row) const {
    const QrJoint& t = jobs_[j];
    for (int c = k; c < t.width; ++c) {
      const int to = c == t.width - 1 ? parameters() : parameters_[j][c];
      block[to * qr_block_rows + row] = weight * t.R[k * t.stride + c];
    }
  }

  static void flush(std::vector<double>& R, int width, int stride, AlignedDoubles& block, int& filled) {
    active_kernels.absorb(R.data(), width, stride, block.data());
    std::fill(block.data(), block.data() + std::size_t(stride) * qr_block_rows, 0.0);
    filled = 0;
  }

  Chain chain_;
  std::vector<int> columns_;
  int extra_;
  std::size_t samples_ = 0;
  std::vector<double*> place_;
  std::vector<std::unique_ptr<std::vector<double>>> triangles_;
  std::vector<std::unique_ptr<AlignedDoubles>> blocks_;
  std::vector<std::vector<int>> parameters_;
  std::vector<QrJoint> jobs_;
};

}  // namespace robot_dynamics
