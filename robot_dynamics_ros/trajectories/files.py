"""Joint trajectories for position streaming: from a file or points to samples at the robot's rate, checked first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.signals import joint_columns

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

MAX_SAMPLES = 2_000_000  # over an hour at 500 Hz: longer ones are mistakes


def resample(times: np.ndarray, q: np.ndarray, qd: np.ndarray | None = None, rate: float = 500.0) -> np.ndarray:
    """Samples (N, n) at `rate` [Hz] through points q (m, n) at times (m,): cubic; at rest at both ends without qd.

    Raises DataError for times that do not increase, values that are not finite, or a trajectory without end.
    """
    times, q = np.asarray(times, dtype=float), np.asarray(q, dtype=float)
    if len(times) == 1:
        return q.copy()
    if len(times) != len(q) or not len(times) or not np.isfinite(times).all() or not np.isfinite(q).all():
        raise DataError("trajectory: times and positions must be finite and equally many")
    if not (np.diff(times) > 0).all():
        raise DataError("trajectory: times must increase strictly")
    count = int(round((times[-1] - times[0]) * rate)) + 1
    if not count <= MAX_SAMPLES:
        raise DataError(f"trajectory: {count} samples are more than {MAX_SAMPLES}")
    t = np.clip(times[0] + np.arange(count) / rate, times[0], times[-1])
    if qd is not None:
        return CubicHermiteSpline(times, q, np.asarray(qd, dtype=float))(t)
    return CubicSpline(times, q, bc_type="clamped")(t)


def refuse_outside_limits(
    robot: RobotFile, samples: np.ndarray, rate: float = 500.0, speed_limit: float | None = None
) -> None:
    """Raises CapabilityError naming joint, value and bound when positions or velocities leave the robot's limits.

    speed_limit [rad/s]: of all joints, where the robot file knows none of its own.
    """
    lower, upper = robot.array("limits.position_lower"), robot.array("limits.position_upper")
    _check(robot, samples.min(axis=0), lower, upper, "position", "rad")
    _check(robot, samples.max(axis=0), lower, upper, "position", "rad")
    if len(samples) > 1:
        known = speed_limit is None or robot.has("limits.velocity")
        velocity = robot.array("limits.velocity") if known else np.full(robot.n_joints, speed_limit)
        fastest = np.abs(np.diff(samples, axis=0)).max(axis=0) * rate
        _check(robot, fastest, -velocity, velocity, "velocity", "rad/s")


def _check(robot: RobotFile, values: np.ndarray, lower: np.ndarray, upper: np.ndarray, what: str, unit: str) -> None:
    for name, value, low, high in zip(robot.joint_names, values, lower, upper, strict=True):
        if not low <= value <= high:
            raise CapabilityError(f"trajectory: {what} {value:.3f} {unit} of {name} is outside {low:.3f}..{high:.3f}")


def load_trajectory(path: str | Path, robot: RobotFile) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) and positions (m, n) of a CSV file with the header `time,<joint>,...` in any joint order.

    Raises DataError naming file and reason.
    """
    try:
        with open(path, encoding="utf-8") as file:
            header = [name.strip() for name in file.readline().split(",")]
            table = np.array([[float(x) for x in line.split(",")] for line in file if line.strip()])
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error
    if header[:1] != ["time"] or table.shape[1:] != (len(header),):
        raise DataError(f"{path}: the header must be time,<joint>,... with one column each")
    columns = _columns(header[1:], robot, str(path))
    return table[:, 0], table[:, 1:][:, columns]


def _columns(names: Sequence[str], robot: RobotFile, path: str) -> list[int]:
    try:
        return joint_columns(names, robot.joint_names, robot.joint_aliases)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
