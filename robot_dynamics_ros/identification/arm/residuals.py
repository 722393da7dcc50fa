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
IN_SAMPLE = 1.15  # residuals of the fit's own recordings are smaller than those of others: ratio found on the zoo


def residuals(robot: RobotFile, recordings: Sequence[Recording], scale: np.ndarray) -> dict[str, np.ndarray]:
    """moving, rest (n,) [Nm]: root mean square of the external joint torque of free recordings, by the joint's state.

    scale (n,): torque [Nm] per unit of the effort that the robot file declares; recordings hold Nm. A joint that was
    never in a state takes the value of its other state.
    """
    torque, speed = _replayed(robot, recordings, scale)
    found = {}
    for name, mask in (("moving", np.abs(speed) >= REST_SPEED), ("rest", np.abs(speed) < REST_SPEED)):
        mask &= np.isfinite(torque)
        count = mask.sum(axis=0)
        square = np.where(mask, torque, 0.0) ** 2
        found[name] = np.where(count >= MIN_SAMPLES, np.sqrt(square.sum(axis=0) / np.maximum(count, 1)), np.nan)
    other = {"moving": found["rest"], "rest": found["moving"]}
    return {name: IN_SAMPLE * np.where(np.isfinite(x), x, other[name]) for name, x in found.items()}


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
