// What the C++ tests share: failures that name the line, and a count of allocations.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

inline int failures = 0;
inline std::atomic<long> allocations{0};  // of all threads

inline void check(bool ok, const char* text, int line) {
  if (ok) return;
  std::printf("line %d: %s\n", line, text);
  ++failures;
}
#define CHECK(condition) check(condition, #condition, __LINE__)

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

// Allocations made by f().
template <class F>
long allocations_of(F&& f) {
  const long before = allocations;
  f();
  return allocations - before;
}
