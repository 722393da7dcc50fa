// One RTDE connection: protocol version, controller version, output setup with the types the controller names, start.
// Optional outputs the controller answers NOT_FOUND to are left out by connecting again without them.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "robot_dynamics/drivers/rtde_protocol.hpp"
#include "robot_dynamics/drivers/rtde_sample.hpp"
#include "robot_dynamics/drivers/rtde_socket.hpp"

namespace robot_dynamics::rtde {

struct SessionOptions {
  std::string host = "127.0.0.1";
  int port = default_port;
  double rate = 500.0;              // requested output rate [Hz]; a CB3 controller (major 3) gives at most 125
  double timeout = 2.0;             // for each answer [s]
  std::uint32_t minimum_major = 3;  // oldest controller generation accepted
  bool torque_inputs = false;       // own the registers of the torque script (rtde_torque_input)
};

// Registers between this process and the torque script, of the upper range: those below 24 are the vendor client's.
constexpr int torque_register = 24;  // input double registers 24..29: Nm
constexpr int beat_register = 24;    // input integer register: counts cycles, so that the script sees every one
constexpr int run_register = 25;     // input integer register: 1 go on, 0 end

class Session {
 public:
  explicit Session(SessionOptions options) : options_(std::move(options)), buffer_(4 * max_package_bytes) {}

  // Handshake up to the first data package; throws ConnectionError with one line that names the cause.
  void open() {
    std::vector<bool> wanted(n_fields, true);
    while (!negotiate(wanted)) continue;
    if (options_.torque_inputs) request_inputs();
    send(PackageType::start);
    const auto answer = wait_for(PackageType::start);
    if (!answer.empty() && answer[0] == 0) socket_.fail("the controller refuses to start RTDE output");
  }

  void close() noexcept { socket_.close(); }

  // Receives once (at most `timeout` s) and calls on_data(payload, size) for every complete data package. Not more than
  // one package is read at a time, so that each has its own time of arrival.
  template <typename OnData>
  bool receive(double timeout, OnData&& on_data) {
    compact();
    const std::size_t whole = header_bytes + package_bytes_;
    const std::size_t room = filled_ < whole ? whole - filled_ : buffer_.size() - filled_;
    const std::size_t n = socket_.receive(buffer_.data() + filled_, room, timeout);
    filled_ += n;
    Package p;
    while (next(p)) {
      if (p.type == PackageType::data) on_data(p.payload, p.size);
    }
    return n > 0;
  }

  // Fills `out.values` from a data package; false when the package has not the negotiated size. Outputs beside the
  // measured ones that are not finite are absent (NaN as a whole) and counted in `damaged`.
  bool unpack(const std::uint8_t* payload, std::size_t size, Sample& out, std::uint32_t& damaged) const noexcept {
    if (size != package_bytes_) return false;
    out.values.fill(std::numeric_limits<double>::quiet_NaN());
    const std::uint8_t* p = payload + 1;
    for (const Entry& e : entries_) {
      bool finite = true;
      for (int k = 0; k < e.type.count; ++k, p += bytes_of(e.type.scalar)) {
        out.values[e.offset + k] = decode(e.type.scalar, p);
        finite = finite && std::isfinite(out.values[e.offset + k]);
      }
      if (finite || e.offset < measured_end) continue;
      std::fill_n(out.values.begin() + e.offset, e.type.count, std::numeric_limits<double>::quiet_NaN());
      ++damaged;
    }
    return true;
  }

  // One cycle of the torque script: sent without waiting and without allocating; false when the socket takes nothing.
  bool send_torque(std::int32_t beat, std::int32_t run, const double* torque) noexcept {
    std::uint8_t* p = torque_package_.data() + header_bytes + 1;
    store<std::uint32_t>(p, static_cast<std::uint32_t>(beat));
    store<std::uint32_t>(p + 4, static_cast<std::uint32_t>(run));
    for (int i = 0; i < 6; ++i) store_double(p + 8 + 8 * i, torque[i]);
    return socket_.send_now(torque_package_.data(), torque_package_.size());
  }

  std::int64_t arrival_ns() const noexcept { return socket_.arrival_ns(); }
  const Version& version() const { return version_; }
  double rate() const { return rate_; }
  std::vector<std::string> available() const {
    std::vector<std::string> names;
    for (const Entry& e : entries_) names.push_back(fields[e.field].name);
    return names;
  }
  const std::string& where() const { return socket_.where(); }

 private:
  struct Entry {
    int field, offset;
    ValueType type;
  };
  struct Package {
    PackageType type;
    const std::uint8_t* payload;
    std::size_t size;
  };

  // True when every wanted output was found; otherwise the missing ones are struck from `wanted`.
  bool negotiate(std::vector<bool>& wanted) {
    socket_.connect(options_.host, options_.port, options_.timeout);
    filled_ = consumed_ = 0;
    send(PackageType::protocol_version, {0, protocol_version});
    const auto accepted = wait_for(PackageType::protocol_version);
    if (accepted.empty() || accepted[0] == 0) socket_.fail("the controller does not speak RTDE protocol version 2");
    read_version();
    request_outputs(wanted);
    return read_types(wanted);
  }

  void read_version() {
    send(PackageType::controller_version);
    const auto v = wait_for(PackageType::controller_version);
    if (v.size() < 16) socket_.fail("controller version not understood");
    version_ = {load<std::uint32_t>(&v[0]), load<std::uint32_t>(&v[4]), load<std::uint32_t>(&v[8]),
                load<std::uint32_t>(&v[12])};
    if (version_.major < options_.minimum_major)
      socket_.fail("PolyScope " + to_string(version_) + " is older than " + std::to_string(options_.minimum_major) +
                   ".0, which this robot needs");
    rate_ = version_.major < 5 ? std::min(options_.rate, 125.0) : options_.rate;
  }

  void request_outputs(const std::vector<bool>& wanted) {
    std::vector<std::uint8_t> payload(sizeof rate_);
    store_double(payload.data(), rate_);
    std::string names;
    for (int i = 0; i < n_fields; ++i) {
      if (wanted[i]) names += std::string(names.empty() ? "" : ",") + fields[i].name;
    }
    payload.insert(payload.end(), names.begin(), names.end());
    send(PackageType::output_setup, payload);
  }

  bool read_types(std::vector<bool>& wanted) {
    const auto answer = wait_for(PackageType::output_setup);
    if (answer.empty()) socket_.fail("empty answer to the RTDE output setup");
    std::istringstream types(std::string(answer.begin() + 1, answer.end()));
    entries_.clear();
    package_bytes_ = 1;
    bool complete = true;
    std::string token;
    for (int i = 0; i < n_fields; ++i) {
      if (!wanted[i]) continue;
      const ValueType type = std::getline(types, token, ',') ? parse_type(token) : ValueType{Scalar::real, 0};
      complete = add(i, type, token, wanted) && complete;
    }
    return complete;
  }

  bool add(int i, const ValueType& type, const std::string& token, std::vector<bool>& wanted) {
    const std::string name = fields[i].name;
    if (type.count == 0 && fields[i].required) socket_.fail("the controller has no RTDE output " + name);
    if (type.count == 0) {
      wanted[i] = false;
      return false;
    }
    if (type.count != fields[i].width) socket_.fail("RTDE output " + name + " has unexpected type " + token);
    entries_.push_back({i, offset_of(i), type});
    package_bytes_ += static_cast<std::size_t>(type.count) * bytes_of(type.scalar);
    return true;
  }

  void request_inputs() {
    std::string names = "input_int_register_" + std::to_string(beat_register);
    names += ",input_int_register_" + std::to_string(run_register);
    for (int i = 0; i < 6; ++i) names += ",input_double_register_" + std::to_string(torque_register + i);
    send(PackageType::input_setup, {names.begin(), names.end()});
    const auto answer = wait_for(PackageType::input_setup);
    const std::string types(answer.empty() ? answer.begin() : answer.begin() + 1, answer.end());
    if (answer.empty() || answer[0] == 0 || types.find("IN_USE") != std::string::npos)
      socket_.fail("the registers of the torque interface are taken by another client (" + types + ")");
    torque_package_[0] = 0;
    torque_package_[1] = static_cast<std::uint8_t>(torque_package_.size());
    torque_package_[2] = static_cast<std::uint8_t>(PackageType::data);
    torque_package_[3] = answer[0];
  }

  void send(PackageType type, const std::vector<std::uint8_t>& payload = {}) {
    socket_.send(package(type, payload), options_.timeout);
  }

  // Payload of the next package of this type; texts and stray data are skipped. Data while waiting for the start
  // reply means that the start was accepted.
  std::vector<std::uint8_t> wait_for(PackageType type) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.timeout);
    while (std::chrono::steady_clock::now() < deadline) {
      Package p;
      while (next(p)) {
        if (p.type == type) return {p.payload, p.payload + p.size};
        if (type == PackageType::start && p.type == PackageType::data) return {1};
      }
      compact();
      filled_ += socket_.receive(buffer_.data() + filled_, buffer_.size() - filled_, 0.05);
    }
    socket_.fail("accepts the connection but does not answer RTDE within " + Socket::seconds(options_.timeout));
  }

  bool next(Package& p) {
    if (filled_ - consumed_ < header_bytes) return false;
    const std::uint8_t* head = buffer_.data() + consumed_;
    const std::size_t size = load<std::uint16_t>(head);
    if (size < header_bytes) socket_.fail("malformed package: this is not an RTDE server");
    if (filled_ - consumed_ < size) return false;
    p = {static_cast<PackageType>(head[2]), head + header_bytes, size - header_bytes};
    consumed_ += size;
    return true;
  }

  void compact() noexcept {
    std::memmove(buffer_.data(), buffer_.data() + consumed_, filled_ - consumed_);
    filled_ -= consumed_;
    consumed_ = 0;
  }

  SessionOptions options_;
  Socket socket_;
  std::vector<std::uint8_t> buffer_;
  std::size_t filled_ = 0, consumed_ = 0, package_bytes_ = 0;
  std::vector<Entry> entries_;
  Version version_;
  double rate_ = 0.0;
  std::array<std::uint8_t, header_bytes + 1 + 2 * 4 + 6 * 8> torque_package_{};
};

}  // namespace robot_dynamics::rtde
