"""Mends Fourier motions that break a limit between samples: pushed back with margins, else made smaller."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.excitation.check import TEXT, Breach, breaches
from robot_dynamics_ros.identification.excitation.limits import TOLERANCE, USE
from robot_dynamics_ros.identification.excitation.search import FourierSearch
from robot_dynamics_ros.identification.excitation.space import PER_METRE

IN_SPACE = ("room", "obstacles", "collision")
SHARES = (1.0, 1.0, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1)  # of the amplitude, try by try


def broken(search: FourierSearch, x: np.ndarray) -> list[Breach]:
    """Limits that the motion of free numbers x (m,) breaks, between samples too (check.py); the worst first."""
    basis = search.motions.basis
    return breaches(search.criteria, lambda t: search.at(x, t), search.duration, len(basis.t))


def mend(search: FourierSearch, x: np.ndarray) -> tuple[np.ndarray, list[Breach]]:
    """x (m,), or free numbers near it whose motion keeps all limits; else what the best try still breaks."""
    start, found = x, broken(search, x)
    best, margins = (x, found), dict.fromkeys(TEXT, 0.0)
    for share in SHARES:
        if not found:
            return x, found
        for b in found:
            margins[b.limit] += (PER_METRE if b.limit in IN_SPACE else 1 / USE) * (b.excess + TOLERANCE)
        x = search.into_limits(search.smaller(start, share) if share < 1 else x, margins)
        found = broken(search, x)
        best = min(best, (x, found), key=_worst)
    return best


def _worst(tried: tuple[np.ndarray, list[Breach]]) -> float:
    return max((b.excess for b in tried[1]), default=0.0)
