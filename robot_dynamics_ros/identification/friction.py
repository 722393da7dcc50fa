"""Fits of static friction laws to measured friction torque, and their comparison on the same data.

Torque is linear in most parameters: those are solved exactly inside a search over the few that are not (variable
projection), from a global start; then all are polished together by bounded least squares with a robust loss.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import differential_evolution

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.merit import information_criteria, nrmse, rms
from robot_dynamics_ros.models.friction import FACTORS, LAWS, FrictionLaw, FrictionModel, law_named

REST = 0.01  # rad/s, below this a joint is at rest and friction is no function of velocity
_SPAN_T, _SPAN_LOAD = 5.0, 2.0  # K, Nm: least spread that says something
_GLOBAL_SAMPLES = 600


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

    def rows(self, mask: np.ndarray) -> FrictionData:
        """The rows of a mask or index array."""
        extra = [None if x is None else x[mask] for x in (self.load, self.temperature)]
        return FrictionData(self.v[mask], self.torque[mask], *extra, joint=self.joint)


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
    rmse_rest: float
    nrmse: float
    aic: float
    bic: float
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


class _Problem:
    """One law on one joint's moving samples: free parameters, their box, predictions of the core."""

    def __init__(self, law: FrictionLaw, data: FrictionData, T0: float, fixed: Mapping[str, float], heat: bool) -> None:
        self.law, self.data, self.T0 = law, data, T0
        unknown = sorted(set(fixed) - set(law.names))
        if unknown:
            raise DataError(f"{law.name} has no parameter {unknown[0]}; it has {', '.join(law.names)}")
        self.start = np.array([fixed.get(p.name, p.default) for p in law.parameters])
        no_load = set() if law.name != "madsen" or _load_span(data) >= _SPAN_LOAD else {"fl"}
        no_heat = set() if heat else {"alpha", "gamma", "ft2", "ft3"}
        held = set(fixed) | no_load | no_heat | (set() if "stribeck" in _parts(law) else {"gamma"})
        roles = {"linear", "nonlinear", "thermal"}
        speed, force = np.abs(data.v), np.abs(data.torque)
        self.slowest, self.fastest = np.quantile(speed, [0.02, 0.98]).tolist() if len(data) else (REST, 1.0)
        self.largest = float(np.quantile(force, 0.999)) + 1e-9 if len(data) else 1.0
        self.free = [k for k, p in enumerate(law.parameters) if p.role in roles and p.name not in held]
        self.linear = [k for k in self.free if law.parameters[k].role == "linear"]
        self.search = [k for k in self.free if law.parameters[k].role == "nonlinear"]

    @property
    def names(self) -> list[str]:
        return [self.law.parameters[k].name for k in self.free]

    def predict(self, p: np.ndarray, data: FrictionData | None = None) -> np.ndarray:
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
        """p with its linear parameters by reweighted least squares, and the robust cost."""
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
        box = np.array([self.box(k) for k in self.free])
        return box[:, 0], box[:, 1]


def _parts(law: FrictionLaw) -> set[str]:
    return {"stribeck"} if law.name in ("luo_load", "simoni", "madsen", "lugre") else set()


def fit_friction(
    law: str,
    data: FrictionData,
    *,
    reference_temperature: float | None = None,
    temperature: bool | None = None,
    fixed: Mapping[str, float] | None = None,
    rest: float = REST,
    seed: int = 0,
) -> FrictionFit:
    """Fit one law to one joint: min sum rho(torque - f(v, load, T)), rho = soft L1.

    temperature: True fits the temperature parameters and refuses data without a span, None does so where it can.
    fixed: parameters held at a value. Samples below `rest` [rad/s] are not used, only judged.
    Raises DataError naming what the data lacks and what to record instead.
    """
    known = law_named(law)
    heat = _temperature_span(data, temperature)
    moving = np.abs(data.v) >= rest
    T0 = _reference(data, reference_temperature)
    problem = _Problem(known, data.rows(moving), T0, fixed or {}, heat)
    _refuse(known, problem.data, rest)
    start = _global_start(problem, seed)
    p, covariance = _polish(problem, start)
    return _judge(problem, data, p, covariance, moving, heat)


def compare_friction(
    data: FrictionData, laws: Iterable[str] | None = None, **options: object
) -> tuple[list[FrictionFit], dict[str, str]]:
    """All laws on the same data: the fits by ascending BIC, and the reason for each law the data cannot support."""
    fits, refused = [], {}
    for law in laws or LAWS:
        try:
            fits.append(fit_friction(law, data, **options))  # type: ignore[arg-type]
        except DataError as error:
            refused[law] = str(error)
    return sorted(fits, key=lambda f: f.bic), refused


def friction_updates(fits: Sequence[FrictionFit]) -> dict[str, object]:
    """Fields of the robot file for the fits of all joints in order; raises DataError when laws differ."""
    if len({f.law for f in fits}) != 1:
        raise DataError("the joints of one robot need the same friction law")
    warm = any(f.temperature_range is not None for f in fits)
    names = [k for k in fits[0].parameters if warm or k not in FACTORS]  # then those of the thermal block count
    parameters: dict[str, object] = {k: [f.parameters[k] for f in fits] for k in names}
    ranges = [f.temperature_range for f in fits]
    if None not in ranges:
        parameters |= {k: [r[i] for r in ranges if r] for i, k in enumerate(("t_min", "t_max"))}
    references = [f.reference_temperature for f in fits]
    return {
        "friction.model": fits[0].law,
        "friction.parameters": parameters,
        "friction.reference_temperature": float(np.mean(references)),
    }


def _reference(data: FrictionData, given: float | None) -> float:
    if given is not None:
        return given
    return 20.0 if data.temperature is None or not len(data) else float(np.round(np.median(data.temperature), 1))


def _temperature_span(data: FrictionData, wanted: bool | None) -> bool:
    span = (
        0.0 if data.temperature is None or not len(data) else float(np.ptp(np.quantile(data.temperature, [0.02, 0.98])))
    )
    if wanted and not span >= _SPAN_T:
        raise DataError(
            f"{data.joint}: temperature spans {span:.1f} K, the fit needs {_SPAN_T:g} K: "
            "record from a cold start until the joint is warm, at several velocities"
        )
    return span >= _SPAN_T if wanted is None else wanted


def _refuse(law: FrictionLaw, data: FrictionData, rest: float) -> None:
    """DataError where the samples cannot tell the parameters of the law apart."""
    need = 5 * len(law.of_role("linear", "nonlinear"))
    if len(data) < need:
        raise DataError(
            f"{data.joint}: {len(data)} samples above {rest:g} rad/s, {law.name} needs {need}: record motion"
        )
    forward = float(np.mean(data.v > 0))
    if not 0.02 <= forward <= 0.98:
        raise DataError(
            f"{data.joint}: moves in one direction only, so Coulomb friction and offset cannot be told apart: "
            "record every velocity in both directions"
        )
    low, high = np.quantile(np.abs(data.v), [0.02, 0.98])
    if not high >= 1.5 * low:
        raise DataError(
            f"{data.joint}: constant velocity only ({low:.3g}..{high:.3g} rad/s), so viscous and Coulomb friction "
            "cannot be told apart: record several velocities (velocity-steps)"
        )
    load = _load_span(data)
    if law.uses_load and law.name != "madsen" and not load >= _SPAN_LOAD:  # madsen does without: fl stays 0
        raise DataError(
            f"{data.joint}: {law.name} depends on load, which spans {load:.1f} Nm: "
            "record the joint against gravity in several poses, or with a payload"
        )


def _load_span(data: FrictionData) -> float:
    return _spread(None if data.load is None else np.abs(data.load))


def _spread(x: np.ndarray | None) -> float:
    """Range of a signal without its outermost 2 % on either side."""
    return 0.0 if x is None or not len(x) else float(np.ptp(np.quantile(x, [0.02, 0.98])))


def _global_start(problem: _Problem, seed: int) -> list[np.ndarray]:
    """Candidate parameters: a grid over one or two nonlinear ones, differential evolution over more; log-scaled."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(problem.data))
    if len(rows) > _GLOBAL_SAMPLES:  # slow samples decide about Stribeck parameters: take half of them there
        order = np.argsort(np.abs(problem.data.v))
        half = _GLOBAL_SAMPLES // 2
        rows = np.concatenate([rng.choice(order[: len(order) // 4], half), rng.choice(order, half)])
    data = problem.data.rows(rows)
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


def _polish(problem: _Problem, starts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bounded robust least squares over all free parameters from each start; best p and its covariance."""
    lower, upper = problem.bounds()
    found = [_descend(problem, start, lower, upper) for start in starts]
    p = min(found, key=lambda f: f[1])[0]
    r = problem.predict(p) - problem.data.torque
    J = _jacobian(problem, p)
    size = np.linalg.norm(J, axis=0)
    size[size == 0] = 1.0
    dof = max(len(r) - len(problem.free), 1)
    return p, np.linalg.pinv((J / size).T @ (J / size)) / np.outer(size, size) * float(r @ r) / dof


def _descend(problem: _Problem, start: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, float]:
    """Levenberg-Marquardt on sum 2 s^2 (sqrt(1 + (r/s)^2) - 1) inside a box, s twice the spread of the residuals."""
    p = start.copy()
    p[problem.free] = np.clip(p[problem.free], lower, upper)
    r = problem.predict(p) - problem.data.torque
    s = 2 * 1.4826 * float(np.median(np.abs(r))) + 1e-6

    def cost(r: np.ndarray) -> float:
        return float(np.sum(2 * s**2 * (np.sqrt(1 + (r / s) ** 2) - 1)))

    now, damping = cost(r), 1e-3
    for _ in range(60):
        x = p[problem.free]
        J = _jacobian(problem, p)
        size = np.linalg.norm(J, axis=0)
        size[size == 0] = 1.0
        weight = 1 / np.sqrt(1 + (r / s) ** 2)
        A, g = (J / size).T @ (weight[:, None] * (J / size)), (J / size).T @ (weight * r)
        go = np.flatnonzero(~((x <= lower) & (g > 0) | (x >= upper) & (g < 0)))
        before = now
        for _ in range(10):
            step = np.zeros(len(x))
            damped = A[np.ix_(go, go)] + damping * np.diag(np.diag(A)[go] + 1e-12)
            step[go] = -np.linalg.solve(damped, g[go])
            trial = p.copy()
            trial[problem.free] = np.clip(x + step / size, lower, upper)
            left = problem.predict(trial) - problem.data.torque
            if cost(left) < now:
                p, r, now, damping = trial, left, cost(left), max(damping / 5, 1e-9)
                break
            damping *= 5
        if not now < before * (1 - 1e-8):
            break
    return p, now


def _jacobian(problem: _Problem, p: np.ndarray) -> np.ndarray:
    lower, upper = problem.bounds()
    J = np.empty((len(problem.data), len(problem.free)))
    for column, k in enumerate(problem.free):
        h = 1e-5 * max(abs(p[k]), 1e-3)
        ends = [p.copy(), p.copy()]
        ends[0][k] = max(p[k] - h, lower[column])
        ends[1][k] = min(p[k] + h, upper[column])
        J[:, column] = (problem.predict(ends[1]) - problem.predict(ends[0])) / (ends[1][k] - ends[0][k])
    return J


def _judge(
    problem: _Problem, data: FrictionData, p: np.ndarray, covariance: np.ndarray, moving: np.ndarray, heat: bool
) -> FrictionFit:
    error = problem.predict(p, data) - data.torque
    std = dict(zip(problem.names, np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist(), strict=True))
    values = dict(zip(problem.law.names, p.tolist(), strict=True))
    aic, bic = information_criteria(error[moving], len(problem.free))
    T = data.temperature
    loose = [k for k, s in std.items() if s > abs(values[k]) and abs(values[k]) > 0]
    notes = (f"poorly determined: {', '.join(loose)}",) if loose else ()
    return FrictionFit(
        law=problem.law.name,
        joint=data.joint,
        parameters=values,
        std=std,
        reference_temperature=problem.T0,
        temperature_range=(float(T.min()), float(T.max())) if heat and T is not None else None,
        samples=len(problem.data),
        rmse=rms(error),
        rmse_moving=rms(error[moving]),
        rmse_rest=rms(error[~moving]),
        nrmse=nrmse(data.torque[moving], data.torque[moving] + error[moving]),
        aic=aic,
        bic=bic,
        notes=notes,
    )
