// Transmission of one joint between rotor (theta, reflected) and link (q): kinematic error of several harmonics,
// position-dependent backlash and a hardening spring [Madsen2020 ch3 4-10; ch4 12-17, 29-32].
//   phi = theta - e(theta) - q                          deformation
//   psi = phi - (1 - r) d phi / (phi^4 + d^4)^(1/4)       deformation beyond the (soft) backlash of half width d
//   d(theta) tau_J = a1 psi + a2 psi^3 + D dphi/dt               on the link; (1 - de/dtheta) tau_J on the rotor
//   (virtual work)
#pragma once

#include "robot_dynamics/plant/math.hpp"

namespace robot_dynamics::plant {

constexpr int harmonics = 8;

struct TransmissionParameters {   // of one joint
  double stiffness = 1e4;         // a1 [Nm/rad]
  double hardening = 0;           // a2 [Nm/rad^3]
  double damping = 0;             // D [Nm s/rad]
  double backlash = 0;            // mean half width [rad]
  double backlash_variation = 0;  // relative amplitude of d(theta) over one turn, < 1
  double backlash_phase = 0;      // [rad]
  double soft_windup = 0.05;      // r: share of the stiffness left inside the backlash
  double gear_ratio = 100;
  double bearing_friction = 0;       // [Nm], Coulomb friction of the output bearing and seals, on the link
  double bearing_presliding = 1e-4;  // [rad], elastic range of that friction
  std::array<double, harmonics> error_amplitude{};  // [rad], cycles per OUTPUT turn 1, 2, .. 6, then ..
  std::array<double, harmonics> error_phase{};      // .. the last two: 1 and 2 cycles per MOTOR turn

  template <class P, class F>
  static void visit(P& p, F f) {
    f(p.stiffness, "transmission.stiffness", positive);
    f(p.hardening, "transmission.hardening", non_negative);
    f(p.damping, "transmission.damping", non_negative);
    f(p.backlash, "transmission.backlash", non_negative);
    f(p.backlash_variation, "transmission.backlash_variation",
      [](double v, const char* name, int j) { require(v >= 0 && v < 1, name, j, v, "[0, 1)"); });
    f(p.backlash_phase, "transmission.backlash_phase", finite);
    f(p.soft_windup, "transmission.soft_windup",
      [](double v, const char* name, int j) { require(v > 0 && v <= 1, name, j, v, "(0, 1]"); });
    f(p.gear_ratio, "transmission.gear_ratio",
      [](double v, const char* name, int j) { require(v != 0 && std::fabs(v) <= 1e4, name, j, v, "-1e4..1e4"); });
    f(p.bearing_friction, "transmission.bearing_friction", non_negative);
    f(p.bearing_presliding, "transmission.bearing_presliding", positive);
    f(p.error_amplitude, "transmission.error_amplitude", non_negative);
    f(p.error_phase, "transmission.error_phase", finite);
  }
};

struct TransmissionPoint {
  double error;      // e(theta) [rad]
  double slope;      // 1 - de/dtheta
  double widening;   // d(theta) over its mean
  double phi;        // [rad]
  double torque;     // elastic torque tau_E [Nm]
  double stiffness;  // d tau_E/d phi [Nm/rad]
};

// Friction of the output bearing: an elastic range, then Coulomb (one Maxwell-slip element on the link).
inline double slide(const TransmissionParameters& p, double torque, double moved) noexcept {
  const double next = torque + p.bearing_friction / p.bearing_presliding * moved;
  return next > p.bearing_friction ? p.bearing_friction : (next < -p.bearing_friction ? -p.bearing_friction : next);
}

struct BearingStep {
  double torque;  // during the step for the present velocity [Nm]
  double gain;    // d torque/d velocity over the step [Nm s/rad]
};

inline BearingStep bearing_step(const TransmissionParameters& p, double torque, double qd, double dt,
                                double w) noexcept {
  const double k = p.bearing_friction / p.bearing_presliding, next = torque + k * dt * qd;
  if (next > p.bearing_friction) return {0.5 * (torque + p.bearing_friction), 0.0};
  if (next < -p.bearing_friction) return {0.5 * (torque - p.bearing_friction), 0.0};
  return {torque + w * dt * k * qd, w * dt * k};
}

class Transmission {
 public:
  Transmission() = default;
  explicit Transmission(const TransmissionParameters& parameters) : p_(parameters) {
    for (int h = 0; h < harmonics; ++h) {
      double s, c;
      sine_cosine(p_.error_phase[h], s, c);
      in_phase_[h] = p_.error_amplitude[h] * c;
      quadrature_[h] = p_.error_amplitude[h] * s;
      any_error_ = any_error_ || p_.error_amplitude[h] != 0.0;
    }
    sine_cosine(p_.backlash_phase, backlash_s_, backlash_c_);
  }

  TransmissionPoint evaluate(double theta, double q) const noexcept {
    TransmissionPoint x;
    double s, c;
    sine_cosine(theta, s, c);
    kinematic_error(theta, s, c, x);
    x.widening = 1.0 + p_.backlash_variation * (c * backlash_c_ - s * backlash_s_);
    x.phi = theta - x.error - q;
    const double d = p_.backlash * x.widening, d2 = d * d, d4 = d2 * d2;
    const double phi2 = x.phi * x.phi, sum = phi2 * phi2 + d4 + 1e-40;
    const double play = (1.0 - p_.soft_windup) * d / std::sqrt(std::sqrt(sum));
    const double psi = x.phi * (1.0 - play), slope = 1.0 - play * d4 / sum;
    x.torque = psi * (p_.stiffness + p_.hardening * psi * psi);
    x.stiffness = slope * (p_.stiffness + 3.0 * p_.hardening * psi * psi);
    return x;
  }

 private:
  // e(theta) = sum A_h sin(n_h theta + phase_h), by the angle-addition recurrence.
  void kinematic_error(double theta, double s, double c, TransmissionPoint& x) const noexcept {
    x.error = 0.0;
    x.slope = 1.0;
    if (!any_error_) return;
    double sh = s, ch = c;
    for (int h = 0; h < harmonics - 2; ++h) {
      add(h, h + 1.0, sh, ch, x);
      const double next = sh * c + ch * s;
      ch = ch * c - sh * s;
      sh = next;
    }
    double sm, cm;
    sine_cosine(p_.gear_ratio * theta, sm, cm);
    add(harmonics - 2, p_.gear_ratio, sm, cm, x);
    add(harmonics - 1, 2.0 * p_.gear_ratio, 2.0 * sm * cm, cm * cm - sm * sm, x);
  }
  void add(int h, double cycles, double s, double c, TransmissionPoint& x) const noexcept {
    x.error += s * in_phase_[h] + c * quadrature_[h];
    x.slope -= cycles * (c * in_phase_[h] - s * quadrature_[h]);
  }

  TransmissionParameters p_{};
  std::array<double, harmonics> in_phase_{}, quadrature_{};
  double backlash_s_ = 0, backlash_c_ = 1;
  bool any_error_ = false;
};

}  // namespace robot_dynamics::plant
