// The torque loop beside a client in another process: states arrive as packets on a socket, each is answered with the
// torque that may leave, in a thread of its own without the interpreter. For vendor clients that hold it.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "robot_dynamics/common/realtime.hpp"
#include "robot_dynamics/control/torque_loop.hpp"
#include "robot_dynamics/drivers/rtde_clock.hpp"
#include "robot_dynamics/drivers/stream_monitor.hpp"

namespace robot_dynamics {

// One state, native byte order, followed by q, qd and tau (n doubles each).
struct LinkState {
  std::int64_t controller_ns = 0;  // robot time
  std::int64_t receive_ns = 0;     // system clock of the host on arrival
  std::int64_t steady_ns = 0;      // steady clock of the host on arrival
  std::uint32_t flags = 0, n = 0;
  double payload_kg = 0;
};

// The answer, followed by torque (n doubles); run: torque mode must go on.
struct LinkTorque {
  std::int64_t controller_ns = 0;
  std::uint32_t run = 0, n = 0;
};

enum LinkFlag : std::uint32_t { link_stopped = 1, link_gap = 2, link_backwards = 4, link_effort = 8 };

class TorqueLink {
 public:
  static constexpr int idle_ms = 2;  // between two steps of the guard's clock while no state comes

  // socket: connected, packet-preserving, owned by the caller until stop(). Raises where the loop is missing.
  TorqueLink(std::shared_ptr<TorqueLoop> loop, int socket, bool follow_host_clock, int realtime_priority)
      : loop_(std::move(loop)), socket_(socket), clock_(follow_host_clock) {
    if (!loop_) throw std::invalid_argument("loop is missing");
    if (socket_ < 0) throw std::invalid_argument("socket = " + std::to_string(socket_) + " is no descriptor");
    require_range("realtime_priority", realtime_priority, 0, 99);
    thread_ = std::thread([this] { run(); });
    realtime_ = schedule_fifo(thread_.native_handle(), realtime_priority).done();
  }
  ~TorqueLink() { stop(); }

  // Ends the thread; torque that flows is latched off. May be repeated.
  void stop() {
    running_.store(false);
    if (thread_.joinable()) thread_.join();
  }

  bool realtime() const noexcept { return realtime_; }
  std::uint64_t unsent() const noexcept { return unsent_.load(); }
  std::uint64_t malformed() const noexcept { return malformed_.load(); }

 private:
  static constexpr std::size_t largest = sizeof(LinkState) + 3 * max_joints * sizeof(double);

  void run() noexcept {
    pollfd waiting{socket_, POLLIN, 0};
    while (running_.load(std::memory_order_relaxed)) {
      const int found = poll(&waiting, 1, idle_ms);
      if (found < 0 && errno != EINTR) break;
      if (found <= 0) {
        loop_->idle(clock_ns(CLOCK_MONOTONIC));
        loop_->publish();
      } else if (!receive()) {
        break;
      }
    }
    loop_->lost();
  }

  // False at the end of the connection.
  bool receive() noexcept {
    alignas(8) unsigned char data[largest];
    const ssize_t size = recv(socket_, data, sizeof data, MSG_DONTWAIT);
    if (size == 0) return false;
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    const int n = loop_->n();
    LinkState head;
    if (static_cast<std::size_t>(size) != sizeof head + 3 * n * sizeof(double)) {
      malformed_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    std::memcpy(&head, data, sizeof head);
    double values[3 * max_joints];
    std::memcpy(values, data + sizeof head, 3 * n * sizeof(double));
    if (!(std::fabs(1e-9 * static_cast<double>(head.controller_ns)) <= rtde::largest_time)) {
      malformed_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    if (head.flags & link_backwards) clock_.anchor();
    carried_ |= head.flags & (link_gap | link_backwards);
    if (!clock_.observe(head.controller_ns, head.receive_ns)) return true;  // the offset of the clocks is being found
    head.flags |= std::exchange(carried_, 0u);
    answer(head, values, n);
    return true;
  }

  void answer(const LinkState& head, const double* values, int n) noexcept {
    TorqueState s;
    s.stamp_ns = clock_.stamp(head.controller_ns);
    s.steady_ns = head.steady_ns;
    s.q = values;
    s.qd = values + n;
    s.tau = head.flags & link_effort ? values + 2 * n : nullptr;
    s.payload_kg = head.payload_kg;
    s.stopped = (head.flags & link_stopped) != 0;
    s.gap = (head.flags & link_gap) != 0;
    s.backwards = (head.flags & link_backwards) != 0 || clock_.reanchored();
    const TorqueRecord& record = loop_->cycle(s);
    unsigned char out[sizeof(LinkTorque) + max_joints * sizeof(double)];
    const LinkTorque reply{head.controller_ns, record.run ? 1u : 0u, static_cast<std::uint32_t>(n)};
    std::memcpy(out, &reply, sizeof reply);
    std::memcpy(out + sizeof reply, record.torque.data(), n * sizeof(double));
    const std::size_t size = sizeof reply + n * sizeof(double);
    if (send(socket_, out, size, MSG_DONTWAIT | MSG_NOSIGNAL) != static_cast<ssize_t>(size))
      unsent_.fetch_add(1, std::memory_order_relaxed);
    loop_->publish();
  }

  std::shared_ptr<TorqueLoop> loop_;
  int socket_;
  rtde::ClockMap clock_;
  std::uint32_t carried_ = 0;  // flags of the states the clock map listened to before its first stamp
  std::atomic<bool> running_{true};
  std::atomic<std::uint64_t> unsent_{0}, malformed_{0};
  bool realtime_ = false;
  std::thread thread_;
};

}  // namespace robot_dynamics
