// RTDE state reader: every sample is received, checked, stamped and handed over through a lock-free ring. Whoever waits
// for samples receives them itself, so that a sample wakes one thread and not two; while nobody waits, and always with
// a torque loop or real-time scheduling, the reader's own thread receives, so that a consumer that is late by seconds
// loses nothing. A lost connection is taken up again with back-off, for as long as the reader runs.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "robot_dynamics/common/realtime.hpp"
#include "robot_dynamics/common/spsc_ring.hpp"
#include "robot_dynamics/drivers/rtde_answer.hpp"
#include "robot_dynamics/drivers/rtde_clock.hpp"
#include "robot_dynamics/drivers/stream_monitor.hpp"

namespace robot_dynamics::rtde {

struct ReaderOptions {
  SessionOptions session;
  MonitorLimits limits;
  std::size_t ring = 8192;        // samples, power of two: 16 s at 500 Hz
  double silence = 2.5;           // without data for this long the connection is given up [s]
  double backoff_min = 0.1;       // pause before reconnecting [s], doubled each time ...
  double backoff_max = 2.0;       // ... up to this
  bool follow_host_clock = true;  // false: stamps keep exactly the controller's time differences
  int realtime_priority = 0;      // SCHED_FIFO priority of the thread, 0 = none; ignored where not permitted
};

inline void validate(const ReaderOptions& o) {
  require_range("port", o.session.port, 1, 65535);
  require_range("timeout", o.session.timeout, 0.0, 3600.0);
  require_range("silence", o.silence, 0.0, 3600.0);
  require_range("realtime_priority", o.realtime_priority, 0, 99);
}

constexpr double idle_period = 0.002;    // s, longest time without a cycle of the torque loop
constexpr double receive_period = 0.02;  // s, longest wait for bytes
constexpr double absence = 0.004;        // s without a call of wait() until the thread receives
constexpr int backlog = 64;              // packages received before waiting threads are notified

class Reader {
  template <typename F>
  auto locked(F&& f) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return f();
  }

 public:
  explicit Reader(const ReaderOptions& options)
      : options_(options),
        session_(options.session),
        monitor_(options.limits),
        ring_(options.ring),
        answer_(session_, options.session.torque_inputs) {
    validate(options_);
  }
  ~Reader() { stop(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Before start(). With torque inputs negotiated its torque is sent in the same cycle; torque_constant (6) Nm/A.
  void set_loop(std::shared_ptr<TorqueLoop> loop, const std::array<double, 6>& torque_constant) {
    if (thread_.joinable()) throw std::logic_error("the torque loop is set before the reader starts");
    answer_.set_loop(std::move(loop), torque_constant);
  }

  // First connection in the caller's thread, so that its error reaches the caller; then the thread takes over.
  void start() {
    if (thread_.joinable()) return;
    while (ring_.front() != nullptr) ring_.drop();  // of an earlier run
    open();
    running_.store(true);
    thread_ = std::thread([this] { run(); });
    realtime_ = schedule_fifo(thread_.native_handle(), options_.realtime_priority);
  }

  void stop() {
    running_.store(false);
    wake();
    std::lock_guard<std::mutex> one_at_a_time(stopping_);
    if (thread_.joinable()) thread_.join();
    std::lock_guard<std::mutex> receiving(receiving_);
    close();
  }

  // Blocks until a sample waits or `timeout` [s] is over; true when one waits. One caller at a time.
  bool wait(double timeout) {
    timeout = timeout > 0.0 ? std::min(timeout, 1e6) : 0.0;  // NaN: none, infinity: days
    const std::int64_t end = clock_ns(CLOCK_MONOTONIC) + static_cast<std::int64_t>(1e9 * timeout);
    waiting_.store(true);
    for (double left = timeout; ring_.front() == nullptr && running_.load(); left = seconds_until(end)) {
      const std::uint64_t woken = woken_.load();
      if (!receive_here(std::clamp(left, 0.0, receive_period))) await(left, woken);
      if (left <= 0.0) break;
    }
    called_ns_.store(clock_ns(CLOCK_MONOTONIC));
    waiting_.store(false);
    return ring_.front() != nullptr;
  }

  const Sample* front() const noexcept { return ring_.front(); }
  void drop() noexcept { ring_.drop(); }
  std::size_t pending() const noexcept { return ring_.size(); }

  StreamState condition() const noexcept { return monitor_.condition(clock_ns(CLOCK_MONOTONIC)); }
  StreamState latched() noexcept { return monitor_.latched(clock_ns(CLOCK_MONOTONIC)); }
  double silence() const noexcept { return monitor_.silence(clock_ns(CLOCK_MONOTONIC)); }
  void rearm() noexcept { monitor_.rearm(); }

  const StreamMonitor& monitor() const noexcept { return monitor_; }
  bool connected() const noexcept { return connected_.load(); }
  const RealtimeResult& realtime() const noexcept { return realtime_; }
  const LatencyLog& answered() const noexcept { return answer_.latency(); }
  std::uint64_t overruns() const noexcept { return overruns_.load(); }
  std::uint64_t reconnects() const noexcept { return reconnects_.load(); }
  std::uint64_t unsent() const noexcept { return answer_.unsent(); }
  std::uint64_t malformed() const noexcept { return malformed_.load(); }
  Version version() const {
    return locked([this] { return version_; });
  }
  double rate() const {
    return locked([this] { return rate_; });
  }
  std::vector<std::string> available() const {
    return locked([this] { return available_; });
  }
  std::string last_error() const {
    return locked([this] { return last_error_; });
  }

 private:
  void open() {
    session_.open();
    clock_ = ClockMap(options_.follow_host_clock);
    monitor_.restart();
    std::lock_guard<std::mutex> lock(mutex_);
    version_ = session_.version();
    rate_ = session_.rate();
    available_ = session_.available();
    connected_.store(true);
    last_data_ns_.store(clock_ns(CLOCK_MONOTONIC));
    malformed_before_.store(malformed_.load());
    lost_.store(false);
  }

  void close() noexcept {
    if (answer_ && connected_.load()) answer_.lost();
    connected_.store(false);
    monitor_.set_connected(false);
    session_.close();
  }

  void run() noexcept {
    double pause = options_.backoff_min;
    while (running_.load()) {
      try {
        if (!connected_.load()) {
          std::lock_guard<std::mutex> receiving(receiving_);
          open();
          reconnects_.fetch_add(1);
        }
        cycle();
        pause = options_.backoff_min;
      } catch (const std::exception& error) {
        {
          std::lock_guard<std::mutex> receiving(receiving_);
          set_error(error.what());  // before the fault is seen
          close();
        }
        sleep(pause);
        pause = std::min(2.0 * pause, options_.backoff_max);
      }
    }
  }

  // The thread receives, or stands by while the caller of wait() does.
  void cycle() {
    if (lost_.load()) throw ConnectionError(locked([this] { return last_error_; }));
    if (called()) {
      sleep(absence);
    } else {
      std::lock_guard<std::mutex> receiving(receiving_);
      const std::size_t before = ring_.size();
      receive(answer_ ? idle_period : receive_period);
      if (answer_ && ring_.size() == before) answer_.idle();
    }
    if (ring_.front() != nullptr || called()) wake();
    check_silence();
  }

  bool called() const noexcept {
    const std::int64_t since = clock_ns(CLOCK_MONOTONIC) - called_ns_.load();
    return caller_may_receive() && (waiting_.load() || 1e-9 * static_cast<double>(since) < absence);
  }
  bool caller_may_receive() const noexcept {
    return !answer_ && options_.realtime_priority == 0 && connected_.load() && !lost_.load();
  }

  // In the thread that calls wait(); false when the reader's thread is receiving. Errors are left to that thread.
  bool receive_here(double timeout) {
    if (!caller_may_receive()) return false;
    std::unique_lock<std::mutex> receiving(receiving_, std::try_to_lock);
    if (!receiving.owns_lock() || !connected_.load()) return false;
    try {
      receive(timeout);
    } catch (const std::exception& error) {
      set_error(error.what());
      lost_.store(true);
    }
    return true;
  }

  // Until the reader's thread has a sample, or leaves the receiving to the caller.
  void await(double timeout, std::uint64_t woken) {
    std::unique_lock<std::mutex> lock(mutex_);
    condition_.wait_for(lock, std::chrono::duration<double>(timeout),
                        [&] { return ring_.front() != nullptr || !running_.load() || woken_.load() != woken; });
  }

  void receive(double timeout) {
    const auto on_data = [this](const std::uint8_t* data, std::size_t size) { take(data, size); };
    bool more = session_.receive(timeout, on_data);
    for (int k = 0; more && k < backlog; ++k) more = session_.receive(0.0, on_data);
  }

  void check_silence() const {
    const std::int64_t since = clock_ns(CLOCK_MONOTONIC) - last_data_ns_.load();
    if (1e-9 * static_cast<double>(since) <= options_.silence) return;
    const std::uint64_t bad = malformed_.load() - malformed_before_.load();
    const std::string what =
        bad == 0 ? "no data for " : std::to_string(bad) + " packages of another size and no data for ";
    throw ConnectionError(session_.where() + ": " + what + Socket::seconds(options_.silence));
  }

  void take(const std::uint8_t* data, std::size_t size) noexcept {
    std::uint32_t damaged = 0;
    if (!session_.unpack(data, size, scratch_, damaged)) return void(malformed_.fetch_add(1));
    monitor_.count_damaged(damaged);
    const std::int64_t steady_ns = clock_ns(CLOCK_MONOTONIC);
    last_data_ns_.store(steady_ns);
    malformed_before_.store(malformed_.load());
    if (!monitor_.accept(scratch_, steady_ns)) return;
    if (failed_) set_error("");  // delivered again
    const std::int64_t arrival_ns = session_.arrival_ns();
    scratch_.receive_ns = arrival_ns != 0 ? arrival_ns : clock_ns(CLOCK_REALTIME);
    const auto t_c = static_cast<std::int64_t>(std::llround(1e9 * scratch_.values[at_timestamp]));
    if (scratch_.flags & clock_backwards) clock_.anchor();
    scratch_.flags = carried_ |= scratch_.flags;
    if (!clock_.observe(t_c, scratch_.receive_ns)) return;
    carried_ = 0;
    monitor_.set_connected(true);
    if (clock_.reanchored()) scratch_.flags |= clock_backwards;
    scratch_.stamp_ns = clock_.stamp(t_c);
    if (answer_) answer_.sample(scratch_, steady_ns);
    if (!ring_.push(scratch_)) overruns_.fetch_add(1);
  }

  void wake() noexcept {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      woken_.fetch_add(1);
    }
    condition_.notify_all();
  }

  void sleep(double pause) {
    std::unique_lock<std::mutex> lock(mutex_);
    condition_.wait_for(lock, std::chrono::duration<double>(pause), [this] { return !running_.load(); });
  }

  void set_error(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex_);
    last_error_ = text;
    failed_ = !text.empty();
  }

  ReaderOptions options_;
  Session session_;
  StreamMonitor monitor_;
  ClockMap clock_;
  SpscRing<Sample> ring_;
  Sample scratch_;
  std::uint32_t carried_ = 0;  // flags of the samples the clock map listened to before its first stamp
  std::thread thread_;
  std::atomic<bool> running_{false}, connected_{false};
  TorqueAnswer answer_;
  bool failed_ = false;
  std::atomic<std::uint64_t> overruns_{0}, reconnects_{0}, malformed_{0};
  std::atomic<bool> waiting_{false}, lost_{false};
  std::atomic<std::int64_t> last_data_ns_{0}, called_ns_{0};
  std::atomic<std::uint64_t> malformed_before_{0};  // at the last good package
  std::mutex receiving_;                            // held by whoever uses session, monitor and clock
  RealtimeResult realtime_;
  std::mutex stopping_;
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  std::atomic<std::uint64_t> woken_{0};
  Version version_;
  double rate_ = 0.0;
  std::vector<std::string> available_;
  std::string last_error_;
};

}  // namespace robot_dynamics::rtde
