// Presliding friction of n joints: Maxwell-slip elements with free spans, load on each element, Stribeck on the level.
//   f = h(T) (s(v) sum_k (c_k + l_k |tau|^p) H_k(theta) + fs b(v) + fv1 v + fv2 |v| v + fv0 v / (1 + |v| / v0)) + fo
//   H_k = d_k / D_k,  d_k <- clip(d_k + dtheta, -D_k, D_k)              [Madsen2020 ch4 35-37]
//   s(v) = r + (1 - r) g(v),  g(v) = 1 / (1 + (v / vs)^2)               breakaway 1, sliding r = f_C / f_S
//   b(v) = g(v) v / (|v| + eps)                                         Stribeck friction of speed alone
// Spans, levels c, l >= 0, fs and viscous terms >= 0 (so the law dissipates at every speed; fv0 is shear thinning), p,
// s(v) are identified; a law with spacing rules ties the elements together (gms.hpp, egms.hpp).
// The input is position: friction of a creeping joint keeps its level, unlike tanh(v / eps). tau is the torque through
// the gear: model torque and external torque. h(T) is the temperature factor of the static map's Coulomb level. A joint
// without levels follows the static map.
//
// Friction acts on the rotor, which a push or gravity turns against the link by the deflection of the gear. A velocity
// that is measured on the rotor shows its motion where only the link's position is reported:
//   theta_r <- theta_r + v dt + dt / (T + dt) (theta - theta_r - v dt)  T = rotor_time; 0: theta_r = theta
#pragma once

#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/sample_clock.hpp"

namespace robot_dynamics {

struct PreslidingJoint {
  double load_limit = 1e3;         // largest |tau| used [Nm]: the identified range; bounds the feedback of load
  double power = 1.0;              // p, 1 or 2
  double sliding_ratio = 1.0;      // r = f_C / f_S, 0..1
  double stribeck_velocity = 0.1;  // vs [rad/s]
  double fv1 = 0.0, fv2 = 0.0;     // Nm s/rad, Nm s2/rad2
  double fv0 = 0.0, v0 = 0.3;      // Nm s/rad, rad/s: viscosity that falls with speed
  double offset = 0.0;             // fo [Nm]
  double fs = 0.0, eps = 2e-3;     // Nm, rad/s: Stribeck friction of speed alone
  double rotor_time = 0.0;         // T [s]: how long the integrated velocity drives the elements; 0: the position
};

class Presliding {
 public:
  static constexpr int max_elements = 16;

  // span D [rad], level c [Nm], load l [Nm^(1-p)]: (n, elements), spans rising. Throws std::invalid_argument.
  Presliding(FrictionMap map, int elements, const double* span, const double* level, const double* load,
             const PreslidingJoint* joints, double max_gap = 0.1)
      : map_(std::move(map)),
        n_(map_.joints()),
        elements_(elements),
        joints_(joints, joints + n_),
        span_(span, span + n_ * elements),
        level_(level, level + n_ * elements),
        load_(load, load + n_ * elements),
        deflection_(n_ * elements, 0.0) {
    if (!(1 <= elements && elements <= max_elements))
      throw std::invalid_argument("elements = " + std::to_string(elements) + " is outside 1..16");
    if (!(1 <= n_ && n_ <= max_joints)) throw std::invalid_argument("joints are outside 1..16");
    if (!(max_gap > 0)) throw std::invalid_argument("max_gap = " + std::to_string(max_gap) + " is not > 0");
    clock_.max_gap = max_gap;
    for (int i = 0; i < n_; ++i) check(i);
  }

  int joints() const noexcept { return n_; }
  int elements() const noexcept { return elements_; }
  const std::vector<PreslidingJoint>& parameters() const noexcept { return joints_; }
  const std::vector<double>& spans() const noexcept { return span_; }    // (n, elements)
  const std::vector<double>& levels() const noexcept { return level_; }  // (n, elements)
  const std::vector<double>& loads() const noexcept { return load_; }    // (n, elements)
  double max_gap() const noexcept { return clock_.max_gap; }
  bool valid(int i) const noexcept {
    return has_memory_[i] && high_[i] - low_[i] > 2 * largest_[i];
  }  // initial state forgotten
  bool has_memory(int i) const noexcept { return has_memory_[i]; }

  // Level of the elements whose deflection is still unknown at load tau [Nm]: their friction lies within +- it.
  double unknown_level(int i, double tau) const noexcept {
    double sum = 0.0;
    const double loaded = power(i, tau), range = high_[i] - low_[i];
    for (int e = i * elements_; e < (i + 1) * elements_; ++e)
      if (!(range > 2 * span_[e])) sum += level_[e] + load_[e] * loaded;
    return sum;
  }

  void reset() noexcept { clock_.reset(); }

  // theta [rad], v [rad/s] (n), tau [Nm] and T [deg C] (n) or null -> friction [Nm]
  Status step(std::int64_t stamp_ns, const double* theta, const double* v, const double* tau, const double* T,
              double* friction) noexcept {
    for (int i = 0; i < n_; ++i)
      if (!(std::isfinite(v[i]) && std::isfinite(theta[i]))) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    if (tick != SampleClock::Tick::ok) restart(theta);
    bool known = true;
    for (int i = 0; i < n_; ++i) {
      const double load = tau && std::isfinite(tau[i]) ? tau[i] : 0.0, t = T ? T[i] : map_.reference(i);
      const double level = advance(i, rotor(i, theta[i], v[i], dt), load);
      friction[i] = has_memory_[i] ? torque(i, v[i], level, t) : map_.torque_at(i, v[i], load, t);
      known = known && (!has_memory_[i] || valid(i));
    }
    const bool again = tick == SampleClock::Tick::backwards || tick == SampleClock::Tick::gap;
    return again ? Status::reset : known ? Status::ok : Status::warming_up;
  }

 private:
  using Joints = std::array<double, max_joints>;

  double power(int i, double tau) const noexcept {
    const double load = std::isfinite(tau) ? std::min(std::abs(tau), joints_[i].load_limit) : 0.0;
    return joints_[i].power == 2.0 ? load * load : load;
  }

  double torque(int i, double v, double level, double T) const noexcept {
    const PreslidingJoint& p = joints_[i];
    const double x = v / p.stribeck_velocity, a = std::abs(v);
    const double g = 1.0 / (1.0 + x * x), shape = p.sliding_ratio + (1.0 - p.sliding_ratio) * g;
    const double viscous = p.fv1 + a * p.fv2 + p.fv0 / (1.0 + a / p.v0) + p.fs * g / (a + p.eps);
    return heat(i, v, T) * (shape * level + v * viscous) + p.offset;
  }

  double heat(int i, double v, double T) const noexcept {
    if (!(std::isfinite(T) && T != map_.reference(i))) return 1.0;
    const double cold = map_.coulomb(i, v, map_.reference(i));
    return cold > 0.0 ? map_.coulomb(i, v, T) / cold : 1.0;
  }

  // Position that drives the elements of joint i.
  double rotor(int i, double theta, double v, double dt) const noexcept {
    const double T = joints_[i].rotor_time;
    if (!(T > 0.0) || !(dt > 0.0)) return theta;
    const double ahead = last_[i] + v * dt;
    return ahead + dt / (T + dt) * (theta - ahead);
  }

  // Moves the elements of joint i; sum of their torques before s(v) [Nm].
  double advance(int i, double theta, double tau) noexcept {
    const double dtheta = theta - last_[i], loaded = power(i, tau);
    last_[i] = theta;
    low_[i] = std::min(low_[i], theta);
    high_[i] = std::max(high_[i], theta);
    double sum = 0.0;
    for (int e = i * elements_; e < (i + 1) * elements_; ++e) {
      const double d = std::min(std::max(deflection_[e] + dtheta, -span_[e]), span_[e]);
      deflection_[e] = d;
      sum += (level_[e] + load_[e] * loaded) * d / span_[e];
    }
    return sum;
  }

  void restart(const double* theta) noexcept {
    std::fill(deflection_.begin(), deflection_.end(), 0.0);
    for (int i = 0; i < n_; ++i) last_[i] = low_[i] = high_[i] = theta[i];
  }

  void check(int i) {
    const auto fail = [&](const char* name, double x, const char* bound) {
      throw std::invalid_argument("joint " + std::to_string(i + 1) + ": " + name + " = " + std::to_string(x) +
                                  " is not " + bound);
    };
    double before = 0.0, total = 0.0;
    for (int e = i * elements_; e < (i + 1) * elements_; ++e) {
      if (!(span_[e] > before && span_[e] <= 10.0)) fail("span", span_[e], "rising, above 0 and at most 10 rad");
      if (!(level_[e] >= 0.0 && level_[e] <= 1e5)) fail("level", level_[e], "in 0..1e5");
      if (!(load_[e] >= 0.0 && load_[e] <= 1e3)) fail("load", load_[e], "in 0..1e3");
      before = span_[e];
      if (level_[e] + load_[e] > 0.0) largest_[i] = span_[e];
      total += level_[e] + load_[e];
    }
    const PreslidingJoint& p = joints_[i];
    if (!(p.load_limit >= 0.0 && p.load_limit <= 1e5)) fail("load_limit", p.load_limit, "in 0..1e5");
    if (!(p.power == 1.0 || p.power == 2.0)) fail("load_power", p.power, "1 or 2");
    if (!(p.sliding_ratio >= 0.0 && p.sliding_ratio <= 1.0)) fail("sliding_ratio", p.sliding_ratio, "in 0..1");
    if (!(p.stribeck_velocity > 0.0)) fail("stribeck_velocity", p.stribeck_velocity, "> 0");
    if (!(p.v0 > 0.0)) fail("v0", p.v0, "> 0");
    if (!(p.eps > 0.0)) fail("eps", p.eps, "> 0");
    if (!(p.rotor_time >= 0.0 && p.rotor_time <= 1e6)) fail("rotor_time", p.rotor_time, "in 0..1e6");
    if (!(p.fs >= 0.0 && p.fs <= 1e5)) fail("fs", p.fs, "in 0..1e5");
    for (const double x : {p.fv0, p.fv1, p.fv2})
      if (!(x >= 0.0 && x <= 1e5)) fail("viscous coefficient", x, "in 0..1e5");
    if (!std::isfinite(p.offset)) fail("offset", p.offset, "finite");
    has_memory_[i] = total > 0.0;
  }

  FrictionMap map_;
  int n_, elements_;
  std::vector<PreslidingJoint> joints_;
  std::vector<double> span_, level_, load_, deflection_;  // (n, elements)
  Joints last_{}, low_{}, high_{}, largest_{};
  std::array<bool, max_joints> has_memory_{};
  SampleClock clock_;
};

}  // namespace robot_dynamics
