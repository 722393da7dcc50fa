"""Residuals of the written robot file: the external torque that its live pipeline sees where nothing touches the robot.

They are the standard deviation of the contact force: friction, inertia, sensor and controller together, filtered as
live. Moving and standing still are kept apart, because presliding friction is known less well than sliding friction.
How far all joints together go beyond these deviations sets the threshold of contact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.estimators.external_force import significance
from robot_dynamics_ros.estimators.motion import effort_gain
from robot_dynamics_ros.estimators.pipeline import BLOCK, Pipeline
from robot_dynamics_ros.estimators.wrench_metrics import runs
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

REST_SPEED = 0.02  # rad/s: the speed at which the live friction stage goes over from rest to motion
SETTLING = 1.0  # s at the beginning of a piece in which the observer settles
MIN_SAMPLES = 100  # of a state that says something about a joint
STAGES = ("motion", "friction", "force")
MIN_STD = 1e-3  # Nm, smallest deviation that a robot file holds
NAMES = ("external_joint_torque", "qd")
FALSE_SHARE = 1e-3  # of the time of the recordings
STAND, MIN_STANDS = 0.3, 6  # s without motion that is a stand; stands of a joint that show its presliding friction
INFLATION = 1.2  # ratio of the residuals of other recordings to those of the fit's own, found on the zoo
STANDING_SHARES = 0.06, 0.12  # of the breakaway level: deviation at rest where recordings hold stands, and where not
MOVING_SHARES = 0.03, 0.15  # of it: deviation in motions unlike those of several recordings, and of a single one


def residuals(robot: RobotFile, recordings: Sequence[Recording], breakaway: np.ndarray) -> dict[str, Any]:
    """moving, rest (n,) [Nm]: standard deviation of the external joint torque of a free robot, by the joint's state.

    significance: standard deviations that the torques of all joints together exceed in FALSE_SHARE of the time.
    The effort of the recordings is in Nm. breakaway (n,): level of friction at breakaway [Nm]. A joint that never
    moved takes the value at rest.
    """
    kept = [[getattr(log, name).copy() for name in NAMES] for log in _replayed(robot, recordings)]
    torque, speed = (_joined([values[k] for values in kept], robot) for k in range(len(NAMES)))
    moving, rest = (_rms(torque, mask) for mask in (np.abs(speed) >= REST_SPEED, np.abs(speed) < REST_SPEED))
    stands = np.sum([_stands(piece) for rec in recordings for piece in rec.pieces], axis=0)
    share = np.where(stands >= MIN_STANDS, *STANDING_SHARES)
    rest = np.hypot(np.nan_to_num(rest), share * breakaway)
    single = len({rec.name for rec in recordings}) < 2
    moving = np.hypot(moving, MOVING_SHARES[single] * breakaway)
    moving = np.where(np.isfinite(moving), moving, rest)
    found = {k: INFLATION * np.fmax(v, MIN_STD) for k, v in (("moving", moving), ("rest", rest))}
    return found | {"significance": INFLATION * _significance(robot, recordings, found)}


def _significance(robot: RobotFile, recordings: Sequence[Recording], found: dict[str, Any]) -> float:
    """Exceeded in FALSE_SHARE of the time with the deviations that the live pipeline takes from `found`."""
    robot = robot.with_updates({"residuals": {"source": "found"} | found}, {"found": "the recordings"})
    values = [significance(robot, log) for log in _replayed(robot, recordings)]
    known = np.concatenate([np.zeros(1), *(v[np.isfinite(v)] for v in values)])
    return float(np.quantile(known, 1.0 - FALSE_SHARE))


def _rms(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Root mean square (n,) of x (N, n) where the mask holds; NaN below MIN_SAMPLES."""
    mask = mask & np.isfinite(x)
    count = mask.sum(axis=0)
    square = np.where(mask, x, 0.0) ** 2
    return np.where(count >= MIN_SAMPLES, np.sqrt(square.sum(axis=0) / np.maximum(count, 1)), np.nan)


def _stands(piece: Piece) -> np.ndarray:
    """How often each joint stands for at least STAND seconds (n,)."""
    still = np.abs(np.gradient(piece.q, piece.t, axis=0)) < 0.1 * REST_SPEED
    length = max(int(STAND / piece.period), 1)
    return np.array([sum(end - begin >= length for begin, end in runs(column)) for column in still.T])


def _replayed(robot: RobotFile, recordings: Sequence[Recording]) -> Iterator[Log]:
    """What the live pipeline makes of every piece once the observer has settled, in blocks."""
    for piece in (piece for rec in recordings for piece in rec.pieces):
        for log in replayed(robot, piece, STAGES):
            yield log[log.stamp_ns > 1e9 * SETTLING]


def for_repaired(robot: RobotFile) -> RobotFile:
    """The robot file for recordings whose velocity identification has repaired already, so that it is done once."""
    return robot if robot.drives.velocity is None else robot.with_updates({"drives.velocity": None})


def _joined(parts: Sequence[np.ndarray], robot: RobotFile) -> np.ndarray:
    return np.concatenate([np.zeros((0, robot.n_joints)), *parts])


def replayed(robot: RobotFile, piece: Piece, stages: Sequence[str]) -> Iterator[Log]:
    """A piece through stages of the live pipeline, in blocks: all estimates of a long log at once would need several
    times the memory of its signals. Raises CapabilityError where a stage lacks numbers.
    """
    pipeline = Pipeline(robot, stages=stages)
    for first in range(0, len(piece.t), BLOCK):
        log = piece_log(robot, piece.take(slice(first, first + BLOCK)), float(piece.t[0]))
        pipeline.run(log)
        yield log


def piece_log(robot: RobotFile, piece: Piece, begin: float | None = None) -> Log:
    """Log of a piece whose effort is in Nm, in the unit and with the sign that the robot file declares; its stamps
    count from time `begin` [s], by default from its first sample.

    Raises CapabilityError for an unknown torque constant.
    """
    stamps = np.round(1e9 * (piece.t - (piece.t[0] if begin is None else begin))).astype(np.int64)
    signals = {"q": piece.q, "qd": piece.qd, "effort": piece.effort / effort_gain(robot, "effort", "robot_file")}
    signals |= {k: piece.extra[k] for k in ("theta", "temperature") if k in piece.extra}
    return Log(robot.joint_names, stamps, {k: v.copy() for k, v in signals.items() if v is not None})
