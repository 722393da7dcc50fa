#include "batch.hpp"
#include "robot_dynamics/friction/presliding.hpp"
#include "robot_dynamics/signals/sections.hpp"

namespace bindings::sections {
using namespace robot_dynamics;

namespace {

void filter(const Array& sos, Array& x, bool zero_phase) {
  const py::ssize_t count = x.ndim() == 2 ? x.shape(0) : -1, width = x.ndim() == 2 ? x.shape(1) : -1;
  require_shape(sos, "sos", {-1, 6});
  require_shape(x, "x", {count, width});
  std::vector<Section> sections;
  for (py::ssize_t s = 0; s < sos.shape(0); ++s) {
    const double* c = sos.data(s, 0);
    if (c[3] != 1.0) throw std::invalid_argument("sos has a section whose a0 is not 1");
    sections.push_back({c[0], c[1], c[2], c[4], c[5]});
  }
  double* data = x.mutable_data();
  const py::gil_scoped_release release;
  filter_sections(sections, data, count, width, zero_phase);
}

// x_k = left (x_(k-1) + qd_k (t_k - t_(k-1)) - (q_k - q_(k-1))), and x_(k-1) = 0 where a joint slid at k - 1: what it
// had then stays.
Array rotor_positions(const Array& t, const Array& q, const Array& qd, double left) {
  const py::ssize_t N = t.ndim() == 1 ? t.shape(0) : -1, n = q.ndim() == 2 ? q.shape(1) : -1;
  const double *pt = row(t, "t", N), *pq = rows(q, "q", N, n), *pv = rows(qd, "qd", N, n);
  Array out({N, n});
  double* po = out.mutable_data();
  std::vector<double> x(n, 0.0), kept(n, 0.0);
  const py::gil_scoped_release release;
  for (py::ssize_t k = 0; k < N; ++k) {
    const double *now = pq + k * n, *before = k ? now - n : now, *v = pv + k * n;
    const double dt = k ? pt[k] - pt[k - 1] : 0.0;
    bool slides = false;
    for (py::ssize_t j = 0; j < n; ++j) {
      x[j] = left * (x[j] + v[j] * dt - (now[j] - before[j]));
      po[k * n + j] = now[j] + kept[j] + x[j];
      slides |= std::abs(v[j]) > Presliding::slides_at;
    }
    for (py::ssize_t j = 0; slides && j < n; ++j) kept[j] += std::exchange(x[j], 0.0);
  }
  return out;
}

}  // namespace

void bind(py::module_& m) {
  m.def("filter_sections", &filter, py::arg("sos"), py::arg("x"), py::arg("zero_phase") = true,
        "Filter x (N, n) in place by second-order sections (S, 6), forward and (zero_phase) backward, as if its ends\n"
        "had stood there before.");
  m.def("rotor_positions", &rotor_positions, py::arg("t"), py::arg("q"), py::arg("qd"), py::arg("left"),
        "Positions (N, n) [rad] of rotors: q (N, n) plus the integral of qd dt - dq, of which the share `left` stays\n"
        "per sample, since a joint last slid; t (N,) [s], qd (N, n) [rad/s].");
}

}  // namespace bindings::sections
