"""Residuals of the written robot file: the external torque that its live pipeline sees where nothing touches the robot.

They are the standard deviation of the contact force: friction, inertia, sensor and controller together, filtered as
live. Moving and standing still are kept apart, because presliding friction is known less well than sliding friction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

REST_SPEED = 0.02  # rad/s: the speed at which the live friction stage goes over from rest to motion
SETTLING = 1.0  # s at the beginning of a piece in which the observer settles
MIN_SAMPLES = 100  # of a state that says something about a joint
STAGES = ("motion", "friction", "force")
STAND, MIN_STANDS = 0.3, 6  # s without motion that is a stand; stands of a joint that show its presliding friction
INFLATION = 1.2  # ratio of the residuals of other recordings to those of the fit's own, found on the zoo
STANDING_SHARES = 0.1, 0.2  # of the breakaway level: deviation at rest where recordings hold stands, and where not


def residuals(
    robot: RobotFile, recordings: Sequence[Recording], scale: np.ndarray, breakaway: np.ndarray
) -> dict[str, np.ndarray]:
    """moving, rest (n,) [Nm]: standard deviation of the external joint torque of a free robot, by the joint's state.

    scale (n,): torque [Nm] per unit of the effort that the robot file declares; recordings hold Nm. breakaway (n,):
    level of friction at breakaway [Nm]. A joint that never moved takes the value at rest.
    """
    torque, speed = _replayed(robot, recordings, scale)
    moving, rest = (_rms(torque, mask) for mask in (np.abs(speed) >= REST_SPEED, np.abs(speed) < REST_SPEED))
    stands = np.sum([_stands(piece) for rec in recordings for piece in rec.pieces], axis=0)
    share = np.where(stands >= MIN_STANDS, *STANDING_SHARES)
    rest = np.hypot(np.nan_to_num(rest), share * breakaway)
    return {"moving": INFLATION * np.fmax(np.where(np.isfinite(moving), moving, rest), 1e-3), "rest": INFLATION * rest}


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
    return np.array([sum(end - begin >= length for begin, end in _runs(column)) for column in still.T])


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """(begin, end) of the stretches where a mask (N,) holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _replayed(robot: RobotFile, recordings: Sequence[Recording], scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """External joint torque [Nm] and velocity [rad/s] of all pieces, (N, n)."""
    torque, speed = [np.zeros((0, robot.n_joints))], [np.zeros((0, robot.n_joints))]
    for piece in (piece for rec in recordings for piece in rec.pieces):
        log = _log(robot, piece, scale)
        Pipeline(robot, stages=STAGES).run(log)
        late = piece.t > piece.t[0] + SETTLING
        torque.append(log.external_joint_torque[late])
        speed.append(log.qd[late])
    return np.concatenate(torque), np.concatenate(speed)


def _log(robot: RobotFile, piece: Piece, scale: np.ndarray) -> Log:
    stamps = np.round(1e9 * (piece.t - piece.t[0])).astype(np.int64)
    name = "current" if robot.drives.effort.unit == "A" else "effort"
    signals = {"q": piece.q, "qd": piece.qd, name: piece.effort / scale}
    signals |= {k: piece.extra[k] for k in ("theta", "temperature") if k in piece.extra}
    return Log(robot.joint_names, stamps, {k: v.copy() for k, v in signals.items() if v is not None})
