// Writing results that are larger than the caches: whole lines past the caches, so that nothing is read to be
// overwritten. Small results are written the ordinary way and stay in the cache for their reader.
#pragma once

#include "robot_dynamics/rigid_body/kernel/vector.hpp"

namespace robot_dynamics::ROBOT_DYNAMICS_ISA {

constexpr std::size_t streamed_doubles = std::size_t(1) << 20;  // 8 MB: more than a core's own caches

// One aligned vector past the caches where the instruction set can.
RD_INLINE void store_past_cache(double* p, Vec v) {
#if ROBOT_DYNAMICS_LANES == 8
  _mm512_stream_pd(p, (__m512d)v);
#elif ROBOT_DYNAMICS_LANES == 4
  _mm256_stream_pd(p, (__m256d)v);
#elif defined(__SSE2__)
  _mm_stream_pd(p, (__m128d)v);
#else
  store(p, v);
#endif
}

// Orders streamed stores before whatever comes after.
RD_INLINE void end_of_stream() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

RD_INLINE std::size_t to_next_line(const double* p) {
  return (std::size_t(0) - reinterpret_cast<std::uintptr_t>(p) / sizeof(double)) % 8;
}

// f(index) gives the vector that starts at p[index]; `count` doubles are written.
template <class F>
RD_INLINE void write_streamed(double* p, std::size_t count, F&& f) {
  std::size_t k = 0;
  const std::size_t head = to_next_line(p) < count ? to_next_line(p) : count;
  for (; k + lanes <= head; k += lanes) store(p + k, f(k));
  if (k < head) store_first(p + k, f(k), int(head - k));
  for (k = head; k + 8 <= count; k += 8)  // whole lines
    for (int l = 0; l < 8; l += lanes) store_past_cache(p + k + l, f(k + l));
  for (; k < count; k += lanes) store_first(p + k, f(k), count - k < std::size_t(lanes) ? int(count - k) : lanes);
}

// `from` must be readable for one vector beyond `count`.
RD_INLINE void copy_streamed(double* to, const double* from, std::size_t count) {
  write_streamed(to, count, [from](std::size_t k) { return load(from + k); });
}
RD_INLINE void zero_streamed(double* to, std::size_t count) {
  write_streamed(to, count, [](std::size_t) { return Vec{}; });
}

}  // namespace robot_dynamics::ROBOT_DYNAMICS_ISA
