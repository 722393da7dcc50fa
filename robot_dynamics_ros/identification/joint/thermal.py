"""Identification of the thermal model from duty-cycle runs: temperature factors, heat capacity and heat transfer.

Friction power is averaged over seconds (temperature is slow), the heat balance of the core runs over those, and
friction and, where reported, housing temperature are fitted together by bounded least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.metrics import covariance, nrmse
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.signals.speeds import MOVING

_BIN_S, _JUDGED_SAMPLES = 2.0, 3000
_SPAN_T, _SPAN_FRICTION = 5.0, 0.04  # K; relative change of friction over the runs
_BOX = {
    "alpha": (-0.05, 0.05),
    "beta": (0.7, 1.3),
    "gamma": (-0.05, 0.05),
    "delta": (0.0, 2.0),
    "heat_capacity": (1.0, 1e5),
    "heat_transfer": (1e-3, 1e3),
    "housing_capacity": (10.0, 1e6),
    "housing_transfer": (1e-3, 1e3),
}
_LOGARITHMIC = tuple(_BOX)[4:]
_NEUTRAL = {"alpha": 0.0, "beta": 1.0, "gamma": 0.0, "delta": 1.0}


@dataclass(frozen=True)
class ThermalRun:
    """One duty-cycle run of one joint from a known start.

    stamp_ns (N,); v (N,) [rad/s]; friction (N,) measured [Nm]; ambient [deg C]; start: lubricant temperature at the
    first sample [deg C], None = ambient (a cold start); housing (N,) reported temperature [deg C] or None; load (N,)
    [Nm] or None.
    """

    stamp_ns: np.ndarray
    v: np.ndarray
    friction: np.ndarray
    ambient: float
    start: float | None = None
    housing: np.ndarray | None = None
    load: np.ndarray | None = None


@dataclass(frozen=True)
class ThermalFit:
    """Parameters with standard deviations; NRMSE % of friction with the model and with temperature ignored."""

    model: str
    parameters: dict[str, float]
    std: dict[str, float]
    nrmse: float
    nrmse_without: float
    temperature_span: float

    @property
    def loose(self) -> list[str]:
        """Names of what the runs do not determine: no larger than its deviation, or at an end of what was searched."""
        found = {k: self.parameters[k] for k in self.std}
        return [k for k, x in found.items() if abs(x) < self.std[k] or np.isclose(x, _BOX[k], rtol=1e-2).any()]


class _Run:
    """A run in bins of seconds, and the samples its friction is judged by."""

    def __init__(self, run: ThermalRun, friction: FrictionModel, joint: str) -> None:
        columns = [run.v, run.friction, *(x for x in (run.housing, run.load) if x is not None)]
        if any(len(x) != len(run.stamp_ns) for x in columns) or len(run.stamp_ns) < 2:
            raise DataError(f"{joint}: columns of a run differ in length, or it has fewer than two samples")
        for name in ("ambient", "start"):
            if (value := getattr(run, name)) is not None and not -60.0 <= value <= 200.0:
                raise DataError(f"{joint}: {name} {value} must be within -60..200 deg C")
        seconds = (run.stamp_ns - run.stamp_ns[0]) * 1e-9
        if not (np.diff(seconds) > 0).all():
            raise DataError(f"{joint}: stamps of a run do not increase")
        base, stribeck = _parts(friction, run.v, run.load)
        self.bin = np.floor(seconds / _BIN_S).astype(int)
        count = self.bin[-1] + 1
        filled = np.maximum(np.bincount(self.bin, minlength=count), 1)
        self.base, self.stribeck = (
            np.bincount(self.bin, weights=run.v * part, minlength=count) / filled for part in (base, stribeck)
        )
        self.stamps = (np.arange(count) * _BIN_S * 1e9).astype(np.int64)
        self.ambient = np.full(count, float(run.ambient))
        self.start = float(run.ambient if run.start is None else run.start)
        self.housing = None
        if run.housing is not None:
            self.housing = np.bincount(self.bin, weights=run.housing, minlength=count) / filled
            self.housing[np.bincount(self.bin, minlength=count) == 0] = np.nan
        moving = np.flatnonzero((np.abs(run.v) > MOVING) & np.isfinite(run.friction))
        rows = moving[np.linspace(0, len(moving) - 1, min(_JUDGED_SAMPLES, len(moving))).astype(int)]
        self.rows_bin, self.y = self.bin[rows], run.friction[rows]
        self.y_base, self.y_stribeck = base[rows], stribeck[rows]
        self.offset = friction.parameters()[_offset(friction)][0]

    def temperature(self, p: dict[str, float], T0: float) -> np.ndarray:
        """(bins, 2) lubricant and housing."""
        heat = np.array(
            [p["heat_capacity"], p["heat_transfer"], p.get("housing_capacity", 0.0), p.get("housing_transfer", 0.0)]
        )
        factors = np.array([T0, p["alpha"], p["beta"], p["gamma"], p["delta"]])
        begin = self.start
        housing = begin if self.housing is None else float(self.housing[np.isfinite(self.housing)][0])
        return _core.heat_balance(heat, self.stamps, self.base, self.stribeck, factors, self.ambient, begin, housing)

    def friction(self, p: dict[str, float], T0: float, T: np.ndarray) -> np.ndarray:
        """Friction at the judged samples."""
        dT = T[self.rows_bin, 0] - T0
        warm = self.y_base * (p["alpha"] * dT + p["beta"])
        return warm + self.y_stribeck * (p["gamma"] * dT + p["delta"]) + self.offset


def _offset(friction: FrictionModel) -> str:
    return next(k for k in friction.law.names if k in ("fo", "fb"))


def _parts(friction: FrictionModel, v: np.ndarray, load: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Base and Stribeck parts (N,) of a law at its reference temperature, without offset."""
    numbers = {k: x[0] for k, x in friction.parameters().items() if k in friction.law.names} | {_offset(friction): 0.0}
    column = None if load is None else load[:, None]
    result = []
    for beta, delta in ((1.0, 0.0), (0.0, 1.0)):
        factors = {"alpha": 0.0, "beta": beta, "gamma": 0.0, "delta": delta}
        part = FrictionModel(friction.law.name, numbers | factors, 1, friction.reference.tolist())
        result.append(part.torque(v[:, None], column)[:, 0])
    return result[0], result[1]


def fit_thermal(
    runs: Sequence[ThermalRun],
    friction: FrictionModel,
    *,
    fixed: Mapping[str, float] | None = None,
    joint: str = "joint",
) -> ThermalFit:
    """alpha..delta, C, K (and those of the housing) of one joint. fixed: parameters held at a value.

    friction: the law at its reference temperature T0. Without any reported temperature the scale of temperature cannot
    be seen in friction (only alpha C and alpha K can), so heat_capacity C [J/K] must be fixed. With housing_capacity
    C_h [J/K] fixed too, the unreported housing is a second node: what it takes and gives is seen in friction's slower
    time constant; it starts as warm as the lubricant. Raises DataError where the runs do not warm the joint.
    [Simoni2017, IV and eq. 6-9]
    """
    if friction.n_joints != 1 or not runs:
        raise DataError(f"{joint}: the fit needs the friction of one joint and at least one run")
    data, fixed = [_Run(r, friction, joint) for r in runs], fixed or {}
    for name, value in fixed.items():
        low, high = _BOX.get(name, (np.nan, np.nan))
        if not low <= value <= high:
            bound = f"within {low:g}..{high:g}" if name in _BOX else f"one of {', '.join(_BOX)}"
            raise DataError(f"{joint}: fixed {name} {value} must be {bound}")
    reported = all(r.housing is not None for r in data)
    if not reported and "heat_capacity" not in fixed:
        raise DataError(
            f"{joint}: no temperature was reported, so friction shows alpha C and alpha K only: "
            "record joint temperatures, or give the heat capacity"
        )
    _refuse(data, reported, joint)
    T0, two = float(friction.reference[0]), reported or "housing_capacity" in fixed
    names = [k for k in _free(data, two) if k not in fixed]
    y = np.concatenate([r.y for r in data])
    scale = max(float(np.std(y)), 1e-9)

    def unpack(x: np.ndarray) -> dict[str, float]:
        free = {k: float(np.exp(v)) if k in _LOGARITHMIC else float(v) for k, v in zip(names, x, strict=True)}
        return _NEUTRAL | dict(fixed) | free

    def blocks(x: np.ndarray) -> list[np.ndarray]:
        p, parts = unpack(x), []
        for r in data:
            T = r.temperature(p, T0)
            parts.append((r.friction(p, T0, T) - r.y) / scale * 10.0 / np.sqrt(len(r.y)))
            if r.housing is not None:
                error = (T[:, 1] - r.housing)[np.isfinite(r.housing)]
                parts.append(error / np.sqrt(len(error)))
        return parts

    found = _solve(lambda x: np.concatenate(blocks(x)), names, fixed.get("heat_capacity", 300.0) / 300.0)
    p, variance = unpack(found.x), np.concatenate([np.full(len(b), np.mean(b**2)) for b in blocks(found.x)])
    std = np.sqrt(np.square(covariance(found.jac) @ found.jac.T) @ variance)
    T = [r.temperature(p, T0) for r in data]
    warm = np.concatenate([r.friction(p, T0, t) for r, t in zip(data, T, strict=True)])
    still = np.concatenate([r.y_base + r.y_stribeck + r.offset for r in data])
    return ThermalFit(
        "two_node" if two else "simoni",
        p,
        {k: float(s) * (p[k] if k in _LOGARITHMIC else 1.0) for k, s in zip(names, std, strict=True)},
        nrmse(y, warm),
        nrmse(y, still),
        float(max(t[:, 0].max() for t in T) - min(t[:, 0].min() for t in T)),
    )


def _free(data: Sequence[_Run], two: bool) -> list[str]:
    """Names of what the runs can show."""
    stribeck, base = (max(np.abs(getattr(r, x)).max() for r in data) for x in ("y_stribeck", "y_base"))
    names = ["alpha", "beta", "heat_transfer", "heat_capacity"] + ["gamma", "delta"] * bool(stribeck > 0.02 * base)
    return names + ["housing_capacity", "housing_transfer"] * two


def _solve(residual, names: Sequence[str], scale: float):  # type: ignore[no-untyped-def]
    """Best of several starts spread over time constants; scale: of their capacities and transfers."""
    low, high = np.array([np.log(_BOX[k]) if k in _LOGARITHMIC else _BOX[k] for k in names]).T
    found = []
    for transfer, capacity in ((0.5, 300.0), (2.0, 300.0), (0.5, 2000.0), (2.0, 2000.0)):
        heat = scale * np.array([capacity, transfer, 5 * capacity, transfer])
        guess = _NEUTRAL | {"alpha": -0.01} | dict(zip(_LOGARITHMIC, np.log(heat), strict=True))
        start = [guess[k] for k in names]
        found.append(least_squares(residual, start, bounds=(low, high), x_scale="jac", max_nfev=60))
    return min(found, key=lambda one: one.cost)


def _refuse(data: Sequence[_Run], reported: bool, joint: str) -> None:
    if sum(len(r.y) for r in data) < 100:
        raise DataError(f"{joint}: fewer than 100 moving samples: record duty cycles of 25..100 % motion (duty-cycles)")
    if reported:
        T = np.concatenate([r.housing[np.isfinite(r.housing)] for r in data if r.housing is not None])
        if not np.ptp(T) >= _SPAN_T:
            raise DataError(
                f"{joint}: temperature spans {np.ptp(T):.1f} K, the fit needs {_SPAN_T:g} K: "
                "start cold and run until friction has settled (duty-cycles)"
            )
        return
    change = max(_friction_change(r) for r in data)
    if not change >= _SPAN_FRICTION:
        raise DataError(
            f"{joint}: friction changes by {100 * change:.1f} % over the runs, the fit needs "
            f"{100 * _SPAN_FRICTION:g} %: start cold and run until friction has settled (duty-cycles)"
        )


def _friction_change(run: _Run) -> float:
    """Largest relative change of measured against reference friction between two tenths of a run."""
    model = run.y_base + run.y_stribeck
    parts = np.array_split(np.arange(len(run.y)), min(10, len(run.y)))
    scales = [float((run.y[s] - run.offset) @ model[s]) / max(float(model[s] @ model[s]), 1e-12) for s in parts]
    return float(np.ptp(scales))
