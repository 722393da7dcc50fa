// The composed torque loop: state -> learning friction -> controller -> guard -> torque, in the thread that received
// the state, without a lock or an allocation. Other threads talk to it through two rings: requests in, records out.
//
// The guard's clock is the robot's: the stamp of the last state, moved on by the host's steady clock while none comes.
// The guard's deadlines run by the host's clock too, and the two clocks are compared (clock_balance.hpp).
#pragma once

#include <atomic>
#include <memory>

#include "robot_dynamics/common/spsc_ring.hpp"
#include "robot_dynamics/control/clock_balance.hpp"
#include "robot_dynamics/control/guard.hpp"
#include "robot_dynamics/control/torque_program.hpp"
#include "robot_dynamics/control/torque_record.hpp"

namespace robot_dynamics {

class TorqueLoop {
 public:
  TorqueLoop(const TorqueProgram& program, const GuardLimits& limits, double time_scale = 1.0, std::size_t ring = 4096)
      : program_(program), guard_(limits), time_scale_(time_scale), requests_(256), records_(ring) {
    if (limits.n != program.n()) throw std::invalid_argument("limits and program differ in the number of joints");
    require_positive("time_scale", time_scale);
  }

  int n() const noexcept { return program_.n(); }

  // -- any one other thread -------------------------------------------------------------------------------------------
  bool request(LoopRequest what, std::int64_t stamp_ns = 0, const double* values = nullptr,
               TorqueSemantics meaning = {}, int number = 0) noexcept {
    TorqueRequest r;
    r.what = what;
    r.stamp_ns = stamp_ns;
    r.meaning = meaning;
    r.number = number;
    r.ends = ends_.load();
    if (values) std::copy(values, values + (what == LoopRequest::restore ? 2 : 1) * n(), r.values.begin());
    return requests_.push(r);
  }

  // Enable in a mode; a trajectory stays alive for as long as it is used. The answer is enabled(). since: value of
  // ends() when it was asked for; it is withdrawn when torque was ended after that.
  bool enable(TorqueMode mode, std::shared_ptr<const TorqueTrajectory> trajectory, std::uint32_t since) {
    if (trajectory && trajectory->n != n()) throw std::invalid_argument("trajectory: wrong number of joints");
    TorqueRequest r;
    r.what = LoopRequest::enable;
    r.number = static_cast<int>(mode);
    r.ends = since;
    r.trajectory = trajectory.get();
    if (requests_.size() == 0) forget_unused();
    if (trajectory) kept_.push_back(trajectory);
    enabled_.store(static_cast<int>(EnableResult::pending));
    return requests_.push(r);
  }

  // End the torque: ramped out and off, or latched for a reason. Processed before all requests, from any number of
  // threads; enables and re-arms that were requested earlier are dropped.
  std::uint32_t ends() const noexcept { return ends_.load(); }
  void disable() noexcept { end(1u); }
  void trip(GuardReason reason) noexcept { end(2u << static_cast<int>(reason)); }

  EnableResult enabled() const noexcept { return static_cast<EnableResult>(enabled_.load()); }
  GuardState state() const noexcept { return static_cast<GuardState>(state_.load()); }
  GuardReason reason() const noexcept { return static_cast<GuardReason>(reason_.load()); }
  std::uint64_t count(GuardReason r) const noexcept { return counts_[static_cast<int>(r)].load(); }
  bool held() const noexcept { return held_.load(); }        // the dead-man switch, true where there is none
  bool running() const noexcept { return running_.load(); }  // torque mode must go on, the ramp to zero included
  std::uint64_t lost_records() const noexcept { return lost_.load(); }
  std::uint64_t cycles() const noexcept { return cycles_.load(); }
  bool finished() const noexcept { return finished_.load(); }
  const TorqueRecord* front() const noexcept { return records_.front(); }
  void drop() noexcept { records_.drop(); }

  // -- the thread that receives states --------------------------------------------------------------------------------
  // A new state: writes the torque that leaves into the returned record.
  const TorqueRecord& cycle(const TorqueState& s) noexcept {
    if (s.backwards || lost_connection_) now_ns_ = s.stamp_ns;  // a new connection's stamps may begin earlier
    now_ns_ = std::max(now_ns_, s.stamp_ns);
    base_ns_ = now_ns_;
    steady_ns_ = s.steady_ns;
    pass(s.steady_ns);
    guard_.observe(s.stamp_ns, s.q, s.qd);
    if ((s.stopped && !stopped_) || lost_connection_) ends_.fetch_add(1);  // an enable requested before is refused
    lost_connection_ = false;
    stopped_ = s.stopped;
    no_program_ = !s.program;
    if (stopped_ && live()) guard_.trip(GuardReason::robot_stopped, true);
    if (no_program_ && live()) guard_.trip(GuardReason::program_ended, true);
    if (s.gap || s.backwards) {
      program_.restart();
      balance_ = {};
    }
    balance_.state(s.stamp_ns);
    // a simulated robot in lockstep runs as fast as it can
    if ((balance_.slow() || (balance_.fast() && time_scale_ == 1.0)) && live())
      guard_.trip(GuardReason::state_clock, false);
    process();
    compute(s);
    return finish(s.stamp_ns);
  }

  // No state came: the guard's clock moves on.
  const TorqueRecord& idle(std::int64_t steady_ns) noexcept {
    if (base_ns_ == 0) return record_;
    const double passed = time_scale_ * static_cast<double>(ns_between(steady_ns, steady_ns_));  // ns
    std::int64_t now = 0;
    if (!__builtin_add_overflow(base_ns_, static_cast<std::int64_t>(std::clamp(passed, 0.0, 1e18)), &now))
      now_ns_ = std::max(now_ns_, now);
    pass(steady_ns);
    process();
    return finish(record_.stamp_ns);
  }

  // The connection is lost: torque is zero at once, latched. The record is published.
  void lost() noexcept {
    if (live()) guard_.trip(GuardReason::state_gap, true);
    program_.restart();
    lost_connection_ = true;
    finish(record_.stamp_ns);
    publish();
  }

 private:
  // No request is queued: only the trajectory in use may still be read by the other thread.
  void forget_unused() {
    const TorqueTrajectory* used = in_use_.load(std::memory_order_acquire);
    kept_.erase(std::remove_if(kept_.begin(), kept_.end(), [used](const auto& t) { return t.get() != used; }),
                kept_.end());
  }

  bool live() const noexcept {
    return guard_.state() == GuardState::ok || guard_.state() == GuardState::degraded || guard_.ramping();
  }

  void pass(std::int64_t steady_ns) noexcept {
    const double seconds = host_ns_ == 0 ? 0 : time_scale_ * std::max(seconds_between(steady_ns, host_ns_), 0.0);
    host_ns_ = steady_ns;
    guard_.pass(seconds);
    balance_.host(seconds);
  }

  void end(std::uint32_t how) noexcept {
    urgent_.fetch_or(how);
    ends_.fetch_add(1);
  }

  void process() noexcept {
    const std::uint32_t urgent = urgent_.exchange(0);
    if (urgent & 1u) guard_.disable();
    for (int r = 0; urgent > 1u && r < static_cast<int>(GuardReason::count); ++r)
      if (urgent & (2u << r)) guard_.trip(static_cast<GuardReason>(r), false);
    for (const TorqueRequest* r = requests_.front(); r != nullptr; r = requests_.front()) {
      handle(*r);
      requests_.drop();
    }
  }

  void handle(const TorqueRequest& r) noexcept {
    switch (r.what) {
      case LoopRequest::enable:
        return start(r);
      case LoopRequest::rearm:
        if (r.ends == ends_.load()) guard_.rearm();
        return;
      case LoopRequest::refresh:
        if (r.ends == ends_.load()) guard_.refresh(now_ns_);  // not one from before the switch was released
        return;
      case LoopRequest::command:
        if (program_.mode() == TorqueMode::external) guard_.command(r.stamp_ns, r.values.data(), r.meaning);
        return;
      case LoopRequest::contact:
        return program_.friction().contact_seen();
      case LoopRequest::freeze:
        return program_.friction().ask_freeze(r.number != 0);
      case LoopRequest::restore:
        return void(program_.friction().restore(r.values.data(), r.values.data() + n()));
    }
  }

  // Begins what is asked for, or says why not.
  EnableResult begin(const TorqueRequest& r) noexcept {
    if (guard_.state() != GuardState::idle) return EnableResult::latched;
    if (stopped_) return EnableResult::stopped;
    if (r.ends != ends_.load()) return EnableResult::withdrawn;
    if (no_program_) return EnableResult::no_program;
    if (!guard_.held(now_ns_)) return EnableResult::not_held;
    if (guard_.ramping()) return EnableResult::ramping;
    if (!program_.suits(r.trajectory)) return EnableResult::not_smooth;
    if (!program_.begin(static_cast<TorqueMode>(r.number), r.trajectory, record_.q.data()))
      return EnableResult::start_mismatch;
    if (!guard_.enable(now_ns_)) return EnableResult::no_state;
    out_ = {};  // until the next state there is nothing desired but to be here
    out_.q_d = aim_ = record_.q;
    return EnableResult::done;
  }

  void start(const TorqueRequest& r) noexcept {
    const EnableResult result = begin(r);
    in_use_.store(program_.trajectory(), std::memory_order_release);
    announce();  // before the answer: who reads it finds the torque that it enabled
    enabled_.store(static_cast<int>(result), std::memory_order_release);
  }

  void announce() noexcept {
    held_.store(guard_.held(now_ns_), std::memory_order_relaxed);
    finished_.store(program_.finished(), std::memory_order_relaxed);
    reason_.store(static_cast<int>(guard_.reason()), std::memory_order_release);
    running_.store(live(), std::memory_order_release);
    state_.store(static_cast<int>(guard_.state()), std::memory_order_release);
  }

  void compute(const TorqueState& s) noexcept {
    std::copy(s.q, s.q + n(), record_.q.begin());
    std::copy(s.qd, s.qd + n(), record_.qd.begin());
    const double dt = last_ns_ == 0 ? 0 : seconds_between(s.stamp_ns, last_ns_);
    if (last_ns_ != 0 && s.stamp_ns == last_ns_) return;
    last_ns_ = s.stamp_ns;
    program_.friction().carries(s.payload_kg);
    if (s.tau) std::copy(s.tau, s.tau + n(), record_.tau.begin());
    if (!all_finite(s.q, n()) || !all_finite(s.qd, n())) return;
    const double step = std::min(dt, 0.01);  // a jump of time is not integrated
    const Status status = program_.step(s, step, guard_.clamped(), out_);
    if (status == Status::dropped) return;  // the first state, or an older one
    record_.status = static_cast<int>(status);
    if (program_.mode() == TorqueMode::external || program_.mode() == TorqueMode::rest) return;
    if (const GuardReason why = away(s.q, s.qd); why != GuardReason::none && live()) guard_.trip(why, false);
    if (status == Status::fault) {
      if (live()) guard_.trip(GuardReason::command_not_finite, true);
    } else {
      guard_.command(s.stamp_ns, out_.torque.data(), guard_.limits().semantics);
    }
  }

  // A joint is farther from where it should be than friction, payload or a light contact leave it: it is held, or its
  // position is wrong. One that repeats position and speed to the last digit while it should move does not measure:
  // friction and contacts give way a little.
  GuardReason away(const double* q, const double* qd) noexcept {
    GuardReason found = GuardReason::none;
    for (int i = 0; i < n(); ++i) {
      if (q[i] != last_q_[i] || qd[i] != last_qd_[i]) aim_[i] = out_.q_d[i];
      last_q_[i] = q[i];
      last_qd_[i] = qd[i];
      if (std::fabs(out_.q_d[i] - q[i]) > TorqueProgram::largest_error) found = GuardReason::tracking;
      if (std::fabs(out_.q_d[i] - aim_[i]) > TorqueProgram::largest_repeat) return GuardReason::state_frozen;
    }
    return found;
  }

  const TorqueRecord& finish(std::int64_t stamp_ns) noexcept {
    const GuardState state = guard_.step(now_ns_, record_.torque.data());
    record_.stamp_ns = stamp_ns;
    record_.state = static_cast<int>(state);
    record_.reason = static_cast<int>(guard_.reason());
    record_.mode = static_cast<int>(program_.mode());
    record_.run = live();
    record_.age = guard_.command_age();
    const FrictionFeedforward& friction = program_.friction();
    record_.frozen = friction.frozen();
    record_.wanted = out_.torque;
    static_cast<TorqueAim&>(record_) = out_;
    friction.learned(record_.a1.data(), record_.a2.data());
    return record_;
  }

 public:
  // Hands the record to the other thread.
  void publish() noexcept {
    if (!records_.push(record_)) lost_.fetch_add(1, std::memory_order_relaxed);
    announce();
    cycles_.fetch_add(1, std::memory_order_relaxed);
    for (int r = 0; r < static_cast<int>(GuardReason::count); ++r)
      counts_[r].store(guard_.count(static_cast<GuardReason>(r)), std::memory_order_relaxed);
  }

 private:
  TorqueProgram program_;
  Guard guard_;
  ClockBalance balance_;
  double time_scale_;
  SpscRing<TorqueRequest> requests_;
  SpscRing<TorqueRecord> records_;
  std::vector<std::shared_ptr<const TorqueTrajectory>> kept_;  // of the requesting thread
  TorqueRecord record_;
  ProgramOutput out_;
  std::array<double, max_joints> last_q_{}, last_qd_{}, aim_{};  // state before; where to be as it last changed
  std::int64_t now_ns_ = 0, base_ns_ = 0, steady_ns_ = 0, last_ns_ = 0, host_ns_ = 0;
  bool stopped_ = false, no_program_ = false, lost_connection_ = false;
  std::atomic<const TorqueTrajectory*> in_use_{nullptr};
  std::atomic<int> enabled_{0}, state_{0}, reason_{0};
  std::atomic<bool> finished_{false}, held_{false}, running_{false};
  std::atomic<std::uint32_t> urgent_{0},
      ends_{0};  // bit 0: disable, bit 1 + reason: trip; their number, stops included
  static_assert(static_cast<int>(GuardReason::count) < 31, "a bit for every reason");
  std::atomic<std::uint64_t> lost_{0}, cycles_{0};
  std::array<std::atomic<std::uint64_t>, static_cast<int>(GuardReason::count)> counts_{};
};

}  // namespace robot_dynamics
