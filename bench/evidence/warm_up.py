"""Drift of the contact force of a UR10-size arm after 0 to 90 minutes of warm-up, without contact: vendor's and ours.

Recordings of Nguyen and Case (NIST), repository Compensation-Electrical-Current-Drift-Human-Robot-Collision: about 12 s
each, 90 Hz, columns time [ms], q (6) [deg], pose (6), currents (6) [A], the controller's wrench (6) [N, Nm], others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

COLUMNS, PATTERN, COLD = 31, "Drift??_NF_*.csv", 0
CONSTANT = (12.4, 12.4, 10.61, 8.72, 8.72, 8.72)  # Nm/A, estimates of config/robots/ur10e.yaml
MOVING = 0.02  # rad/s
HALF = 4  # samples on each side over which positions are differenced


@dataclass(frozen=True)
class Run:
    """Means over one recording: minutes of warm-up; currents [A] of joint 1 while it moves and of joint 2, held.

    vendor, ours, std (3,): force of the controller, of this package and its deviation [N].
    """

    minutes: int
    moving: float
    held: float
    vendor: np.ndarray
    ours: np.ndarray
    std: np.ndarray


def read(path: Path, names: Sequence[str]) -> tuple[Log, np.ndarray]:
    """Log of a recording, effort in Nm, and the controller's wrench (N, 6). Raises DataError."""
    try:
        rows = np.loadtxt(path, delimiter=",", usecols=range(COLUMNS))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error
    stamps, q = np.round(1e6 * rows[:, 0]).astype(np.int64), np.deg2rad(rows[:, 1:7])
    k = np.clip(np.arange(len(q))[:, None] + (-HALF, HALF), 0, len(q) - 1)
    qd = (q[k[:, 1]] - q[k[:, 0]]) / (1e-9 * (stamps[k[:, 1]] - stamps[k[:, 0]]))[:, None]
    return Log(names, stamps, {"q": q, "qd": qd, "effort": rows[:, 13:19] * CONSTANT}), rows[:, 19:25]


def runs(robot: RobotFile, directory: Path) -> list[Run]:
    """Every recording without contact, in order. Raises DataError for a directory without them."""
    found = []
    for path in sorted(directory.glob(PATTERN)):
        log, vendor = read(path, robot.joint_names)
        Pipeline(robot).run(log)
        current = log.effort / CONSTANT
        moving, held = current[np.abs(log.qd[:, 0]) > MOVING, 0].mean(), current[:, 1].mean()
        force, std = (
            log.external_wrench[:, :3].mean(axis=0),
            np.sqrt((log.external_wrench_std[:, :3] ** 2).mean(axis=0)),
        )
        found.append(Run(int(path.name[5:7]), float(moving), float(held), vendor[:, :3].mean(axis=0), force, std))
    if not any(run.minutes == COLD for run in found):
        raise DataError(f"{directory}: no {PATTERN} of {COLD} minutes")
    return found


def table(found: Sequence[Run]) -> list[list[str]]:
    """Head and rows of text: changes from the mean of the cold runs along z of the base."""
    cold = np.mean([r.ours[2] for r in found if r.minutes == COLD])
    head = [
        "minutes",
        "current of joint 1, moving [A]",
        "of joint 2, held [A]",
        "vendor's Fz [N]",
        "change of ours [N]",
    ]
    numbers = "{} {:.2f} {:.2f} {:.1f} {:+.1f} {:.1f}".format
    rows = [numbers(r.minutes, r.moving, r.held, r.vendor[2], r.ours[2] - cold, r.std[2]).split() for r in found]
    return [[*head, "its deviation [N]"], *rows]


def correlation(found: Sequence[Run]) -> tuple[float, float]:
    """Of the vendor's Fz with the current of the held shoulder, and with the minutes."""
    force = [r.vendor[2] for r in found]
    others = [r.held for r in found], [r.minutes for r in found]
    return tuple(float(np.corrcoef(force, x)[0, 1]) for x in others)  # type: ignore[return-value]
