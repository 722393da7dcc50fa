"""Rows of a log that identification leaves out: repeated, behind closed brakes, with a payload, with spikes."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import signal

from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import runs
from robot_dynamics_ros.signals.speeds import SLOW

IDLE = 0.02  # share of the largest effort of all joints that drives without power show
OFTEN = 0.3  # share of rows
CARRIED = 0.3  # correlation of effort and gravity, over all joints, of drives that carry the arm
BRAKED = 0.3  # s within which brakes close, and drives take over again


def usable(log: Log, robot: RobotFile | None) -> tuple[Log, dict[str, int]]:
    """The log without them, and how many of each kind there were; a kind that all rows are of stays. robot: whose
    gravity shows where brakes are closed.
    """
    counts: dict[str, int] = {}
    for why, rows in (
        ("repeated rows", _frozen),
        ("rows behind closed brakes, or without any effort", partial(_braked, robot)),
        ("rows with a payload", loaded),
        ("rows with an isolated spike", _spikes),
    ):
        drop = rows(log)
        if drop.any() and not drop.all():
            counts[why], log = int(drop.sum()), log[~drop]
    return log, counts


def _frozen(log: Log) -> np.ndarray:
    """Rows (N,) that repeat the row before in every number while the robot moves: written twice, or a stuck reader."""
    q, tau = log.q, log.effort
    same = np.concatenate([[False], ((np.diff(q, axis=0) == 0) & (np.diff(tau, axis=0) == 0)).all(1)])
    moving = np.abs(np.gradient(q, axis=0)).max(1) > 1e-6
    return np.asarray(same & moving)


def held(log: Log) -> np.ndarray:
    """Rows (N,) with the positions of the row before while a velocity says that they change, where OFTEN of the faster
    half of the motion has them: a slow joint may stay within the resolution of its encoder.
    """
    same = np.concatenate([[False], (np.diff(log.q, axis=0) == 0).all(axis=1)])
    speed = np.abs(np.nan_to_num(log.qd)).max(axis=1) if log.has("qd") else np.zeros(len(log))
    moves = speed > SLOW
    fast = speed > np.median(speed[moves]) if moves.any() else moves
    return same & moves & bool(fast.any() and same[fast].mean() > OFTEN)


def _braked(robot: RobotFile | None, log: Log) -> np.ndarray:
    """Rows (N,) in which no drive carries for BRAKED what friction cannot hold: brakes do. So they do while the drives
    take over, before and after. Single rows where all efforts are exactly zero: another publisher's.
    None where the masses are unknown, or the effort does not contain gravity.
    The rule of torque_health.hpp for an effort of unknown unit, sign and friction: what is small is so beside the rest.
    """
    drop, t = np.zeros(len(log), bool), log.time
    if robot is None:
        return drop
    try:
        gravity = RobotModel(robot.chain()).gravity(log.q)
    except CapabilityError:
        return drop
    size = np.linalg.norm(log.effort, axis=1)
    idle = size < IDLE * np.quantile(size, 0.99)
    alike = np.abs((log.effort * gravity)[~idle].sum())
    if alike < CARRIED * np.linalg.norm(log.effort[~idle]) * np.linalg.norm(gravity[~idle]):
        return drop
    idle &= (np.abs(gravity) > 2 * stuck_friction(robot)).any(axis=1)
    drop |= idle & (size == 0.0)
    for a, b in runs(idle):
        if t[b - 1] - t[a] > BRAKED:
            drop |= (t > t[a] - BRAKED) & (t < t[b - 1] + BRAKED)
    return drop


def loaded(log: Log) -> np.ndarray:
    """Rows (N,) with a payload that was named on its topic."""
    return log.named_mass != 0.0


def _spikes(log: Log) -> np.ndarray:
    """Rows (N,) where a signal jumps away and back: over 8 robust deviations off the median of 5 rows."""
    bad = np.zeros(len(log), bool)
    for values, floor in ((log.q, 0.02), (np.nan_to_num(log.qd), 0.3), (log.effort, None)):  # rad, rad/s, Nm or A
        span = np.ptp(np.quantile(values, [0.01, 0.99], axis=0), axis=0)
        least = span if floor is None else np.maximum(floor, 0.05 * span)
        if (2 * np.abs(np.diff(values, axis=0)).max(axis=0, initial=0.0) <= least).all():
            continue  # no row is so far off the two before and after it
        off = np.abs(values - signal.medfilt(values, (5, 1)))
        limit = np.maximum(np.quantile(off, 0.99, axis=0) * 4, least)
        bad |= (off > np.maximum(limit, 1e-9)).any(1)
    return bad
