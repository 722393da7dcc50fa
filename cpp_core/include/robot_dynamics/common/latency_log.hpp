// The last latencies of a cycle, written by one thread and read by another, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace robot_dynamics {

class LatencyLog {
 public:
  static constexpr std::size_t capacity = 8192;

  void add(std::int64_t arrival_ns, std::int64_t thread_ns) noexcept {
    const std::size_t k = count_.load(std::memory_order_relaxed);
    rows_[k % capacity][0].store(arrival_ns, std::memory_order_relaxed);
    rows_[k % capacity][1].store(thread_ns, std::memory_order_relaxed);
    count_.store(k + 1, std::memory_order_release);
  }

  std::size_t size() const noexcept {
    const std::size_t n = count_.load(std::memory_order_acquire);
    return n < capacity ? n : capacity;
  }
  // Row k, not in order of time once the log is full; ns since the arrival on this machine, ns since it was read.
  std::int64_t at(std::size_t k, int which) const noexcept { return rows_[k][which].load(std::memory_order_relaxed); }

 private:
  std::array<std::array<std::atomic<std::int64_t>, 2>, capacity> rows_{};
  std::atomic<std::size_t> count_{0};
};

}  // namespace robot_dynamics
