// Is a lasting external torque a contact, or a payload (or sensor bias) that the model does not know?
//
// A payload error (mass m, first moments mX mY mZ in the last link frame) makes tau = Y(q) theta, theta (4), which
// turns with gravity; a sensor bias makes the same torque in every pose. Quiet samples from clearly different
// orientations
// ("stations") are fitted with both; when one of them explains them and is significant, the torque is flagged.
#pragma once

#include <limits>

#include "robot_dynamics/check.hpp"
#include "robot_dynamics/kinematics.hpp"
#include "robot_dynamics/linalg.hpp"
#include "robot_dynamics/rnea.hpp"

namespace robot_dynamics {

struct PayloadParameters {
  double quiet_speed = 0.05;  // rad/s: slower than this in every joint is quiet
  double quiet_time = 0.4;    // s of quiet before a station is taken
  double angle = 0.35;        // rad between gravity directions of two stations, seen from the last link
  double explained = 0.85;    // share of the squared torque that a hypothesis must explain
  double significance = 3.0;  // root mean square torque / std that is worth explaining
  int stations = 3;           // orientations before a verdict (1 suffices if the torque was there from the start)
};

class PayloadCheck {
 public:
  enum class Verdict : int { none = 0, payload = 1, bias = 2 };
  static constexpr int capacity = 8;

  PayloadCheck(const Chain& chain, const PayloadParameters& p) : chain_(chain), p_(p) {
    require_range("payload_quiet_speed", p.quiet_speed, 0.0, 10.0);
    require_range("payload_quiet_time", p.quiet_time, 0.0, 100.0);
    require_range("payload_angle", p.angle, 0.01, 3.0);
    require_range("payload_explained", p.explained, 0.0, 1.0);
    require_range("payload_significance", p.significance, 0.0, 100.0);
    require_range("payload_stations", p.stations, 2, capacity);
    for (auto& X : chain_.inertia) X.fill(0.0);
  }

  // tau: torque of the environment on the robot, std: its standard deviation (n). Takes a station when one is due.
  void step(double dt, const double* q, const double* qd, const double* tau, const double* std) noexcept {
    double fastest = 0.0, energy = 0.0;
    for (int i = 0; i < chain_.n; ++i) {
      fastest = std::max(fastest, std::abs(qd[i]));
      energy += tau[i] * tau[i] / (std[i] * std[i]);
    }
    const bool significant = energy > p_.significance * p_.significance;
    quiet_ = fastest < p_.quiet_speed ? quiet_ + dt : 0.0;
    if (!(quiet_ >= p_.quiet_time)) return;
    quiet_ = 0.0;
    if (!significant) been_free_ = true;
    store(q, tau, std);
    judge();
  }

  Verdict verdict() const noexcept { return verdict_; }
  bool been_free() const noexcept { return been_free_; }
  const double* theta() const noexcept { return theta_.data(); }  // m [kg], mX mY mZ [kg m]: excess over the model
  int stations() const noexcept { return count_; }

  // What the verdict explains of the external torque at q (n); zeros without a verdict.
  void explained(const double* q, double* tau) const noexcept {
    if (verdict_ == Verdict::payload) return payload_torque(q, theta_.data(), tau);
    for (int i = 0; i < chain_.n; ++i) tau[i] = verdict_ == Verdict::bias ? bias_[i] : 0.0;
  }

  void pause() noexcept { quiet_ = 0.0; }  // samples are missing: what is known stays
  void reset() noexcept {
    count_ = next_ = 0;
    quiet_ = 0.0;
    been_free_ = false;
    verdict_ = Verdict::none;
    theta_.fill(0.0);
    bias_.fill(0.0);
  }

 private:
  using Joints = std::array<double, max_joints>;
  struct Station {
    Vec3 gravity{};                                     // unit vector in the last link frame
    Joints tau{}, weight{};                             // Nm, 1/Nm2
    std::array<std::array<double, 4>, max_joints> Y{};  // n x 4
  };

  // External torque of an unmodelled payload: it hangs, so the environment seems to pull with minus its model torque.
  void payload_torque(const double* q, const double* theta, double* tau) const noexcept {
    Chain bare = chain_;
    auto& X = bare.inertia[chain_.n - 1];
    X[9] = theta[0];
    for (int k = 0; k < 3; ++k) X[6 + k] = theta[1 + k];
    gravity_torque(bare, q, tau);
    for (int i = 0; i < chain_.n; ++i) tau[i] = -tau[i];
  }

  void store(const double* q, const double* tau, const double* std) noexcept {
    Station s;
    Placement frames[max_joints + 1];
    forward_kinematics(chain_, q, frames);
    const double size = std::sqrt(dot(chain_.gravity, chain_.gravity));
    s.gravity = (1.0 / std::max(size, 1e-12)) * rotate_back(frames[chain_.n - 1].R, chain_.gravity);
    for (int k = 0; k < 4; ++k) {
      double unit[4] = {}, column[max_joints];
      unit[k] = 1.0;
      payload_torque(q, unit, column);
      for (int i = 0; i < chain_.n; ++i) s.Y[i][k] = column[i];
    }
    for (int i = 0; i < chain_.n; ++i) {
      s.tau[i] = tau[i];
      s.weight[i] = 1.0 / (std[i] * std[i]);
    }
    station_[slot(s.gravity)] = s;
  }

  // The station of the same orientation is replaced, otherwise the oldest once all are taken.
  int slot(const Vec3& gravity) noexcept {
    const double close = std::cos(p_.angle);
    for (int k = 0; k < count_; ++k)
      if (dot(station_[k].gravity, gravity) > close) return k;
    const int at = next_;
    next_ = (next_ + 1) % capacity;
    count_ = std::min(count_ + 1, capacity);
    return at;
  }

  void judge() noexcept {
    double energy = 0.0;
    for (int k = 0; k < count_; ++k)
      for (int i = 0; i < chain_.n; ++i) energy += station_[k].weight[i] * station_[k].tau[i] * station_[k].tau[i];
    verdict_ = Verdict::none;
    if (!(energy > p_.significance * p_.significance * count_)) return;
    const bool enough = count_ >= p_.stations;
    if (!enough && been_free_) return;
    std::array<double, 4> theta{};
    Joints bias{};
    const double payload = 1.0 - fit_payload(theta) / energy, constant = 1.0 - fit_bias(bias) / energy;
    if (enough && constant > p_.explained && constant > payload) {
      verdict_ = Verdict::bias;
      bias_ = bias;
    } else if (payload > p_.explained) {
      verdict_ = Verdict::payload;
      theta_ = theta;
    }
  }

  // Weighted least squares over the stations; returns the weighted squared residual.
  double fit_payload(std::array<double, 4>& theta) const noexcept {
    std::array<double, 16> H{};
    for (int k = 0; k < 4; ++k) H[5 * k] = 1e-4;  // 1/(100 kg)^2: well-posed with one station
    for (int s = 0; s < count_; ++s)
      for (int i = 0; i < chain_.n; ++i)
        for (int r = 0; r < 4; ++r) {
          const double weighted = station_[s].weight[i] * station_[s].Y[i][r];
          theta[r] += weighted * station_[s].tau[i];
          for (int c = 0; c < 4; ++c) H[4 * r + c] += weighted * station_[s].Y[i][c];
        }
    if (!cholesky(H.data(), 4)) return std::numeric_limits<double>::infinity();
    cholesky_solve(H.data(), 4, theta.data());
    double residual = 0.0;
    for (int s = 0; s < count_; ++s)
      for (int i = 0; i < chain_.n; ++i) {
        double e = station_[s].tau[i];
        for (int r = 0; r < 4; ++r) e -= station_[s].Y[i][r] * theta[r];
        residual += station_[s].weight[i] * e * e;
      }
    return residual;
  }

  double fit_bias(Joints& bias) const noexcept {
    double residual = 0.0;
    for (int i = 0; i < chain_.n; ++i) {
      double sum = 0.0, weight = 0.0;
      for (int s = 0; s < count_; ++s) {
        sum += station_[s].weight[i] * station_[s].tau[i];
        weight += station_[s].weight[i];
      }
      bias[i] = sum / weight;
      for (int s = 0; s < count_; ++s) {
        const double e = station_[s].tau[i] - bias[i];
        residual += station_[s].weight[i] * e * e;
      }
    }
    return residual;
  }

  static double dot(const Vec3& a, const Vec3& b) noexcept { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  Chain chain_;  // geometry and gravity only
  PayloadParameters p_;
  std::array<Station, capacity> station_{};
  int count_ = 0, next_ = 0;
  double quiet_ = 0.0;
  bool been_free_ = false;
  Verdict verdict_ = Verdict::none;
  std::array<double, 4> theta_{};
  Joints bias_{};
};

}  // namespace robot_dynamics
