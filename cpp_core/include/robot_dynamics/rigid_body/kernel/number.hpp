// The arithmetic of the kernels, written out so that no compiler chooses it: a product that is added to or taken from
// something is rounded with it, once, where the instruction set fuses the two (AVX2 and AVX-512), and apart elsewhere.
// Of two products the left one is fused: a b + c d = fma(a, b, c d). Every result is then the same in every
// instantiation, and the same with AVX2 and AVX-512. Compile with -ffp-contract=off.
#pragma once

#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

template <class T>
struct Product;

// A double or a Vec whose products fuse.
template <class T>
struct Number {
  T v;

  Number() = default;
  RD_INLINE Number(double x) : v(x - T{}) {}  // in every lane
  static RD_INLINE Number of(T x) {
    Number y;
    y.v = x;
    return y;
  }
  template <class U>
  RD_INLINE Number& operator+=(const U& x) {
    return *this = *this + x;
  }

  friend RD_INLINE Product<T> operator*(Number a, Number b) { return {a, b}; }
  friend RD_INLINE Number operator+(Number a, Number b) { return of(a.v + b.v); }
  friend RD_INLINE Number operator-(Number a, Number b) { return of(a.v - b.v); }
  friend RD_INLINE Number operator-(Number a) { return of(-a.v); }
};

// A product that is not rounded yet.
template <class T>
struct Product {
  using N = Number<T>;
  N a, b;

  RD_INLINE operator N() const { return N::of(a.v * b.v); }

  friend RD_INLINE Product operator*(Product p, N c) { return {p, c}; }
  friend RD_INLINE N operator+(Product p, N c) { return N::of(fma(p.a.v, p.b.v, c.v)); }
  friend RD_INLINE N operator+(N c, Product p) { return p + c; }
  friend RD_INLINE N operator+(Product p, Product q) { return p + N(q); }
  friend RD_INLINE N operator-(Product p, N c) { return N::of(fms(p.a.v, p.b.v, c.v)); }
  friend RD_INLINE N operator-(N c, Product p) { return N::of(fnma(p.a.v, p.b.v, c.v)); }
  friend RD_INLINE N operator-(Product p, Product q) { return p - N(q); }
  friend RD_INLINE N operator-(Product p) { return -N(p); }
};

using Real = Number<double>;
using Wide = Number<Vec>;

// The numbers in memory, and back.
template <class T>
RD_INLINE T* raw(Number<T>* x) {
  return reinterpret_cast<T*>(x);
}
RD_INLINE const Real* real(const double* x) { return reinterpret_cast<const Real*>(x); }
RD_INLINE Real* real(double* x) { return reinterpret_cast<Real*>(x); }

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
