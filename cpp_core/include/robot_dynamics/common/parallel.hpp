// A batch of independent samples over several threads of this call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace robot_dynamics {

constexpr std::size_t samples_per_chunk = 128;  // chunk limits: whole vectors of every instruction set

// Runs f(first, count) over 0..N-1 in at most `threads` parts, the first one in the calling thread. A sample is
// computed alone in its lane, so the result does not depend on `threads`. Threads live for one call (about 20 us each):
// none exists when the process forks later. Where the system refuses a thread, the caller computes its part.
template <class F>
void parallel(std::size_t N, int threads, F&& f) {
  const std::size_t chunks = (N + samples_per_chunk - 1) / samples_per_chunk;
  const std::size_t parts = std::max<std::size_t>(1, std::min<std::size_t>(threads, chunks));
  const auto limit = [&](std::size_t part) { return std::min(N, chunks * part / parts * samples_per_chunk); };
  std::vector<std::thread> workers;
  workers.reserve(parts - 1);
  std::size_t started = parts;
  for (std::size_t part = 1; part < started; ++part) try {
      workers.emplace_back([&, part] { f(limit(part), limit(part + 1) - limit(part)); });
    } catch (const std::system_error&) {
      started = part;
    }
  f(0, limit(1));
  if (started < parts) f(limit(started), N - limit(started));
  for (std::thread& worker : workers) worker.join();
}

}  // namespace robot_dynamics
