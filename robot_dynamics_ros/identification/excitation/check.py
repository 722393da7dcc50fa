"""Whether a motion keeps its limits between the samples of its search too; if not, the nearest motion that does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.identification.excitation.limits import TOLERANCE, USE
from robot_dynamics_ros.identification.excitation.problem import Criteria
from robot_dynamics_ros.identification.excitation.search import FourierSearch
from robot_dynamics_ros.identification.excitation.space import PER_METRE
from robot_dynamics_ros.trajectories.motions import JointMotion

FINER = 10  # samples of the check per sample of the search
CHUNK = 20_000  # samples that are looked at together
PEAKS = 10  # highest local maxima of every limit that are refined
ROUNDS = 3  # of refinement, each to a tenth of the step
TEXT = {  # limit: what it is called, unit of an excess, factor of it, what to do
    "position": ("joint position", "rad", 1.0, "allow a wider range"),
    "velocity": ("joint speed", "%", 100.0, "allow more speed"),
    "acceleration": ("joint acceleration", "%", 100.0, "allow more acceleration"),
    "torque": ("joint torque", "%", 100.0, "allow less acceleration"),
    "tcp_speed": ("TCP speed", "%", 100.0, "allow less joint speed"),
    "room": ("floor or box to stay in", "m", 1.0, "give a lower floor or a larger box"),
    "obstacles": ("box to stay out of", "m", 1.0, "give smaller boxes"),
    "collision": ("clearance", "m", 1.0, "ask for less clearance"),
}
IN_SPACE = ("room", "obstacles", "collision")
SHARES = (1.0, 1.0, 0.98, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1)  # of the amplitude that mend() tries in turn

Path = Callable[[np.ndarray], JointMotion]  # q, qd, qdd (N, n) at times (N,) [s]


@dataclass(frozen=True)
class Breach:
    """By how much a motion exceeds a limit, at worst: share of the limit, rad or m; and when [s]."""

    limit: str
    excess: float
    time: float

    def __str__(self) -> str:
        name, unit, factor, _ = TEXT[self.limit]
        return f"the limit of {name} is exceeded by {factor * self.excess:.3g} {unit} at {self.time:.2f} s"

    @property
    def advice(self) -> str:
        """What to do."""
        return TEXT[self.limit][3]


def excess(criteria: Criteria, motion: JointMotion) -> dict[str, np.ndarray]:
    """Excess (N,) over every limit in full, by limit: share of the limit, rad or m; negative where it is kept."""
    lim, (q, qd, qdd) = criteria.limits, motion
    found = {
        "position": np.maximum(lim.lower - q, q - lim.upper).max(axis=1),
        "velocity": (np.abs(qd) / lim.velocity).max(axis=1) - 1,
        "acceleration": (np.abs(qdd) / lim.acceleration).max(axis=1) - 1,
    }
    for name, limit in criteria.excess(motion).items():
        e = limit.by_sample()
        found[name] = USE * (1 + e) - 1 if name in ("torque", "tcp_speed") else e / PER_METRE
    return found


def breaches(criteria: Criteria, path: Path, duration: float, samples: int) -> list[Breach]:
    """What exceeds TOLERANCE over a whole motion, the worst first.

    `samples` are those of the search; FINER times as many are looked at, and the local maxima of every limit refined.
    """
    step = duration / (FINER * samples)
    worst = _peaks(criteria, path, np.linspace(0, duration, FINER * samples + 1))
    for _ in range(ROUNDS):
        near = np.unique(np.concatenate([times for _, times in worst.values()]))
        step /= 10
        t = np.clip((near[:, None] + step * np.arange(-10, 11)).ravel(), 0, duration)
        worst = {
            k: max(worst[k], found, key=lambda w: w[0]) for k, found in _peaks(criteria, path, np.unique(t)).items()
        }
    found = [Breach(name, top, float(times[0])) for name, (top, times) in worst.items() if top > TOLERANCE]
    return sorted(found, key=lambda b: -b.excess)


def _peaks(criteria: Criteria, path: Path, t: np.ndarray) -> dict[str, tuple[float, np.ndarray]]:
    """By limit the largest excess at times t, and the times of its highest local maxima, the highest first."""
    parts = [excess(criteria, path(some)) for some in np.array_split(t, -(-len(t) // CHUNK))]
    return {name: _highest(t, np.concatenate([part[name] for part in parts])) for name in parts[0]}


def _highest(t: np.ndarray, e: np.ndarray) -> tuple[float, np.ndarray]:
    sides = np.concatenate([[-np.inf], e, [-np.inf]])
    top = np.flatnonzero((e >= sides[:-2]) & (e >= sides[2:]))
    top = top[np.argsort(-e[top], kind="stable")][:PEAKS]
    return float(e[top[0]]), t[top]


def broken(search: FourierSearch, x: np.ndarray) -> list[Breach]:
    """Limits that the motion of free numbers x (m,) breaks, between samples too; the worst first."""
    duration, samples = search.parts * search.duration, search.parts * len(search.motions.t)
    return breaches(search.criteria, lambda t: search.at(x, t), duration, samples)


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
        best = min(best, (x, found), key=lambda tried: max((b.excess for b in tried[1]), default=0.0))
    return best
