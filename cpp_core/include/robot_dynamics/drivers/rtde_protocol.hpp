// RTDE on the wire: packages, value types and byte order (Universal Robots RTDE guide, protocol version 2).
// A package is uint16 size (header included), uint8 type, payload; every number is big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace robot_dynamics::rtde {

constexpr int default_port = 30004;
constexpr std::uint8_t protocol_version = 2;
constexpr std::size_t header_bytes = 3;
constexpr std::size_t max_package_bytes = 65535;

enum class PackageType : std::uint8_t {
  protocol_version = 'V',
  controller_version = 'v',
  output_setup = 'O',
  input_setup = 'I',
  start = 'S',
  pause = 'P',
  data = 'U',
  text = 'M',
};

// Controller software version; compared lexicographically.
struct Version {
  std::uint32_t major = 0, minor = 0, bugfix = 0, build = 0;
};

inline std::string to_string(const Version& v) {
  return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.bugfix);
}

template <typename Unsigned>
Unsigned load(const std::uint8_t* p) noexcept {
  Unsigned value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) value = static_cast<Unsigned>((value << 8) | p[i]);
  return value;
}

template <typename Unsigned>
void store(std::uint8_t* out, Unsigned value) noexcept {
  for (std::size_t i = sizeof(Unsigned); i-- > 0; value = static_cast<Unsigned>(value >> 8))
    out[i] = static_cast<std::uint8_t>(value);
}

inline void store_double(std::uint8_t* out, double value) noexcept {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  store(out, bits);
}

inline double load_double(const std::uint8_t* p) noexcept {
  const std::uint64_t bits = load<std::uint64_t>(p);
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Type of one output as the controller names it in its reply to the output setup.
enum class Scalar : std::uint8_t { boolean, uint8, uint32, int32, uint64, real };

struct ValueType {
  Scalar scalar = Scalar::real;
  int count = 0;  // components; 0 = NOT_FOUND or unknown
};

constexpr int bytes_of(Scalar s) {
  return s == Scalar::boolean || s == Scalar::uint8 ? 1 : s == Scalar::uint32 || s == Scalar::int32 ? 4 : 8;
}

// Value type of a reply token; count 0 for NOT_FOUND, -1 for a name this reader does not know.
inline ValueType parse_type(const std::string& name) {
  static const struct {
    const char* name;
    ValueType type;
  } table[] = {
      {"BOOL", {Scalar::boolean, 1}},         {"UINT8", {Scalar::uint8, 1}},    {"UINT32", {Scalar::uint32, 1}},
      {"UINT64", {Scalar::uint64, 1}},        {"INT32", {Scalar::int32, 1}},    {"DOUBLE", {Scalar::real, 1}},
      {"VECTOR3D", {Scalar::real, 3}},        {"VECTOR6D", {Scalar::real, 6}},  {"VECTOR6INT32", {Scalar::int32, 6}},
      {"VECTOR6UINT32", {Scalar::uint32, 6}}, {"NOT_FOUND", {Scalar::real, 0}},
  };
  for (const auto& row : table) {
    if (name == row.name) return row.type;
  }
  return {Scalar::real, -1};
}

// One component as a double; every integer type that the reader requests fits exactly.
inline double decode(Scalar scalar, const std::uint8_t* p) noexcept {
  switch (scalar) {
    case Scalar::boolean:
      return p[0] != 0 ? 1.0 : 0.0;
    case Scalar::uint8:
      return p[0];
    case Scalar::uint32:
      return load<std::uint32_t>(p);
    case Scalar::int32:
      return static_cast<std::int32_t>(load<std::uint32_t>(p));
    case Scalar::uint64:
      return static_cast<double>(load<std::uint64_t>(p));
    case Scalar::real:
      break;
  }
  return load_double(p);
}

// A package ready to send.
inline std::vector<std::uint8_t> package(PackageType type, const std::vector<std::uint8_t>& payload = {}) {
  std::vector<std::uint8_t> out(header_bytes);
  store(out.data(), static_cast<std::uint16_t>(header_bytes + payload.size()));
  out[2] = static_cast<std::uint8_t>(type);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

}  // namespace robot_dynamics::rtde
