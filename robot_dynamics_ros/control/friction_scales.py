"""Friction scales of a UR controller's torque mode, from an identified robot file."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models.sliding_friction import sliding_friction
from robot_dynamics_ros.robot_file import RobotFile, load_robot

SHARE = 0.8  # of the lowest identified friction that is compensated; the rest keeps the arm from moving by itself
SERVICE = "/friction_model_controller/set_friction_model_parameters"
SERVICE_TYPE = "ur_msgs/srv/SetFrictionModelParameters"


@dataclass(frozen=True)
class FrictionScales:
    """Scales (6,) within 0..1 of UR's viscous and Coulomb friction model; 1: what the controller's model says."""

    viscous: np.ndarray
    coulomb: np.ndarray

    def service_call(self) -> str:
        """The command line that sends them to the UR ROS 2 driver."""
        return f'ros2 service call {SERVICE} {SERVICE_TYPE} "{{parameters: {self._fields()}}}"'

    def _fields(self) -> str:
        named = (("viscous_scale", self.viscous), ("coulomb_scale", self.coulomb))
        return "{" + ", ".join(f"{name}: [{', '.join(f'{x:.3f}' for x in v)}]" for name, v in named) + "}"

    def as_json(self) -> str:
        """JSON text with both lists and the service call."""
        rounded = {"viscous_scale": self.viscous.round(3).tolist(), "coulomb_scale": self.coulomb.round(3).tolist()}
        return json.dumps(rounded | {"service_call": self.service_call()}, indent=1) + "\n"


def friction_scales(robot: RobotFile) -> FrictionScales:
    """Scales with which the controller compensates SHARE of the friction of `robot`.

    s_v = SHARE f_v / F_v,  s_c = SHARE min_v (f(v) - f_v v) / F_c, both within 0..1; f: the law of `robot` without
    load, f_v its viscosity; F_c, F_v: Coulomb level and viscosity of the shipped file of its name, whose friction
    stands for the model inside the controller, which UR does not publish.
    Raises ConfigError for an arm that is no UR, CapabilityError without friction.
    """
    if robot.manufacturer != "Universal Robots":
        raise ConfigError(robot.file, "manufacturer", f"{robot.manufacturer!r}: only UR has friction scales")
    ours, theirs = (sliding_friction(file, loaded=False) for file in (robot, load_robot(robot.name)))
    coulomb, viscous = theirs.coulomb_viscous().T
    slope = ours.coulomb_viscous()[:, 1]
    level = (ours.torque - slope * ours.velocity).min(axis=0)
    return FrictionScales(_ratio(SHARE * slope, viscous), _ratio(SHARE * level, coulomb))


def _ratio(wanted: np.ndarray, model: np.ndarray) -> np.ndarray:
    """Within 0..1; 0 where the controller's model has none."""
    return np.clip(np.divide(wanted, model, out=np.zeros_like(wanted), where=model > 0), 0.0, 1.0)
