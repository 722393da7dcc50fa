// Savitzky-Golay state estimation with the same delay for every signal [Madsen2020 ch6 6.1]: each signal is smoothed
// by a centred polynomial fit over n_LP samples, derivatives are central differences over n_CD = 3 smoothed samples,
// so that everything leaves (n_LP - 1)/2 + 1 samples late and nothing is shifted against anything else.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "robot_dynamics/rigid_body/kernels.hpp"

namespace robot_dynamics {

// Weights of the value at the centre of a least-squares polynomial through `window` equally spaced samples.
inline std::vector<double> savitzky_golay_weights(int window, int order) {
  if (!(window >= 3 && window % 2 == 1))
    throw std::invalid_argument("window = " + std::to_string(window) + " must be odd and >= 3");
  if (!(0 <= order && order <= 5 && order < window))
    throw std::invalid_argument("order = " + std::to_string(order) + " must be in 0..5 and below window");
  const int m = order + 1, half = window / 2;
  std::vector<double> A(m * m, 0.0), row(m, 0.0);
  for (int k = -half; k <= half; ++k)  // normal equations in x = k / half, well scaled
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) A[i * m + j] += std::pow(static_cast<double>(k) / half, i + j);
  row[0] = 1.0;                  // the centre value is the constant term
  for (int i = 0; i < m; ++i) {  // Gauss elimination, A is symmetric positive definite
    for (int r = i + 1; r < m; ++r) {
      const double f = A[r * m + i] / A[i * m + i];
      for (int c = i; c < m; ++c) A[r * m + c] -= f * A[i * m + c];
      row[r] -= f * row[i];
    }
  }
  for (int i = m - 1; i >= 0; --i) {
    for (int c = i + 1; c < m; ++c) row[i] -= A[i * m + c] * row[c];
    row[i] /= A[i * m + i];
  }
  std::vector<double> weights(window, 0.0);
  for (int k = -half; k <= half; ++k)
    for (int i = 0; i < m; ++i) weights[k + half] += row[i] * std::pow(static_cast<double>(k) / half, i);
  return weights;
}

// Smooths `signals` channels in step; value(), first and second derivative refer to the same, delayed instant.
class SavitzkyGolay {
 public:
  SavitzkyGolay(int signals, int window, int order)
      : signals_(signals), weights_(savitzky_golay_weights(window, order)), window_(window) {
    if (signals < 1) throw std::invalid_argument("signals = " + std::to_string(signals) + " must be >= 1");
    stride_ = (static_cast<std::size_t>(signals) + 7) / 8 * 8;  // whole vectors of every instruction set
    history_.assign(2 * window * stride_, 0.0);
    for (auto& s : smooth_) s.assign(stride_, 0.0);
  }

  int signals() const noexcept { return signals_; }
  int delay() const noexcept { return window_ / 2 + 1; }  // samples
  bool ready() const noexcept { return count_ >= window_ + 2; }
  void reset() noexcept { count_ = head_ = 0; }

  // One sample of every signal; false until enough samples are in.
  bool push(const double* x) noexcept {
    double* lower = history_.data() + head_ * stride_;
    std::copy(x, x + signals_, lower);  // written twice: the window is always one contiguous block
    std::copy(x, x + signals_, lower + window_ * stride_);
    head_ = (head_ + 1) % window_;
    if (count_ < window_ + 2) ++count_;
    if (count_ >= window_) shift_and_smooth();
    return ready();
  }

  const double* value() const noexcept { return smooth_[1].data(); }
  double first(int s, double dt) const noexcept { return (smooth_[2][s] - smooth_[0][s]) / (2 * dt); }
  double second(int s, double dt) const noexcept {
    return (smooth_[2][s] - 2 * smooth_[1][s] + smooth_[0][s]) / (dt * dt);
  }

  // Whether one step between two samples makes up more than half of what a signal travels over the window: noise at
  // rest or a glitch of the encoder, not a motion.
  bool jumps(int s) const noexcept {
    const double* x = history_.data() + head_ * stride_ + s;  // the oldest sample
    double largest = 0;
    for (int k = 1; k < window_; ++k) largest = std::max(largest, std::fabs(x[k * stride_] - x[(k - 1) * stride_]));
    return 2 * largest > std::fabs(x[(window_ - 1) * stride_] - x[0]);
  }

 private:
  void shift_and_smooth() noexcept {
    smooth_[0].swap(smooth_[1]);
    smooth_[1].swap(smooth_[2]);
    active_kernels.weigh(weights_.data(), window_ / 2, history_.data() + head_ * stride_, stride_, signals_,
                         smooth_[2].data());
  }

  int signals_;
  std::vector<double> weights_;
  int window_, head_ = 0, count_ = 0;
  std::size_t stride_;
  std::vector<double> history_, smooth_[3];
};

}  // namespace robot_dynamics
