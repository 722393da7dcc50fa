"""Electric model of the motors: losses, back EMF, power and energy [Clochiatti2024, eq. 19-26]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile


@dataclass(frozen=True)
class EnergyModel:
    """Constants (n,) of the equivalent DC motors: gear ratio r, k_m [Nm/sqrt(W)] motor side, k_t / k_b.

    V = R i + k_b w_m, R = (k_t / k_m)^2; P_elec = tau_m^2 / k_m^2 + (k_b / k_t) w_m tau_m [Clochiatti2024, eq. 19-23].
    Torques tau = r tau_m and velocities w = w_m / r here are reflected to the output side.
    """

    gear_ratio: np.ndarray
    motor_constant: np.ndarray
    back_emf_ratio: np.ndarray

    @classmethod
    def from_robot(cls, robot: RobotFile) -> EnergyModel:
        """Model of a robot file. Raises CapabilityError for unknown motor constants or link-side torque."""
        if robot.drives.torque_side != "motor":
            raise CapabilityError(f"{robot.name}: torque is measured behind the gear: what the motor gives is unknown")
        names = ("gear_ratio", "motor_constant", "back_emf_ratio")
        return cls(*(robot.array(f"drives.{name}") for name in names))

    def meter(self) -> _core.PowerMeter:
        """The sample-by-sample integrator of the core."""
        constants = {name: np.ascontiguousarray(value) for name, value in vars(self).items()}
        return _core.PowerMeter(len(self.gear_ratio), **constants)

    def energy(self, stamp_ns: np.ndarray, torque: np.ndarray, velocity: np.ndarray) -> dict[str, Any]:
        """Energies [J] and efficiencies of a motion, per joint, then total (n + 1,): what flows back credited and lost.

        E_elec = integral of P_elec, E_mech = integral of w tau, eta = E_mech / E_elec [Clochiatti2024, eq. 24-26].
        """
        n, count = torque.shape[1], len(stamp_ns)
        out = [np.full((count, n + 1), np.nan) for _ in range(6)]
        inputs = (np.ascontiguousarray(x, dtype=float) for x in (torque, velocity))
        _core.run_in_turn(np.ascontiguousarray(stamp_ns, dtype=np.int64), [self.meter().rows(count, *inputs, *out)])
        credited, lost, mechanical = (block[-1] for block in out[2:5])
        with np.errstate(invalid="ignore", divide="ignore"):
            eta, eta_lost = (np.where(e > 1e-9, mechanical / e, np.nan) for e in (credited, lost))
        return {
            "electrical": credited,
            "electrical_clamped": lost,
            "mechanical": mechanical,
            "efficiency": eta,
            "efficiency_clamped": eta_lost,
            "regenerated": lost - credited,
        }
