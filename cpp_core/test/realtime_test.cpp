// Real-time scheduling and memory locking are requested, and a refusal is reported with its reason.
#include "robot_dynamics/common/realtime.hpp"

#include "check.hpp"

using namespace robot_dynamics;

namespace {

int policy_asked = -1, priority_asked = -1, flags_asked = -1;

int granted(pthread_t, int policy, const sched_param* p) {
  policy_asked = policy;
  priority_asked = p->sched_priority;
  return 0;
}
int refused(pthread_t, int, const sched_param*) { return EPERM; }
int locked(int flags) {
  flags_asked = flags;
  return 0;
}
int too_much(int) {
  errno = ENOMEM;
  return -1;
}

bool says(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

void where_permitted() {
  const RealtimeCalls calls{granted, locked};
  const RealtimeResult fifo = schedule_fifo(pthread_self(), 60, calls), memory = lock_memory(calls);
  CHECK(fifo.done() && policy_asked == SCHED_FIFO && priority_asked == 60);
  CHECK(memory.done() && flags_asked == (MCL_CURRENT | MCL_FUTURE));
  CHECK(schedule_text(fifo) == "SCHED_FIFO" && memory_text(memory) == "locked");
}

void where_not() {
  const RealtimeCalls calls{refused, too_much};
  const RealtimeResult fifo = schedule_fifo(pthread_self(), 60, calls), memory = lock_memory(calls);
  CHECK(!fifo.done() && fifo.error == EPERM && says(schedule_text(fifo), "rtprio"));
  CHECK(!memory.done() && memory.error == ENOMEM && says(memory_text(memory), "memlock"));
}

void where_nobody_asked() {
  priority_asked = -1;
  const RealtimeResult fifo = schedule_fifo(pthread_self(), 0, {granted, locked});
  CHECK(!fifo.done() && priority_asked == -1 && schedule_text(fifo) == "not asked for");
}

// An impossible priority is refused by every system, for every user.
void the_system_s_own_call_is_used() {
  const RealtimeResult fifo = schedule_fifo(pthread_self(), 1000);
  CHECK(fifo.asked && !fifo.done() && fifo.error == EINVAL);
}

}  // namespace

int main() {
  where_permitted();
  where_not();
  where_nobody_asked();
  the_system_s_own_call_is_used();
  return failures ? 1 : 0;
}
