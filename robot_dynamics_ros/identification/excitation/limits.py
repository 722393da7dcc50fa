"""What an excitation motion must keep: the robot's limits and the space it is given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.trajectories.limits import JointLimits, joint_limits

USE = 0.9  # share of the limits of joints, torque and TCP speed that a search may use
TOLERANCE = 1e-3  # breach that a returned motion may show: 1 mm, 1 mrad, 0.1 % of a speed, acceleration or torque


@dataclass(frozen=True)
class Box:
    """Axis-aligned box in the base frame: corners low, high (3,) [m]; infinite where a side is open.

    Raises DataError unless every lower corner is below the upper one.
    """

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    def __post_init__(self) -> None:
        if not all(a < b for a, b in zip(self.low, self.high, strict=True)):
            raise DataError(f"box {self.low} .. {self.high}: every lower corner must be below the upper one")


def usual_limits(robot: RobotFile) -> JointLimits:
    """Joint limits of a robot file for motions to design: unknown ones are +-pi rad and 1.5 rad/s, else as in
    JointLimits.
    """
    return joint_limits(robot, position=np.pi, velocity=1.5)


@dataclass(frozen=True)
class Limits(JointLimits):
    """Joint limits and the space that a motion is given.

    tcp_speed [m/s]; floor: least height of joints and TCP [m]; clearance: least distance of joints and TCP from links
    before their own [m] (space.Gaps names the pairs that it is not asked of); inside: box that joints (from the second
    on) and TCP stay in; outside: boxes that links stay out of. Links are the straight lines between joint origins.
    """

    tcp_speed: float = np.inf
    floor: float = -np.inf
    clearance: float = 0.0
    inside: Box | None = None
    outside: tuple[Box, ...] = field(default=())

    @classmethod
    def of(cls, robot: Any, **space: Any) -> Limits:
        """Limits of a robot file: its pose_range, accelerations at most 4 rad/s2; space: fields from floor on.

        Unknown limits as in usual_limits.
        """
        joints = usual_limits(robot)
        lower, upper = robot.pose_range
        speed = np.inf if robot.limits.tcp_speed is None else float(robot.limits.tcp_speed)
        return cls(lower, upper, joints.velocity, np.minimum(joints.acceleration, 4.0), joints.torque, speed, **space)
