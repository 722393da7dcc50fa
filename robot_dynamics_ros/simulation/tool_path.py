"""Circles of the tool in a plane with rests, and the joint motion whose tool follows a path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.trajectories.motions import JointMotion, minimum_jerk

STOP = 0.6  # s in which the circle comes to rest, and begins again


def circling(
    t: np.ndarray, rate: float, radius: float, turn: float, rests: Sequence[tuple[float, float]] = ()
) -> np.ndarray:
    """Offsets (N, 3) [m] at times t (N,) [s], samples at `rate` [Hz], of a circle about z [m, s/turn] that begins at
    rest; in each of `rests` (begin, end) [s] it stands.
    """
    angle = 2 * np.pi / turn * np.cumsum(1.0 - within(t, rests, STOP)) / rate
    grow = radius * minimum_jerk(np.clip(t / 2.0, 0, 1))
    return np.column_stack([grow * np.sin(angle), grow * (1 - np.cos(angle)), np.zeros(len(t))])


def within(t: np.ndarray, phases: Sequence[tuple[float, float]], ramp: float) -> np.ndarray:
    """1 (N,) in each of the phases (begin, end) [s], 0 outside of them, smooth over `ramp` [s] at its ends."""
    level = np.zeros_like(t)
    for begin, end in phases:
        level = np.maximum(level, minimum_jerk(np.clip(np.minimum(t - begin, end - t) / ramp, 0, 1)))
    return level


def cartesian(robot: RobotFile, q: Any, offsets: np.ndarray, rate: float = 500.0) -> JointMotion:
    """Joint motion whose TCP follows p(q) + offsets (N, 3) [m] with constant orientation.

    Damped Gauss-Newton on all samples at once: q += J' (J J' + 1e-8 I)^-1 e. Raises ValueError where it cannot follow.
    """
    body = _core.RigidBody(robot.chain())
    q = np.asarray(q, dtype=float)
    start = body.fk(q)[-1]
    knots = np.linspace(0, len(offsets) - 1, max(2, len(offsets) // 25)).astype(int)
    sparse, here = [], q
    for k in knots:
        here = _solve(body, start, offsets[k : k + 1], here[None], 8)[0]
        sparse.append(here)
    guess = np.column_stack([np.interp(np.arange(len(offsets)), knots, column) for column in np.array(sparse).T])
    path = _solve(body, start, offsets, guess, 5)
    worst = np.abs(_error(body, start, offsets, path)).max()
    if not worst < 1e-6:
        raise ValueError(f"the path leaves the robot's reach or crosses a singularity (error {worst:.2g} m or rad)")
    qd = np.gradient(path, 1 / rate, axis=0)
    return path, qd, np.gradient(qd, 1 / rate, axis=0)


def _error(body: Any, start: np.ndarray, offsets: np.ndarray, q: np.ndarray) -> np.ndarray:
    T = body.fk(q)[:, -1]
    E = start[:3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2)
    turn = 0.5 * np.column_stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]])
    return np.hstack([start[:3, 3] + offsets - T[:, :3, 3], turn])


def _solve(body: Any, start: np.ndarray, offsets: np.ndarray, q: np.ndarray, iterations: int) -> np.ndarray:
    for _ in range(iterations):
        e = _error(body, start, offsets, q)
        J = body.jacobian(q)
        Jt = np.swapaxes(J, 1, 2)
        q = q + (Jt @ np.linalg.solve(J @ Jt + 1e-8 * np.eye(6), e[:, :, None]))[:, :, 0]
    return q
