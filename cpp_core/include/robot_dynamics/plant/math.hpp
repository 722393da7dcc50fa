// Elementary functions and random numbers of the plant, in plain IEEE arithmetic: the same bits with any libm.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "robot_dynamics/rigid_body/chain.hpp"

namespace robot_dynamics::plant {

using PerJoint = std::array<double, max_joints>;

inline void require(bool ok, const char* name, int joint, double value, const char* bound) {
  if (!ok)
    throw std::invalid_argument(std::string(name) + (joint >= 0 ? "[" + std::to_string(joint) + "]" : "") + " = " +
                                std::to_string(value) + " is outside " + bound);
}
inline void finite(double v, const char* name, int j) {
  require(std::fabs(v) <= 1e12, name, j, v, "the finite numbers");
}
inline void positive(double v, const char* name, int j) { require(v > 0 && v <= 1e12, name, j, v, "(0, 1e12]"); }
inline void non_negative(double v, const char* name, int j) { require(v >= 0 && v <= 1e12, name, j, v, "[0, 1e12]"); }
struct Within {  // a bound as the three above, of low..high
  double low, high;
  const char* text;
  void operator()(double v, const char* name, int j) const { require(v >= low && v <= high, name, j, v, text); }
};

// Throws std::invalid_argument naming parameter, joint, value and bound of the first number that its bound refuses.
// `visit` of a block of parameters, const or not, calls f(number or row of numbers, name, bound) for each of them.
template <class Block>
void validate(const Block& block, int j) {
  Block::visit(block, [j](const auto& value, const char* name, const auto& bound) {
    if constexpr (std::is_same_v<decltype(value), const double&>)
      bound(value, name, j);
    else
      for (double x : value) bound(x, name, j);
  });
}

// e^x by 2^k e^r, |r| <= ln2/2, Taylor to r^13 (error below 2 ulp); clamped to |x| <= 700.
inline double exponential(double x) noexcept {
  x = x > 700.0 ? 700.0 : (x < -700.0 ? -700.0 : x);
  constexpr double shifter = 6755399441055744.0;  // 1.5 * 2^52: rounds to the nearest integer
  const double k = (x * 1.4426950408889634 + shifter) - shifter;
  const double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
  constexpr double c[] = {1.0 / 6227020800.0,
                          1.0 / 479001600.0,
                          1.0 / 39916800.0,
                          1.0 / 3628800.0,
                          1.0 / 362880.0,
                          1.0 / 40320.0,
                          1.0 / 5040.0,
                          1.0 / 720.0,
                          1.0 / 120.0,
                          1.0 / 24.0,
                          1.0 / 6.0,
                          0.5,
                          1.0,
                          1.0};
  double y = c[0];
  for (int i = 1; i < 14; ++i) y = y * r + c[i];
  const std::int64_t bits = (static_cast<std::int64_t>(k) + 1023) << 52;
  double scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return y * scale;
}

// ln x for normal x > 0: x = 2^k m, m within sqrt(1/2)..sqrt(2), ln m = 2 artanh((m - 1)/(m + 1)) to t^21.
inline double logarithm(double x) noexcept {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  std::int64_t k = ((bits >> 52) & 0x7FF) - 1023;
  bits = (bits & 0xFFFFFFFFFFFFFll) | (1023ll << 52);
  double m;
  std::memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) m *= 0.5, ++k;
  const double t = (m - 1.0) / (m + 1.0), t2 = t * t;
  double sum = 0.0;
  for (int i = 21; i >= 1; i -= 2) sum = sum * t2 + 1.0 / i;
  return 2.0 * t * sum + static_cast<double>(k) * 0.69314718055994530942;
}

// x^y for x > 0.
inline double power(double x, double y) noexcept { return exponential(y * logarithm(x)); }

// sin and cos together: reduction by pi/2 in three parts (|x| < 1e5), then the fdlibm kernels.
inline void sine_cosine(double x, double& s, double& c) noexcept {
  constexpr double shifter = 6755399441055744.0;
  const double k = (x * 0.63661977236758134308 + shifter) - shifter;
  const double r =
      ((x - k * 1.57079632673412561417e+00) - k * 6.07710050630396597660e-11) - k * 2.02226624879595063154e-21;
  const double z = r * r;
  const double sn = r + r * z *
                            (-1.66666666666666324348e-01 +
                             z * (8.33333333332248946124e-03 +
                                  z * (-1.98412698298579493134e-04 +
                                       z * (2.75573137070700676789e-06 +
                                            z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const double cs = 1.0 - 0.5 * z +
                    z * z *
                        (4.16666666666666019037e-02 +
                         z * (-1.38888888888741095749e-03 +
                              z * (2.48015872894767294178e-05 +
                                   z * (-2.75573143513906633035e-07 +
                                        z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
  const int quadrant = static_cast<int>(static_cast<std::int64_t>(k) & 3);
  const double a = quadrant & 1 ? cs : sn, b = quadrant & 1 ? sn : cs;
  s = quadrant & 2 ? -a : a;
  c = (quadrant + 1) & 2 ? -b : b;
}

// xoshiro256** seeded by splitmix64; normal deviates are sums of twelve 16-bit uniforms (bounded at six sigma).
class Random {
 public:
  explicit Random(std::uint64_t seed = 0) noexcept {
    for (auto& word : state_) {
      seed += 0x9E3779B97F4A7C15ull;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
      z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
      word = z ^ (z >> 31);
    }
  }
  std::uint64_t bits() noexcept {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9, t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  double uniform() noexcept { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  double normal() noexcept {
    std::int64_t sum = 0;
    for (int word = 0; word < 3; ++word) {
      const std::uint64_t b = bits();
      for (int k = 0; k < 4; ++k) sum += static_cast<std::int64_t>((b >> (16 * k)) & 0xFFFF);
    }
    return (static_cast<double>(sum) + 6.0) / 65536.0 - 6.0;
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace robot_dynamics::plant
