// The torque loop in the RTDE reader's thread: a sample becomes a state, the record's torque goes back in the same
// cycle. Records wait for whoever publishes; real-time scheduling of the thread is the reader's.
#pragma once

#include "robot_dynamics/control/torque_loop.hpp"
#include "robot_dynamics/drivers/rtde_reader.hpp"

namespace robot_dynamics::rtde {

constexpr int at_temperatures = offset_of(9), at_robot_mode = offset_of(10);
constexpr int at_runtime_state = offset_of(12), at_payload = offset_of(20);
constexpr double robot_mode_running = 7, runtime_playing = 2;

class TorqueHook : public SampleHook {
 public:
  // torque_constant (6) Nm/A turns the measured current into motor torque.
  TorqueHook(std::shared_ptr<TorqueLoop> loop, const std::array<double, 6>& torque_constant)
      : loop_(std::move(loop)), torque_constant_(torque_constant) {
    if (loop_->n() != 6) throw std::invalid_argument("a UR controller has 6 joints");
  }

  void sample(const Sample& s, std::int64_t steady_ns) noexcept override {
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
  }

  // Cycles without a state are recorded only when they change something: a reader of the records is then late already.
  void idle(std::int64_t steady_ns) noexcept override {
    const TorqueRecord& record = loop_->idle(steady_ns);
    const bool same = std::equal(out_.begin(), out_.end(), record.torque.begin()) && run_ == record.run &&
                      state_ == record.state && reason_ == record.reason;
    if (!same) take(record);
  }
  void lost() noexcept override {
    loop_->lost();
    out_.fill(0.0);
    run_ = false;
    loop_->publish();
  }
  bool run() const noexcept override { return run_; }
  const double* torque() const noexcept override { return out_.data(); }

 private:
  void take(const TorqueRecord& record) noexcept {
    std::copy(record.torque.begin(), record.torque.begin() + 6, out_.begin());
    run_ = record.run;
    state_ = record.state;
    reason_ = record.reason;
    loop_->publish();
  }

  std::shared_ptr<TorqueLoop> loop_;
  std::array<double, 6> torque_constant_, out_{};
  bool run_ = false;
  int state_ = -1, reason_ = -1;
};

}  // namespace robot_dynamics::rtde
