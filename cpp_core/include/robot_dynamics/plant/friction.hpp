// Friction of one drive: rate-state generalised Maxwell slip with frictional lag [Madsen2020 2.37-2.38, ch3 12-13; the
// slip equation with the original minus sign], Stribeck and load-dependent strength, and a shear-thinning viscous
// torque whose viscosity falls exponentially with the lubricant's temperature. Acts on the rotor coordinate.
#pragma once

#include "robot_dynamics/plant/math.hpp"

namespace robot_dynamics::plant {

constexpr int friction_elements = 8;

struct FrictionParameters {                       // of one joint
  double coulomb = 0;                             // Fc [Nm], strength of full slip without load
  double stribeck = 0;                            // Fs [Nm], breakaway strength without load
  double stribeck_velocity = 0.1;                 // vs [rad/s]
  double load = 0;                                // Fl [-]: strength gains Fl tau_J^2/(|tau_J| + tau_l)
  double load_torque = 1;                         // tau_l [Nm], where the load law turns from quadratic to linear
  double attraction = 1000;                       // C [Nm/s], rate at which slipping elements approach their strength
  double presliding = 1e-3;                       // [rad], largest element span
  double viscous = 0;                             // eta0 [Nm s/rad] at the reference temperature
  double shear_velocity = 10;                     // [rad/s], speed at which shear thinning has halved the viscosity
  double viscosity_rate = 0;                      // [1/K], eta = eta0 exp(-rate (T - T0))
  double boundary_rate = 0;                       // [1/K], Stribeck excess grows as the film thins: exp(rate (T - T0))
  double reference_temperature = 35;              // T0 [deg C]
  std::array<double, friction_elements> span{};   // element spans, fractions of `presliding`, largest 1
  std::array<double, friction_elements> share{};  // nu_i, sum 1
};

inline void validate(const FrictionParameters& p, int j) {
  non_negative(p.coulomb, "friction.coulomb", j);
  require(p.stribeck >= p.coulomb && p.stribeck <= 1e12, "friction.stribeck", j, p.stribeck, ">= coulomb");
  positive(p.stribeck_velocity, "friction.stribeck_velocity", j);
  non_negative(p.load, "friction.load", j);
  positive(p.load_torque, "friction.load_torque", j);
  positive(p.attraction, "friction.attraction", j);
  positive(p.presliding, "friction.presliding", j);
  non_negative(p.viscous, "friction.viscous", j);
  positive(p.shear_velocity, "friction.shear_velocity", j);
  non_negative(p.viscosity_rate, "friction.viscosity_rate", j);
  non_negative(p.boundary_rate, "friction.boundary_rate", j);
  finite(p.reference_temperature, "friction.reference_temperature", j);
  for (double span : p.span) positive(span, "friction.span", j);
  for (double share : p.share) non_negative(share, "friction.share", j);
}

struct FrictionState {
  std::array<double, friction_elements> force{};      // F_i [Nm]
  std::array<signed char, friction_elements> slip{};  // direction of slip, 0 = sticking
};

inline double total(const FrictionState& state) noexcept {
  double sum = 0.0;
  for (double F : state.force) sum += F;
  return sum;
}

// What one integration step needs to know about the friction of one joint.
struct FrictionStep {
  double strength;   // s(omega, tau_J, T) > 0 [Nm]
  double decay;      // exp(-C dt/s): lag of slipping elements over the step
  double viscous;    // secant viscosity [Nm s/rad]
  double torque;     // Maxwell-slip torque predicted at mid-step for the present velocity [Nm]
  double stiffness;  // d torque/d angle of the elements that stick [Nm/rad]
};

class Friction {
 public:
  Friction() = default;
  explicit Friction(const FrictionParameters& parameters) : p_(parameters) {
    for (int i = 0; i < friction_elements; ++i) inverse_span_[i] = p_.share[i] / (p_.span[i] * p_.presliding);
  }

  // Viscosity and boundary factors change slowly: refreshed once per control cycle.
  void set_temperature(double lubricant) noexcept {
    viscosity_ = p_.viscous * exponential(-p_.viscosity_rate * (lubricant - p_.reference_temperature));
    excess_ = (p_.stribeck - p_.coulomb) * exponential(p_.boundary_rate * (lubricant - p_.reference_temperature));
  }

  // Strength: s = Fc + (Fs - Fc) exp(-(w/vs)^2) + Fl tau^2/(|tau| + tau_l).
  double strength(double omega, double tau_joint) const noexcept {
    const double x = omega / p_.stribeck_velocity;
    const double load = p_.load * tau_joint * tau_joint / (std::fabs(tau_joint) + p_.load_torque);
    return p_.coulomb + load + (x * x < 40.0 ? excess_ * exponential(-x * x) : 0.0);
  }

  // `widening`: local backlash over its mean; element spans widen with it, their strength does not.
  FrictionStep predict(const FrictionState& state, double omega, double tau_joint, double widening,
                       double dt) const noexcept {
    FrictionStep step;
    step.strength = strength(omega, tau_joint);
    step.decay = exponential(-p_.attraction * dt / (step.strength + 1e-9));
    step.viscous = viscosity_ / (1.0 + std::fabs(omega) / p_.shear_velocity);
    step.torque = step.stiffness = 0.0;
    const double direction = omega > 0 ? 1.0 : -1.0, increment = omega * dt;
    for (int i = 0; i < friction_elements; ++i) {
      const double limit = p_.share[i] * step.strength, F = state.force[i];
      const double k = inverse_span_[i] * step.strength / widening;
      const double trial = F + k * increment;
      if (state.slip[i] * omega > 0) {
        step.torque += 0.5 * (F + direction * limit + (F - direction * limit) * step.decay);
      } else if (std::fabs(trial) > limit) {
        step.torque += 0.5 * (F + (trial > 0 ? limit : -limit));
      } else {
        step.torque += F;
        step.stiffness += k;
      }
    }
    return step;
  }

  // Moves the elements by the angle the rotor actually turned.
  void advance(FrictionState& state, const FrictionStep& step, double increment, double widening) const noexcept {
    const double direction = increment > 0 ? 1.0 : -1.0;
    for (int i = 0; i < friction_elements; ++i) {
      const double limit = p_.share[i] * step.strength;
      double& F = state.force[i];
      if (state.slip[i] * increment > 0) {  // dF/dt = sgn(w) C (nu - F/s) [ch3 13 with "-"], solved exactly
        F = direction * limit + (F - direction * limit) * step.decay;
        continue;
      }
      F += inverse_span_[i] * step.strength / widening * increment;  // dF/dt = k w [ch3 12]
      state.slip[i] = 0;
      if (std::fabs(F) > limit) {
        state.slip[i] = F > 0 ? 1 : -1;
        F = state.slip[i] * limit;
      }
    }
  }

 private:
  FrictionParameters p_{};
  double viscosity_ = 0, excess_ = 0;
  std::array<double, friction_elements> inverse_span_{};
};

}  // namespace robot_dynamics::plant
