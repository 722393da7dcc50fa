// Pinocchio's inverse dynamics and torque regressor in plain C++ loops: the peer of `python -m bench speed --peers`.
// Compiled at run time against the headers of the installed Pinocchio; no part of the package links to it.
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>
#include <string>

namespace {

using Vector = Eigen::Map<const Eigen::VectorXd>;

struct Peer {
  pinocchio::Model model;
  pinocchio::Data data;
  explicit Peer(const pinocchio::Model& m) : model(m), data(m) {}
};

}  // namespace

extern "C" {

// placements n x 16 row-major, parameters n x 10 in Pinocchio's order, gravity 3
void* peer_create(int n, const double* placements, const double* parameters, const double* gravity) {
  using Matrix4 = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
  pinocchio::Model model;
  for (int i = 0; i < n; ++i) {
    const Eigen::Map<const Matrix4> T(placements + 16 * i);
    const pinocchio::SE3 placement(Eigen::Matrix3d(T.topLeftCorner<3, 3>()), Eigen::Vector3d(T.topRightCorner<3, 1>()));
    const auto joint = model.addJoint(i, pinocchio::JointModelRZ(), placement, "j" + std::to_string(i));
    const Eigen::Map<const Eigen::Matrix<double, 10, 1>> phi(parameters + 10 * i);
    model.appendBodyToJoint(joint, pinocchio::Inertia::FromDynamicParameters(phi), pinocchio::SE3::Identity());
  }
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(gravity);
  return new Peer(model);
}

void peer_destroy(void* peer) { delete static_cast<Peer*>(peer); }

void peer_rnea(void* peer, long N, const double* q, const double* v, const double* a, double* tau) {
  Peer& p = *static_cast<Peer*>(peer);
  const int n = p.model.nv;
  for (long k = 0; k < N; ++k)
    Eigen::Map<Eigen::VectorXd>(tau + k * n, n) =
        pinocchio::rnea(p.model, p.data, Vector(q + k * n, n), Vector(v + k * n, n), Vector(a + k * n, n));
}

// W (n N x 10 n, column-major, joint 0's rows first), or null to compute and forget
void peer_regressor(void* peer, long N, const double* q, const double* v, const double* a, double* W) {
  Peer& p = *static_cast<Peer*>(peer);
  const int n = p.model.nv;
  for (long k = 0; k < N; ++k) {
    const auto& Y = pinocchio::computeJointTorqueRegressor(p.model, p.data, Vector(q + k * n, n), Vector(v + k * n, n),
                                                           Vector(a + k * n, n));
    if (W == nullptr) continue;
    for (int c = 0; c < 10 * n; ++c)  // what is always zero stays as it is
      for (int j = 0; j <= c / 10; ++j) W[(long(c) * n + j) * N + k] = Y(j, c);
  }
}
}
