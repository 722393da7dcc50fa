"""Excitation by the hybrid criterion against the condition number alone [Luo2024, 5.2].

Groups as the source's, each from one random Fourier motion (5 harmonics of 0.1 pi rad/s, 20 s) under limits of joints,
torque, TCP speed, floor and self-collision. Condition number alone: by forward differences, as it is commonly done,
until it no longer improves; and once more with the slopes of the core. Hybrid [eq. 20], with those slopes: Hadamard
for the guess, then the condition number with the log determinant not above the guess's, until condition number and log
determinant are both those that the search on the condition number alone ended with.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.papers.labs import lab
from bench.papers.labs.race import ByDifferences, Quality, condition_alone, hybrid_until
from bench.papers.table import Row, at_most, beside
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.excitation import Criteria, FourierSearch, Limits

SOURCE = "Luo2024"
GROUPS = 5
BOUND = 100.0  # Delta_1
HARMONICS, BASE, PERIOD = 5, 0.1 * np.pi, 20.0
FLOOR, CLEARANCE = 0.05, 0.1  # m


@dataclass(frozen=True)
class Group:
    """One group: where the searches on the condition number alone ended, by differences and by slopes, and where the
    hybrid search reached each of the two.
    """

    differences: Quality
    slopes: Quality
    hybrid: Quality | None
    hybrid_slopes: Quality | None


def run(quick: bool = False) -> list[Row]:
    """Time and quality of the searches; quick: two groups."""
    return rows([group(seed) for seed in range(2 if quick else GROUPS)])


def rows(groups: list[Group]) -> list[Row]:
    """The figures of the groups; a search that did not reach its goal counts as infinite time."""
    share = _share([(g.hybrid, g.differences) for g in groups])
    by_slopes = _share([(g.hybrid_slopes, g.slopes) for g in groups])
    best = [g.hybrid.condition if g.hybrid else np.inf for g in groups]
    gap = [g.hybrid.logdet - g.differences.logdet if g.hybrid else np.inf for g in groups]
    ended = zip(*((g.differences, g.slopes) for g in groups), strict=True)
    seconds = [float(np.median([q.seconds for q in column])) for column in ended]
    note = "to the condition number and log determinant that cond alone, by differences, ends with; "
    note += "one group" if len(groups) == 1 else f"median of {len(groups)} groups"
    again = sum(g.hybrid is not None and g.hybrid.starts > 1 for g in groups)
    note += f"; {again} of them from another start than cond alone's, its time counted" if again else ""
    slopes = f"both with slopes: cond alone then takes {seconds[1]:.2g} s instead of {seconds[0]:.2g} s"
    return [
        at_most(SOURCE, "time of hybrid excitation over cond alone", 30.0, 100 * share, "%", note),
        beside(SOURCE, "time of hybrid excitation over cond alone with slopes", None, 100 * by_slopes, "%", slopes),
        at_most(SOURCE, "condition number of hybrid excitation, largest of the groups", BOUND, max(best)),
        at_most(SOURCE, "-log det per parameter of hybrid less that of cond alone, largest", 0.0, max(gap)),
    ]


def _share(groups: list[tuple[Quality | None, Quality]]) -> float:
    """Time of the hybrid search over that on the condition number alone, in the median."""
    return float(np.median([hybrid.seconds / alone.seconds if hybrid else np.inf for hybrid, alone in groups]))


@one_thread()
def group(seed: int) -> Group:
    """The searches from the same random motion."""
    robot = lab.ur5e()
    criteria = Criteria(robot, Limits.of(robot, floor=FLOOR, clearance=CLEARANCE))
    search, slow = (kind(criteria, HARMONICS, BASE, PERIOD) for kind in (FourierSearch, ByDifferences))
    rng = np.random.default_rng(seed)
    start = search.start(rng)
    ends = [condition_alone(kind, start) for kind in (slow, search)]
    return Group(*ends, *hybrid_until(search, start, ends, rng))
