"""Point-to-point excitation: the best of random closed tours by trapezoidal moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.excitation.check import Breach, breaches
from robot_dynamics_ros.identification.excitation.design import Excitation, Progress, refusal
from robot_dynamics_ros.identification.excitation.limits import USE, Limits
from robot_dynamics_ros.identification.excitation.problem import Criteria
from robot_dynamics_ros.identification.excitation.space import Pose, tcp_speed
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.trajectories.motions import JointMotion, trapezoids

SAMPLES = 200  # of a tour while it is judged


@one_thread()
def design_points(
    robot: Any,
    limits: Limits | None = None,
    points: int = 6,
    rate: float = 125.0,
    tries: int = 400,
    seed: int = 0,
    progress: Progress = lambda done, total, text: None,
) -> Excitation:
    """Best of random point-to-point trapezoidal moves, as tests A and B of [Clochiatti2024 2.2].

    It keeps every limit within TOLERANCE, between samples too. Raises DataError when none of the tries does: by how
    much the nearest breaks which.
    """
    criteria = Criteria(robot, limits or Limits.of(robot))
    lim, rng = criteria.limits, np.random.default_rng(seed)
    best: tuple[float, tuple[np.ndarray, ...]] | None = None
    nearest: tuple[float, tuple[np.ndarray, ...]] = (np.inf, ())
    for k in range(tries):
        t, *motion = _within_tcp_speed(criteria, _random_points(rng, lim, points), rate)
        coarse = [x[:: max(1, len(t) // SAMPLES)] for x in motion]
        violation = criteria.violation(*coarse)
        if violation == 0:
            score = criteria.condition(*coarse)
            if (best is None or score < best[0]) and not _broken(criteria, t, motion):
                best = (score, (t, *motion))
        if not nearest[1] or violation < nearest[0]:
            nearest = (violation, (t, *motion))
        progress(k + 1, tries, f"cond {best[0]:.0f}" if best else "")
    if best is None and (left := _broken(criteria, nearest[1][0], nearest[1][1:])):
        raise refusal(left)
    t, q, qd, qdd = nearest[1] if best is None else best[1]  # the nearest may use more than USE of a limit
    return Excitation(t, q, qd, qdd, criteria.condition(q, qd, qdd))


def _broken(criteria: Criteria, t: np.ndarray, motion: Sequence[np.ndarray]) -> list[Breach]:
    """Limits that a tour breaks; between samples it is a straight line of the joints."""

    def path(times: np.ndarray) -> JointMotion:
        q, qd, qdd = (interpolated(times, t, x) for x in motion)
        return q, qd, qdd

    return breaches(criteria, path, t[-1], min(len(t), SAMPLES))


def _random_points(rng: np.random.Generator, lim: Limits, points: int) -> np.ndarray:
    """Points (m + 1, n) of a closed tour in a random part of the joint space."""
    room = USE * (lim.upper - lim.lower)
    size = rng.uniform(0.1, 0.8) * room
    low = 0.5 * (lim.lower + lim.upper - room) + rng.uniform(size=len(room)) * (room - size)
    via = low + rng.uniform(size=(points, len(room))) * size
    return np.vstack([via, via[:1]])


def _within_tcp_speed(criteria: Criteria, via: np.ndarray, rate: float) -> tuple[np.ndarray, ...]:
    """Moves at full speed, slowed as a whole until the TCP keeps its limit."""
    lim, slower = criteria.limits, 1.0
    for _ in range(4):
        t, q, qd, qdd = trapezoids(via, USE * lim.velocity / slower, USE * lim.acceleration / slower**2, rate)
        ratio = 1 + tcp_speed(Pose.of(criteria.rigid.model, q), lim, qd).largest
        if ratio <= 1:
            break
        slower *= 1.02 * ratio
    return t, q, qd, qdd
