// Static friction of n joints by one law: bounds checked once, then torque, and the Coulomb level and the
// rest that a memory needs [Madsen2020 ch6 eq. 3].
#pragma once

#include <limits>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/friction/friction_static.hpp"

namespace robot_dynamics {

class FrictionMap {
 public:
  // p: (n, size) parameters; T0: (n) reference temperatures [deg C]; range: (n, 2) identified temperatures or null.
  FrictionMap(FrictionLaw law, int n, const double* p, const double* T0, const double* range = nullptr)
      : law_(law), n_(n), size_(parameter_count(law)), p_(p, p + n * size_), T0_(T0, T0 + n), range_(2 * n) {
    for (int i = 0; i < n; ++i) {
      range_[2 * i] = range ? range[2 * i] : -std::numeric_limits<double>::infinity();
      range_[2 * i + 1] = range ? range[2 * i + 1] : std::numeric_limits<double>::infinity();
      check_joint(i);
    }
  }

  // No friction of n joints: the law under models with memory that hold all of it.
  static FrictionMap none(int n) {
    const std::vector<double> zero(n * parameter_count(FrictionLaw::viscous_coulomb)), T0(n, 25.0);
    return FrictionMap(FrictionLaw::viscous_coulomb, n, zero.data(), T0.data());
  }

  static int parameter_count(FrictionLaw law) {
    return visit_law(law, [](auto l) { return decltype(l)::size; }) + friction_tail;
  }
  static std::vector<std::string> parameter_names(FrictionLaw law) {
    auto names = visit_law(law, [](auto l) { return decltype(l)::names(); });
    for (const char* tail : {"alpha", "beta", "gamma", "delta"}) names.emplace_back(tail);
    return names;
  }

  int joints() const { return n_; }
  FrictionLaw law() const { return law_; }

  // Temperature as used: absent -> reference, clamped to the identified range [deg C].
  double used_temperature(int i, double T) const noexcept {
    if (!std::isfinite(T)) return T0_[i];
    return std::min(std::max(T, std::max(range_[2 * i], lowest())), range_[2 * i + 1]);
  }

  // Torque [Nm] of joint i; a load that is not finite is none. NaN velocity gives NaN.
  double torque_at(int i, double v, double load, double T) const noexcept {
    const double t = used_temperature(i, T), tau = std::isfinite(load) ? load : 0.0;
    return visit_law(law_, [&](auto l) { return friction_value<decltype(l)>(joint(i), v, tau, t, T0_[i]); });
  }
  // Of all joints; load and T may be null (no load, reference temperature).
  void torque(const double* v, const double* load, const double* T, double* out) const noexcept {
    for (int i = 0; i < n_; ++i) out[i] = torque_at(i, v[i], load ? load[i] : 0.0, T ? T[i] : T0_[i]);
  }

  // No-load Coulomb level at T [Nm], positive; s selects the direction where the law has two.
  double coulomb(int i, double s, double T) const noexcept {
    const double dT = used_temperature(i, T) - T0_[i];
    return visit_law(law_, [&](auto l) { return coulomb_of<decltype(l)>(joint(i), s, dT); });
  }

  // Everything but the Coulomb level at no load: F_v(omega, T) [Madsen2020 ch6 eq. 3, 11].
  double viscous(int i, double v, double T) const noexcept {
    return torque_at(i, v, 0.0, T) - coulomb(i, v, T) * smooth_sign(v, joint(i)[size_ - friction_tail + 1]);
  }

  double offset(int i) const noexcept { return joint(i)[size_ - friction_tail]; }

  const double* joint(int i) const noexcept { return p_.data() + i * size_; }
  double reference(int i) const noexcept { return T0_[i]; }
  const std::vector<double>& parameters() const noexcept { return p_; }             // (n, size)
  const std::vector<double>& references() const noexcept { return T0_; }            // (n)
  const std::vector<double>& temperature_range() const noexcept { return range_; }  // (n, 2)

 private:
  template <class Law>
  static double coulomb_of(const double* p, double s, double dT) noexcept {
    const HeatFactors heat(p + Law::size, dT);
    const double base = heat.base * Law::coulomb(p, s);
    if constexpr (std::is_same_v<Law, Simoni>) return base + heat.stribeck * Simoni::stribeck(p);
    return base;
  }
  double lowest() const noexcept {  // T^-3 stays finite
    return law_ == FrictionLaw::madsen ? 1.0 : -std::numeric_limits<double>::infinity();
  }
  double smooth_sign(double v, double eps) const noexcept {
    if (law_ == FrictionLaw::clochiatti && eps > 0) return std::tanh(v / eps);
    if (std::abs(v) < eps) return v / eps;
    return v > 0 ? 1 : v < 0 ? -1 : 0;
  }

  void check_joint(int i) const {
    const auto names = parameter_names(law_);
    const auto check = [i](bool good, const std::string& name, double x, const char* bound) {
      require_of_joint(good, i, name, x, bound);
    };
    for (int k = 0; k < size_; ++k) check(std::isfinite(joint(i)[k]), names[k], joint(i)[k], "finite");
    for (const char* positive : {"vs", "mu", "fc1", "fs1", "velocity_floor", "band"})
      for (int k = 0; k < size_; ++k)
        if (names[k] == positive && law_ != FrictionLaw::liu) check(joint(i)[k] > 0, names[k], joint(i)[k], "> 0");
    const double eps = joint(i)[size_ - friction_tail + 1];
    check(eps >= 0, "eps", eps, ">= 0");
    const bool cubic = law_ == FrictionLaw::madsen;
    check(std::isfinite(T0_[i]) && (!cubic || T0_[i] >= 1), "reference_temperature", T0_[i], cubic ? ">= 1" : "finite");
    check(range_[2 * i] <= range_[2 * i + 1], "temperature_range lower", range_[2 * i], "<= upper");
    check(!cubic || range_[2 * i + 1] >= 1, "temperature_range upper", range_[2 * i + 1], ">= 1");
  }

  FrictionLaw law_;
  int n_, size_;
  std::vector<double> p_, T0_, range_;
};

}  // namespace robot_dynamics
