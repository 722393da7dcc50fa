// Joint speeds [rad/s] that tell rest, creep and sliding apart: the one table of the core (Python: signals/speeds.py).
// Beside it only stream_monitor.hpp, which judges commanded velocities: they have no noise.
#pragma once

namespace robot_dynamics::speeds {

constexpr double standing = 0.005;  // below it nothing but noise of a measured velocity is left
constexpr double moving = 0.01;     // a joint faster than this moves: twice the noise of differenced positions
constexpr double slow = 0.02;       // below it elements stick and creep
constexpr double sliding = 0.05;    // above it all elements have slipped

}  // namespace robot_dynamics::speeds
