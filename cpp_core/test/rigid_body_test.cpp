// Calls of one sample, batches and least-squares updates make no allocation, and agree with each other.
#include <cmath>
#include <vector>

#include "arm.hpp"
#include "check.hpp"
#include "robot_dynamics/rigid_body/kinematics.hpp"
#include "robot_dynamics/rigid_body/normal_qr.hpp"
#include "robot_dynamics/rigid_body/rnea.hpp"

using namespace robot_dynamics;

namespace {

unsigned state = 1;  // xorshift: the same sequence everywhere
double uniform() {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state / 2147483648.0 - 1.0;
}

struct State {
  double q[16], qd[16], qdd[16];
  State() {
    for (int i = 0; i < 16; ++i) q[i] = 3 * uniform(), qd[i] = uniform(), qdd[i] = uniform();
  }
};

bool close(double a, double b) { return std::abs(a - b) <= 1e-12 * (1 + std::abs(b)); }

void single_sample(int n) {
  const Chain chain = arm(n);
  const State x;
  double tau[16], g[16], c[16], M[256], J[96], Y[16 * 160], moved[16];
  Placement frames[17];
  const long count = allocations_of([&] {
    rnea(chain, x.q, x.qd, x.qdd, tau);
    gravity_torque(chain, x.q, g);
    rnea(chain, Vec3{}, x.q, x.qd, nullptr, c);
    mass_matrix(chain, x.q, M);
    jacobian(chain, x.q, J);
    forward_kinematics(chain, x.q, frames);
    regressor(chain, x.q, x.qd, x.qdd, Y);
  });
  CHECK(count == 0);
  for (int i = 0; i < n; ++i) {
    double sum = g[i] + c[i], product = 0;
    for (int j = 0; j < n; ++j) sum += M[i * n + j] * x.qdd[j];
    for (int k = 0; k < 10 * n; ++k) product += Y[i * 10 * n + k] * chain.inertia[k / 10][k % 10];
    CHECK(close(sum, tau[i]));
    CHECK(close(product, tau[i]));
  }
  const double h = 1e-6;  // the Jacobian's last column is the TCP's motion under the last joint
  State y = x;
  y.q[n - 1] += h;
  Placement there[17];
  forward_kinematics(chain, y.q, there);
  for (int k = 0; k < 3; ++k) moved[k] = (there[n].p[k] - frames[n].p[k]) / h;
  for (int k = 0; k < 3; ++k) CHECK(std::abs(moved[k] - J[k * n + n - 1]) < 1e-5);
}

void batches(int n) {
  const Chain chain = arm(n);
  constexpr int N = 131;
  std::vector<double> q(N * n), qd(N * n), qdd(N * n), tau(N * n), one(n);
  for (auto* v : {&q, &qd, &qdd})
    for (double& x : *v) x = uniform();
  CHECK(allocations_of(
            [&] { active_kernels.rnea_batch(view(chain), N, q.data(), qd.data(), qdd.data(), tau.data()); }) == 0);
  for (int s = 0; s < N; ++s) {
    rnea(chain, &q[s * n], &qd[s * n], &qdd[s * n], one.data());
    for (int i = 0; i < n; ++i) CHECK(close(one[i], tau[s * n + i]));
  }
  FusedQR qr(chain, {9, 10, 15}, std::vector<int>(n));
  const QrSamples data{N, q.data(), qd.data(), qdd.data(), tau.data(), nullptr, nullptr, ~0u};
  CHECK(allocations_of([&] { qr.update(data); }) == 0);
}

template <class F>
bool throws(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

KernelTable plain;
int calls = 0;
// The same batch ten times, as a set that is slow on this machine.
void slow_batch(const ChainView& chain, std::size_t N, const double* q, const double* qd, const double* qdd,
                double* tau) {
  for (int k = 0; k < 10; ++k) plain.rnea_batch(chain, N, q, qd, qdd, tau);
  ++calls;
}

void the_fastest_set_is_measured() {
  plain = active_kernels;
  KernelTable slow = plain;
  slow.rnea_batch = slow_batch;
  const KernelTable narrower_is_faster[] = {plain, plain, slow}, wider_is_faster[] = {plain, slow, plain};
  CHECK(fastest(narrower_is_faster, 3) == 1);
  CHECK(fastest(wider_is_faster, 3) == 2);
  CHECK(calls > 0);
  CHECK(fastest(wider_is_faster, 2) == 1);  // below three sets nothing is measured
}

}  // namespace

int main() {
  CHECK(allocations_of([] { delete static_cast<int*>(operator new(4)); }) == 1);  // the guard counts
  KernelTable tables[most_tables];
  const int count = available_kernels(tables);
  for (int k = 0; k < count; ++k) {
    active_kernels = tables[k];
    for (const int n : {1, 2, 6, 7, 16}) single_sample(n);
    for (const int n : {2, 6, 7}) batches(n);
  }
  the_fastest_set_is_measured();
  CHECK(throws([] { FusedQR(Chain{}, {}, {}); }));
  CHECK(throws([] { FusedQR(arm(2), {20}, {0, 0}); }));
  CHECK(throws([] { FusedQR(arm(2), {}, {0, -1}); }));
  return failures ? 1 : 0;
}
