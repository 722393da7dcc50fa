"""Joint trajectories and waypoints from files, and points resampled at the robot's rate for position streaming."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.robot_file.yaml_text import read_yaml
from robot_dynamics_ros.signals import joint_columns

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

MAX_MOTION_BYTES = 1 << 28
AT_ONCE = 4096  # samples computed at once: other threads wait for the interpreter meanwhile
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
    if qd is not None and not np.isfinite(np.asarray(qd, dtype=float)).all():
        raise DataError("trajectory: velocities must be finite")
    spline = CubicSpline(times, q, bc_type="clamped") if qd is None else CubicHermiteSpline(times, q, np.asarray(qd))
    return np.vstack([spline(t[k : k + AT_ONCE]) for k in range(0, count, AT_ONCE)])


def load_trajectory(path: str | Path, robot: RobotFile) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) and positions (m, n) of a CSV file with the header `time,<joint>,...` in any joint order.

    Raises DataError naming file and reason.
    """
    if Path(path).exists() and (not Path(path).is_file() or Path(path).stat().st_size > MAX_MOTION_BYTES):
        raise DataError(f"{path}: is no file, or larger than {MAX_MOTION_BYTES} bytes")
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


def load_waypoints(path: str | Path, joint_names: tuple[str, ...] | list[str]) -> np.ndarray:
    """Waypoints (M, n) rad of a YAML file {unit: rad|deg, joint_names, waypoints}, in the order of `joint_names`.

    Raises ConfigError naming file and field.
    """
    path = Path(path)
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ConfigError(str(path), "", "is not a mapping with joint_names and waypoints")
    names = content.get("joint_names")
    if not isinstance(names, list) or sorted(map(str, names)) != sorted(joint_names):
        raise ConfigError(str(path), "joint_names", f"{names} are not the robot's joints {list(joint_names)}")
    if content.get("unit", "rad") not in ("rad", "deg"):
        raise ConfigError(str(path), "unit", f"{content['unit']!r} must be rad or deg")
    try:
        points = np.array(content.get("waypoints"), dtype=float)
    except (TypeError, ValueError) as error:
        raise ConfigError(str(path), "waypoints", "rows must be numbers of equal length") from error
    if points.ndim != 2 or points.shape[1] != len(names) or len(points) < 2 or not np.isfinite(points).all():
        raise ConfigError(str(path), "waypoints", f"shape {points.shape} must be (at least 2, {len(names)}) and finite")
    ordered = points[:, [names.index(name) for name in joint_names]]
    return np.deg2rad(ordered) if content.get("unit") == "deg" else ordered
