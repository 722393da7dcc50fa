// GMS friction: Maxwell-slip elements by spacing rules, and the E-GMS law over them [Madsen2020 ch6].
#pragma once

#include <cmath>
#include <vector>

#include "robot_dynamics/friction/friction.hpp"

namespace robot_dynamics {

// D_i = (i/M)^rD, k_i = (1/D_i) (M + 1 - i)^rk / sum_j j^rk [Madsen2020 ch6 17-18]
inline void gms_spacing(int elements, double r_D, double r_k, double* D, double* k) {
  require_range("elements", elements, 1, max_elements);
  require(r_D > 0 && std::isfinite(r_D), "r_D", r_D, "finite and > 0");
  require(std::isfinite(r_k), "r_k", r_k, "finite");
  double sum = 0;
  for (int j = 1; j <= elements; ++j) sum += std::pow(j, r_k);
  for (int i = 1; i <= elements; ++i) {
    D[i - 1] = std::pow(static_cast<double>(i) / elements, r_D);
    k[i - 1] = std::pow(elements + 1 - i, r_k) / sum / D[i - 1];
  }
}

// H in [-1, 1] of spans D and stiffnesses k (n, M) with sum k D = 1 and backlash B [rad] > 0.
inline Elements gms(int n, int elements, const double* D, const double* k, PeriodicTable backlash,
                    double max_gap = 0.1) {
  std::vector<double> level(n * elements), none(n * elements, 0.0);
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int e = i * elements; e < (i + 1) * elements; ++e) {
      require(k[e] >= 0, "stiffness k", k[e], ">= 0");
      sum += level[e] = k[e] * D[e];
    }
    require(std::abs(sum - 1) < 1e-6, "sum k D", sum, "1");
  }
  return Elements(n, elements, D, level.data(), none.data(), std::move(backlash), max_gap);
}

// E-GMS over normalised elements: Fc0 [Nm], Fc1 [1/Nm] (n) [Madsen2020 ch6 20]. A joint with Fc0 = 0 follows the map.
inline Friction egms(FrictionMap map, const Elements& H, const double* Fc0, const double* Fc1,
                     PeriodicTable kinematic_error) {
  require_range("joints of gms", H.joints(), map.joints(), map.joints());
  std::vector<double> level = H.levels(), load = H.levels();
  for (int e = 0; e < H.joints() * H.elements(); ++e) {
    const int i = e / H.elements();
    level[e] *= Fc0[i];
    load[e] *= Fc0[i] > 0.0 ? Fc1[i] : 0.0;
  }
  const Elements scaled(H.joints(), H.elements(), H.spans().data(), level.data(), load.data(), H.backlash(),
                        H.max_gap());
  return Friction(std::move(map), scaled, nullptr, std::move(kinematic_error));
}

}  // namespace robot_dynamics
