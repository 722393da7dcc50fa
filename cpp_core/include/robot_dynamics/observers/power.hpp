// Electric and mechanical power of the drives, and their energies since the start [Clochiatti2024, eq. 19-26].
//
// Equivalent DC motor: V = R i + k_b w_m, i = tau_m / k_t, so P_elec = tau_m^2 / k_m^2 + (k_b / k_t) w_m tau_m with the
// motor constant k_m = k_t / sqrt(R) [19-23]; P_mech = w_m tau_m. Reflected to the output side (tau = r tau_m,
// w_m = r w) the ratio r drops out of the product and stays in the loss: tau^2 / (r k_m)^2. eta = E_mech / E_elec [24].
#pragma once

#include <array>
#include <cstdint>

#include "robot_dynamics/common/check.hpp"
#include "robot_dynamics/common/status.hpp"
#include "robot_dynamics/rigid_body/chain.hpp"
#include "robot_dynamics/signals/sample_timing.hpp"

namespace robot_dynamics {

struct PowerParameters {
  std::array<double, max_joints> gear_ratio{};      // motor turns per joint turn, signed
  std::array<double, max_joints> motor_constant{};  // k_m [Nm/sqrt(W)], motor side
  std::array<double, max_joints> back_emf_ratio{};  // k_t / k_b
};

// Per joint, then the robot: (n + 1). Clamped: power that flows back is not counted. Joints share one bus, so the
// robot's clamped energy clamps the sum of the joints' power, not each.
struct PowerOutput {
  double *electrical_power, *mechanical_power;                                // W
  double *electrical_energy, *electrical_energy_clamped, *mechanical_energy;  // J
  double* efficiency;                                                         // NaN until electric energy was spent
};

class PowerMeter {
 public:
  PowerMeter(int n, const PowerParameters& p) : n_(n) {
    require_range("n", n, 1, max_joints);
    require_each("motor_constant", p.motor_constant.data(), n, 1e-4, 1e3);
    require_each("back_emf_ratio", p.back_emf_ratio.data(), n, 0.1, 10.0);
    for (int i = 0; i < n; ++i) {
      require_range("gear_ratio[" + std::to_string(i) + "]", std::abs(p.gear_ratio[i]), 1e-3, 1e5);
      const double k = p.gear_ratio[i] * p.motor_constant[i];
      loss_[i] = 1.0 / (k * k);
      emf_[i] = 1.0 / p.back_emf_ratio[i];
    }
    reset();
  }

  // torque (n) [Nm] of the motor, velocity (n) [rad/s], both reflected. Time without samples (a gap) is not counted:
  // the energies go on from where they were and the status is degraded. A clock that went back starts from zero.
  Status step(std::int64_t stamp_ns, const double* torque, const double* velocity, const PowerOutput& out) noexcept {
    if (absent(torque, n_) || absent(velocity, n_)) return Status::unavailable;
    if (!all_within(torque, n_, plausible_torque) || !all_within(velocity, n_, plausible_velocity))
      return Status::dropped;
    double dt;
    const Tick tick = timing_.tick(stamp_ns, dt);
    if (tick == Tick::duplicate) return Status::dropped;
    if (tick == Tick::backwards) forget();
    double electrical[max_joints + 1] = {}, mechanical[max_joints + 1] = {};
    for (int i = 0; i < n_; ++i) {
      mechanical[i] = velocity[i] * torque[i];
      electrical[i] = loss_[i] * torque[i] * torque[i] + emf_[i] * mechanical[i];
      mechanical[n_] += mechanical[i];
      electrical[n_] += electrical[i];
    }
    for (int i = 0; i <= n_; ++i) advance(i, dt, electrical[i], mechanical[i], out);
    if (tick == Tick::backwards) return Status::reset;
    return tick == Tick::gap || tick == Tick::late ? Status::degraded : Status::ok;
  }

  void reset() noexcept {
    timing_.reset();
    forget();
  }
  int joints() const noexcept { return n_; }

 private:
  struct Account {
    double power = 0.0, mechanical_power = 0.0, energy = 0.0, clamped = 0.0, mechanical = 0.0;
  };

  void forget() noexcept { account_.fill(Account{}); }

  // Trapezoidal rule; dt = 0 after a start or a gap adds nothing.
  void advance(int i, double dt, double electrical, double mechanical, const PowerOutput& out) noexcept {
    Account& a = account_[i];
    const double mean = 0.5 * (a.power + electrical);
    const double positive = 0.5 * (std::max(a.power, 0.0) + std::max(electrical, 0.0));
    a.energy += dt * mean;
    a.clamped += dt * positive;
    a.mechanical += dt * 0.5 * (a.mechanical_power + mechanical);
    a.power = electrical;
    a.mechanical_power = mechanical;
    out.electrical_power[i] = electrical;
    out.mechanical_power[i] = mechanical;
    out.electrical_energy[i] = a.energy;
    out.electrical_energy_clamped[i] = a.clamped;
    out.mechanical_energy[i] = a.mechanical;
    out.efficiency[i] = a.energy > 1e-9 ? a.mechanical / a.energy : std::nan("");
  }

  int n_;
  SampleTiming timing_;
  std::array<double, max_joints> loss_{}, emf_{};
  std::array<Account, max_joints + 1> account_{};
};

}  // namespace robot_dynamics
