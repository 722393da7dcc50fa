// Forward-mode derivative: the same equation evaluated with Dual yields its value and its slope.
#pragma once

#include <cmath>

namespace robot_dynamics {

struct Dual {
  double x = 0, d = 0;  // value, derivative
  Dual() = default;
  constexpr Dual(double value, double slope = 0) : x(value), d(slope) {}
};

inline Dual operator+(Dual a, Dual b) { return {a.x + b.x, a.d + b.d}; }
inline Dual operator-(Dual a, Dual b) { return {a.x - b.x, a.d - b.d}; }
inline Dual operator*(Dual a, Dual b) { return {a.x * b.x, a.d * b.x + a.x * b.d}; }
inline Dual operator/(Dual a, Dual b) { return {a.x / b.x, (a.d - a.x / b.x * b.d) / b.x}; }
inline Dual operator-(Dual a) { return {-a.x, -a.d}; }

inline double value(double a) { return a; }
inline double value(Dual a) { return a.x; }
inline double exp_(double a) { return std::exp(a); }
inline Dual exp_(Dual a) { return {std::exp(a.x), std::exp(a.x) * a.d}; }
inline double tanh_(double a) { return std::tanh(a); }
inline Dual tanh_(Dual a) {
  const double t = std::tanh(a.x);
  return {t, (1 - t * t) * a.d};
}
inline double sqrt_(double a) { return std::sqrt(a); }
inline Dual sqrt_(Dual a) { return {std::sqrt(a.x), a.x > 0 ? a.d / (2 * std::sqrt(a.x)) : 0.0}; }
inline double pow_(double a, double n) { return std::pow(a, n); }
inline Dual pow_(Dual a, double n) { return {std::pow(a.x, n), a.x > 0 ? n * std::pow(a.x, n - 1) * a.d : 0.0}; }

}  // namespace robot_dynamics
