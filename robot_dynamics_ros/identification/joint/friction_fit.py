"""Fit of one friction law to one joint: measured friction, the law as a problem on it, the search for its parameters.

Torque is linear in most parameters: those are solved exactly inside the search over the rest (variable projection); a
global start over the nonlinear parameters, then all of them are refined together.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution, least_squares

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.models.friction import FrictionLaw, FrictionModel
from robot_dynamics_ros.signals.speeds import MOVING

SPAN_LOAD = 2.0  # Nm: least spread of the load for a fit


@dataclass(frozen=True)
class FrictionData:
    """Measured friction of one joint: v (N,) [rad/s], torque (N,) [Nm]; load (N,) [Nm], temperature (N,) [deg C]."""

    v: np.ndarray
    torque: np.ndarray
    load: np.ndarray | None = None
    temperature: np.ndarray | None = None
    joint: str = "joint"

    def __post_init__(self) -> None:
        """Drop rows that are not finite; raises DataError for columns of different length."""
        columns = {k: getattr(self, k) for k in ("v", "torque", "load", "temperature") if getattr(self, k) is not None}
        arrays = {k: np.asarray(x, dtype=float).ravel() for k, x in columns.items()}
        lengths = {k: len(x) for k, x in arrays.items()}
        if len(set(lengths.values())) != 1:
            raise DataError(f"{self.joint}: columns differ in length: {lengths}")
        keep = np.all([np.isfinite(x) for x in arrays.values()], axis=0)
        for k, x in arrays.items():
            object.__setattr__(self, k, x[keep])

    def __len__(self) -> int:
        return len(self.v)

    def take(self, mask: np.ndarray) -> FrictionData:
        """The rows of a mask or index array."""
        load, temperature = (None if x is None else x[mask] for x in (self.load, self.temperature))
        return FrictionData(self.v[mask], self.torque[mask], load, temperature, self.joint)


@dataclass(frozen=True)
class FrictionFit:
    """A fitted law of one joint: parameters and standard deviations by name, errors in Nm, NRMSE in % [ch4 9]."""

    law: str
    joint: str
    parameters: dict[str, float]
    std: dict[str, float]
    reference_temperature: float
    temperature_range: tuple[float, float] | None
    samples: int
    rmse: float
    rmse_moving: float
    nrmse: float
    notes: tuple[str, ...] = field(default=())

    def model(self) -> FrictionModel:
        """The fitted law as a model of one joint."""
        limits = (
            {} if self.temperature_range is None else dict(zip(("t_min", "t_max"), self.temperature_range, strict=True))
        )
        return FrictionModel(self.law, self.parameters | limits, 1, self.reference_temperature)

    def torque(self, data: FrictionData) -> np.ndarray:
        """Friction (N,) [Nm] of the fitted law on other data."""
        columns = [None if x is None else x[:, None] for x in (data.load, data.temperature)]
        return self.model().torque(data.v[:, None], *columns)[:, 0]


def load_span(data: FrictionData) -> float:
    """Range of the load's size [Nm] without its outermost 2 % on either side; 0 where none was recorded."""
    return spread(None if data.load is None else np.abs(data.load))


def spread(x: np.ndarray | None) -> float:
    """Range of a signal (N,) without its outermost 2 % on either side; 0 for none."""
    return 0.0 if x is None or not len(x) else float(np.ptp(np.quantile(x, [0.02, 0.98])))


STRIBECK = ("luo_load", "simoni", "madsen", "lugre")  # laws with a Stribeck part, whose change with heat is gamma


class FrictionProblem:
    """One law on one joint's moving samples: free parameters, their box, predictions of the core.

    Raises DataError for a fixed parameter that the law does not have.
    """

    def __init__(self, law: FrictionLaw, data: FrictionData, T0: float, fixed: Mapping[str, float], heat: bool) -> None:
        self.law, self.data, self.T0 = law, data, T0
        unknown = sorted(set(fixed) - set(law.names))
        if unknown:
            raise DataError(f"{law.name} has no parameter {unknown[0]}; it has {', '.join(law.names)}")
        self.start = np.array([fixed.get(p.name, p.default) for p in law.parameters])
        no_load = set() if law.name != "madsen" or load_span(data) >= SPAN_LOAD else {"fl"}
        no_heat = set() if heat else {"alpha", "gamma", "ft2", "ft3"}
        held = set(fixed) | no_load | no_heat | (set() if law.name in STRIBECK else {"gamma"})
        roles = {"linear", "nonlinear", "thermal"}
        speed, force = np.abs(data.v), np.abs(data.torque)
        ends = np.quantile(speed, [0.02, 0.98]) if len(data) else (MOVING, 1.0)
        self.slowest, self.fastest = float(ends[0]), float(ends[1])
        self.largest = float(np.quantile(force, 0.999)) + 1e-9 if len(data) else 1.0
        self.free = [k for k, p in enumerate(law.parameters) if p.role in roles and p.name not in held]
        self.linear = [k for k in self.free if law.parameters[k].role == "linear"]
        self.search = [k for k in self.free if law.parameters[k].role == "nonlinear"]

    @property
    def names(self) -> list[str]:
        """Names of the free parameters."""
        return [self.law.parameters[k].name for k in self.free]

    def predict(self, p: np.ndarray, data: FrictionData | None = None) -> np.ndarray:
        """Friction (N,) [Nm] for all parameters p of the law, on the moving samples or on other data."""
        d = self.data if data is None else data
        model = FrictionModel(self.law.name, dict(zip(self.law.names, p, strict=True)), 1, self.T0)
        columns = [None if x is None else x[:, None] for x in (d.load, d.temperature)]
        return model.torque(d.v[:, None], *columns)[:, 0]

    def columns(self, p: np.ndarray, data: FrictionData) -> np.ndarray:
        """Design (N, L): torque of each linear parameter set to one, the nonlinear ones as in p."""
        zero = p.copy()
        zero[self.linear] = 0.0
        base = self.predict(zero, data)
        result = np.empty((len(data), len(self.linear)))
        for column, k in enumerate(self.linear):
            one = zero.copy()
            one[k] = 1.0
            result[:, column] = self.predict(one, data) - base
        return result

    def solve_linear(self, p: np.ndarray, data: FrictionData) -> tuple[np.ndarray, float]:
        """p (k,) with its linear parameters by reweighted least squares, and the robust cost."""
        A = self.columns(p, data)
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0] = 1.0
        w, x = np.ones(len(data)), np.zeros(A.shape[1])
        for _ in range(3):
            x = np.linalg.lstsq(A / scale * w[:, None], data.torque * w, rcond=1e-10)[0] / scale
            r = data.torque - A @ x
            spread = 1.4826 * np.median(np.abs(r)) + 1e-9
            w = (1 + (r / (2 * spread)) ** 2) ** -0.25  # soft L1
        out = p.copy()
        out[self.linear] = x
        return out, float(np.sum(np.sqrt(1 + (r / (2 * spread)) ** 2) - 1) * spread**2)

    def box(self, k: int) -> tuple[float, float]:
        """Where parameter k may lie: inside the law's bounds and what the data resolves.

        No Stribeck speed below the slowest sample or above a third of the fastest (there the polynomial rules), no
        torque beyond twice the largest, and the Coulomb level of every law is not negative.
        """
        p = self.law.parameters[k]
        low, high = (p.lower, p.upper) if p.role == "linear" else p.search
        if p.role == "nonlinear" and p.unit == "rad/s":
            low, high = max(low, self.slowest), min(high, self.fastest / 3)
        elif p.name == "h":
            low, high = max(low, 3 / self.fastest), min(high, 1 / self.slowest)
        elif p.name == "c0":
            low, high = 0.0, 2 * self.largest
        elif p.unit == "Nm" and p.role == "linear":
            low, high = max(low, -2 * self.largest), min(high, 2 * self.largest)
        return low, max(high, low * (1 + 1e-6) if low > 0 else high)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the free parameters' boxes."""
        box = np.array([self.box(k) for k in self.free])
        return box[:, 0], box[:, 1]


GLOBAL_SAMPLES = 600


def global_start(problem: FrictionProblem, seed: int) -> list[np.ndarray]:
    """Candidate parameters: a grid over one or two nonlinear ones, differential evolution over more; log-scaled."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(problem.data))
    if len(rows) > GLOBAL_SAMPLES:  # slow samples decide about Stribeck parameters: take half of them there
        order = np.argsort(np.abs(problem.data.v))
        half = GLOBAL_SAMPLES // 2
        rows = np.concatenate([rng.choice(order[: len(order) // 4], half), rng.choice(order, half)])
    data = problem.data.take(rows)
    if not problem.search:
        return [problem.solve_linear(problem.start, data)[0]]
    box = [np.log(problem.box(k)) for k in problem.search]

    def candidate(x: Sequence[float]) -> tuple[np.ndarray, float]:
        p = problem.start.copy()
        p[problem.search] = np.exp(x)
        return problem.solve_linear(p, data)

    if len(box) <= 2:
        axes = [np.linspace(lo, hi, 25 if len(box) == 1 else 9) for lo, hi in box]
        found = sorted((candidate(x) for x in itertools.product(*axes)), key=lambda c: c[1])
        return [p for p, _ in found[:2]]
    best = differential_evolution(
        lambda x: candidate(x)[1], box, maxiter=15, popsize=6, seed=seed, polish=False, tol=1e-4
    )
    return [candidate(best.x)[0]]


def polish(problem: FrictionProblem, starts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bounded robust least squares over all free parameters from each start (k,); best p (k,), covariance (m, m) of
    the m free ones.
    """
    found = [_descended(problem, start) for start in starts]
    best = min(found, key=lambda f: f.cost)
    p = starts[0].copy()
    p[problem.free] = best.x
    r = problem.predict(p) - problem.data.torque
    J = least_squares(lambda x: _residual(problem, p, x), best.x, "3-point", bounds=problem.bounds(), max_nfev=1).jac
    size = np.linalg.norm(J, axis=0)
    size[size == 0] = 1.0
    dof = max(len(r) - len(problem.free), 1)
    return p, np.linalg.pinv((J / size).T @ (J / size)) / np.outer(size, size) * float(r @ r) / dof


def _residual(problem: FrictionProblem, p: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Error (N,) [Nm] with the free parameters x (m,) in p (k,)."""
    full = p.copy()
    full[problem.free] = x
    return problem.predict(full) - problem.data.torque


def _descended(problem: FrictionProblem, start: np.ndarray) -> Any:
    """Soft L1 of twice the spread of the residuals at the start."""
    lower, upper = problem.bounds()
    x = np.clip(start[problem.free], lower, upper)
    spread = 2 * 1.4826 * float(np.median(np.abs(_residual(problem, start, x)))) + 1e-6
    return least_squares(
        lambda x: _residual(problem, start, x),
        x,
        "3-point",
        bounds=(lower, upper),
        loss="soft_l1",
        f_scale=spread,
        x_scale="jac",
        max_nfev=60,
    )
