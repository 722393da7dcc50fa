"""The friction law that nodes evaluate: Luo2024's load and velocity law [Luo2024 8] fitted by variable projection.

The identified model may also hold pre-sliding operators; the live friction stage takes a static law. Linear
parameters are solved inside (bounded least squares), eps and the Stribeck velocity are searched outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import lsq_linear

from robot_dynamics_ros.identification.arm.model import EffortFilter
from robot_dynamics_ros.identification.dataset.stretches import stretches
from robot_dynamics_ros.models.friction import FrictionModel

LAW = "luo_load"
SAMPLES = 20_000  # used for the static law: a handful of parameters per joint
LINEAR = ("fv1", "fv2", "fv3", "fc", "fs", "ft", "fb")
NONNEGATIVE = ("fc", "fs", "fv1")
UNSMOOTHED = ("fv1", "fb")  # do not depend on eps
COULOMB_RISE = 2e-3  # rad/s, fc1: the Coulomb level is reached at once, eps alone smooths the reversal
EPS_GRID = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
STRIBECK_VELOCITIES = (0.03, 0.1, 0.3, 1.0)
TERMS = (("fv1", "fc", "fb"), ("fv2",), ("ft",), ("fs",), ("fv3",))  # added in this order while the criterion falls


@dataclass(frozen=True)
class FrictionSamples:
    """What the rigid body leaves of one joint's effort: y (N,) friction [Nm] against velocity v (N,) [rad/s], torque
    without friction `load` (N,) [Nm] and measured position (N,) [rad].

    weight (N,): robust weights. start (N,) bool: first sample of each piece. folds: fold numbers (N,) of one or more
    partitions. effort_filter: the low-pass that the recorded effort has passed. rate: samples per second [Hz].
    speed_limit: friction must dissipate up to this speed [rad/s]. rotor (N,): position of the rotor from the reported
    velocity [rad], None where there is none.
    """

    y: np.ndarray
    v: np.ndarray
    load: np.ndarray
    position: np.ndarray
    weight: np.ndarray
    start: np.ndarray
    folds: Sequence[np.ndarray]
    effort_filter: EffortFilter | None
    rate: float
    speed_limit: float = 0.0
    rotor: np.ndarray | None = None

    def as_recorded(self, x: np.ndarray) -> np.ndarray:
        """Columns (N, k) as the recorded effort shows them: through the same low-pass."""
        return x if self.effort_filter is None else self.effort_filter.apply(x, self.rate, self.start)

    def thinned(self) -> FrictionSamples:
        """At most SAMPLES samples in 20 stretches spread over the motion, each a piece of its own."""
        if len(self.y) <= SAMPLES:
            return self
        rows = stretches(len(self.y), SAMPLES, 20)
        start = np.concatenate([[True], np.diff(rows) != 1]) | self.start[rows]
        names = ("y", "v", "load", "position", "weight")
        values = [getattr(self, name)[rows] for name in names]
        return replace(
            self,
            **dict(zip(names, values, strict=True)),
            start=start,
            folds=[fold[rows] for fold in self.folds],
            rotor=None if self.rotor is None else self.rotor[rows],
        )


@dataclass(frozen=True)
class StaticFit:
    """Parameters of one joint's law by name, residual deviation [Nm]."""

    parameters: dict[str, float]
    residual: float


def fit_static(samples: FrictionSamples, chosen: tuple[str, ...]) -> StaticFit:
    """Static law of one joint: friction y against velocity v and load.

    Of the terms whose counterparts cross-validation has `chosen`, those that lower the Bayesian information criterion
    and dissipate up to the speed limit.
    Raises ValueError when no term can be fitted.
    """
    samples = samples.thinned()
    y, v, normal = samples.y, samples.v, _Normal(samples)
    best: tuple[float, dict[str, float], float] | None = None
    names: tuple[str, ...] = ()
    effective = max(len(y) / 10, 50.0)  # independent samples in a correlated residual: about one in ten
    for group in TERMS:
        if not all(_counterpart(term, chosen) for term in group):
            continue
        trial = _search(normal, (*names, *group))
        if not opposes_motion(trial[1], v, samples.speed_limit):
            continue
        score = effective * np.log(trial[0]) + np.log(effective) * (len(names) + len(group))
        if best is None or score < best[0]:
            best, names = (score, trial[1], trial[0]), (*names, *group)
    if best is None:
        raise ValueError("no friction term could be fitted")
    return StaticFit(best[1], float(np.sqrt(best[2])))


def _counterpart(term: str, chosen: tuple[str, ...]) -> bool:
    """Whether a term of the law has one of the same meaning among the chosen columns."""
    if term in ("fv2", "fv3"):
        return term in chosen
    if term == "ft":
        return "fl" in chosen
    return term != "fs" or any(c.startswith(("fs@", "h@")) for c in chosen)


def opposes_motion(values: dict[str, float], v: np.ndarray, limit: float = 0.0) -> bool:
    """Whether friction keeps half its Coulomb level up to twice the largest speed of v (N,) [rad/s] and opposes the
    motion up to `limit` [rad/s]. A polynomial that changes sign there is not a friction law.
    """
    speed = np.linspace(0.05, 2.0, 20) * np.abs(v).max()
    top = np.linspace(speed[-1], max(limit, speed[-1]), 20)
    kept, beyond = (np.sum([values.get(f"fv{k}", 0.0) * x**k for k in (1, 2, 3)], axis=0) for x in (speed, top))
    fc = values.get("fc", 0.0)
    return bool((kept >= -0.5 * fc).all() and (beyond >= -fc).all())


def unit_column(name: str, eps: float, vs: float, v: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Torque (N,) of the law with one linear parameter at one and the others at zero; vs: Stribeck velocity [rad/s]."""
    values = {
        "fc1": COULOMB_RISE,
        "fs1": vs,
        "eps": eps,
        "ft2": 1e-4,
        "velocity_floor": 0.01,
        "fc": 0.0,
        "fv1": 0.0,
        name: 1.0,
    }
    return FrictionModel(LAW, values, 1).torque(v[:, None], load[:, None])[:, 0]


class _Normal:
    """Weighted normal matrices of the law's columns and y, a column made when it is first asked for."""

    def __init__(self, samples: FrictionSamples) -> None:
        self.samples, self.root = samples, np.sqrt(samples.weight)
        self.rows, self.scale = [samples.y * self.root], [1.0]  # y, then columns of unit length
        self.gram = np.array([[self.rows[0] @ self.rows[0]]])
        self.places: dict[tuple[str, float, float], int] = {}

    def triangle(self, names: tuple[str, ...], eps: float, vs: float) -> tuple[np.ndarray, np.ndarray]:
        """R (k + 1, k + 1) of columns of unit length and y, and the lengths (k,) that they had."""
        keys = [self._key(name, eps, vs) for name in names]
        own = [self._place(key) for key in keys]
        G = self.gram[np.ix_([*own, 0], [*own, 0])]
        G[np.arange(len(own)), np.arange(len(own))] += 1e-13
        return np.linalg.cholesky(G).T, np.array([self.scale[k] for k in own])

    @staticmethod
    def _key(name: str, eps: float, vs: float) -> tuple[str, float, float]:
        """What a column depends on."""
        return name, EPS_GRID[0] if name in UNSMOOTHED else eps, vs if name == "fs" else STRIBECK_VELOCITIES[0]

    def _place(self, key: tuple[str, float, float]) -> int:
        if key not in self.places:
            s = self.samples
            column = s.as_recorded(unit_column(*key, s.v, s.load)[:, None])[:, 0] * self.root
            self.scale.append(max(float(np.linalg.norm(column)), 1e-300))
            column /= self.scale[-1]
            self.places[key] = len(self.gram)
            cross = np.array([[x @ column for x in self.rows]])
            self.gram = np.block([[self.gram, cross.T], [cross, column @ column]])
            self.rows.append(column)
        return self.places[key]


def _search(normal: _Normal, names: tuple[str, ...]) -> tuple[float, dict[str, float]]:
    """Residual variance and parameters of the best of a grid over eps and the Stribeck velocity."""
    y = normal.samples.y
    most = 2 * float(np.abs(y).max())  # a Coulomb or Stribeck level above all that was measured is extrapolation
    lower = np.array([0.0 if n in NONNEGATIVE else -np.inf for n in names])
    upper = np.array([most if n in ("fc", "fs") else np.inf for n in names])
    best: tuple[float, dict[str, float]] | None = None
    for eps in EPS_GRID:
        for vs in STRIBECK_VELOCITIES if "fs" in names else STRIBECK_VELOCITIES[:1]:
            R, scale = normal.triangle(names, eps, vs)
            x = _bounded(R, lower * scale, upper * scale)
            variance = float(np.sum((R[:, -1] - R[:, :-1] @ x) ** 2)) / len(y)
            if best is None or variance < best[0]:
                values = dict(zip(names, (x / scale).tolist(), strict=True))
                best = (variance, values | {"eps": eps, "fs1": vs, "fc1": COULOMB_RISE})
    if best is None:
        raise ValueError("empty search")
    return best


def _bounded(R: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """x (k,) between bounds with the smallest residual of a triangle R (k + 1, k + 1)."""
    x = np.linalg.lstsq(R[:-1, :-1], R[:-1, -1], rcond=None)[0]
    if ((lower <= x) & (x <= upper)).all():
        return np.asarray(x)
    return np.asarray(lsq_linear(R[:, :-1], R[:, -1], bounds=(lower, upper), method="bvls").x)


def friction_table(laws: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """name -> one number per joint, as a robot file holds them; absent terms are 0."""
    names = (*LINEAR, "eps", "fs1", "fc1")
    return {name: [float(law.get(name, 0.0)) for law in laws] for name in names}
