"""A force sensor in the terms of the estimates: environment on robot, at the TCP, in base axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.bags.wrench import load_wrench
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.signals import Log

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

TOOL, FLANGE, BASE = "tool", "flange", "base"
POINTS = ("frame", "tcp", "base")


@dataclass(frozen=True)
class SensorOptions:
    """topic: WrenchStamped. frame: what its axes are, "auto": the frame_id of its messages. point: what its moments
    refer to; "frame": the origin of the frame, for base axes the TCP. tare: seconds at the beginning, without contact,
    whose mean is subtracted; 0: none.
    """

    topic: str
    frame: str = "auto"
    point: str = "frame"
    tare: float = 0.0


def add_force_sensor(
    log: Log, robot: RobotFile, paths: Sequence[str | Path], options: SensorOptions, stamps: str
) -> list[str]:
    """Fill `measured_wrench` of a log from a topic of its bags, with the sign of the messages; what was assumed.

    Rows without a message near are NaN. Raises DataError without such a topic or messages in the tare window,
    ConfigError for a frame whose place is unknown.
    """
    series = load_wrench(paths, options.topic, log, stamps)
    frame = options.frame if options.frame != "auto" else series.frame_id
    name = known_frame(robot, frame, "frame" if options.frame != "auto" else f"frame_id of {series.topic}")
    values = series.at(log.stamp_ns)
    known = np.isfinite(values[:, 0])
    if not known.any():
        raise DataError(f"{series.topic}: no message at the time of the joint states")
    notes = [f"{series.topic}: axes of {_words(name, frame)}, moments about {_point_words(name, options.point)}"]
    if options.tare > 0:
        window = known & (log.time <= options.tare)
        if not window.any():
            raise DataError(f"{series.topic}: no message in the first {options.tare:g} s to tare with")
        bias = values[window].mean(axis=0)
        values = values - bias
        notes.append(f"{series.topic}: tared by [{', '.join(f'{b:.3g}' for b in bias)}] N, Nm")
    log.measured_wrench = at_tcp(robot, log.q, values, name, options.point)
    return notes


def known_frame(robot: RobotFile, frame: str, owner: str = "frame") -> str:
    """TOOL, FLANGE (last link) or BASE for a frame_id of the robot file, else for one of these words.

    Raises ConfigError listing what is known.
    """
    k = robot.kinematics
    words = {TOOL: TOOL, FLANGE: FLANGE, BASE: BASE, k.base_frame: BASE, k.tip_frame: TOOL}
    if frame not in words:
        raise ConfigError(owner, frame, f"is no frame whose place is known; known: {', '.join(words)}")
    return words[frame]


def at_tcp(robot: RobotFile, q: np.ndarray, wrench: np.ndarray, frame: str, point: str = "frame") -> np.ndarray:
    """Wrenches (N, 6) at the TCP in base axes: F = R F_s, M = R M_s + (p_s - p_tcp) x F.

    q (N, n) [rad], wrench (N, 6) [N, Nm] in the axes of `frame` (known_frame), its moments about `point` (POINTS).
    Raises ConfigError for another point.
    """
    if point not in POINTS:
        raise ConfigError("point", point, f"is none of {', '.join(POINTS)}")
    poses = RobotModel(robot.chain(), robot.joint_names).fk(q)
    tcp = poses[:, -1]
    place = {TOOL: tcp, FLANGE: poses[:, -2]}.get(frame)
    R = np.broadcast_to(np.eye(3), (len(q), 3, 3)) if place is None else place[:, :3, :3]
    arm = np.zeros((len(q), 3))
    if point == "base":
        arm = -tcp[:, :3, 3]
    elif point == "frame" and place is not None:
        arm = place[:, :3, 3] - tcp[:, :3, 3]
    F, M = (np.einsum("kij,kj->ki", R, wrench[:, part]) for part in (slice(0, 3), slice(3, 6)))
    return np.hstack([F, M + np.cross(arm, F)])


def _words(name: str, frame: str) -> str:
    meaning = {TOOL: "the TCP", FLANGE: "the last link", BASE: "the base"}[name]
    return meaning if frame == name else f"{frame} ({meaning})"


def _point_words(name: str, point: str) -> str:
    if point == "base":
        return "the origin of the base"
    return "the origin of the last link" if name == FLANGE and point == "frame" else "the TCP"
