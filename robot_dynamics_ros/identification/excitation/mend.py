"""Mends Fourier motions that break a limit between samples: pushed back with margins, else made smaller."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.excitation.check import Breach, breaches
from robot_dynamics_ros.identification.excitation.limits import TOLERANCE, USE
from robot_dynamics_ros.identification.excitation.search import FourierSearch
from robot_dynamics_ros.identification.excitation.space import PER_METRE

PUSHES = 4  # with margins that grow by what is still broken
SHARES = (0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1)  # of the amplitude, where pushing does not help


def broken(search: FourierSearch, x: np.ndarray) -> list[Breach]:
    """Limits that the motion of x breaks, between samples too (check.py); the worst first."""
    basis = search.motions.basis
    return breaches(search.criteria, lambda t: search.at(x, t), search.duration, len(basis.t))


def mend(search: FourierSearch, x: np.ndarray) -> tuple[np.ndarray, list[Breach]]:
    """x, or free numbers near it whose motion keeps all limits; else what the best try still breaks."""
    found = broken(search, x)
    best, margins = (x, found), {}
    for _ in range(PUSHES):
        if not found:
            return x, found
        for b in found:
            per = PER_METRE if b.limit in ("room", "obstacles", "collision") else 1 / USE
            margins[b.limit] = margins.get(b.limit, 0.0) + per * (b.excess + TOLERANCE)
        x = search.into_limits(x, margins)
        found = broken(search, x)
        best = min(best, (x, found), key=_worst)
    for share in SHARES:
        if not best[1]:
            break
        x = search.smaller(best[0], share)
        best = min(best, (x, broken(search, x)), key=_worst)
    return best


def _worst(tried: tuple[np.ndarray, list[Breach]]) -> float:
    return max((b.excess for b in tried[1]), default=0.0)
