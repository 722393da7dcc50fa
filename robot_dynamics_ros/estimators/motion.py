"""First stage: acceleration, the rigid-body model torque, and the drive torque from what the robot reports."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import in_ampere
from robot_dynamics_ros.signals import Log

ACCELERATION_CUTOFF = 150.0  # rad/s, of a robot file without it [Simoni2017 Table II]


def effort_inertia(robot: RobotFile, notes: list[str] | None = None) -> np.ndarray:
    """Inertia beside the links (n,) [kg m2] as it appears in effort; zero, with a note, where it is unknown."""
    try:
        return robot.effort_inertia
    except CapabilityError:
        if notes is not None:
            notes.append(f"{robot.name}: rotor inertia is unknown and taken as zero; accelerating looks like a force")
        return np.zeros(robot.n_joints)


def rotor_torque(robot: RobotFile, qdd: np.ndarray) -> np.ndarray:
    """Torque (N, n) [Nm] in the effort of rotors that accelerate with joints: B qdd + J qdd; qdd (N, n) [rad/s2]."""
    return effort_inertia(robot) * qdd + qdd @ robot.coupled_inertia


def effort_gain(robot: RobotFile, source: str, unit: str) -> np.ndarray:
    """Nm per unit of the torque signal (n,), signed. tau = K_tau i [Simoni2017, eq. 16].

    source: "effort" or "current". unit: "Nm", "A", or "robot_file" (what the file declares for effort).
    Raises CapabilityError where current is used and the torque constants are unknown.
    """
    effort = robot.drives.effort
    in_ampere = source == "current" or (effort.unit if unit == "robot_file" else unit) == "A"
    constant = robot.array("drives.torque_constant") if in_ampere else np.ones(robot.n_joints)
    return float(effort.sign) * constant


class MotionStage(Stage):
    """q, qd, effort -> qdd, model torque [Simoni2017, eq. 20 and V], drive torque [16]."""

    name = "motion"
    reads = ("q",)
    optional = ("qd", "effort", "current", "payload")
    writes = ("qdd", "drive_torque", "model_torque")
    parameters = (
        Parameter(
            "acceleration_cutoff",
            0.0,
            "low-pass of the differentiated velocity, 0: that of the robot file, else 150",
            "rad/s",
            0.0,
            1e5,
        ),
        Parameter("torque_source", "effort", "signal the drive torque comes from", choices=("effort", "current")),
        Parameter("effort_unit", "robot_file", "unit of effort", choices=("robot_file", "Nm", "A")),
        Parameter(
            "effort_gravity",
            "robot_file",
            "whether effort contains gravity",
            choices=("robot_file", "included", "excluded"),
        ),
    )

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot. Raises ConfigError, or CapabilityError for unknown links or torque constants."""
        p = resolve(self.parameters, parameters, self.name)
        notes: list[str] = []
        cutoff = p["acceleration_cutoff"] or robot.drives.acceleration_cutoff or ACCELERATION_CUTOFF
        if cutoff < 1.0:
            raise ConfigError(self.name, "acceleration_cutoff", f"{cutoff!r} is neither 0 nor in 1..100000 rad/s")
        included = {"included": True, "excluded": False}.get(p["effort_gravity"], robot.drives.effort.includes_gravity)
        self.core = _core.MotionState(
            robot.chain(),
            acceleration_cutoff=cutoff,
            rotor_inertia=effort_inertia(robot, notes),
            coupled_inertia=robot.coupled_inertia.ravel(),
            effort_gain=effort_gain(robot, p["torque_source"], p["effort_unit"]),
            effort_lacks_gravity=not included,
        )
        if in_ampere(robot):
            notes.append(f"{robot.name}: torque constants are unknown; forces are in units of the effort, no newtons")
        self.notes = notes
        read = ("q", "qd", p["torque_source"], "payload")
        self.arguments = attrgetter(*read, "qd", "qdd", "model_torque", "drive_torque")

    def rows(self, log: Log) -> _core.RowStep:
        """As Stage.rows; a velocity that is not reported is filled by differentiation."""
        log.allocate("qd")
        return super().rows(log)
