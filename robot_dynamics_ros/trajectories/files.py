"""Joint trajectories and waypoints from files, and points resampled at the robot's rate for position streaming."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline, CubicSpline

from robot_dynamics_ros.errors import CapabilityError, ConfigError, DataError, nearest
from robot_dynamics_ros.outputs import write_atomically, writing
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.yaml_text import read_yaml
from robot_dynamics_ros.signals import joint_columns
from robot_dynamics_ros.trajectories.motions import JointMotion

MAX_MOTION_BYTES = 1 << 28
AT_ONCE = 4096  # samples computed at once: other threads wait for the interpreter meanwhile
MAX_SAMPLES = 8_000_000  # over two hours at 1 kHz: longer ones are mistakes
MOST_POINTS = 10_000  # of a trajectory in one message: the interpreter is blocked while one is parsed
WAYPOINT_KEYS = ("source", "unit", "joint_names", "waypoints")
VELOCITY = "/velocity"  # behind a joint's name: column of its velocity
CORNER = 0.25  # of the largest acceleration: a step of it is a point of the motion
NEAR = 1e-3  # rad between a motion and the cubics through its points


class Points(NamedTuple):
    """Times (m,) [s], positions (m, n) [rad], velocities (m, n) [rad/s] or None, in the robot's joint order."""

    times: np.ndarray
    q: np.ndarray
    qd: np.ndarray | None

    def spline(self, rate: float) -> tuple[CubicSpline | CubicHermiteSpline, int]:
        """Cubics through the points, at rest at both ends where velocities are not given; steps at `rate` [Hz].

        Raises DataError for times that do not increase, values that are not finite, or a trajectory without end.
        """
        times, q = np.asarray(self.times, dtype=float), np.asarray(self.q, dtype=float)
        if len(times) < 2 or len(times) != len(q) or not all(np.isfinite(x).all() for x in (times, q)):
            raise DataError("trajectory: times and positions must be finite, equally many, two or more")
        if not (np.diff(times) > 0).all():
            raise DataError("trajectory: times must increase strictly")
        count = int(round((times[-1] - times[0]) * rate))
        if not 1 <= count < MAX_SAMPLES:
            raise DataError(f"trajectory: {count} samples are outside 1..{MAX_SAMPLES}")
        if self.qd is None:
            return CubicSpline(times - times[0], q, bc_type="clamped"), count
        qd = np.asarray(self.qd, dtype=float)
        if not np.isfinite(qd).all():
            raise DataError("trajectory: velocities must be finite")
        return CubicHermiteSpline(times - times[0], q, qd), count


def resample(times: np.ndarray, q: np.ndarray, qd: np.ndarray | None = None, rate: float = 500.0) -> np.ndarray:
    """Samples (N, n) at `rate` [Hz] through points q (m, n) at times (m,): cubic; at rest at both ends without qd.

    Raises DataError as Points.spline.
    """
    if len(times) == 1:
        return np.array(q, dtype=float)
    spline, count = Points(times, q, qd).spline(rate)
    t = np.minimum(np.arange(count + 1) / rate, spline.x[-1])
    return np.vstack([spline(t[k : k + AT_ONCE]) for k in range(0, count + 1, AT_ONCE)])


def load_trajectory(path: str | Path, robot: RobotFile) -> Points:
    """Points of a CSV file with the header `time,<joint>,...` in any joint order, with or without `<joint>/velocity`.

    Raises DataError naming file and reason.
    """
    if Path(path).exists() and (not Path(path).is_file() or Path(path).stat().st_size > MAX_MOTION_BYTES):
        raise DataError(f"{path}: is no file, or larger than {MAX_MOTION_BYTES} bytes")
    try:
        with open(path, encoding="utf-8-sig") as file:  # a spreadsheet writes a mark at the beginning
            header = [name.strip() for name in file.readline().split(",")]
            table = np.array([[float(x) for x in line.split(",")] for line in file if line.strip()])
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error
    places, velocities = ([name for name in header[1:] if name.endswith(VELOCITY) == fast] for fast in (False, True))
    if header[:1] != ["time"] or table.shape[1:] != (len(header),) or not places:
        raise DataError(f"{path}: the header must be time,<joint>,... with one column each")

    def of_joints(names: list[str]) -> np.ndarray:
        ordered = _columns([name.removesuffix(VELOCITY) for name in names], robot, str(path))
        return table[:, [header.index(names[k]) for k in ordered]]

    return Points(table[:, 0], of_joints(places), of_joints(velocities) if velocities else None)


def write_trajectory(path: Path, names: Sequence[str], points: Points) -> None:
    """The CSV file that load_trajectory reads. Raises DataError when it cannot be written."""
    columns = [points.times, *points.q.T] + ([] if points.qd is None else [*points.qd.T])
    header = ["time", *names] + ([] if points.qd is None else [name + VELOCITY for name in names])
    lines = [",".join(f"{x:.9g}" for x in row) for row in zip(*columns, strict=True)]
    with writing(path):
        write_atomically(path, "\n".join([",".join(header), *lines, ""]))


def refuse_long(count: int, rate: float) -> None:
    """Raise CapabilityError for a motion of `count` samples at `rate` [Hz] that is MAX_SAMPLES long or longer."""
    if count >= MAX_SAMPLES:
        raise CapabilityError(
            f"the motion has {count} samples at {rate:g} Hz, {MAX_SAMPLES} or more: choose a shorter --duration"
        )


def few_points(motion: JointMotion, rate: float) -> Points:
    """Points of a motion (q, qd, qdd), each (N, n) at `rate` [Hz], whose cubics keep within NEAR [rad] of it.

    Steps of the acceleration are points, so that trapezoidal moves are met. Raises CapabilityError for more than
    MOST_POINTS, or for MAX_SAMPLES and more, which no robot would be given.
    """
    q, qd, qdd = motion
    refuse_long(len(q), rate)
    steps = np.abs(np.diff(qdd, axis=0)) > CORNER * np.abs(qdd).max()
    ends = np.unique([0, *(np.flatnonzero(steps.any(axis=1)) + 1), len(q) - 1])
    rows = np.unique(np.concatenate([ends, *(_between(q, qd, rate, a, b) for a, b in itertools.pairwise(ends))]))
    if len(rows) > MOST_POINTS:
        raise CapabilityError(
            f"the motion has {len(rows)} points, more than {MOST_POINTS}: choose a shorter --duration"
        )
    return Points(rows / rate, q[rows], qd[rows])


def _between(q: np.ndarray, qd: np.ndarray, rate: float, first: int, last: int) -> np.ndarray:
    """Samples first..last, evenly spread, as few as keep NEAR: the error of a cubic falls with the fourth power."""
    parts, samples = 1, np.arange(first, last + 1)
    while True:
        rows = np.unique(np.linspace(first, last, parts + 1).round().astype(int))
        error = np.abs(CubicHermiteSpline(rows, q[rows], qd[rows] / rate)(samples) - q[samples]).max()
        if error <= NEAR or len(rows) == len(samples):
            return rows
        parts = max(parts + 1, int(parts * (error / NEAR) ** 0.25))


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
    unit = content.get("unit")
    if unit not in ("rad", "deg"):
        wrong = "is missing: write" if unit is None else f"{unit!r} must be"
        raise ConfigError(str(path), "unit", f"{wrong} rad or deg")
    for key in content:
        if key not in WAYPOINT_KEYS:
            raise ConfigError(str(path), str(key), f"unknown key{nearest(str(key), WAYPOINT_KEYS)}")
    try:
        points = np.array(content.get("waypoints"), dtype=float)
    except (TypeError, ValueError) as error:
        raise ConfigError(str(path), "waypoints", "rows must be numbers of equal length") from error
    if points.ndim != 2 or points.shape[1] != len(names) or len(points) < 2 or not np.isfinite(points).all():
        raise ConfigError(str(path), "waypoints", f"shape {points.shape} must be (at least 2, {len(names)}) and finite")
    ordered = points[:, [names.index(name) for name in joint_names]]
    return np.deg2rad(ordered) if unit == "deg" else ordered
