// Friction of one drive, on the rotor coordinate: presliding of one of several families, all with a strength that
// depends on speed and load, and a viscous torque whose viscosity falls exponentially with the lubricant's temperature.
//   maxwell: rate-state generalised Maxwell slip with frictional lag [Madsen2020 2.37-2.38, ch3 12-13; the slip
//            equation with the original minus sign]
//   lugre:   dF/dt = sigma_0 (omega - |omega| F/s) + sigma_1 dz/dt [CanudasDeWit1995], solved exactly over the step
//   dahl:    dF/dtheta = sigma_0 |1 - sgn(omega) F/s|^delta [Dahl1968], solved exactly over the step
//   drift:   elements without lag that creep: dF_i/dt = k_i omega - F_i v_c/span_i within their limits
//   bouc_wen: dF/dtheta = sigma_0 (1 - (F/s)^2) away from zero, sigma_0 towards it [Wen1976, exponent 2, beta = gamma =
//            1/2], solved exactly over the step
//   elasto_plastic: dF/dtheta = sigma_0 (1 - alpha sgn(omega) F/s) [Dupont2002 13, 14 without sigma_1]: alpha is 0
//            up to the elastic share b of s and towards zero, then rises as a half sine to the 1 of lugre at s
#pragma once

#include "robot_dynamics/plant/math.hpp"

namespace robot_dynamics::plant {

constexpr int friction_elements = 8;

enum class FrictionFamily : int { maxwell = 0, lugre = 1, dahl = 2, drift = 3, bouc_wen = 4, elasto_plastic = 5 };

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
  double family = 0;                              // a FrictionFamily
  double load_saturation = 0;                     // [Nm], what the load can add at most; 0: no limit
  double load_on_stiffness = 1;                   // 1: load stiffens presliding, spans stay; 0: spans widen instead
  double additive_stribeck = 0;                   // share of Fs - Fc that is a term of speed beside the memory
  double viscous_exponent = 1;                    // alpha: viscous torque eta |omega|^alpha, below 1 shear thinning
  double micro_damping = 0;                       // lugre: sigma_1 [Nm s/rad]
  double dahl_exponent = 1;                       // dahl: delta
  double creep_velocity = 0;                      // drift: v_c [rad/s]
  double elastic_share = 0.5;                     // elasto_plastic: b = z_ba/z_ss [-]
  std::array<double, friction_elements> span{};   // element spans, fractions of `presliding`, largest 1
  std::array<double, friction_elements> share{};  // nu_i, sum 1

  template <class P, class F>
  static void visit(P& p, F f) {
    f(p.coulomb, "friction.coulomb", non_negative);
    f(p.stribeck, "friction.stribeck",
      [&p](double v, const char* name, int j) { require(v >= p.coulomb && v <= 1e12, name, j, v, ">= coulomb"); });
    f(p.stribeck_velocity, "friction.stribeck_velocity", positive);
    f(p.load, "friction.load", non_negative);
    f(p.load_torque, "friction.load_torque", positive);
    f(p.attraction, "friction.attraction", positive);
    f(p.presliding, "friction.presliding", positive);
    f(p.viscous, "friction.viscous", non_negative);
    f(p.shear_velocity, "friction.shear_velocity", positive);
    f(p.viscosity_rate, "friction.viscosity_rate", non_negative);
    f(p.boundary_rate, "friction.boundary_rate", non_negative);
    f(p.reference_temperature, "friction.reference_temperature", finite);
    f(p.family, "friction.family",
      [](double v, const char* name, int j) { require(v >= 0 && v <= 5 && v == std::floor(v), name, j, v, "0..5"); });
    f(p.load_saturation, "friction.load_saturation", non_negative);
    f(p.load_on_stiffness, "friction.load_on_stiffness", Within{0, 1, "0..1"});
    f(p.additive_stribeck, "friction.additive_stribeck", Within{0, 1, "0..1"});
    f(p.viscous_exponent, "friction.viscous_exponent", Within{0.2, 1, "0.2..1"});
    f(p.micro_damping, "friction.micro_damping", non_negative);
    f(p.dahl_exponent, "friction.dahl_exponent", Within{0.5, 3, "0.5..3"});
    f(p.creep_velocity, "friction.creep_velocity", non_negative);
    f(p.elastic_share, "friction.elastic_share", Within{0, 0.95, "0..0.95"});
    f(p.span, "friction.span", positive);
    f(p.share, "friction.share", non_negative);
  }
};

struct FrictionState {
  std::array<double, friction_elements> force{};      // F_i [Nm]
  std::array<signed char, friction_elements> slip{};  // direction of slip, 0 = sticking
};

inline double total(const FrictionState& state) noexcept {
  double sum = 0.0;
  for (double F : state.force) sum += F;
  return sum;
}

// Friction of one joint over one integration step.
struct FrictionStep {
  double strength;   // s(omega, tau_J, T) > 0 [Nm]
  double level;      // strength that the presliding stiffness belongs to [Nm]
  double decay;      // exp(-C dt/s): lag of slipping elements over the step
  double creep;      // v_c dt [rad]
  double viscous;    // secant viscosity [Nm s/rad]
  double torque;     // torque of the memory predicted at mid-step for the present velocity [Nm]
  double stiffness;  // d torque/d angle of what sticks [Nm/rad]
};

// Bristle torque after turning by x from F: u = 1 - sgn(x) F/s, d|u|/d|x| = -(k/s) |u|^delta, exact.
inline double bristle(double F, double s, double k, double x, double delta) noexcept {
  const double direction = x < 0 ? -1.0 : 1.0, travel = k / s * std::fabs(x), u = 1.0 - direction * F / s;
  if (delta == 1.0) return direction * s * (1.0 - u * exponential(-travel));
  const double m = std::fabs(u);
  if (!(m > 1e-12)) return direction * s;
  const double rest = power(m, 1.0 - delta) + (delta - 1.0) * travel;
  const double left = rest > 0 ? power(rest, 1.0 / (1.0 - delta)) : 0.0;
  return direction * s * (1.0 - (u < 0 ? -left : left));
}

// Torque of bouc_wen after turning by x from F: f = sgn(x) F/s, df/d|x| = k/s below zero, (k/s) (1 - f^2) above it.
inline double bouc_wen(double F, double s, double k, double x) noexcept {
  const double direction = x < 0 ? -1.0 : 1.0, reached = direction * F / s + k / s * std::fabs(x);
  if (reached <= 0) return direction * s * reached;
  const double f = F * direction > 0 ? F * direction / s : 0.0;
  const double left = exponential(-2.0 * (f > 0 ? reached - f : reached)), rise = (1.0 - left) / (1.0 + left);
  return direction * s * (f + rise) / (1.0 + f * rise);
}

// Torque of elasto_plastic after turning by x from F: f = sgn(x) F/s, df/d|x| = (k/s) (1 - alpha(f) f); beyond b in
// steps of an eighth of the transition (at most 32: then f is 1) with the alpha of their middle, exact for a constant
// one.
inline double elasto_plastic(double F, double s, double k, double x, double b) noexcept {
  const auto alpha = [b](double f) {
    const double share = (f - b) / (1.0 - b);
    return share <= 0 ? 0.0 : share >= 1 ? 1.0 : 0.5 - 0.5 * std::cos(3.14159265358979323846 * share);
  };
  const auto after = [](double f, double a, double h) {
    return a > 1e-6 ? 1.0 / a - (1.0 / a - f) * exponential(-a * h) : f + h;
  };
  const double direction = x < 0 ? -1.0 : 1.0, travel = k / s * std::fabs(x);
  double f = direction * F / s, left = travel;
  if (f >= 1) return direction * s * after(f, 1.0, left);
  if (f < b) {
    const double elastic = left < b - f ? left : b - f;
    f += elastic, left -= elastic;
  }
  int steps = left > 0 ? 1 + static_cast<int>(std::fmin(31.0, 8.0 * left / (1.0 - b))) : 0;
  for (const double h = left / (steps > 0 ? steps : 1); steps > 0; --steps) {
    const double middle = after(f, alpha(f), 0.5 * h);
    f = std::fmin(1.0, after(f, alpha(middle), h));
  }
  return direction * s * f;
}

class Friction {
 public:
  Friction() = default;
  explicit Friction(const FrictionParameters& parameters)
      : p_(parameters), family_(static_cast<FrictionFamily>(static_cast<int>(parameters.family))) {
    for (int i = 0; i < friction_elements; ++i) inverse_span_[i] = p_.share[i] / (p_.span[i] * p_.presliding);
  }

  // Viscosity and boundary factors change slowly: refreshed once per control cycle.
  void set_temperature(double lubricant) noexcept {
    viscosity_ = p_.viscous * exponential(-p_.viscosity_rate * (lubricant - p_.reference_temperature));
    excess_ = (p_.stribeck - p_.coulomb) * exponential(p_.boundary_rate * (lubricant - p_.reference_temperature));
    beside_ = p_.additive_stribeck * excess_;
    excess_ -= beside_;
  }

  // Strength: s = Fc + (Fs - Fc) exp(-(w/vs)^2) + Fl tau^2/(|tau| + tau_l).
  double strength(double omega, double tau_joint) const noexcept {
    double load = p_.load * tau_joint * tau_joint / (std::fabs(tau_joint) + p_.load_torque);
    if (p_.load_saturation > 0) load = load / (1.0 + load / p_.load_saturation);
    return p_.coulomb + load + stribeck(omega, excess_);
  }

  // `widening`: local backlash over its mean; element spans widen with it, their strength does not.
  FrictionStep predict(const FrictionState& state, double omega, double tau_joint, double widening,
                       double dt) const noexcept {
    FrictionStep step;
    step.strength = strength(omega, tau_joint);
    step.level = p_.load_on_stiffness * step.strength + (1.0 - p_.load_on_stiffness) * p_.coulomb;
    step.decay = exponential(-p_.attraction * dt / (step.strength + 1e-9));
    step.creep = family_ == FrictionFamily::drift ? p_.creep_velocity * dt : 0.0;
    step.viscous = viscosity(omega);
    step.torque = step.stiffness = 0.0;
    if (bristles())
      predict_bristle(state.force[0], omega, widening, dt, step);
    else
      predict_elements(state, omega, widening, dt, step);
    return step;
  }

  // Moves the memory by the angle the rotor actually turned.
  void advance(FrictionState& state, const FrictionStep& step, double increment, double widening) const noexcept {
    if (bristles()) {
      state.force[0] = moved(state.force[0], step, increment, widening);
      return;
    }
    const double direction = increment > 0 ? 1.0 : -1.0;
    for (int i = 0; i < friction_elements; ++i) {
      const double limit = p_.share[i] * step.strength;
      double& F = state.force[i];
      if (state.slip[i] * increment > 0 &&
          !(step.creep > 0)) {  // dF/dt = sgn(w) C (nu - F/s) [ch3 13 with "-"], solved exactly
        F = direction * limit + (F - direction * limit) * step.decay;
        continue;
      }
      F += inverse_span_[i] * step.level / widening * increment;  // dF/dt = k w [ch3 12]
      if (step.creep > 0) F /= 1.0 + step.creep / (p_.span[i] * p_.presliding * widening);
      state.slip[i] = 0;
      if (std::fabs(F) > limit) {
        state.slip[i] = F > 0 ? 1 : -1;
        F = state.slip[i] * limit;
      }
    }
  }

 private:
  bool bristles() const noexcept {
    return family_ != FrictionFamily::maxwell && family_ != FrictionFamily::drift;  // one state without elements
  }

  double stribeck(double omega, double excess) const noexcept {
    const double x = omega / p_.stribeck_velocity;
    return x * x < 40.0 ? excess * exponential(-x * x) : 0.0;
  }

  // Secant of eta |w|^alpha/(1 + |w|/v_shear) and of the Stribeck term of speed, both rounded off near zero speed.
  double viscosity(double omega) const noexcept {
    double secant = viscosity_ / (1.0 + std::fabs(omega) / p_.shear_velocity);
    if (p_.viscous_exponent != 1.0) secant *= power(omega * omega + 1e-4, 0.5 * (p_.viscous_exponent - 1.0));
    if (beside_ > 0) secant += stribeck(omega, beside_) / (std::fabs(omega) + 0.02 * p_.stribeck_velocity);
    return secant;
  }

  double moved(double F, const FrictionStep& step, double increment, double widening) const noexcept {
    if (!(step.strength > 0)) return 0.0;
    const double delta = family_ == FrictionFamily::dahl ? p_.dahl_exponent : 1.0;
    const double k = step.level / (p_.presliding * widening);
    if (family_ == FrictionFamily::bouc_wen) return bouc_wen(F, step.strength, k, increment);
    if (family_ == FrictionFamily::elasto_plastic)
      return elasto_plastic(F, step.strength, k, increment, p_.elastic_share);
    return bristle(F, step.strength, k, increment, delta);
  }

  void predict_bristle(double F, double omega, double widening, double dt, FrictionStep& step) const noexcept {
    const double x = std::fabs(omega) * dt > 1e-15 ? omega * dt : 1e-15;
    const double secant = (moved(F, step, x, widening) - F) / x;
    step.torque = F;
    step.stiffness = secant > 0 ? secant : 0.0;
    if (family_ != FrictionFamily::lugre || !(p_.micro_damping > 0) || !(step.strength > 0)) return;
    const double open = 1.0 - (omega < 0 ? -F : F) / step.strength;  // dz/dt over omega
    step.viscous += stribeck(omega, p_.micro_damping) * (open > 0 ? open : 0.0);
  }

  void predict_elements(const FrictionState& state, double omega, double widening, double dt,
                        FrictionStep& step) const noexcept {
    const double direction = omega > 0 ? 1.0 : -1.0, increment = omega * dt;
    for (int i = 0; i < friction_elements; ++i) {
      const double limit = p_.share[i] * step.strength, F = state.force[i];
      const double k = inverse_span_[i] * step.level / widening;
      const double trial = F + k * increment;
      if (state.slip[i] * omega > 0 && !(step.creep > 0)) {
        step.torque += 0.5 * (F + direction * limit + (F - direction * limit) * step.decay);
      } else if (std::fabs(trial) > limit) {
        step.torque += 0.5 * (F + (trial > 0 ? limit : -limit));
      } else {
        step.torque += F;
        step.stiffness += k;
      }
    }
  }

  FrictionParameters p_{};
  FrictionFamily family_ = FrictionFamily::maxwell;
  double viscosity_ = 0, excess_ = 0, beside_ = 0;
  std::array<double, friction_elements> inverse_span_{};
};

}  // namespace robot_dynamics::plant
