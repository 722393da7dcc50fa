// Second-order sections over recorded signals: a digital filter of order 2 per section, forward or without phase.
#pragma once

#include <cstddef>
#include <vector>

namespace robot_dynamics {

// Coefficients of one section, a0 = 1: y_k = b0 x_k + b1 x_(k-1) + b2 x_(k-2) - a1 y_(k-1) - a2 y_(k-2).
struct Section {
  double b0, b1, b2, a1, a2;
};

// Filters x (count, width) in place, each column on its own, as if its first row had stood there before. Rows are
// `stride` values apart: negative from the last row on for a run backwards in time.
inline void filter_rows(const std::vector<Section>& sections, double* x, std::size_t count, std::size_t width,
                        std::ptrdiff_t stride) {
  if (count == 0) return;
  std::vector<double> state(2 * width * sections.size());
  for (std::size_t j = 0; j < width; ++j) {
    double u = x[j];
    double* z = state.data() + j;
    for (const Section& s : sections) {
      const double y = u * (s.b0 + s.b1 + s.b2) / (1.0 + s.a1 + s.a2);
      z[0] = y - s.b0 * u;
      z[width] = s.b2 * u - s.a2 * y;
      u = y;
      z += 2 * width;
    }
  }
  for (std::size_t k = 0; k < count; ++k, x += stride) {
    double* z = state.data();
    for (const Section& s : sections) {
      for (std::size_t j = 0; j < width; ++j) {
        const double u = x[j], y = s.b0 * u + z[j];
        z[j] = s.b1 * u - s.a1 * y + z[width + j];
        z[width + j] = s.b2 * u - s.a2 * y;
        x[j] = y;
      }
      z += 2 * width;
    }
  }
}

// The same forward, and then backward where no phase is wanted.
inline void filter_sections(const std::vector<Section>& sections, double* x, std::size_t count, std::size_t width,
                            bool zero_phase) {
  const auto step = static_cast<std::ptrdiff_t>(width);
  filter_rows(sections, x, count, width, step);
  if (zero_phase && count > 0) filter_rows(sections, x + (count - 1) * width, count, width, -step);
}

}  // namespace robot_dynamics
