// Lock-free ring for one producer and one consumer: fixed-size records, preallocated, nothing is ever overwritten.
#pragma once

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace robot_dynamics {

template <typename T>
class SpscRing {
 public:
  // capacity: number of records that the ring holds, a power of two; push() refuses when it is full.
  explicit SpscRing(std::size_t capacity) : records_(capacity), mask_(capacity - 1) {
    if (capacity < 2 || (capacity & mask_) != 0) throw std::invalid_argument("capacity must be a power of two >= 2");
  }

  // Producer. False when full: the record is not stored and the caller counts it.
  bool push(const T& record) noexcept {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head - tail_.load(std::memory_order_acquire) > mask_) return false;
    records_[head & mask_] = record;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  // Consumer. The oldest record, or null when empty; it stays valid until drop().
  const T* front() const noexcept {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    return tail == head_.load(std::memory_order_acquire) ? nullptr : &records_[tail & mask_];
  }

  // Consumer. Frees the record front() returned.
  void drop() noexcept { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  std::size_t size() const noexcept {
    return head_.load(std::memory_order_acquire) - tail_.load(std::memory_order_acquire);
  }
  std::size_t capacity() const noexcept { return mask_ + 1; }

 private:
  std::vector<T> records_;
  std::size_t mask_;
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace robot_dynamics
