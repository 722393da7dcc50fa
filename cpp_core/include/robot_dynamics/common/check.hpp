// Checks for constructors: NaN fails every check; the message names argument, value and bound.
#pragma once

#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>

namespace robot_dynamics {

inline std::string element(const char* name, int i) { return name + ("[" + std::to_string(i) + "]"); }

inline void require(bool good, const std::string& name, double value, const char* bound) {
  if (!good) throw std::invalid_argument(name + " = " + std::to_string(value) + " must be " + bound);
}
inline void require_positive(const char* name, double value) {
  require(value > 0 && std::isfinite(value), name, value, "finite and > 0");
}
inline void require_positive(const char* name, const double* values, int n) {
  for (int i = 0; i < n; ++i)
    require(values[i] > 0 && std::isfinite(values[i]), element(name, i), values[i], "finite and > 0");
}
inline void require_not_negative(const char* name, const double* values, int n) {
  for (int i = 0; i < n; ++i)
    require(values[i] >= 0 && std::isfinite(values[i]), element(name, i), values[i], "finite and >= 0");
}
// Of a joint's friction or heat, as files hold them.
inline void require_of_joint(bool good, int joint, const std::string& name, double value, const char* bound) {
  if (!good)
    throw std::invalid_argument("joint " + std::to_string(joint + 1) + ": " + name + " = " + std::to_string(value) +
                                " is not " + bound);
}

inline void require_range(const std::string& name, double value, double low, double high) {
  if (low <= value && value <= high) return;
  std::ostringstream text;
  text << name << " = " << value << " is outside " << low << ".." << high;
  throw std::invalid_argument(text.str());
}

inline void require_each(const char* name, const double* values, int n, double low, double high) {
  for (int i = 0; i < n; ++i) require_range(element(name, i), values[i], low, high);
}

inline bool all_finite(const double* x, int n) noexcept {
  double sum = 0.0;
  for (int i = 0; i < n; ++i) sum += 0.0 * x[i];  // 0 for finite numbers, NaN otherwise
  return sum == 0.0;
}

// Absent signal: no array, or an array of NaN only.
inline bool absent(const double* x, int n) noexcept {
  if (!x) return true;
  for (int i = 0; i < n; ++i)
    if (!std::isnan(x[i])) return false;
  return true;
}

inline bool all_within(const double* x, int n, double bound) noexcept {
  bool within = true;
  for (int i = 0; i < n; ++i) within &= std::abs(x[i]) <= bound;
  return within;
}

}  // namespace robot_dynamics
