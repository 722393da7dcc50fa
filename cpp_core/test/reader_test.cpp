// The reader and its clocks with numbers that no controller sends, and two threads on one ring: run under sanitizers.
#include <cmath>
#include <random>

#include "check.hpp"
#include "robot_dynamics/drivers/rtde_reader.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

using namespace robot_dynamics;
using namespace robot_dynamics::rtde;

namespace {

constexpr std::int64_t extreme[] = {INT64_MIN,
                                    INT64_MIN + 1,
                                    -4'294'967'296'000'000'000,
                                    -1,
                                    0,
                                    1,
                                    1'000'000,
                                    1'700'000'000'000'000'000,
                                    4'294'967'296'000'000'000,
                                    INT64_MAX - 1,
                                    INT64_MAX};
constexpr std::size_t n_extreme = sizeof(extreme) / sizeof(extreme[0]);

std::int64_t any_time(std::mt19937& rng) {
  const std::int64_t near = static_cast<std::int64_t>(rng() % 4) * 2'000'000;
  return rng() % 2 ? extreme[rng() % n_extreme] : near;
}

void clocks_take_any_stamps() {
  std::mt19937 rng(1);
  for (int round = 0; round < 200; ++round) {
    ClockMap map(round % 2);
    SampleTiming timing;
    SampleClock clock;
    double dt = 0;
    for (int k = 0; k < 100; ++k) {
      const std::int64_t controller = any_time(rng), host = any_time(rng);
      if (map.observe(controller, host)) (void)map.stamp(any_time(rng));
      timing.tick(controller, dt);
      CHECK(dt >= 0 && std::isfinite(dt));
      clock.tick(host, dt);
      CHECK(dt >= 0 && dt <= clock.max_gap);
    }
  }
}

void any_sample_is_judged() {
  std::mt19937 rng(2);
  const double odd[] = {0, 1, -1, 1e300, -1e300, std::nan(""), INFINITY, -INFINITY, 5e-324, 4294967296.0, -9.3e9};
  StreamMonitor monitor(MonitorLimits{});
  monitor.set_connected(true);
  for (int k = 0; k < 20'000; ++k) {
    Sample s;
    for (auto& x : s.values) x = rng() % 3 ? 0.001 * static_cast<double>(rng() % 1000) : odd[rng() % 11];
    const bool good = monitor.accept(s, any_time(rng));
    CHECK(!good || std::isfinite(s.values[at_q]));
    (void)monitor.latched(any_time(rng));
  }
}

void one_writes_and_one_reads() {
  SpscRing<std::array<std::uint64_t, 8>> ring(16);
  constexpr std::uint64_t n = 50'000;
  std::thread writer([&] {
    for (std::uint64_t k = 0; k < n;) {
      std::array<std::uint64_t, 8> record;
      record.fill(k);
      if (ring.push(record))
        ++k;
      else
        std::this_thread::yield();
    }
  });
  for (std::uint64_t k = 0; k < n;) {
    const auto* record = ring.front();
    if (record == nullptr) {
      std::this_thread::yield();
      continue;
    }
    CHECK((*record)[0] == k && (*record)[7] == k);
    ring.drop();
    ++k;
  }
  writer.join();
}

// A server on the loopback that answers the handshake, then sends whole packages, damaged ones and rubbish.
class Server {
 public:
  Server() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    CHECK(::bind(listener_, reinterpret_cast<sockaddr*>(&own), size) == 0 && ::listen(listener_, 4) == 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &size);
    port = ntohs(own.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  int port = 0;

 private:
  static bool read(int fd, std::uint8_t* data, std::size_t size) {
    for (std::size_t got = 0; got < size;) {
      const ssize_t n = ::recv(fd, data + got, size - got, 0);
      if (n <= 0) return false;
      got += static_cast<std::size_t>(n);
    }
    return true;
  }
  static bool write(int fd, PackageType type, const std::vector<std::uint8_t>& payload) {
    const auto bytes = package(type, payload);
    return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  void serve() {
    for (int fd; (fd = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(fd)) {
      std::uint8_t head[header_bytes];
      bool started = false;
      while (!started && read(fd, head, sizeof head)) {
        std::vector<std::uint8_t> payload(load<std::uint16_t>(head) - header_bytes);
        if (!payload.empty() && !read(fd, payload.data(), payload.size())) break;
        started = answer(fd, static_cast<PackageType>(head[2]));
      }
      for (int k = 0; started && stream(fd, k); ++k) continue;
    }
  }

  bool answer(int fd, PackageType type) {
    if (type == PackageType::protocol_version) write(fd, type, {1});
    if (type == PackageType::controller_version) {
      std::vector<std::uint8_t> v(16);
      store<std::uint32_t>(v.data(), 5);
      store<std::uint32_t>(v.data() + 4, 26);
      write(fd, type, v);
    }
    if (type == PackageType::output_setup) {
      std::string types;
      for (const Field& f : fields)
        types += std::string(types.empty() ? "" : ",") + (f.width == 6   ? "VECTOR6D"
                                                          : f.width == 3 ? "VECTOR3D"
                                                                         : "DOUBLE");
      std::vector<std::uint8_t> v{1};
      v.insert(v.end(), types.begin(), types.end());
      write(fd, type, v);
    }
    if (type == PackageType::start) write(fd, type, {1});
    return type == PackageType::start;
  }

  // One package; every tenth is damaged. False: the client is gone, or this connection has ended.
  bool stream(int fd, int k) {
    std::vector<std::uint8_t> v(1 + 8 * sample_width, 1);
    for (int i = 0; i < sample_width; ++i) {
      double x = i == at_timestamp ? 0.002 * k : i == at_safety_mode ? 1.0 : 0.001 * (k + i);
      if (k % 10 == 3 && i > measured_end && i < measured_end + 12) x = i % 2 ? INFINITY : std::nan("");
      if (k % 100 == 57 && i == at_timestamp) x = -9.3e9;
      store_double(v.data() + 1 + 8 * i, x);
    }
    if (k % 10 == 7) v.resize(v.size() / 2);
    return k < 300 && write(fd, k % 50 == 11 ? PackageType::text : PackageType::data, v);
  }

  int listener_;
  std::thread thread_;
};

void the_reader_goes_on_through_damage_and_new_connections() {
  Server server;
  ReaderOptions options;
  options.session.port = server.port;
  options.backoff_min = options.backoff_max = 0.001;
  Reader reader(options);
  reader.start();
  std::uint64_t samples = 0;
  while (samples < 1000 || reader.reconnects() < 2) {  // every connection ends after 300 packages
    if (!reader.wait(10.0)) break;
    const Sample& s = *reader.front();
    for (int i = 0; i < sample_width; ++i) CHECK(!std::isinf(s.values[i]));
    CHECK(std::isfinite(s.values[at_q]));
    ++samples;
    reader.drop();
    (void)reader.condition();
    (void)reader.last_error();
  }
  reader.stop();
  CHECK(samples >= 1000 && reader.reconnects() >= 2 && reader.malformed() > 0);
  CHECK(reader.monitor().counts().non_finite.load() > 0);
}

// A peer that reads nothing takes a part of what is sent: what came next would be read as its rest.
void nothing_follows_a_package_that_was_cut() {
  Server server;
  Socket socket;
  socket.connect("127.0.0.1", server.port, 10.0);
  const std::vector<std::uint8_t> large(std::size_t{1} << 26, 0xff);
  CHECK(!socket.send_now(large.data(), large.size()));
  CHECK(!socket.send_now(large.data(), 1));
  bool thrown = false;
  try {
    std::uint8_t byte;
    socket.receive(&byte, 1, 0.0);
  } catch (const ConnectionError&) {
    thrown = true;
  }
  CHECK(thrown);
}

}  // namespace

int main() {
  clocks_take_any_stamps();
  any_sample_is_judged();
  one_writes_and_one_reads();
  the_reader_goes_on_through_damage_and_new_connections();
  nothing_follows_a_package_that_was_cut();
  return failures ? 1 : 0;
}
