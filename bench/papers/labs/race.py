"""Time to quality of excitation searches: from one start, under the same limits, in processor time of the thread.

Quality is both figures of [Luo2024 Table III]: the condition number and the log determinant, with all limits kept.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.identification.excitation.check import broken
from robot_dynamics_ros.identification.excitation.search import KEPT, FourierSearch, Phase, State, phases

STEP = 1e-7  # of a forward difference
SETTLED = 0.01  # a round that improves the logarithm of the condition number by less ends a search
ROUNDS = 15  # at most
STARTS = 8  # of the hybrid search, at most


@dataclass(frozen=True)
class Quality:
    """Processor time since the start [s], cond(W), -log det(W'W / N) per parameter, whether all limits are kept, and
    from how many random motions the search began until then.
    """

    seconds: float
    condition: float
    logdet: float
    kept: bool
    starts: int = 1

    def reaches(self, other: Quality) -> bool:
        """At least as good in both figures, limits kept."""
        return self.kept and self.condition <= other.condition and self.logdet <= other.logdet


class ByDifferences(FourierSearch):
    """The search with slopes by forward differences, as done where no derivatives exist; free numbers x (m,)."""

    def lagrangian(self, x: np.ndarray, phase: Phase, state: State) -> tuple[float, np.ndarray]:
        """The augmented Lagrangian and its differences, one evaluation per free number."""
        slopes, y = np.empty_like(x), x.copy()
        for k in range(len(x)):
            y[k] = x[k] + STEP
            slopes[k] = self.value(y, phase, state)[0]
            y[k] = x[k]
        total, _ = self.value(x, phase, state)
        return total, (slopes - total) / STEP


def quality(search: FourierSearch, x: np.ndarray, seconds: float = 0.0, between: bool = True) -> Quality:
    """Quality of the motion of free numbers x (m,); `between`: limits are checked between the samples too."""
    condition, logdet = search.problem.values(x, "sharp_condition", "logdet")
    kept = bool(max(search.problem.excess(x).values(), default=0.0) <= KEPT)
    kept = kept and not (between and broken(search, x))
    return Quality(seconds, float(np.exp(condition)), logdet, kept)


def condition_alone(search: FourierSearch, x: np.ndarray, effort: int = 40, rounds: int = ROUNDS) -> Quality:
    """Quality at the end of a search from x (m,) on the condition number alone, until it no longer improves."""
    start, state, before = time.thread_time(), State(x), np.inf
    for _ in range(rounds):
        search.round(state, Phase("sharp_condition", effort))
        if state.least > before - SETTLED and np.isfinite(state.least):
            break
        before = state.least
    seconds = time.thread_time() - start
    return quality(search, state.x if state.best is None else state.best, seconds)


class _Reached(Exception):
    """Ends a search from inside its optimiser."""


def hybrid_until(
    search: FourierSearch, x: np.ndarray, wanted: list[Quality], rng: np.random.Generator
) -> list[Quality | None]:
    """Where the hybrid search from x (m,) first reaches each wanted quality.

    When a search ends before it does, another begins at a new random motion, the time going on; None where STARTS of
    them do not reach it.
    """
    start = time.thread_time()
    found: list[Quality | None] = [None] * len(wanted)
    plan = phases(40)

    def watch(y: np.ndarray) -> None:
        now = quality(search, y, time.thread_time() - start, between=False)
        for k, target in enumerate(wanted):
            if found[k] is None and now.reaches(target) and not broken(search, y):
                found[k] = replace(now, starts=starts)
        if None not in found:
            raise _Reached

    starts = 0
    while starts < STARTS and None in found:
        starts += 1
        try:
            search.run(x, plan + plan[-1:] * 2, watch)
        except _Reached:
            pass
        x = search.start(rng)
    return found
