// Static friction laws: torque opposing motion [Nm] as a function of velocity v [rad/s], joint torque without friction
// tau [Nm] and temperature T [deg C]. Parameters are laid out as [law's own ..., offset, eps, alpha, beta, gamma,
// delta]:
//   f = odd(v) + offset,  odd = base (alpha (T - T0) + beta) + stribeck (gamma (T - T0) + delta)   [Simoni2017 6]
//   |v| < eps: odd(v) = odd(+-eps) |v| / eps                                                        [Simoni2017 11]
// Each law gives `base` and `stribeck` for sliding (v != 0, s = sgn v, a = |v|).
#pragma once

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace robot_dynamics {

struct FrictionParts {
  double base, stribeck;
};

constexpr int friction_tail = 6;  // offset, eps, alpha, beta, gamma, delta

// fc sgn v + fv v [Liu2020 2]
struct ViscousCoulomb {
  static constexpr int size = 2;
  static std::vector<std::string> names() { return {"fc", "fv", "fo", "eps"}; }
  static FrictionParts sliding(const double* p, double v, double s, double, double, double) {
    return {p[0] * s + p[1] * v, 0.0};
  }
  static double coulomb(const double* p, double) { return p[0]; }
};

// fc1|fc2 by direction + fv1 v + fv2 |v| v + fv3 v^3 [Liu2020 3-4], where v^2 is printed
struct Liu {
  static constexpr int size = 5;
  static std::vector<std::string> names() { return {"fc1", "fc2", "fv1", "fv2", "fv3", "fo", "eps"}; }
  static FrictionParts sliding(const double* p, double v, double s, double, double, double) {
    return {coulomb(p, s) * s + p[2] * v + p[3] * s * v * v + p[4] * v * v * v, 0.0};
  }
  static double coulomb(const double* p, double s) { return s < 0 ? p[1] : p[0]; }
};

// fv1 v + fv2 |v| v + fv3 v^3 + fc sgn v + fb [Luo2024 11]
struct Luo {
  static constexpr int size = 4;
  static std::vector<std::string> names() { return {"fv1", "fv2", "fv3", "fc", "fb", "eps"}; }
  static FrictionParts sliding(const double* p, double v, double s, double, double, double) {
    return {p[0] * v + p[1] * s * v * v + p[2] * v * v * v + p[3] * s, 0.0};
  }
  static double coulomb(const double* p, double) { return p[3]; }
};

// [Luo2024 8]: + fc sgn v (1 - exp(-(v/fc1)^2)) + fs sgn v exp(-(v/fs1)^2) + (ft |tau| + ft1 exp(-ft2 |tau|/|v|)) sgn
// v; the exponent uses |v| (the printed v is a typo), not below velocity_floor.
struct LuoLoad {
  static constexpr int size = 11;
  static std::vector<std::string> names() {
    return {"fv1", "fv2", "fv3", "fc", "fc1", "fs", "fs1", "ft", "ft1", "ft2", "velocity_floor", "fb", "eps"};
  }
  static FrictionParts sliding(const double* p, double v, double s, double tau, double, double) {
    const double xc = v / p[4], xs = v / p[6], a = s * v;
    const double floored = a > p[10] ? a : p[10];
    const double load = p[7] * std::abs(tau) + p[8] * std::exp(-p[9] * std::abs(tau) / floored);
    const double rise = p[3] * (1.0 - std::exp(-(xc * xc)));
    return {p[0] * v + p[1] * s * v * v + p[2] * v * v * v + s * (rise + load), p[5] * s * std::exp(-(xs * xs))};
  }
  static double coulomb(const double* p, double) { return p[3]; }
};

// kv v + tanh(v/eps) Tc, Tc = Tc_dir for v tau > 0 and Tc_rev for v tau < 0 [Clochiatti2024 11-14], blended linearly
// over |v tau| < band [W]
struct Clochiatti {
  static constexpr int size = 4;
  static std::vector<std::string> names() { return {"kv", "tc_dir", "tc_rev", "band", "fo", "eps"}; }
  static FrictionParts smooth(const double* p, double v, double tau, double eps) {
    const double power = v * tau;
    double share = (power + p[3]) / (2 * p[3]);
    if (power >= p[3]) share = 1.0;
    if (power <= -p[3]) share = 0.0;
    const double step = eps > 0 ? std::tanh(v / eps) : (v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0);
    return {p[0] * v + step * (p[2] + (p[1] - p[2]) * share), 0.0};
  }
  static double coulomb(const double* p, double) { return 0.5 * (p[1] + p[2]); }
};

// (c0 + c1 |v| + c2 |v|^2 + c3 |v|^3) sgn v and c4 exp(-h |v|) sgn v [Simoni2017 1-3]
struct Simoni {
  static constexpr int size = 6;
  static std::vector<std::string> names() { return {"c0", "c1", "c2", "c3", "c4", "h", "fo", "v_th"}; }
  static FrictionParts sliding(const double* p, double v, double s, double, double, double) {
    const double a = s * v;
    return {s * (p[0] + a * (p[1] + a * (p[2] + a * p[3]))), s * p[4] * std::exp(-p[5] * a)};
  }
  // A fit may put the dry friction into either constant: hysteresis models replace their sum, friction at v -> 0.
  static double coulomb(const double* p, double) { return p[0]; }
  static double stribeck(const double* p) { return p[4]; }
};

// [Madsen2020 ch4 25, 27, 28; ch6 11]: sgn v (Fc + (Fs - Fc) exp(-(|v|/Vs)^mu)) + Fv1 v + Fv2 |v| v + Fv3 v^3
//   + Fl sgn v tau^2 + sgn v sqrt|v| (FT2 (T - T0) + FT3 (T^-3 - T0^-3)): ch4 28 re-centred to vanish at T0.
struct Madsen {
  static constexpr int size = 10;
  static std::vector<std::string> names() {
    return {"fc", "fs", "vs", "mu", "fv1", "fv2", "fv3", "fl", "ft2", "ft3", "fo", "eps"};
  }
  static FrictionParts sliding(const double* p, double v, double s, double tau, double T, double T0) {
    const double a = s * v;
    const double heat = p[8] * (T - T0) + p[9] * (1 / (T * T * T) - 1 / (T0 * T0 * T0));
    const double base = s * (p[0] + p[7] * tau * tau + std::sqrt(a) * heat) + v * (p[4] + a * p[5] + a * a * p[6]);
    return {base, s * (p[1] - p[0]) * std::exp(-std::pow(a / p[2], p[3]))};
  }
  static double coulomb(const double* p, double) { return p[0]; }
};

enum class FrictionLaw : int { viscous_coulomb, liu, luo, luo_load, clochiatti, simoni, madsen };
inline constexpr std::array friction_law_names = {"viscous_coulomb", "liu",    "luo",   "luo_load",
                                                  "clochiatti",      "simoni", "madsen"};

inline FrictionLaw friction_law(const std::string& name) {
  std::string known;
  for (std::size_t k = 0; k < friction_law_names.size(); ++k) {
    if (name == friction_law_names[k]) return static_cast<FrictionLaw>(k);
    known += std::string(k ? ", " : "") + friction_law_names[k];
  }
  throw std::invalid_argument("friction law '" + name + "' is not one of " + known);
}

// Calls f with the law's type as argument, e.g. visit_law(law, [](auto l) { return decltype(l)::size; }).
template <class F>
auto visit_law(FrictionLaw law, F&& f) {
  switch (law) {
    case FrictionLaw::liu:
      return f(Liu{});
    case FrictionLaw::luo:
      return f(Luo{});
    case FrictionLaw::luo_load:
      return f(LuoLoad{});
    case FrictionLaw::clochiatti:
      return f(Clochiatti{});
    case FrictionLaw::simoni:
      return f(Simoni{});
    case FrictionLaw::madsen:
      return f(Madsen{});
    default:
      return f(ViscousCoulomb{});
  }
}

// Temperature factors of base and Stribeck parts [Simoni2017 4-5]; tail as laid out above.
struct HeatFactors {
  double base, stribeck;
  HeatFactors(const double* tail, double dT) : base(tail[2] * dT + tail[3]), stribeck(tail[4] * dT + tail[5]) {}
};

// Torque of one joint; p holds Law::size + friction_tail numbers.
template <class Law>
double friction_value(const double* p, double v, double tau, double T, double T0) {
  const double* tail = p + Law::size;
  const double eps = tail[1];
  const HeatFactors heat(tail, T - T0);
  const auto joined = [&](FrictionParts f) { return f.base * heat.base + f.stribeck * heat.stribeck; };
  if constexpr (std::is_same_v<Law, Clochiatti>) {
    return joined(Law::smooth(p, v, tau, eps)) + tail[0];
  } else {
    if (v == 0 && !(eps > 0)) return tail[0];
    const double s = v < 0 ? -1 : 1;
    if (!(std::abs(v) < eps)) return joined(Law::sliding(p, v, s, tau, T, T0)) + tail[0];
    return joined(Law::sliding(p, s * eps, s, tau, T, T0)) * (s * v / eps) + tail[0];  // [Simoni2017 11]
  }
}

}  // namespace robot_dynamics
