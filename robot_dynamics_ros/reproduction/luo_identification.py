"""Excitation by the hybrid criterion against the condition number alone, and friction over load [Luo2024, 5.2, 6.3].

Five groups, each from one random Fourier motion (5 harmonics of 0.1 pi rad/s, 20 s). Condition number alone: until
the search ends by itself. Hybrid [eq. 20]: Hadamard for the initial guess, then the condition number subject
to the log determinant that this reached, until both bounds of the source hold: cond <= 100, log det not above.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.identification.excitation import Criteria, FourierSearch, Limits
from robot_dynamics_ros.reproduction import lab, luo_friction
from robot_dynamics_ros.reproduction.table import Row, at_most, beside

SOURCE = "Luo2024"
GROUPS = 5
BOUND = 100.0  # Delta_1
HARMONICS, BASE, PERIOD = 5, 0.1 * np.pi, 20.0
FIRST, CHUNK, ROUNDS = 5, 2, 20  # iterations on Hadamard, then on the condition number between two looks at the bounds


@dataclass(frozen=True)
class Group:
    """One group: CPU time [s], condition number and -log det(W'W) of both searches, and of the start."""

    start: float
    alone: tuple[float, float, float]
    hybrid: tuple[float, float, float]


def run(quick: bool = False) -> list[Row]:
    """Time and quality of both searches; quick: two groups, three joints of the friction protocol."""
    groups = [group(seed) for seed in range(2 if quick else GROUPS)]
    alone, hybrid = (np.array([getattr(g, name) for g in groups]) for name in ("alone", "hybrid"))
    share = 100 * hybrid[:, 0].sum() / alone[:, 0].sum()
    note = "from start to both bounds, against the search on the condition number alone until it ends by itself"
    rows = [
        at_most(SOURCE, "time of hybrid excitation over cond alone", 30.0, share, "%", note),
        at_most(SOURCE, "condition number of hybrid excitation, largest of the groups", BOUND, hybrid[:, 1].max()),
        beside(SOURCE, "condition number of cond alone, largest", None, alone[:, 1].max(), "", "it goes on below 100"),
        beside(SOURCE, "-log det of hybrid less that of cond alone, mean", None, *_gap(hybrid, alone)),
    ]
    return rows + luo_friction.run(quick)


def _gap(hybrid: np.ndarray, alone: np.ndarray) -> tuple[float, str, str]:
    note = "stopped at the bounds: a longer cond search raises the determinant too on this arm; below zero is better"
    return float(np.mean(hybrid[:, 2] - alone[:, 2])), "", note


def group(seed: int) -> Group:
    """Both searches from the same random motion."""
    robot = lab.ur5e()
    criteria = Criteria(robot, Limits.of(robot))
    search = FourierSearch(criteria, HARMONICS, BASE, PERIOD)
    start = search.start(np.random.default_rng(seed))

    def judged(x: np.ndarray, seconds: float) -> tuple[float, float, float]:
        R = criteria.triangle(*search.motion(x))
        return seconds, criteria.condition(R), criteria.logdet(R)

    before = time.thread_time()
    alone = judged(search.improve(start, "condition", 1000), time.thread_time() - before)
    before = time.thread_time()
    x = search.improve(start, "hadamard", FIRST)
    bound = judged(x, 0.0)[2]
    for _ in range(ROUNDS):
        _, condition, logdet = judged(x, 0.0)
        if condition <= BOUND and logdet <= bound and criteria.violation(*search.motion(x)) < 0.01:
            break
        x = search.improve(x, "condition", CHUNK, bound)
    return Group(judged(start, 0.0)[1], alone, judged(x, time.thread_time() - before))
