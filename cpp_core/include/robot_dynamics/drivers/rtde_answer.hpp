// The torque loop in the RTDE reader's thread: a sample becomes a state, and the loop's torque is sent in the cycle in
// which the state arrived, before anything else happens to the sample. Records wait for whoever publishes; real-time
// scheduling of the thread is the reader's.
#pragma once

#include <atomic>
#include <memory>

#include "robot_dynamics/common/latency_log.hpp"
#include "robot_dynamics/control/torque_loop.hpp"
#include "robot_dynamics/drivers/rtde_session.hpp"

namespace robot_dynamics::rtde {

constexpr int at_temperatures = place_of("joint_temperatures"), at_robot_mode = place_of("robot_mode");
constexpr int at_runtime_state = place_of("runtime_state"), at_payload = place_of("payload");
constexpr double robot_mode_running = 7, runtime_playing = 2;

class TorqueAnswer {
 public:
  TorqueAnswer(Session& session, bool torque_inputs) : session_(session), torque_inputs_(torque_inputs) {}

  // torque_constant (6) Nm/A turns the measured current into motor torque.
  void set_loop(std::shared_ptr<TorqueLoop> loop, const std::array<double, 6>& torque_constant) {
    if (!loop) throw std::invalid_argument("loop is missing");
    if (loop->n() != 6) throw std::invalid_argument("a UR controller has 6 joints");
    loop_ = std::move(loop);
    torque_constant_ = torque_constant;
    out_.fill(0.0);
    run_ = false;
    state_ = reason_ = -1;
  }
  explicit operator bool() const noexcept { return loop_ != nullptr; }

  void sample(const Sample& s, std::int64_t steady_ns) noexcept {
    std::array<double, 6> tau;
    for (int i = 0; i < 6; ++i) tau[i] = torque_constant_[i] * s.values[at_current + i];
    TorqueState state;
    state.stamp_ns = s.stamp_ns;
    state.steady_ns = steady_ns;
    state.q = &s.values[at_q];
    state.qd = &s.values[at_qd];
    state.tau = tau.data();
    state.T = std::isfinite(s.values[at_temperatures]) ? &s.values[at_temperatures] : nullptr;
    state.payload_kg = s.values[at_payload];
    const double safety = s.values[at_safety_mode];
    state.stopped = !(safety == 1 || safety == 2) || s.values[at_robot_mode] != robot_mode_running;
    state.program = s.values[at_runtime_state] == runtime_playing || std::isnan(s.values[at_runtime_state]);
    state.gap = (s.flags & (first_after_connect | late)) != 0;
    state.backwards = (s.flags & clock_backwards) != 0;
    take(loop_->cycle(state));
    send();
    latency_.add(clock_ns(CLOCK_REALTIME) - s.receive_ns, clock_ns(CLOCK_MONOTONIC) - steady_ns);
  }

  // Without a sample for a while: a torque that ramps down goes on. Such cycles are recorded only when they change
  // something: a reader of the records is then late already.
  void idle() noexcept {
    const bool ran = sent_run_;
    const TorqueRecord& record = loop_->idle(clock_ns(CLOCK_MONOTONIC));
    const bool same = std::equal(out_.begin(), out_.end(), record.torque.begin()) && run_ == record.run &&
                      state_ == record.state && reason_ == record.reason;
    if (!same) take(record);
    if (ran || run_) send();
  }

  void lost() noexcept {
    loop_->lost();
    out_.fill(0.0);
    run_ = false;
  }

  // From the state's arrival on this machine, and from its reading by the thread, until its torque was sent.
  const LatencyLog& latency() const noexcept { return latency_; }
  std::uint64_t unsent() const noexcept { return unsent_.load(); }

 private:
  void take(const TorqueRecord& record) noexcept {
    std::copy(record.torque.begin(), record.torque.begin() + 6, out_.begin());
    run_ = record.run;
    state_ = record.state;
    reason_ = record.reason;
    loop_->publish();
  }

  void send() noexcept {
    if (!torque_inputs_) return;
    sent_run_ = run_;
    if (!session_.send_torque(++beat_, run_ ? 1 : 0, out_.data())) unsent_.fetch_add(1);
  }

  Session& session_;
  const bool torque_inputs_;
  std::shared_ptr<TorqueLoop> loop_;
  std::array<double, 6> torque_constant_{}, out_{};
  bool run_ = false;  // the script must go on
  int state_ = -1, reason_ = -1;
  LatencyLog latency_;
  std::int32_t beat_ = 0;
  bool sent_run_ = false;
  std::atomic<std::uint64_t> unsent_{0};
};

}  // namespace robot_dynamics::rtde
