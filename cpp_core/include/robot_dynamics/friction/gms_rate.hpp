// Rate-state Maxwell-slip friction with frictional lag [Madsen2020 2.37-2.38, ch3 11-14].
//   stick: dF_i/dt = k_i w until |F_i| = nu_i |s(w)|;  slip: dF_i/dt = sgn(w) C (nu_i - F_i / s(w))
// The sources print "+" in the slip law, which diverges; the original model has "-". Slip is integrated with the exact
// exponential towards nu_i s(w), |s| has a positive floor, an element sticks again when the velocity reverses.
#pragma once

#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/friction/gms.hpp"

namespace robot_dynamics {

class RateStateGms {
 public:
  // map: s(w); k, nu: (n, M) stiffness [Nm/rad] and share with sum nu = 1; attraction C [Nm/s]; floor of |s| [Nm].
  RateStateGms(FrictionMap map, int elements, const double* k, const double* nu, double attraction, double floor = 1e-3,
               double max_gap = 0.1)
      : map_(std::move(map)),
        n_(map_.joints()),
        M_(elements),
        k_(k, k + n_ * M_),
        nu_(nu, nu + n_ * M_),
        attraction_(attraction),
        floor_(floor) {
    if (!(1 <= M_ && M_ <= max_elements))
      throw std::invalid_argument("elements = " + std::to_string(M_) + " is outside 1..16");
    if (!(attraction > 0)) throw std::invalid_argument("attraction = " + std::to_string(attraction) + " is not > 0");
    if (!(floor > 0)) throw std::invalid_argument("floor = " + std::to_string(floor) + " is not > 0");
    if (!(max_gap > 0)) throw std::invalid_argument("max_gap = " + std::to_string(max_gap) + " is not > 0");
    for (int i = 0; i < n_; ++i) check_joint(i);
    clock_.max_gap = max_gap;
    force_.assign(n_ * M_, 0.0);
    slipping_.assign(n_ * M_, 0);
    direction_.assign(n_, 0.0);
    travel_.assign(n_, 0.0);
  }

  int joints() const { return n_; }
  int elements() const { return M_; }
  const std::vector<double>& stiffnesses() const { return k_; }  // (n, elements)
  const std::vector<double>& shares() const { return nu_; }      // (n, elements)
  double attraction() const { return attraction_; }
  double floor() const { return floor_; }
  double max_gap() const { return clock_.max_gap; }
  const double* state() const { return force_.data(); }

  void reset() noexcept {
    clock_.reset();
    clear();
  }

  // Valid once one direction was held until every element slipped.
  bool valid(int i) const noexcept { return travel_[i] < 0; }

  // v [rad/s], T [deg C] or null -> friction [Nm]
  Status step(std::int64_t stamp_ns, const double* v, const double* T, double* friction) noexcept {
    for (int i = 0; i < n_; ++i)
      if (!std::isfinite(v[i])) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == SampleClock::Tick::duplicate) return Status::dropped;
    if (tick != SampleClock::Tick::ok) clear();
    bool all_valid = true;
    for (int i = 0; i < n_; ++i) {
      friction[i] = joint_step(i, v[i], T ? T[i] : map_.reference(i), dt);
      all_valid = all_valid && valid(i);
    }
    const bool again = tick == SampleClock::Tick::backwards || tick == SampleClock::Tick::gap;
    return again ? Status::reset : all_valid ? Status::ok : Status::warming_up;
  }

 private:
  void check_joint(int i) const {
    double sum = 0;
    for (int e = i * M_; e < (i + 1) * M_; ++e) {
      if (!(k_[e] > 0)) throw std::invalid_argument("stiffness k = " + std::to_string(k_[e]) + " is not > 0");
      if (!(nu_[e] > 0)) throw std::invalid_argument("share nu = " + std::to_string(nu_[e]) + " is not > 0");
      sum += nu_[e];
    }
    if (!(std::abs(sum - 1) < 1e-6)) throw std::invalid_argument("sum nu = " + std::to_string(sum) + " is not 1");
  }

  void clear() noexcept {
    std::fill(force_.begin(), force_.end(), 0.0);
    std::fill(slipping_.begin(), slipping_.end(), 0);
    std::fill(direction_.begin(), direction_.end(), 0.0);
    std::fill(travel_.begin(), travel_.end(), 0.0);
  }

  double joint_step(int i, double v, double T, double dt) noexcept {
    const double sign = v > 0 ? 1 : v < 0 ? -1 : 0;
    if (sign != 0 && sign != direction_[i]) {  // reversal: every element sticks again
      std::fill(slipping_.begin() + i * M_, slipping_.begin() + (i + 1) * M_, 0);
      direction_[i] = sign;
    }
    const double s = sign * std::max(std::abs(map_.torque_at(i, v, 0.0, T)), floor_);
    double sum = 0;
    bool all_slip = true;
    for (int e = i * M_; e < (i + 1) * M_; ++e) {
      sum += element_step(e, v, sign, s, dt);
      all_slip = all_slip && slipping_[e];
    }
    if (all_slip) travel_[i] = -1;
    return sum;
  }

  // Sticks for the part of dt until the limit is met, slips for the rest: no sub-step is needed for any dt.
  double element_step(int e, double v, double sign, double s, double dt) noexcept {
    if (sign == 0) return force_[e];
    const double target = nu_[e] * s;
    double left = dt;
    if (!slipping_[e]) {
      const double gap = sign * (target - force_[e]) / (k_[e] * std::abs(v));  // [s] to the limit
      if (gap > dt) return force_[e] += k_[e] * v * dt;
      slipping_[e] = 1;
      if (gap > 0) {
        force_[e] = target;
        left -= gap;
      }
    }
    force_[e] = target + (force_[e] - target) * std::exp(-attraction_ * left / std::abs(s));
    return force_[e];
  }

  FrictionMap map_;
  int n_, M_;
  std::vector<double> k_, nu_;
  double attraction_, floor_;
  std::vector<double> force_, direction_, travel_;
  std::vector<unsigned char> slipping_;
  SampleClock clock_;
};

}  // namespace robot_dynamics
