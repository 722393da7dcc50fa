// Requests real-time scheduling of a thread and locked memory from the system; the result says what was granted, and
// otherwise why not.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace robot_dynamics {

// The system calls; a test replaces them.
struct RealtimeCalls {
  int (*schedule)(pthread_t, int policy, const sched_param*) = pthread_setschedparam;  // 0 or an error number
  int (*lock)(int flags) = mlockall;                                                   // 0, or -1 and errno
};

struct RealtimeResult {
  bool asked = false;
  int error = 0;  // errno; 0: granted
  bool done() const noexcept { return asked && error == 0; }
};

// SCHED_FIFO at this priority (1..99); 0: no request.
inline RealtimeResult schedule_fifo(pthread_t thread, int priority, const RealtimeCalls& calls = {}) noexcept {
  if (priority <= 0) return {};
  sched_param p{};
  p.sched_priority = priority;
  return {true, calls.schedule(thread, SCHED_FIFO, &p)};
}

// All pages of the process, also those to come, stay in memory.
inline RealtimeResult lock_memory(const RealtimeCalls& calls = {}) noexcept {
  return {true, calls.lock(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno};
}

// For diagnostics: what was granted, or why not and how to get it.
inline std::string realtime_text(const RealtimeResult& r, const char* what, const char* remedy) {
  if (!r.asked) return "not asked for";
  if (r.error == 0) return what;
  const bool refused = r.error == EPERM || r.error == ENOMEM || r.error == EAGAIN;
  return std::string("no: ") + std::strerror(r.error) + (refused ? std::string(", needs ") + remedy : "");
}
inline std::string schedule_text(const RealtimeResult& r) {
  return realtime_text(r, "SCHED_FIFO", "CAP_SYS_NICE or rtprio in limits.conf");
}
inline std::string memory_text(const RealtimeResult& r) {
  return realtime_text(r, "locked", "CAP_IPC_LOCK or memlock in limits.conf");
}

}  // namespace robot_dynamics
