"""Joint limits of a robot, one rule for limits that its robot file does not know, and the check of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile


@dataclass(frozen=True)
class JointLimits:
    """Limits per joint (n,): position [rad], velocity [rad/s], acceleration [rad/s2], torque [Nm]; inf: no limit.

    A limit that the robot file does not know (null): position and velocity must be given by the caller, or
    joint_limits() raises; acceleration and torque become inf. A joint that turns without end has position limits of
    +-inf.
    """

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray

    def check(self, names: Sequence[str], q: np.ndarray, rate: float) -> None:
        """Raises CapabilityError naming joint, value and bound where positions or velocities leave the limits.

        names (n,): of the joints; q (N, n) [rad]: samples at `rate` [Hz].
        """
        refuse_outside(names, q.min(axis=0), self.lower, self.upper, "position", "rad")
        refuse_outside(names, q.max(axis=0), self.lower, self.upper, "position", "rad")
        if len(q) > 1:
            fastest = np.array([np.abs(np.diff(column)).max() for column in q.T]) * rate  # by joint: less memory
            refuse_outside(names, fastest, -self.velocity, self.velocity, "velocity", "rad/s")


def joint_limits(robot: RobotFile, *, position: float | None = None, velocity: float | None = None) -> JointLimits:
    """Limits of a robot file.

    position [rad]: +-position where the file has no position limits; velocity [rad/s]: likewise. Raises
    CapabilityError naming the field where a position or velocity limit is unknown and not given.
    """

    def known(field: str, otherwise: float | None) -> np.ndarray:
        field = f"limits.{field}"
        values = robot.array(field) if otherwise is None else robot.array_or(field, otherwise)
        return np.array(np.broadcast_to(values, (robot.n_joints,)), dtype=float)

    return JointLimits(
        known("position_lower", None if position is None else -position),
        known("position_upper", position),
        known("velocity", velocity),
        known("acceleration", np.inf),
        known("torque", np.inf),
    )


def refuse_outside_limits(
    robot: RobotFile, samples: np.ndarray, rate: float = 500.0, speed_limit: float | None = None
) -> None:
    """Raises CapabilityError naming joint, value and bound when positions or velocities leave the robot's limits.

    samples (N, n) [rad] at `rate` [Hz]; speed_limit [rad/s]: of all joints, where the robot file has none.
    """
    velocity = speed_limit if len(samples) > 1 else np.inf  # a single sample has no velocity
    joint_limits(robot, velocity=velocity).check(robot.joint_names, samples, rate)


def refuse_outside(
    names: Sequence[str], values: np.ndarray, lower: np.ndarray, upper: np.ndarray, quantity: str, unit: str
) -> None:
    """Raises CapabilityError naming joint, value and bound for the first of `values` (n,) outside its bounds (n,)."""
    for name, value, low, high in zip(names, values, lower, upper, strict=True):
        if not low <= value <= high:
            raise CapabilityError(
                f"trajectory: {quantity} {value:.3f} {unit} of {name} is outside {low:.3f}..{high:.3f}"
            )
