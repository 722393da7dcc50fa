"""Design of excitation motions: how well a motion determines the base parameters, and the best one found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.excitation.check import Breach, mend
from robot_dynamics_ros.identification.excitation.limits import Limits
from robot_dynamics_ros.identification.excitation.motion import PARTS
from robot_dynamics_ros.identification.excitation.problem import Criteria
from robot_dynamics_ros.identification.excitation.search import FourierSearch, phases

HARMONICS, BASE = 5, 0.1 * np.pi  # rad/s, of the slowest [Liu2020]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Excitation:
    """A designed motion (time (N,), q, qd, qdd (N, n)) and its condition number."""

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    condition: float


@one_thread()
def design_fourier(
    robot: Any,
    limits: Limits | None = None,
    duration: float = 100.0,
    rate: float = 125.0,
    starts: int = 3,
    effort: int = 40,
    seed: int = 0,
    progress: Progress = lambda done, total, text: None,
    slow: bool = True,
) -> Excitation:
    """Best of `starts` Fourier motions [Liu2020: HARMONICS, BASE, 20 s] of about 5 `effort` steps each, in
    whole periods; after a fifth of the duration it goes on with its `slow_part` (False: all of it is the motion).

    It keeps every limit within TOLERANCE, between samples too. Raises DataError for numbers that cannot be, or when no
    motion found keeps the limits: by how much the best one breaks which.
    """
    if not 1 <= duration <= 3600 or not 1 <= starts <= 1000:
        raise DataError("duration must be 1..3600 s, starts 1..1000")
    criteria = Criteria(robot, limits or Limits.of(robot))
    length = duration / PARTS if slow else duration
    periods = max(round(BASE * length / (2 * np.pi)), 1)  # else it would not end still
    search = FourierSearch(criteria, HARMONICS, 2 * np.pi * periods / length, length, slow)
    x = _best_of(search, starts, effort, np.random.default_rng(seed), progress)
    t = np.arange(0, duration, 1 / rate)
    return Excitation(t, *search.at(x, t), criteria.condition(*search.at(x, t[t < length])))


def _best_of(
    search: FourierSearch, starts: int, effort: int, rng: np.random.Generator, progress: Progress
) -> np.ndarray:
    best: tuple[float, np.ndarray] | None = None
    nearest: list[Breach] = []
    for k in range(starts):
        x, left = mend(search, search.run(search.start(rng), phases(effort)))
        condition, score = search.problem.values(x, "sharp_condition", "condition")
        progress(k + 1, starts, f"cond {np.exp(condition):.0f}")
        if left:
            nearest = min(nearest or left, left, key=lambda found: found[0].excess)
        elif best is None or score < best[0]:
            best = (score, x)
    if best is None:
        raise refusal(nearest)
    return best[1]


def refusal(nearest: list[Breach]) -> DataError:
    """That no motion was found, and why: what the nearest one breaks, the worst first."""
    return DataError(f"no motion found keeps the limits: {nearest[0]}; {nearest[0].advice}, or try another seed")
