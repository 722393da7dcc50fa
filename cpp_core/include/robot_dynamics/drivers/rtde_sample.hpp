// One robot state as the RTDE reader delivers it: fixed size, every output as doubles at a fixed place, NaN = absent.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace robot_dynamics::rtde {

struct Field {
  const char* name;  // RTDE output name
  int width;         // components
  bool required;     // false: a controller answering NOT_FOUND is accepted, the values stay NaN
};

// Requested outputs, in this order [rad, rad/s, A, Nm, deg C, kg, m].
constexpr Field fields[] = {
    {"timestamp", 1, true},        {"actual_q", 6, true},      {"actual_qd", 6, true},
    {"actual_current", 6, true},   {"target_q", 6, true},      {"target_qd", 6, true},
    {"target_qdd", 6, true},       {"target_moment", 6, true}, {"joint_temperatures", 6, false},
    {"robot_mode", 1, true},       {"safety_mode", 1, true},   {"runtime_state", 1, true},
    {"payload", 1, false},         {"payload_cog", 3, false},  {"actual_current_as_torque", 6, false},
    {"actual_TCP_pose", 6, false}, {"tcp_offset", 6, false},
};
constexpr int n_fields = sizeof(fields) / sizeof(fields[0]);

constexpr int offset_of(int field) {
  int offset = 0;
  for (int i = 0; i < field; ++i) offset += fields[i].width;
  return offset;
}
constexpr int sample_width = offset_of(n_fields);

// Place of an output's first value; a name that is not in the table does not compile.
constexpr int place_of(std::string_view name) {
  int field = 0;
  while (name != fields[field].name) ++field;
  return offset_of(field);
}

// Places the reader itself looks at.
constexpr int at_timestamp = place_of("timestamp"), at_q = place_of("actual_q"), at_qd = place_of("actual_qd");
constexpr int at_current = place_of("actual_current"), at_target_qd = place_of("target_qd");
constexpr int at_safety_mode = place_of("safety_mode");
constexpr int measured_begin = at_q, measured_end = at_current + 6;  // q, qd, current: repeated by a frozen controller

enum SampleFlag : std::uint32_t {
  first_after_connect = 1u << 0,  // derivatives and integrals must restart here
  frozen = 1u << 1,               // measured values repeat exactly although the stamps advance
  clock_backwards = 1u << 2,      // controller time went back (restart): stamps were re-anchored
  late = 1u << 3,                 // the gap before this sample exceeded the stall threshold
};

struct Sample {
  std::int64_t stamp_ns = 0;    // controller time mapped to the host's system clock
  std::int64_t receive_ns = 0;  // host system clock when the bytes arrived
  std::uint32_t flags = 0;
  std::uint32_t missed = 0;  // samples missing before this one, by controller time
  std::array<double, sample_width> values{};
};

}  // namespace robot_dynamics::rtde
