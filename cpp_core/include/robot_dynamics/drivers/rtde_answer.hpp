// The torque of the hook, sent in the cycle in which the state arrived: before anything else happens to the sample.
#pragma once

#include <atomic>
#include <memory>

#include "robot_dynamics/common/latency_log.hpp"
#include "robot_dynamics/drivers/rtde_hook.hpp"
#include "robot_dynamics/drivers/rtde_session.hpp"

namespace robot_dynamics::rtde {

class TorqueAnswer {
 public:
  TorqueAnswer(Session& session, bool torque_inputs) : session_(session), torque_inputs_(torque_inputs) {}

  void set_hook(std::shared_ptr<SampleHook> hook) { hook_ = std::move(hook); }
  explicit operator bool() const noexcept { return hook_ != nullptr; }

  void sample(const Sample& sample, std::int64_t steady_ns) noexcept {
    hook_->sample(sample, steady_ns);
    send();
    latency_.add(clock_ns(CLOCK_REALTIME) - sample.receive_ns, clock_ns(CLOCK_MONOTONIC) - steady_ns);
  }

  // Without a sample for a while: a torque that ramps down goes on.
  void idle() noexcept {
    const bool ran = sent_run_;
    hook_->idle(clock_ns(CLOCK_MONOTONIC));
    if (ran || hook_->run()) send();
  }

  void lost() noexcept { hook_->lost(); }

  // From the state's arrival on this machine, and from its reading by the thread, until its torque was sent.
  const LatencyLog& latency() const noexcept { return latency_; }
  std::uint64_t unsent() const noexcept { return unsent_.load(); }

 private:
  void send() noexcept {
    if (!torque_inputs_) return;
    sent_run_ = hook_->run();
    if (!session_.send_torque(++beat_, sent_run_ ? 1 : 0, hook_->torque())) unsent_.fetch_add(1);
  }

  Session& session_;
  const bool torque_inputs_;
  std::shared_ptr<SampleHook> hook_;
  LatencyLog latency_;
  std::int32_t beat_ = 0;
  bool sent_run_ = false;
  std::atomic<std::uint64_t> unsent_{0};
};

}  // namespace robot_dynamics::rtde
