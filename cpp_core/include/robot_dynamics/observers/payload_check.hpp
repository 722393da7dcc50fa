// Is a lasting external torque a contact, or a payload (or sensor bias) that the model does not know?
//
// A payload error (mass m, first moments mX mY mZ in the last link frame) makes tau = Y(q) theta, theta (4), which
// turns with gravity; a sensor bias makes the same torque in every pose. Quiet samples from clearly different
// orientations ("stations") are fitted with both; when one of them explains them and is significant, the torque is
// flagged. A payload of enough stations whose mass is `sure` standard deviations from zero and hangs no further than
// `longest_lever` from the last joint is held: its torque is to be taken off, with its deviation
//   P = c H^-1,   H = sum Y' W Y,   c = max(1, sum (tau - Y theta)' W (tau - Y theta) / (n stations - 4))
// until stations contradict it (source: own).
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/linalg.hpp"
#include "robot_dynamics/rigid_body/kinematics.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

namespace robot_dynamics {

struct PayloadParameters {
  double speed = 4.0;           // rad/s: no station while a joint moves faster
  double interval = 0.05;       // s between samples taken
  double memory = 2.0;          // s of samples that a station averages over
  double angle = 0.4;           // rad between gravity directions of two stations, seen from the last link
  double explained = 0.7;       // share of the squared torque that a payload must explain
  double bias_explained = 0.9;  // and a bias: a push that keeps its direction comes close
  double significance = 3.0;  // root sum square over the joints of torque / std above which a payload or bias is fitted
  int stations = 3;           // orientations before a verdict (1 suffices if the torque was there from the start)
};

class PayloadCheck {
 public:
  enum class Verdict : int { none = 0, payload = 1, bias = 2 };
  enum class Answer : int { judge = 0, keep = 1, refuse = 2 };  // of the user: keep and refuse last until judge
  struct Load {  // m [kg], mX, mY, mZ [kg m]: excess over the model, with their covariance
    std::array<double, 4> theta{};
    std::array<double, 16> covariance{};
    double mass_std() const noexcept { return std::sqrt(covariance[0]); }
  };
  static constexpr int capacity = 12, rounds = 4;
  static constexpr double sure = 4.0, longest_lever = 0.5;  // standard deviations; m

  PayloadCheck(const Chain& chain, const PayloadParameters& p) : chain_(chain), p_(p) {
    require_range("payload_speed", p.speed, 0.0, 100.0);
    require_range("payload_interval", p.interval, 0.0, 100.0);
    require_range("payload_memory", p.memory, 1e-3, 1e4);
    require_range("payload_angle", p.angle, 0.01, 3.0);
    require_range("payload_explained", p.explained, 0.0, 1.0);
    require_range("payload_bias_explained", p.bias_explained, 0.0, 1.0);
    require_range("payload_significance", p.significance, 0.0, 100.0);
    require_range("payload_stations", p.stations, 2, capacity);
    for (auto& X : chain_.inertia) X.fill(0.0);
  }

  // tau: torque of the environment on the robot, std: its standard deviation (n). Takes a station when one is due.
  void step(double dt, const double* q, const double* qd, const double* qdd, const double* tau,
            const double* std) noexcept {
    double fastest = 0.0, energy = 0.0;
    for (int i = 0; i < chain_.n; ++i) {
      fastest = std::max(fastest, std::abs(qd[i]));
      energy += tau[i] * tau[i] / (std[i] * std[i]);
    }
    waited_ += dt;
    if (!(fastest <= p_.speed && waited_ >= p_.interval)) return;
    waited_ = 0.0;
    if (!(energy > p_.significance * p_.significance)) been_free_ = true;
    store(seen(q, qd, qdd, tau, std));
    judge();
  }

  Verdict verdict() const noexcept { return verdict_; }
  int stations() const noexcept { return count_; }
  bool confirmed() const noexcept { return verdict_ != Verdict::none && enough(); }
  bool decided() const noexcept { return confirmed() || unloaded_; }  // what comes later is a contact, unless it lasts

  bool held() const noexcept { return held_; }
  const Load& load() const noexcept { return held_ ? load_ : fit_; }  // held, else of the stations
  // keep: of a held payload. False: there is none.
  bool answer(Answer a) noexcept {
    if (a == Answer::keep && !held_) return false;
    if (a == Answer::judge) forget();
    held_ = a == Answer::keep;
    answer_ = a;
    return true;
  }

  // What the verdict explains of the external torque in this motion (n); zeros without a verdict.
  void explained(const double* q, const double* qd, const double* qdd, double* tau) noexcept {
    if (verdict_ == Verdict::payload) return payload_torque(q, qd, qdd, fit_.theta.data(), tau);
    for (int i = 0; i < chain_.n; ++i) tau[i] = verdict_ == Verdict::bias ? bias_[i] : 0.0;
  }
  // Torque of the held payload and its variance (n).
  void taken_off(const double* q, const double* qd, const double* qdd, double* tau, double* var) noexcept {
    double Y[4][max_joints];
    regressor(q, qd, qdd, Y);
    for (int i = 0; i < chain_.n; ++i) {
      tau[i] = var[i] = 0.0;
      for (int k = 0; k < 4; ++k) tau[i] += Y[k][i] * load_.theta[k];
      for (int k = 0; k < 16; ++k) var[i] += Y[k / 4][i] * load_.covariance[k] * Y[k % 4][i];
    }
  }

  // What no payload explains of a torque at rest (n): mass up to `most` [kg], its centre within `longest_lever`.
  void beyond(const double* q, const double* tau, const double* std, double most, double* left) noexcept {
    const double rest[max_joints] = {};
    const Station s = seen(q, rest, rest, tau, std);
    std::array<double, 4> theta{};
    Cholesky<4> factored;
    solve(s.H, s.b, factored, theta);
    const double share = std::min({1.0, most / std::abs(theta[0]), most * longest_lever / first_moment(theta)});
    for (double& value : theta) value = share > 0.0 ? share * value : 0.0;
    payload_torque(q, rest, rest, theta.data(), left);
    for (int i = 0; i < chain_.n; ++i) left[i] = tau[i] - left[i];
  }

  void pause() noexcept { waited_ = 0.0; }  // samples are missing: the collected evidence stays
  // Forget the stations; a held payload stays.
  void forget() noexcept {
    count_ = next_ = 0;
    waited_ = 0.0;
    been_free_ = unloaded_ = false;
    verdict_ = Verdict::none;
    fit_ = {};
    bias_.fill(0.0);
  }
  // Also of a held payload, unless the user keeps it.
  void reset() noexcept {
    forget();
    held_ = answer_ == Answer::keep;
  }

 private:
  using Joints = std::array<double, max_joints>;

  bool enough() const noexcept { return count_ >= p_.stations; }
  struct Station {                // means over the samples of one orientation; W = diag(1/std^2)
    Vec3 gravity{};               // unit vector in the last link frame
    double energy = 0.0;          // tau' W tau
    std::array<double, 16> H{};   // Y' W Y
    std::array<double, 4> b{};    // Y' W tau
    Joints weight{}, weighted{};  // diag W, W tau
  };

  // External torque of an unmodelled payload: it hangs, so the environment seems to pull with minus its model torque.
  void payload_torque(const double* q, const double* qd, const double* qdd, const double* theta, double* tau) noexcept {
    auto& X = chain_.inertia[chain_.n - 1];
    X[9] = theta[0];
    for (int k = 0; k < 3; ++k) X[6 + k] = theta[1 + k];
    rnea(chain_, q, qd, qdd, tau);
    for (int i = 0; i < chain_.n; ++i) tau[i] = -tau[i];
  }

  void regressor(const double* q, const double* qd, const double* qdd, double (*Y)[max_joints]) noexcept {
    for (int k = 0; k < 4; ++k) {
      double unit[4] = {};
      unit[k] = 1.0;
      payload_torque(q, qd, qdd, unit, Y[k]);
    }
  }

  // One sample as a station.
  Station seen(const double* q, const double* qd, const double* qdd, const double* tau, const double* std) noexcept {
    Station s;
    Placement frames[max_joints + 1];
    forward_kinematics(chain_, q, frames);
    const double size = std::sqrt(dot(chain_.gravity, chain_.gravity));
    s.gravity = (1.0 / std::max(size, 1e-12)) * rotate_back(frames[chain_.n - 1].R, chain_.gravity);
    double Y[4][max_joints];
    regressor(q, qd, qdd, Y);
    for (int i = 0; i < chain_.n; ++i) {
      const double w = 1.0 / (std[i] * std[i]);
      s.weight[i] = w;
      s.weighted[i] = w * tau[i];
      s.energy += w * tau[i] * tau[i];
      for (int r = 0; r < 4; ++r) {
        s.b[r] += Y[r][i] * w * tau[i];
        for (int c = 0; c < 4; ++c) s.H[4 * r + c] += Y[r][i] * w * Y[c][i];
      }
    }
    return s;
  }

  void store(const Station& s) noexcept {
    const int at = slot(s.gravity);
    const bool fresh = at == count_;
    if (fresh) ++count_;
    blend(station_[at], s, fresh || replaced_ ? 1.0 : 1.0 - std::exp(-p_.interval / p_.memory));
    if (held_ && answer_ == Answer::judge && put_down(station_[at])) reset();
  }

  void blend(Station& into, const Station& s, double share) const noexcept {
    if (share == 1.0) into = s;
    into.energy += share * (s.energy - into.energy);
    for (int k = 0; k < 16; ++k) into.H[k] += share * (s.H[k] - into.H[k]);
    for (int k = 0; k < 4; ++k) into.b[k] += share * (s.b[k] - into.b[k]);
    for (int i = 0; i < chain_.n; ++i) {
      into.weight[i] += share * (s.weight[i] - into.weight[i]);
      into.weighted[i] += share * (s.weighted[i] - into.weighted[i]);
    }
  }

  // The station of this orientation, else a new one, else the oldest.
  int slot(const Vec3& gravity) noexcept {
    const double close = std::cos(p_.angle);
    replaced_ = false;
    for (int k = 0; k < count_; ++k)
      if (dot(station_[k].gravity, gravity) > close) return k;
    if (count_ < capacity) return count_;
    replaced_ = true;
    next_ = (next_ + 1) % capacity;
    return next_;
  }

  void judge() noexcept {
    double energy = 0.0;
    for (int k = 0; k < count_; ++k) energy += station_[k].energy;
    verdict_ = Verdict::none;
    const bool significant = energy > p_.significance * p_.significance * count_;
    unloaded_ = unloaded_ || (enough() && !significant);
    if (significant && (enough() || !been_free_)) decide(energy);
    if (!enough() || answer_ != Answer::judge) return;
    held_ = verdict_ == Verdict::payload && hangs();
    if (held_) load_ = fit_;
  }

  void decide(double energy) noexcept {
    Load fit;
    Joints bias{};
    const double payload = fit_payload(fit), constant = fit_bias(bias) / energy;
    if (enough() && constant > p_.bias_explained && constant > payload) {
      verdict_ = Verdict::bias;
      bias_ = bias;
    } else if (payload > p_.explained) {
      verdict_ = Verdict::payload;
      fit_ = fit;
    }
  }

  // No payload explains the present station clearly better than the held one.
  bool put_down(const Station& s) const noexcept {
    return explained(load_.theta, s.H, s.b) < -p_.significance * p_.significance;
  }

  // Energy that theta explains: 2 theta' b - theta' H theta.
  static double explained(const std::array<double, 4>& theta, const std::array<double, 16>& H,
                          const std::array<double, 4>& b) noexcept {
    double sum = 0.0;
    for (int r = 0; r < 4; ++r) {
      sum += 2.0 * theta[r] * b[r];
      for (int c = 0; c < 4; ++c) sum -= theta[r] * H[4 * r + c] * theta[c];
    }
    return sum;
  }

  // A mass that is sure, and where a gripper can hold it.
  bool hangs() const noexcept {
    const double mass = std::abs(fit_.theta[0]);
    return mass > sure * fit_.mass_std() && first_moment(fit_.theta) <= longest_lever * mass;
  }

  static double first_moment(const std::array<double, 4>& theta) noexcept {
    return std::sqrt(theta[1] * theta[1] + theta[2] * theta[2] + theta[3] * theta[3]);
  }

  // theta = H^-1 b; false where H is not finite.
  static bool solve(std::array<double, 16> H, const std::array<double, 4>& b, Cholesky<4>& factored,
                    std::array<double, 4>& theta) noexcept {
    for (int k = 0; k < 4; ++k) H[5 * k] += 1e-4;  // 1/(100 kg)^2: well-posed with one station
    if (!factored.factor(H)) return false;
    theta = b;
    factored.solve(theta.data());
    return true;
  }

  // Weighted least squares over the stations; those that were pushed at hardly count: w = 1 / (1 + left / (4 n))^2.
  // Returns the share of the energy that is explained.
  double fit_payload(Load& fit) const noexcept {
    std::array<double, capacity> w;
    w.fill(1.0);
    std::array<double, 4>& theta = fit.theta;
    Cholesky<4> factored;
    double left = 0.0, energy = 0.0, weight = 0.0;
    for (int round = 0; round < rounds; ++round) {
      std::array<double, 16> H{};
      std::array<double, 4> b{};
      for (int s = 0; s < count_; ++s) {
        for (int k = 0; k < 16; ++k) H[k] += w[s] * station_[s].H[k];
        for (int k = 0; k < 4; ++k) b[k] += w[s] * station_[s].b[k];
      }
      if (!solve(H, b, factored, theta)) return 0.0;
      left = energy = weight = 0.0;
      for (int s = 0; s < count_; ++s) {
        const Station& at = station_[s];
        const double rest = std::max(at.energy - explained(theta, at.H, at.b), 0.0);
        left += w[s] * rest, energy += w[s] * at.energy, weight += w[s];
        const double root = 1.0 / (1.0 + rest / (4.0 * chain_.n));
        w[s] = root * root;
      }
    }
    const double scale = std::max(1.0, left / std::max(chain_.n * weight - 4.0, 1.0));
    for (int k = 0; k < 4; ++k) {
      double* column = fit.covariance.data() + 4 * k;
      column[k] = scale;
      factored.solve(column);
    }
    return 1.0 - left / energy;
  }

  double fit_bias(Joints& bias) const noexcept {
    double explained = 0.0;
    for (int i = 0; i < chain_.n; ++i) {
      double weighted = 0.0, weight = 0.0;
      for (int s = 0; s < count_; ++s) {
        weighted += station_[s].weighted[i];
        weight += station_[s].weight[i];
      }
      bias[i] = weighted / weight;
      explained += weighted * bias[i];
    }
    return explained;
  }

  static double dot(const Vec3& a, const Vec3& b) noexcept { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

  Chain chain_;  // geometry and gravity; the payload as the only mass
  PayloadParameters p_;
  std::array<Station, capacity> station_{};
  int count_ = 0, next_ = 0;
  double waited_ = 0.0;
  bool been_free_ = false, unloaded_ = false, replaced_ = false;  // unloaded: at enough stations
  Verdict verdict_ = Verdict::none;
  Answer answer_ = Answer::judge;
  bool held_ = false;
  Load fit_, load_;  // of the stations, held
  Joints bias_{};
};

}  // namespace robot_dynamics
