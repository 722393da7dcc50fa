"""Power stage: what the motors draw and give, per joint and in total, and the energy of the motion so far."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.models.energy import EnergyModel
from robot_dynamics_ros.parameters import resolve
from robot_dynamics_ros.robot_file import RobotFile


class PowerStage(Stage):
    """P_elec = tau_m^2 / k_m^2 + (k_b / k_t) w_m tau_m, P_mech = w_m tau_m, energies, eta [Clochiatti2024, eq. 19-26].

    Energy counts from the first sample or the last reset. Time without samples is not counted (status degraded).
    configure() refuses robots whose motor constants are unknown or whose torque is measured behind the gear.
    """

    name = "power"
    reads = ("qd", "drive_torque")
    optional = ()
    writes = (
        "electrical_power",
        "mechanical_power",
        "electrical_energy",
        "electrical_energy_clamped",
        "mechanical_energy",
        "efficiency",
    )
    parameters = ()
    arguments = attrgetter("drive_torque", "qd", *writes)

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot. Raises CapabilityError without motor constants, ConfigError for any parameter."""
        resolve(self.parameters, parameters, self.name)
        if not robot.drives.effort.includes_rotor_inertia:
            raise CapabilityError(f"{robot.name}: effort leaves out the rotors' inertia, so not all of the motor")
        self.core = EnergyModel.from_robot(robot).meter()
