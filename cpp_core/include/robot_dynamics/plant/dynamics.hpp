// Rigid-body terms of the plant at one configuration: mass matrix by the composite-body algorithm, bias torque by
// Newton-Euler with qdd = 0, and TCP position and Jacobian, all from one set of sines and cosines.
#pragma once

#include "robot_dynamics/plant/math.hpp"
#include "robot_dynamics/rigid_body/spatial.hpp"

namespace robot_dynamics::plant {

struct RigidBody {
  std::array<double, max_joints * max_joints> M{};  // n x n, row-major [kg m2]
  PerJoint bias{};                                  // C(q, qd) qd + g(q) [Nm]
  std::array<double, 6 * max_joints> J{};           // TCP Jacobian in the base frame, 6 x n
  Placement tcp{};                                  // base -> TCP
};

struct Composite {  // ten inertial parameters about a frame origin
  Mat3 I;
  Vec3 mc;
  double m;
};

inline Composite composite(const std::array<double, link_parameters>& X) noexcept {
  return {{X[0], X[1], X[2], X[1], X[3], X[4], X[2], X[4], X[5]}, {X[6], X[7], X[8]}, X[9]};
}

// Adds a child's inertia, expressed about the parent's origin (x_parent = R x_child + p).
inline void accumulate(Composite& parent, const Composite& child, const Mat3& R, const Vec3& p) noexcept {
  const Mat3 Rt{R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]};
  const Mat3 I = product(product(R, child.I), Rt);
  const Vec3 mc = rotate(R, child.mc), c = mc + child.m * p;  // c: first moment about the parent's origin
  // I_parent = I + (2 p.mc + m p.p) 1 - p mc' - mc p' - m p p'
  const double trace = 2.0 * dot(p, mc) + child.m * dot(p, p);
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) parent.I[3 * a + b] += I[3 * a + b] - p[a] * c[b] - mc[a] * p[b];
    parent.I[4 * a] += trace;
    parent.mc[a] += c[a];
  }
  parent.m += child.m;
}

class Dynamics {
 public:
  Dynamics() = default;
  explicit Dynamics(const Chain& chain) : chain_(chain) {}

  void evaluate(const double* q, const double* qd, bool with_tcp, RigidBody& out) noexcept {
    for (int i = 0; i < chain_.n; ++i) turn(i, q[i]);
    bias(qd, out.bias.data());
    mass_matrix(out.M.data());
    if (with_tcp) tool(out);
  }

  // Gravity potential at the last evaluated configuration [J].
  double potential() const noexcept {
    Placement T;
    double sum = 0.0;
    for (int i = 0; i < chain_.n; ++i) {
      T.p = T.p + rotate(T.R, chain_.placement[i].p);
      T.R = product(T.R, R_[i]);
      const Composite X = composite(chain_.inertia[i]);
      const Vec3 moment = rotate(T.R, X.mc) + X.m * T.p;
      sum -= dot(chain_.gravity, moment);
    }
    return sum;
  }

 private:
  void turn(int i, double q) noexcept {
    const Mat3& P = chain_.placement[i].R;
    double s, c;
    sine_cosine(q, s, c);
    R_[i] = {c * P[0] + s * P[1], c * P[1] - s * P[0], P[2], c * P[3] + s * P[4], c * P[4] - s * P[3], P[5],
             c * P[6] + s * P[7], c * P[7] - s * P[6], P[8]};
  }

  // Newton-Euler with qdd = 0 [Madsen2020 2.26-2.29].
  void bias(const double* qd, double* tau) noexcept {
    Vec3 f[max_joints], n[max_joints];
    Vec3 w{}, wd{}, a = -1.0 * chain_.gravity;
    for (int i = 0; i < chain_.n; ++i) {
      const Vec3& p = chain_.placement[i].p;
      const Vec3 a_joint = a + cross(wd, p) + cross(w, cross(w, p));
      const Vec3 w_parent = rotate_back(R_[i], w);
      wd = rotate_back(R_[i], wd) + Vec3{w_parent[1] * qd[i], -w_parent[0] * qd[i], 0.0};
      w = w_parent + Vec3{0, 0, qd[i]};
      a = rotate_back(R_[i], a_joint);
      const Composite X = composite(chain_.inertia[i]);
      f[i] = X.m * a + cross(wd, X.mc) + cross(w, cross(w, X.mc));
      n[i] = rotate(X.I, wd) + cross(w, rotate(X.I, w)) + cross(X.mc, a);
    }
    for (int i = chain_.n - 1; i >= 0; --i) {
      tau[i] = n[i][2];
      if (i == 0) break;
      const Vec3 force = rotate(R_[i], f[i]);
      f[i - 1] = f[i - 1] + force;
      n[i - 1] = n[i - 1] + rotate(R_[i], n[i]) + cross(chain_.placement[i].p, force);
    }
  }

  // Composite rigid bodies: column j is the torque of a unit acceleration of joint j alone.
  void mass_matrix(double* M) noexcept {
    const int n = chain_.n;
    Composite total[max_joints];
    for (int i = 0; i < n; ++i) total[i] = composite(chain_.inertia[i]);
    for (int i = n - 1; i > 0; --i) accumulate(total[i - 1], total[i], R_[i], chain_.placement[i].p);
    for (int j = 0; j < n; ++j) {
      const Composite& X = total[j];
      Vec3 f{-X.mc[1], X.mc[0], 0.0}, t{X.I[2], X.I[5], X.I[8]};  // z x mc, I z
      M[j * n + j] = t[2];
      for (int i = j; i > 0; --i) {
        f = rotate(R_[i], f);
        t = rotate(R_[i], t) + cross(chain_.placement[i].p, f);
        M[(i - 1) * n + j] = M[j * n + i - 1] = t[2];
      }
    }
  }

  void tool(RigidBody& out) const noexcept {
    const int n = chain_.n;
    Vec3 origin[max_joints], z[max_joints];
    Placement T;
    for (int i = 0; i < n; ++i) {
      T.p = T.p + rotate(T.R, chain_.placement[i].p);
      T.R = product(T.R, R_[i]);
      origin[i] = T.p;
      z[i] = {T.R[2], T.R[5], T.R[8]};
    }
    out.tcp.p = T.p + rotate(T.R, chain_.tool.p);
    out.tcp.R = product(T.R, chain_.tool.R);
    for (int i = 0; i < n; ++i) {
      const Vec3 v = cross(z[i], out.tcp.p - origin[i]);
      for (int k = 0; k < 3; ++k) {
        out.J[k * n + i] = v[k];
        out.J[(3 + k) * n + i] = z[i][k];
      }
    }
  }

  Chain chain_{};
  std::array<Mat3, max_joints> R_{};
};

}  // namespace robot_dynamics::plant
