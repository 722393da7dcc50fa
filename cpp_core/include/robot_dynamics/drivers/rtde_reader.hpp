// RTDE state reader: a thread of its own receives, checks and stamps every sample and hands it over through a
// lock-free ring, so that a consumer that is late by seconds loses nothing. A lost connection is taken up again with
// back-off, for as long as the reader runs.
#pragma once

#include <pthread.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "robot_dynamics/common/realtime.hpp"
#include "robot_dynamics/common/spsc_ring.hpp"
#include "robot_dynamics/drivers/rtde_clock.hpp"
#include "robot_dynamics/drivers/rtde_session.hpp"
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

// What runs in the receiving thread for every sample, and at least every `hook_period` without one.
class SampleHook {
 public:
  virtual ~SampleHook() = default;
  virtual void sample(const Sample& sample, std::int64_t steady_ns) noexcept = 0;
  virtual void idle(std::int64_t steady_ns) noexcept = 0;
  virtual void lost() noexcept = 0;
  virtual bool run() const noexcept = 0;              // the script must go on
  virtual const double* torque() const noexcept = 0;  // (6), Nm
};
constexpr double hook_period = 0.002;  // s

inline std::int64_t clock_ns(clockid_t id) noexcept {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

class Reader {
  template <typename F>
  auto locked(F&& f) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return f();
  }

 public:
  explicit Reader(const ReaderOptions& options)
      : options_(options), session_(options.session), monitor_(options.limits), ring_(options.ring) {}
  ~Reader() { stop(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Before start(). With torque inputs negotiated its torque is sent in the same cycle.
  void set_hook(std::shared_ptr<SampleHook> hook) {
    if (thread_.joinable()) throw std::logic_error("the hook is set before the reader starts");
    hook_ = std::move(hook);
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
    close();
  }

  // Blocks until a sample waits or `timeout` [s] is over; true when one waits.
  bool wait(double timeout) {
    if (ring_.front() != nullptr) return true;
    std::unique_lock<std::mutex> lock(mutex_);
    const auto limit = std::chrono::duration<double>(timeout);
    condition_.wait_for(lock, limit, [this] { return ring_.front() != nullptr || !running_.load(); });
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
  std::uint64_t overruns() const noexcept { return overruns_.load(); }
  std::uint64_t reconnects() const noexcept { return reconnects_.load(); }
  std::uint64_t unsent() const noexcept { return unsent_.load(); }
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
    last_data_ns_ = clock_ns(CLOCK_MONOTONIC);
    malformed_before_ = malformed_.load();
  }

  void close() noexcept {
    if (hook_ && connected_.load()) hook_->lost();
    connected_.store(false);
    monitor_.set_connected(false);
    session_.close();
  }

  void run() noexcept {
    double pause = options_.backoff_min;
    while (running_.load()) {
      try {
        if (!connected_.load()) {
          open();
          reconnects_.fetch_add(1);
        }
        receive();
        pause = options_.backoff_min;
      } catch (const std::exception& error) {
        close();
        set_error(error.what());
        sleep(pause);
        pause = std::min(2.0 * pause, options_.backoff_max);
      }
    }
  }

  void receive() {
    const std::size_t before = ring_.size();
    session_.receive(hook_ ? hook_period : 0.02,
                     [this](const std::uint8_t* data, std::size_t size) { take(data, size); });
    if (ring_.size() != before)
      wake();
    else if (hook_)
      rest();
    if (1e-9 * static_cast<double>(clock_ns(CLOCK_MONOTONIC) - last_data_ns_) <= options_.silence) return;
    const std::uint64_t bad = malformed_.load() - malformed_before_;
    const std::string what =
        bad == 0 ? "no data for " : std::to_string(bad) + " packages of another size and no data for ";
    throw ConnectionError(session_.where() + ": " + what + Socket::seconds(options_.silence));
  }

  void take(const std::uint8_t* data, std::size_t size) noexcept {
    std::uint32_t damaged = 0;
    if (!session_.unpack(data, size, scratch_, damaged)) return void(malformed_.fetch_add(1));
    monitor_.count_damaged(damaged);
    last_data_ns_ = clock_ns(CLOCK_MONOTONIC);
    malformed_before_ = malformed_.load();
    if (!monitor_.accept(scratch_, last_data_ns_)) return;
    if (failed_) set_error("");  // delivered again
    scratch_.receive_ns = clock_ns(CLOCK_REALTIME);
    const auto t_c = static_cast<std::int64_t>(std::llround(1e9 * scratch_.values[at_timestamp]));
    if (scratch_.flags & clock_backwards) clock_.anchor();
    scratch_.flags = carried_ |= scratch_.flags;
    if (!clock_.observe(t_c, scratch_.receive_ns)) return;
    carried_ = 0;
    monitor_.set_connected(true);
    if (clock_.reanchored()) scratch_.flags |= clock_backwards;
    scratch_.stamp_ns = clock_.stamp(t_c);
    if (hook_) answer();
    if (!ring_.push(scratch_)) overruns_.fetch_add(1);
  }

  // The torque leaves before anything else happens to the sample.
  void answer() noexcept {
    hook_->sample(scratch_, last_data_ns_);
    send_torque();
  }

  void rest() noexcept {
    const bool ran = sent_run_;
    hook_->idle(clock_ns(CLOCK_MONOTONIC));
    if (ran || hook_->run()) send_torque();
  }

  void send_torque() noexcept {
    if (!options_.session.torque_inputs) return;
    sent_run_ = hook_->run();
    if (!session_.send_torque(++beat_, sent_run_ ? 1 : 0, hook_->torque())) unsent_.fetch_add(1);
  }

  void wake() noexcept {
    {
      std::lock_guard<std::mutex> lock(mutex_);
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
  std::shared_ptr<SampleHook> hook_;
  std::int32_t beat_ = 0;
  bool sent_run_ = false, failed_ = false;
  std::atomic<std::uint64_t> overruns_{0}, reconnects_{0}, malformed_{0}, unsent_{0};
  std::int64_t last_data_ns_ = 0;
  std::uint64_t malformed_before_ = 0;  // at the last good package
  RealtimeResult realtime_;
  std::mutex stopping_;
  mutable std::mutex mutex_;
  std::condition_variable condition_;
  Version version_;
  double rate_ = 0.0;
  std::vector<std::string> available_;
  std::string last_error_;
};

}  // namespace robot_dynamics::rtde
