// Requests real-time scheduling of a thread and locked memory from the system; the result states what was granted, and
// otherwise why not.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
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

// A time slice of the fair scheduler [ns] for the calling thread and the threads it will start; needs no rights. A
// thread that wakes is then run before threads with longer slices have used up theirs (3 ms by default), as long as it
// has not used more than its share. Linux before 6.12 grants the request without effect. 0, or an error number.
inline int shorten_slice(std::int64_t slice_ns) noexcept {
  struct {
    std::uint32_t size = 48, policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;
  } attributes;  // of sched_setattr(2)
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return errno;
  if (attributes.policy != SCHED_OTHER) return EINVAL;
  attributes.size = sizeof attributes;
  attributes.runtime = static_cast<std::uint64_t>(slice_ns);
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : errno;
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
