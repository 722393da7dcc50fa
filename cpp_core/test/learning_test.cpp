// The laws by which the friction feedforward learns: gradient, after [Madsen2020 ch6 24-28], and recursive least
// squares [Madsen2020 appB].
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "check.hpp"
#include "robot_dynamics/control/adaptive.hpp"
#include "robot_dynamics/control/rls_friction.hpp"

using namespace robot_dynamics;

namespace {

constexpr double dt = 1e-3, pi = 3.14159265358979323846;
const double nan_ = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

constexpr double level = 8.0;  // Nm

struct Sample {  // Y1 = F H and omega = F_v of a joint that reverses, as after the hysteresis model
  double y1, w;
};

std::vector<Sample> excitation(double seconds) {
  std::vector<Sample> samples;
  for (int k = 0; k * dt < seconds; ++k) {
    const double t = k * dt, w = 4.0 * std::sin(2 * pi * 0.5 * t) + 1.5 * std::sin(2 * pi * 0.17 * t + 1);
    samples.push_back({level * std::tanh(w / 0.25), w});
  }
  return samples;
}

// Learns from friction a1 Y1 + a2 F_v.
void drive(AdaptiveFriction& a, double seconds, double a1, double a2) {
  for (const auto& [y1, w] : excitation(seconds)) {
    const double f = a1 * y1 + a2 * w;
    a.step(dt, &y1, &w, &level, &w, &f, false);
  }
}

void it_converges_and_its_error_never_grows() {
  AdaptiveFriction a(1, 0.1);
  double last = inf;
  for (const auto& [y1, w] : excitation(50)) {
    const double f = 0.7 * y1 + 1.3 * w;
    a.step(dt, &y1, &w, &level, &w, &f, false);
    const double error =
        std::hypot(*a.coulomb() - 0.7, *a.viscous() - 1.3);  // a Lyapunov function of the implicit step
    CHECK(error <= last + 1e-9);
    last = error;
  }
  CHECK(std::abs(*a.coulomb() - 0.7) <= 0.01);
}

void the_implicit_step_is_stable_for_any_dt_and_gain() {
  for (double step : {1e-5, 1e-3, 0.05}) {
    AdaptiveFriction a(1, 1e-6);
    for (const auto& [y1, w] : excitation(2)) {
      const double f = 0.7 * y1 + w;
      double before, after;
      a.friction(&y1, &w, &before);
      a.step(step, &y1, &w, &level, &w, &f, false);
      a.friction(&y1, &w, &after);
      CHECK((f - before) * (f - after) >= -1e-9);  // it does not overshoot
    }
  }
}

void projection_keeps_the_parameters_in_bounds() {
  AdaptiveFriction a(1, 1.0);
  drive(a, 60, 3.0, 3.0);
  CHECK(*a.coulomb() == 2.0 && *a.viscous() == 2.0);
  drive(a, 60, 0.2, 0.2);
  CHECK(*a.coulomb() == 0.4 && *a.viscous() == 0.4);
}

void nothing_moves_at_rest_frozen_with_bad_samples_or_over_a_gap() {
  AdaptiveFriction a(1, 1.0);
  drive(a, 5, 1.2, 1.0);
  CHECK(*a.coulomb() != 1.0);
  const double one = 1, slow = 0.001, nine = 9;
  for (int k = 0; k < 100; ++k)
    a.step(dt, &one, &slow, &level, &slow, &nine, false);  // still moving for 0.05 s [ch6 28]
  const double coulomb = *a.coulomb(), viscous = *a.viscous();
  for (int k = 0; k < 3600; ++k) CHECK(a.step(dt, &one, &slow, &level, &slow, &nine, false) == Status::ok);
  CHECK(*a.coulomb() == coulomb && *a.viscous() == viscous);
  CHECK(a.step(dt, &one, &one, &level, &one, &nine, true) == Status::degraded);
  CHECK(a.step(dt, &one, &one, &level, &one, &nan_, false) == Status::dropped);
  CHECK(a.step(0.0, &one, &one, &level, &one, &nine, false) == Status::dropped);
  CHECK(a.step(1.0, &one, &one, &level, &one, &nine, false) == Status::degraded);
  CHECK(*a.coulomb() == coulomb && *a.viscous() == viscous);
}

void restore_discards_what_was_learned_in_contact() {
  AdaptiveFriction a(1, 1.0);
  drive(a, 40, 0.7, 1.0);
  const double good = *a.coulomb(), y1 = 8.0, w = 0.5, f = 8 * 0.7 + 30.0;
  for (int k = 0; k < 100; ++k) a.step(dt, &y1, &w, &level, &w, &f, false);  // 0.1 s of contact before it is detected
  CHECK(std::abs(*a.coulomb() - good) > 0.02);
  a.restore();
  CHECK(std::abs(*a.coulomb() - good) <= 5e-3);
}

void persisted_values_are_projected_or_refused() {
  AdaptiveFriction a(2, 1.0);
  const double coulomb[] = {0.8, 9.0}, viscous[] = {1.1, -1.0}, bad[] = {nan_, 1.0}, zero[] = {0, 0};
  CHECK(a.set(coulomb, viscous));
  CHECK(a.coulomb()[0] == 0.8 && a.coulomb()[1] == 2.0);
  CHECK(a.viscous()[0] == 1.1 && a.viscous()[1] == 0.4);
  CHECK(!a.set(bad, zero));
  CHECK(a.coulomb()[0] == 0.8 && a.coulomb()[1] == 2.0);
}

void parameters_name_the_argument() {
  for (double bad : {-1.0, 0.0, nan_}) {
    std::string text;
    try {
      AdaptiveFriction a(1, bad);
    } catch (const std::invalid_argument& error) {
      text = error.what();
    }
    CHECK(text.find("time") != std::string::npos);
  }
}

// Oracle: the closed form of a joint that slides at one speed, e(t) = e(0) exp(-(F^2 + F_v^2) t / (time L^2)).
void it_settles_in_its_time_whatever_the_size_of_the_friction() {
  for (const double size : {0.05, 1.0, 40.0}) {
    AdaptiveFriction a(1, 4.0);
    const double y1 = 2 * size, y2 = size, w = 0.5, f = 1.2 * (y1 + y2);
    for (int k = 0; k < 4000; ++k) a.step(dt, &y1, &y2, &y1, &w, &f, false);
    double found;
    a.friction(&y1, &y2, &found);
    CHECK(std::abs((f - found) / (f - y1 - y2) - std::exp(-1.0)) <= 1e-3);
  }
}

void rls_recovers_friction_tracks_a_change_and_does_not_wind_up() {
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0.0, 0.2);
  RlsFriction law(1, 5.0, 0.01, 1e3);
  double coulomb, viscous, S11 = 1e-3, S12 = 0.0, S22 = 1e-3, h1 = 0.0, h2 = 0.0;  // oracle: weighted normal equations
  for (int k = 0; k < 40000; ++k) {
    const double w = 0.8 * std::sin(2 * pi * 0.4 * k * dt) + 0.2 * std::sin(2 * pi * 0.13 * k * dt);
    const double f = std::copysign(k < 20000 ? 6.0 : 9.0, w) + 9.0 * w + noise(random);
    law.step(dt, &w, &f, false);
    law.parameters(&coulomb, &viscous);
    if (k == 19999) CHECK(std::abs(coulomb - 6.0) <= 0.1);
    if (std::abs(w) < 0.01) continue;
    const double kept = std::exp(-dt / 5.0), s = std::copysign(1.0, w);
    S11 = kept * S11 + 1.0, S12 = kept * S12 + s * w, S22 = kept * S22 + w * w;
    h1 = kept * h1 + s * f, h2 = kept * h2 + w * f;
  }
  CHECK(std::abs(coulomb - (S22 * h1 - S12 * h2) / (S11 * S22 - S12 * S12)) <= 1e-6);
  CHECK(std::abs(coulomb - 9.0) <= 0.1 && std::abs(viscous - 9.0) <= 0.3);
  const double half = 0.5;
  for (int k = 0; k < 5000; ++k) {  // at constant speed the two columns are collinear: bounded, and the sum is right
    const double f = 9.0 + 4.5;
    law.step(1.0, &half, &f, false);
  }
  double found;
  law.friction(&half, &found);
  CHECK(std::abs(found - 13.5) <= 1e-6);
  law.parameters(&coulomb, &viscous);
  const double before = coulomb, slow = 0.005, large = 99.0;
  law.step(dt, &slow, &large, false);
  law.step(dt, &nan_, &large, false);
  law.step(dt, &half, &inf, false);
  CHECK(law.step(dt, &half, &large, true) == Status::degraded);
  law.parameters(&coulomb, &viscous);
  CHECK(coulomb == before);
}

}  // namespace

int main() {
  it_converges_and_its_error_never_grows();
  the_implicit_step_is_stable_for_any_dt_and_gain();
  projection_keeps_the_parameters_in_bounds();
  nothing_moves_at_rest_frozen_with_bad_samples_or_over_a_gap();
  restore_discards_what_was_learned_in_contact();
  persisted_values_are_projected_or_refused();
  parameters_name_the_argument();
  it_settles_in_its_time_whatever_the_size_of_the_friction();
  rls_recovers_friction_tracks_a_change_and_does_not_wind_up();
  return failures ? 1 : 0;
}
