// Forces of the environment on the TCP: a commanded wrench and one compliant wall. Base frame, environment on robot.
#pragma once

#include "robot_dynamics/plant/dynamics.hpp"

namespace robot_dynamics::plant {

struct Wall {
  static constexpr double friction_velocity = 5e-3;  // [m/s], below it tangential friction is viscous
  bool enabled = false;
  Vec3 point{};            // a point of its surface [m]
  Vec3 normal{0, 0, 1};    // unit, out of the wall
  double stiffness = 2e4;  // [N/m]
  double damping = 100;    // [N s/m], only while pressed; the wall never pulls
  double friction = 0;     // tangential Coulomb coefficient
};

// Throws naming what is out of range; makes the normal a unit vector.
inline Wall checked(Wall wall) {
  const double length = std::sqrt(dot(wall.normal, wall.normal));
  require(length > 1e-9 && length < 1e9, "normal (its length)", -1, length, "(1e-9, 1e9)");
  for (double x : wall.point) finite(x, "point", -1);
  require(wall.stiffness > 0 && wall.stiffness <= 1e8, "stiffness", -1, wall.stiffness, "(0, 1e8] N/m");
  require(wall.damping >= 0 && wall.damping <= 1e6, "damping", -1, wall.damping, "[0, 1e6] N s/m");
  require(wall.friction >= 0 && wall.friction <= 2, "friction", -1, wall.friction, "[0, 2]");
  wall.normal = (1.0 / length) * wall.normal;
  wall.enabled = true;
  return wall;
}

struct WallForce {
  Vec3 force{};             // on the TCP [N], for the present velocity
  double penetration = 0;   // [m]
  double normal_gain = 0;   // -dF_n/dv_n over the step [N s/m], for the implicit step
  double tangent_gain = 0;  // -dF_t/dv_t
};

// `ahead`: the instant of the step at which the force is wanted [s].
// F_n = k d + c d', d = penetration, clipped at 0; F_t = -mu F_n v_t / max(|v_t|, v0).
inline WallForce evaluate(const Wall& wall, const Vec3& position, const Vec3& velocity, double ahead) noexcept {
  WallForce out;
  out.penetration = dot(wall.point - position, wall.normal);
  if (!wall.enabled || !(out.penetration > 0.0)) {
    out.penetration = 0.0;
    return out;
  }
  const double vn = dot(velocity, wall.normal);
  const double gain = wall.damping + ahead * wall.stiffness;
  const double Fn = wall.stiffness * out.penetration - gain * vn;
  if (!(Fn > 0.0)) return out;
  const Vec3 vt = velocity - vn * wall.normal;
  const double speed = std::sqrt(dot(vt, vt));
  out.tangent_gain = wall.friction * Fn / (speed > wall.friction_velocity ? speed : wall.friction_velocity);
  out.normal_gain = gain;
  out.force = Fn * wall.normal - out.tangent_gain * vt;
  return out;
}

}  // namespace robot_dynamics::plant
