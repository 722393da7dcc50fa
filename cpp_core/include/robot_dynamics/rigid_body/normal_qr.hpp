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

#include <algorithm>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics/common/aligned.hpp"
#include "robot_dynamics/rigid_body/kernels.hpp"

namespace robot_dynamics {

class FusedQR {
 public:
  // columns: distinct indices below 10 n of the regressor; extra (n): user columns of each joint, 0..64
  FusedQR(const Chain& chain, std::vector<int> columns, std::vector<int> extra)
      : chain_(chain), columns_(std::move(columns)), extra_(std::move(extra)), place_(chain.n * 10 * chain.n, nullptr) {
    validate(chain_);
    if (int(extra_.size()) != chain_.n)
      throw std::invalid_argument("extra_columns has " + std::to_string(extra_.size()) + " numbers, expected " +
                                  std::to_string(chain_.n));
    for (const int k : extra_)
      if (!(0 <= k && k <= most_extra_columns))
        throw std::invalid_argument("extra_columns = " + std::to_string(k) + " is outside 0..64");
    for (const int c : columns_)
      if (!(0 <= c && c < 10 * chain_.n))
        throw std::invalid_argument("columns contains " + std::to_string(c) + ", outside the regressor");
    for (int j = 0; j < chain_.n; ++j) add_joint(j);
  }
  FusedQR(const FusedQR&) = delete;  // the jobs point into this object's memory
  FusedQR& operator=(const FusedQR&) = delete;

  int joints() const { return chain_.n; }
  int extra_columns() const { return std::accumulate(extra_.begin(), extra_.end(), 0); }  // of all joints
  int parameters() const { return int(columns_.size()) + extra_columns(); }
  const QrJoint& joint(int j) const { return jobs_[j]; }
  // parameter of each column of joint j's triangle but the last, which is the target
  const std::vector<int>& parameters_of(int j) const { return parameters_[j]; }

  // Adds samples. The caller must pass finite values.
  void update(const QrSamples& data) noexcept { active_kernels.fused_qr(view(chain_), data, jobs_.data()); }

  // Adds rows of joint j that are already computed (count x width of its triangle, target last), e.g. columns that
  // passed a filter.
  void absorb(int j, const double* rows, const double* weight, std::size_t count) noexcept {
    const QrJoint& t = jobs_[j];
    for (std::size_t start = 0; start < count; start += qr_block_rows) {
      const std::size_t run = std::min(count - start, std::size_t(qr_block_rows));
      if (run < qr_block_rows) std::fill(t.block, t.block + std::size_t(t.width) * qr_block_rows, 0.0);
      for (std::size_t k = 0; k < run; ++k) {
        const double* row = rows + (start + k) * t.width;
        const double w = weight == nullptr ? 1.0 : weight[start + k];
        for (int c = 0; c < t.width; ++c) t.block[c * qr_block_rows + k] = w * row[c];
      }
      active_kernels.absorb(t.R, t.width, t.stride, t.block);
    }
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

 private:
  void add_joint(int j) {
    std::vector<int> parameters;
    for (std::size_t k = 0; k < columns_.size(); ++k)
      if (columns_[k] / 10 >= j) parameters.push_back(int(k));
    const int from_regressor = int(parameters.size());
    const int offset = std::accumulate(extra_.begin(), extra_.begin() + j, 0);
    for (int k = 0; k < extra_[j]; ++k) parameters.push_back(int(columns_.size()) + offset + k);
    const int width = int(parameters.size()) + 1, stride = width + qr_spare_columns;
    double* const R = triangles_.emplace_back(std::size_t(width) * stride, 0.0).data();
    double* const block = blocks_.emplace_back(std::size_t(stride) * qr_block_rows).data();
    double** place = place_.data() + j * 10 * chain_.n;
    for (int c = 0; c < from_regressor; ++c) place[columns_[parameters[c]]] = block + c * qr_block_rows;
    jobs_.push_back({R, block, place, width, stride, extra_[j], offset});
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
  std::vector<int> extra_;
  std::vector<double*> place_;
  std::deque<std::vector<double>> triangles_;
  std::deque<AlignedDoubles> blocks_;
  std::vector<std::vector<int>> parameters_;
  std::vector<QrJoint> jobs_;
};

}  // namespace robot_dynamics
