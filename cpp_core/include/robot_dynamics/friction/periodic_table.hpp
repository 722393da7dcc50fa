// Position-dependent joint properties over one output turn: tables (linear interpolation, 2 pi periodic) for kinematic
// error and backlash [Madsen2020 ch4 30-32].
#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace robot_dynamics {

constexpr double two_pi = 6.283185307179586476925286766559;

// n joints, K equally spaced values over [0, 2 pi): value(i, theta) = linear interpolation at theta mod 2 pi.
class PeriodicTable {
 public:
  PeriodicTable(int n, int points, const double* values) : n_(n), points_(points), v_(values, values + n * points) {
    if (!(n >= 1 && points >= 1)) throw std::invalid_argument("table needs at least one joint and one point");
    for (double x : v_)
      if (!std::isfinite(x)) throw std::invalid_argument("table holds a value that is not finite");
    for (const double* row = v_.data(); row != v_.data() + n * points; row += points) {
      const auto [low, high] = std::minmax_element(row, row + points);
      smallest_.push_back(*low), largest_.push_back(*high);
    }
  }
  int joints() const { return n_; }
  int points() const { return points_; }
  const std::vector<double>& values() const { return v_; }  // (n, points)
  bool constant() const { return points_ == 1; }

  double value(int i, double theta) const noexcept {
    const double* row = v_.data() + i * points_;
    if (points_ == 1) return row[0];
    const double turn = theta / two_pi, x = (turn - std::floor(turn)) * points_;
    if (!(x >= 0 && x <= points_)) return row[0];  // theta not finite
    const int k = static_cast<int>(x) % points_, next = (k + 1) % points_;
    const double w = x - std::floor(x);
    return row[k] + w * (row[next] - row[k]);
  }
  double smallest(int i) const noexcept { return smallest_[i]; }
  double largest(int i) const noexcept { return largest_[i]; }

 private:
  int n_, points_;
  std::vector<double> v_, smallest_, largest_;
};

}  // namespace robot_dynamics
