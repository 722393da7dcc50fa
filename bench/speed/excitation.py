"""Time to quality of excitation searches: hybrid with slopes against the condition number alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.papers.labs.race import ByDifferences, Quality, condition_alone, hybrid_until
from bench.speed.setup import Setup
from bench.speed.timing import Case, Floors
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.excitation import Criteria, FourierSearch, Limits
from robot_dynamics_ros.robot_file import load_robot

SECTION = "excitation"
HARMONICS, BASE, PERIOD = 5, 0.1 * np.pi, 20.0
SHARE = 0.3  # of the time of the condition number alone, at most [Luo2024 Table III]


def cases(setup: Setup) -> Iterator[Case]:
    """Both from one random motion of a UR5e under all limits, to the same condition number and log determinant.

    The peers are stopped after some steps, and the hybrid search where it has both figures that they have then.
    """
    robot = load_robot("ur5e")
    criteria = Criteria(robot, Limits.of(robot, floor=0.05, clearance=0.1))
    search, slow = (kind(criteria, HARMONICS, BASE, PERIOD) for kind in (FourierSearch, ByDifferences))
    start = search.start(np.random.default_rng(0))
    steps, rounds = (10, 1) if setup.quick else (20, 2)
    floors = dict.fromkeys(("avx512", "avx2", "sse2"), 1 / SHARE)
    yield _case(search, slow, start, steps, rounds, "cond alone, differences", floors)
    yield _case(search, search, start, 40, 4, "cond alone, slopes", {})


def _case(
    search: FourierSearch, other: FourierSearch, start: np.ndarray, steps: int, rounds: int, peer: str, floors: Floors
) -> Case:
    def alone() -> Quality:
        with one_thread():
            return condition_alone(other, start, steps, rounds)

    wanted = alone()

    def hybrid() -> None:
        with one_thread():
            (reached,) = hybrid_until(search, start, [wanted], np.random.default_rng(1))
        if reached is None:
            raise RuntimeError(f"the hybrid search does not reach condition number {wanted.condition:.1f}")

    name = f"excitation to cond {wanted.condition:.0f} and its log det"
    return Case(SECTION, name, hybrid, alone, peer, 1, floors)
