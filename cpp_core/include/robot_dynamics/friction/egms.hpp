// Extended GMS friction [Madsen2020 ch6 3-5, 14-15, 20]: load-dependent Coulomb level, position-dependent backlash.
//   f = F(tau_J) H(theta) + F_v(omega, T),   F(tau_J) = Fc0 + Fc1 tau_J^2
// tau_J is the model torque without friction (no algebraic loop). Fc0 scales with temperature as the map's Coulomb
// level. A joint with Fc0 = 0 has no hysteresis: its friction is the map with its load terms, and valid() stays false.
#pragma once

#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/friction/gms.hpp"

namespace robot_dynamics {

class EGms {
 public:
  // map gives F_v; Fc0 [Nm], Fc1 [1/Nm] of n joints; kinematic error table [rad] is subtracted from theta.
  EGms(FrictionMap map, Gms gms, const double* Fc0, const double* Fc1, PeriodicTable kinematic_error)
      : map_(std::move(map)),
        gms_(std::move(gms)),
        n_(map_.joints()),
        Fc0_(Fc0, Fc0 + n_),
        Fc1_(Fc1, Fc1 + n_),
        kinematic_error_(std::move(kinematic_error)),
        theta_(n_),
        H_(n_, 0.0),
        level_(n_, 0.0) {
    if (gms_.joints() != n_ || kinematic_error_.joints() != n_)
      throw std::invalid_argument("map, hysteresis and kinematic error differ in the number of joints");
    for (int i = 0; i < n_; ++i) {
      if (!(Fc0_[i] >= 0)) throw std::invalid_argument("fc0 = " + std::to_string(Fc0_[i]) + " is not >= 0");
      if (!(Fc1_[i] >= 0)) throw std::invalid_argument("fc1 = " + std::to_string(Fc1_[i]) + " is not >= 0");
    }
  }

  int joints() const { return n_; }
  const Gms& gms() const { return gms_; }
  const std::vector<double>& fc0() const { return Fc0_; }
  const std::vector<double>& fc1() const { return Fc1_; }
  const PeriodicTable& kinematic_error() const { return kinematic_error_; }
  bool valid(int i) const noexcept { return Fc0_[i] > 0 && gms_.valid(i); }
  bool follows(int i) const noexcept { return Fc0_[i] > 0; }  // else the static map
  LevelPart level_part(int i, double, double, double) const noexcept { return {level_[i] * H_[i], level_[i]}; }
  // Level of the elements whose deflection is still unknown [Nm].
  double unknown_level(int i, double) const noexcept { return gms_.valid(i) ? 0.0 : level_[i]; }
  const std::vector<double>& hysteresis() const { return H_; }
  const std::vector<double>& levels() const { return level_; }  // F(tau_J) of the last step [Nm]
  void reset() noexcept { gms_.reset(); }

  // F(tau_J) at temperature T [Nm]
  double level(int i, double tau, double v, double T) const noexcept {
    const double cold = map_.coulomb(i, v, map_.reference(i)), warm = map_.coulomb(i, v, T);
    const double load = std::isfinite(tau) ? tau : 0.0;
    return Fc0_[i] > 0 ? loaded(i, load, cold, warm) : warm;
  }

  // theta [rad], v [rad/s], tau_J [Nm] or null, T [deg C] or null -> friction [Nm]
  Status step(std::int64_t stamp_ns, const double* theta, const double* v, const double* tau, const double* T,
              double* friction) noexcept {
    for (int i = 0; i < n_; ++i) {
      if (!(std::isfinite(v[i]) && std::isfinite(theta[i]))) return Status::dropped;
      theta_[i] = theta[i] - kinematic_error_.value(i, theta[i]);  // [Madsen2020 ch4 30]
    }
    const Status status = gms_.step(stamp_ns, theta_.data(), H_.data());
    if (status == Status::dropped) return status;
    double warm[16], cold[16], rest[16];  // Gms admits 1..16 joints
    map_.split(v, T, warm, cold, rest);
    for (int i = 0; i < n_; ++i) {
      const double load = tau && std::isfinite(tau[i]) ? tau[i] : 0.0;
      if (Fc0_[i] > 0) {
        level_[i] = loaded(i, load, cold[i], warm[i]);
      } else {
        const double t = T ? T[i] : map_.reference(i);
        level_[i] = warm[i];
        H_[i] = level_[i] > 0 ? (map_.torque_at(i, v[i], load, t) - rest[i]) / level_[i] : 0.0;
      }
      friction[i] = level_[i] * H_[i] + rest[i];
    }
    return status;
  }

 private:
  double loaded(int i, double load, double cold, double warm) const noexcept {
    const double heat = cold > 0 && warm != cold ? warm / cold : 1.0;
    return Fc0_[i] * heat + Fc1_[i] * load * load;
  }

  FrictionMap map_;
  Gms gms_;
  int n_;
  std::vector<double> Fc0_, Fc1_;
  PeriodicTable kinematic_error_;
  std::vector<double> theta_, H_, level_;
};

}  // namespace robot_dynamics
