// The vector type of one instruction set, and moving rows of samples into lanes and back.
// Everything below kernel/ lives in a namespace named after the instruction set it is compiled for, so that the
// linker can never pick an AVX-512 copy of a template for a machine that has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#ifndef ROBOT_DYNAMICS_ISA  // included from an ordinary header: two lanes exist on every 64-bit machine
#define ROBOT_DYNAMICS_ISA portable
#define ROBOT_DYNAMICS_LANES 2
#endif
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define RD_INLINE inline __attribute__((always_inline))
#define RD_FLAT __attribute__((always_inline))  // of a lambda
#if defined(__clang__)
#define RD_UNROLL  // unrolls constant counts by itself
#else
#define RD_UNROLL _Pragma("GCC unroll 16")
#endif

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

constexpr int lanes = ROBOT_DYNAMICS_LANES;
typedef double Vec __attribute__((vector_size(8 * ROBOT_DYNAMICS_LANES)));
typedef Vec StoredVec __attribute__((may_alias));  // the memory belongs to arrays of doubles
typedef std::int64_t Ints __attribute__((vector_size(8 * ROBOT_DYNAMICS_LANES)));

// The same value in every lane (x - 0 is x for every x, so this is a broadcast and no arithmetic).
template <class T>
RD_INLINE T fill(double x) {
  return x - T{};
}

// a b + c, a b - c and c - a b, rounded once by AVX2 and AVX-512 and twice elsewhere: what the compiler may not
// contract is the same wherever it is inlined.
#if ROBOT_DYNAMICS_LANES == 8
RD_INLINE Vec fma(Vec a, Vec b, Vec c) { return (Vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
RD_INLINE Vec fms(Vec a, Vec b, Vec c) { return (Vec)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)c); }
RD_INLINE Vec fnma(Vec a, Vec b, Vec c) { return (Vec)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#elif ROBOT_DYNAMICS_LANES == 4
RD_INLINE Vec fma(Vec a, Vec b, Vec c) { return (Vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
RD_INLINE Vec fms(Vec a, Vec b, Vec c) { return (Vec)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)c); }
RD_INLINE Vec fnma(Vec a, Vec b, Vec c) { return (Vec)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#else
RD_INLINE Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
RD_INLINE Vec fms(Vec a, Vec b, Vec c) { return a * b - c; }
RD_INLINE Vec fnma(Vec a, Vec b, Vec c) { return c - a * b; }
#endif
RD_INLINE double fma(double a, double b, double c) {
#if ROBOT_DYNAMICS_LANES > 2
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
RD_INLINE double fms(double a, double b, double c) { return fma(a, b, -c); }
RD_INLINE double fnma(double a, double b, double c) { return fma(-a, b, c); }

// mask ? a : b, lane by lane; a mask lane is all ones or all zeros.
RD_INLINE Vec select(Ints mask, Vec a, Vec b) { return (Vec)((mask & (Ints)a) | (~mask & (Ints)b)); }

// index odd ? a : b, lane by lane
RD_INLINE Vec select_odd(Ints index, Vec a, Vec b) {
#if ROBOT_DYNAMICS_LANES == 8
  return (Vec)_mm512_mask_blend_pd(_mm512_test_epi64_mask((__m512i)index, _mm512_set1_epi64(1)), (__m512d)b,
                                   (__m512d)a);
#elif ROBOT_DYNAMICS_LANES == 4  // by the sign bit
  return (Vec)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)(index << 63));
#else
  return select(-(index & 1), a, b);
#endif
}

// The smaller and the larger of two, lane by lane; for numbers.
RD_INLINE Vec least(Vec a, Vec b) {
#if ROBOT_DYNAMICS_LANES == 2 && defined(__SSE2__)
  return (Vec)_mm_min_pd((__m128d)a, (__m128d)b);
#else
  return select((Ints)(b < a), b, a);
#endif
}
RD_INLINE Vec greatest(Vec a, Vec b) {
#if ROBOT_DYNAMICS_LANES == 2 && defined(__SSE2__)
  return (Vec)_mm_max_pd((__m128d)a, (__m128d)b);
#else
  return select((Ints)(a < b), b, a);
#endif
}
RD_INLINE Vec square_root(Vec a) {
#if ROBOT_DYNAMICS_LANES == 2 && defined(__SSE2__)
  return (Vec)_mm_sqrt_pd((__m128d)a);
#else
  for (int l = 0; l < lanes; ++l) a[l] = __builtin_sqrt(a[l]);
  return a;
#endif
}

RD_INLINE bool any(Ints mask) {
#if ROBOT_DYNAMICS_LANES == 8
  return _mm512_movepi64_mask((__m512i)mask) != 0;
#elif ROBOT_DYNAMICS_LANES == 4
  return _mm256_movemask_pd((__m256d)mask) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_pd((__m128d)mask) != 0;
#else
  return (mask[0] | mask[1]) != 0;
#endif
}

// Sum of all lanes of `count` vectors (a power of two), in an order that depends on how many numbers there are, not on
// the lanes: the second half is added to the first until one is left.
template <int count>
RD_INLINE double sum(Vec* v) {
  for (int h = count / 2; h > 0; h /= 2)
    for (int i = 0; i < h; ++i) v[i] += v[i + h];
  double x[lanes];
  std::memcpy(x, v, sizeof x);
  for (int h = lanes / 2; h > 0; h /= 2)
    for (int l = 0; l < h; ++l) x[l] += x[l + h];
  return x[0];
}
RD_INLINE double sum(Vec v) { return sum<1>(&v); }

RD_INLINE Vec load(const double* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
RD_INLINE void store(double* p, Vec v) { std::memcpy(p, &v, sizeof v); }

// The first `count` <= lanes doubles of p; the other lanes are zero and their memory is not touched.
RD_INLINE Vec load_first(const double* p, int count) {
  if (count == lanes) return load(p);
#if ROBOT_DYNAMICS_LANES == 8
  return (Vec)_mm512_maskz_loadu_pd((__mmask8)((1u << count) - 1), p);
#else
  Vec v{};
  for (int l = 0; l < lanes; ++l)
    if (l < count) v[l] = p[l];
  return v;
#endif
}
RD_INLINE void store_first(double* p, Vec v, int count) {
  if (count == lanes) return store(p, v);
#if ROBOT_DYNAMICS_LANES == 8
  _mm512_mask_storeu_pd(p, (__mmask8)((1u << count) - 1), (__m512d)v);
#else
  for (int l = 0; l < lanes; ++l)
    if (l < count) p[l] = v[l];
#endif
}

// Lane k of the result is lane index[k] of a followed by b.
template <int... index>
RD_INLINE Vec shuffle(Vec a, Vec b) {
#if defined(__clang__) || __GNUC__ >= 12
  return __builtin_shufflevector(a, b, index...);
#else
  return __builtin_shuffle(a, b, Ints{index...});
#endif
}

// One stage of the butterfly transpose: rows a and b, h apart, exchange their off-diagonal blocks of width h.
template <int h, std::size_t... k>
RD_INLINE void exchange(Vec& a, Vec& b, std::index_sequence<k...>) {
  const Vec upper = shuffle<(int(k) & h ? lanes + int(k) - h : int(k))...>(a, b);
  b = shuffle<(int(k) & h ? lanes + int(k) : int(k) + h)...>(a, b);
  a = upper;
}
template <int h, int count = lanes>
RD_INLINE void transpose_from(Vec* v) {
  for (int i = 0; i < count; ++i)
    if (!(i & h)) exchange<h>(v[i], v[i + h], std::make_index_sequence<lanes>());
  if constexpr (h > 1) transpose_from<h / 2, count>(v);
}
// lanes x lanes, in registers
RD_INLINE void transpose(Vec* v) { transpose_from<lanes / 2>(v); }

// A compile-time constant as an argument.
template <int value>
struct Size {
  static constexpr int n = value;
};

constexpr int padded(int n) { return (n + lanes - 1) / lanes * lanes; }

constexpr int half = lanes / 2;

// Values p[0..half) in the lower lanes, q[0..half) in the upper ones: what is placed by the load needs no shuffle.
RD_INLINE Vec load_halves(const double* p, const double* q) {
#if ROBOT_DYNAMICS_LANES == 8
  return (Vec)_mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(_mm256_loadu_pd(p)), _mm256_loadu_pd(q), 1);
#elif ROBOT_DYNAMICS_LANES == 4
  return (Vec)_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_loadu_pd(q), 1);
#else
  return Vec{*p, *q};
#endif
}
RD_INLINE void store_halves(double* p, double* q, Vec v) {
  std::memcpy(p, &v, half * sizeof(double));
#if ROBOT_DYNAMICS_LANES == 8
  _mm256_storeu_pd(q, _mm512_maskz_extractf64x4_pd(0xf, (__m512d)v, 1));
#elif ROBOT_DYNAMICS_LANES == 4
  _mm_storeu_pd(q, _mm256_extractf128_pd((__m256d)v, 1));
#else
  *q = v[1];
#endif
}
// half x half in both halves of `half` vectors
RD_INLINE void transpose_halves(Vec* v) {
  if constexpr (half > 1) transpose_from<half / 2, half>(v);
}

// `rows` <= lanes samples of n values (row-major, `stride` apart) -> lane l of out[i] is value i of sample l.
// Missing samples repeat the last one, so that their lanes compute something harmless. `out` holds padded(n).
RD_INLINE void load_tiles(const double* p, std::size_t stride, int n, int rows, Vec* out) {
  for (int first = 0; first < n; first += lanes) {
    const int count = n - first < lanes ? n - first : lanes;
    for (int l = 0; l < lanes; ++l) out[first + l] = load_first(p + (l < rows ? l : rows - 1) * stride + first, count);
    transpose(out + first);
  }
}
RD_INLINE void load_columns(const double* p, std::size_t stride, int n, int rows, Vec* out) {
  if (rows < lanes || n < half) return load_tiles(p, stride, n, rows, out);
  for (int first = 0; first < n; first += half) {
    const int at = n - first < half ? n - half : first;  // the last columns overlap those before
    Vec v[half];
    for (int l = 0; l < half; ++l) v[l] = load_halves(p + l * stride + at, p + (l + half) * stride + at);
    transpose_halves(v);
    for (int l = 0; l < half; ++l) out[at + l] = v[l];
  }
}

// The reverse, for the first `rows` samples; `columns` holds padded(n) vectors, which are consumed.
RD_INLINE void store_tile(Vec* columns, int count, int rows, double* p, std::size_t stride) {
  transpose(columns);
  for (int l = 0; l < lanes; ++l)
    if (l < rows) store_first(p + l * stride, columns[l], count);
}
RD_INLINE void store_rows(Vec* columns, int n, int rows, double* p, std::size_t stride) {
  int first = 0;
  for (; first + lanes <= n; first += lanes) store_tile(columns + first, lanes, rows, p + first, stride);
  if (rows < lanes || n - first < half) {
    if (first < n) store_tile(columns + first, n - first, rows, p + first, stride);
    return;
  }
  for (; first < n; first += half) {
    const int at = n - first < half ? n - half : first;
    Vec v[half];
    for (int l = 0; l < half; ++l) v[l] = columns[at + l];
    transpose_halves(v);
    for (int l = 0; l < half; ++l) store_halves(p + l * stride + at, p + (l + half) * stride + at, v[l]);
  }
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
