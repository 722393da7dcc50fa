// Temperature of the lubricant of n joints from friction power, and its correction [Simoni2017 7-10].
//   model:      heat balance of thermal.hpp, P = v f(v, tau, T)
//   correction: T -= G (RMS(f_measured, N) - RMS(f_model, N)) dt   only without contact and housing temperature, while
//   moving, while armed
//   (eq. 10 assumes that friction falls with temperature; where it rises in the map, the sign turns). G = 0 chooses
//   G = 1 / (convergence_time |df/dT|). A reported housing temperature corrects the two-node model as in a Kalman
//   filter.
#pragma once

#include <cstdint>
#include <vector>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/time.hpp"
#include "robot_dynamics/friction/friction_map.hpp"
#include "robot_dynamics/friction/thermal.hpp"
#include "robot_dynamics/observers/measured_temperature.hpp"
#include "robot_dynamics/observers/temperature_options.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

class TemperatureObserver {
 public:
  static constexpr double initial_std = 10.0, model_std = 4.0, observed_std = 1.5, housing_std = 1.0;  // [K]

  static constexpr int window = 20;  // N [Simoni2017 10]

  TemperatureObserver(FrictionMap map, std::vector<HeatParameters> heat, std::vector<double> gain,
                      TemperatureOptions options)
      : map_(std::move(map)), heat_(std::move(heat)), gain_(std::move(gain)), o_(options) {
    const std::size_t n = map_.joints();
    if (heat_.size() != n || gain_.size() != n)
      throw std::invalid_argument("friction map, heat parameters and gains differ in the number of joints");
    for (std::size_t i = 0; i < n; ++i) validate(heat_[i], static_cast<int>(i));
    require_not_negative("gain", gain_.data(), joints());
    validate(o_);
    clock_.max_gap = o_.max_gap;
    joint_.resize(n);
    initial_.assign(n, o_.ambient);
    initial_housing_ = initial_;
    initial_var_.assign(n, initial_std * initial_std);
    reset();
  }

  int joints() const { return map_.joints(); }
  const TemperatureOptions& options() const { return o_; }
  const std::vector<HeatParameters>& heat() const { return heat_; }
  const std::vector<double>& gain() const { return gain_; }
  // Where a reset starts: T and T_h [deg C] and the variance of T [K2].
  void set_initial(int i, double T, double Th, double variance) {
    require_range("joint", i, 0, joints() - 1);
    require_range("lubricant", T, o_.low, o_.high);
    require_range("housing", Th, o_.low, o_.high);
    require_not_negative("variance", &variance, 1);
    initial_[i] = T;
    initial_housing_[i] = Th;
    initial_var_[i] = variance;
    start(i);
  }
  double housing(int i) const noexcept { return joint_[i].Th; }
  bool armed(int i) const noexcept { return joint_[i].armed > 0; }

  void reset() noexcept {
    clock_.reset();
    jumps_ = {};
    for (int i = 0; i < joints(); ++i) start(i);
  }

  // Start with what `other`, of the same robot, has learned: temperatures, and what is left of the armed period.
  void take_over(const TemperatureObserver& other) noexcept {
    for (int i = 0; i < joints(); ++i) {
      joint_[i] = other.joint_[i];
      joint_[i].armed = std::min(joint_[i].armed, o_.observe_time);
    }
  }

  // v [rad/s]; load [Nm], measured friction [Nm], measured housing temperature [deg C], contact (n + 1) may be null
  // -> T [deg C] and variance [K2]
  Status step(std::int64_t stamp_ns, const double* v, const double* load, const double* friction, const double* housing,
              const double* contact, double* T, double* variance) noexcept {
    if (absent(v, joints())) return Status::unavailable;
    if (!all_finite(v, joints())) return Status::dropped;
    double dt;
    const auto tick = clock_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    if (tick == Tick::gap) cool_down(clock_.silence);
    if (tick == Tick::backwards)
      for (int i = 0; i < joints(); ++i) start(i);
    const bool jump = jumps_.step(dt);  // fault 7: integrate, do not adapt
    const bool free = contact && no_contact(contact) && !jump;
    bool warming = false, limited = false, degraded = false;
    for (int i = 0; i < joints(); ++i) {
      Joint& j = joint_[i];
      const double f = map_.torque_at(i, v[i], load ? load[i] : 0.0, j.T);
      if (dt > 0) {
        predict(i, std::max(v[i] * f, 0.0), dt);
        const bool sensor = heat_[i].two_nodes() && o_.housing_sensor;
        const bool seen = sensor && measure(i, housing ? housing[i] : NAN, dt);
        degraded = degraded || (sensor && !seen);
        j.settled = j.settled || seen;
        const double measured = free && friction && !seen ? friction[i] : NAN;
        limited = correct(i, v[i], load ? load[i] : 0.0, f, measured, dt) || limited;
        limited = bound(j) || limited;
      }
      warming = warming || !j.settled;
      T[i] = j.T;
      variance[i] = j.P[0];
    }
    if (tick == Tick::backwards || tick == Tick::gap) return Status::reset;
    return limited ? Status::saturated : degraded ? Status::degraded : warming ? Status::warming_up : Status::ok;
  }

 private:
  struct Joint {
    double T = 0, Th = 0;
    double P[3] = {0, 0, 0};  // covariance TT, TH, HH [K2]
    double armed = 0, closed = 0;
    double unchanged = 0, last_housing = NAN;
    TwoTemperatures shadow{0, 0};  // the model left alone since the housing reading last changed
    bool settled = false;
    int count = 0, next = 0;
    double meas2[window], model2[window], slope[window];

    void forget_window() noexcept { count = next = 0; }
    void push(double m, double f, double s) noexcept {
      meas2[next] = m * m;
      model2[next] = f * f;
      slope[next] = s;
      next = (next + 1) % window;
      count = count < window ? count + 1 : window;
    }
  };

  // Silence or standstill of `seconds` without friction power: the state cools through the ODE.
  void cool_down(double seconds) noexcept {
    for (int i = 0; i < joints(); ++i) {
      // steps of a tenth of the fastest time constant keep the trapezoidal rule free of ringing
      const double tau = heat_[i].two_nodes() ? 0.1 * heat_[i].capacity / (heat_[i].transfer + 1e-12) : seconds;
      const int steps = static_cast<int>(std::min(1000.0, std::ceil(seconds / tau)));
      for (int s = 0; s < steps; ++s) predict(i, 0.0, seconds / steps);
      joint_[i].forget_window();
    }
  }

  void start(int i) noexcept {
    joint_[i] = Joint{};
    joint_[i].T = initial_[i];
    joint_[i].Th = initial_housing_[i];
    joint_[i].P[0] = joint_[i].P[2] = initial_var_[i];
    if (heat_[i].two_nodes()) joint_[i].P[1] = 0.95 * initial_var_[i];  // both start equally unknown
    joint_[i].armed = o_.observe_time;
    joint_[i].settled = initial_var_[i] <= model_std * model_std;
  }

  bool no_contact(const double* contact) const noexcept {
    for (int i = 0; i <= joints(); ++i)
      if (!(contact[i] == 0)) return false;  // unknown counts as contact
    return true;
  }

  void predict(int i, double power, double dt) noexcept {
    Joint& j = joint_[i];
    const HeatParameters& p = heat_[i];
    const double model_var = model_std * model_std;
    if (!p.two_nodes()) {
      j.T = j.Th = one_node(p, j.T, power, o_.ambient, dt);
      const double keep = std::exp(-2 * p.transfer * dt / p.capacity);  // variance relaxes to the model's own
      j.P[0] = model_var + (j.P[0] - model_var) * keep;
      return;
    }
    const TwoNodeStep step(p, power, o_.ambient, dt);
    const auto x = step({j.T, j.Th});
    j.T = x.lubricant;
    j.Th = x.housing;
    j.shadow = step(j.shadow);
    const double *F = step.F, TT = j.P[0], TH = j.P[1], HH = j.P[2];
    // Noise of the heat that passes from lubricant to housing and from there to the air: each settles at model_std.
    const double q = 2 * model_var * p.transfer / p.capacity * dt, share = p.capacity / p.housing_capacity;
    const double r = 2 * model_var * p.housing_transfer / p.housing_capacity * dt;
    j.P[0] = F[0] * F[0] * TT + 2 * F[0] * F[1] * TH + F[1] * F[1] * HH + q;
    j.P[1] = F[0] * F[2] * TT + (F[0] * F[3] + F[1] * F[2]) * TH + F[1] * F[3] * HH - share * q;
    j.P[2] = F[2] * F[2] * TT + 2 * F[2] * F[3] * TH + F[3] * F[3] * HH + share * share * q + r;
  }

  // Housing measurement; false: absent, impossible, stuck, or far from the model for long (fault 17).
  bool measure(int i, double z, double dt) noexcept {
    Joint& j = joint_[i];
    if (!MeasuredTemperature::possible(z)) return distrust(j, dt);
    if (z != j.last_housing) {
      j.last_housing = z;
      j.unchanged = 0;
      j.shadow = {j.T, j.Th};
    } else {
      j.unchanged += dt;
    }
    if (j.unchanged > 600 && std::abs(j.shadow.housing - z) > 2 * model_std) return distrust(j, dt);
    const double R = housing_std * housing_std * std::max(1.0 / dt, 1.0);  // noise density over one second
    const double S = j.P[2] + R, innovation = z - j.Th;
    const double gate = 5 * std::sqrt(j.P[2] + housing_std * housing_std);
    if (std::abs(innovation) > gate) {
      return distrust(j, dt);
    }
    const double kT = j.P[1] / S, kH = j.P[2] / S;
    j.T += kT * innovation;
    j.Th += kH * innovation;
    j.P[0] -= kT * j.P[1];
    j.P[1] -= kH * j.P[1];
    j.P[2] -= kH * j.P[2];
    return true;
  }

  // A measurement that contradicts the model also makes the model less sure, up to a bound.
  bool distrust(Joint& j, double dt) const noexcept {
    const double most = initial_std * initial_std, more = model_std * model_std * dt / 60;
    if (j.P[0] < most) j.P[0] += more;
    if (j.P[2] < most) j.P[2] += more;
    return false;
  }

  // [Simoni2017 10]; true when the rate limit was active.
  bool correct(int i, double v, double load, double f, double measured, double dt) noexcept {
    Joint& j = joint_[i];
    if (!(j.armed > 0)) {
      j.closed += dt;
      if (j.closed >= o_.rearm_time) j.armed = o_.observe_time;
    }
    if (!(std::isfinite(measured) && std::abs(v) > o_.moving && j.armed > 0)) {
      j.forget_window();
      return false;
    }
    const double s = v > 0 ? 1 : -1;
    const double slope = 0.5 * s * (map_.torque_at(i, v, load, j.T + 1) - map_.torque_at(i, v, load, j.T - 1));
    j.push(measured, f, slope);
    if (j.count < window) return false;
    return apply(j, gain_[i], dt);
  }

  bool apply(Joint& j, double gain, double dt) noexcept {
    double m = 0, f = 0, slope = 0;
    for (int k = 0; k < window; ++k) {
      m += j.meas2[k];
      f += j.model2[k];
      slope += j.slope[k] / window;
    }
    m = std::sqrt(m / window);
    f = std::sqrt(f / window);
    if (!(std::abs(slope) > 1e-3 * f)) return false;  // friction hardly depends on temperature here
    const double rate = gain > 0 ? gain * std::abs(slope) : 1 / o_.convergence_time;  // [1/s]
    const double wanted = (m - f) / slope * rate / (1 + rate * dt);                   // [K/s]
    const double used = std::min(std::max(wanted, -o_.rate_limit), o_.rate_limit);
    // The correction of the lubricant is applied to the housing as far as their errors are correlated: a joint
    // that is warmer than estimated has been warm for long, its housing with it.
    const double together = j.P[0] > 0 ? std::min(std::max(j.P[1] / j.P[0], 0.0), 1.0) : 0.0;
    j.T += used * dt;
    j.Th += together * used * dt;
    const double seen = observed_std * observed_std, keep = std::exp(-2 * rate * dt);
    if (j.P[0] > seen) {
      const double learned = (j.P[0] - seen) * (1 - keep);
      j.P[0] -= learned;
      j.P[1] -= together * learned;
      j.P[2] -= together * together * learned;
    }
    j.armed -= dt;
    if (!(j.armed > 0)) {
      j.closed = 0;
      j.settled = true;
    }
    return used != wanted;
  }

  bool bound(Joint& j) const noexcept {
    const double T = j.T, Th = j.Th;
    j.T = std::min(std::max(T, o_.low), o_.high);
    j.Th = std::min(std::max(Th, o_.low), o_.high);
    return j.T != T || j.Th != Th;
  }

  FrictionMap map_;
  std::vector<HeatParameters> heat_;
  std::vector<double> gain_;
  TemperatureOptions o_;
  std::vector<Joint> joint_;
  std::vector<double> initial_, initial_housing_, initial_var_;
  SampleClock clock_;
  StepJumps jumps_;
};

}  // namespace robot_dynamics
