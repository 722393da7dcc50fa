"""Fit of one static friction law to one joint's measured friction torque.

Torque is linear in most parameters. For many values of the others these are solved by least squares; the best of them
is the start of a bounded robust fit of all parameters together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import least_squares
from scipy.stats import qmc

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.metrics import covariance, nrmse, rms, robust_std
from robot_dynamics_ros.models.friction import ENERGY_TOLERANCE, FACTORS, FrictionLaw, FrictionModel, law_named
from robot_dynamics_ros.signals.speeds import MOVING

LAW = "madsen"  # that a recording of sliding is fitted with
SPAN_LOAD, SPAN_T = 2.0, 5.0  # Nm, K: least spread of load and temperature for a fit
TRIED = 64  # values of the nonlinear parameters, of which the best one is the start
STRIBECK = ("luo_load", "simoni", "madsen")  # laws with a Stribeck part, whose change with heat is gamma


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
        limits = dict(zip(("t_min", "t_max"), self.temperature_range or (), strict=False))
        return FrictionModel(self.law, self.parameters | limits, 1, self.reference_temperature)

    def written(self) -> dict[str, float]:
        """Parameters of the robot file; without a range of temperatures the factors of its thermal block count."""
        if self.temperature_range is None:
            return {k: v for k, v in self.parameters.items() if k not in FACTORS}
        return self.parameters | dict(zip(("t_min", "t_max"), self.temperature_range, strict=True))

    def torque(self, data: FrictionData) -> np.ndarray:
        """Friction (N,) [Nm] of the fitted law on other data."""
        return _torque(self.model(), data)


def fit_friction(
    law: str,
    data: FrictionData,
    *,
    reference_temperature: float | None = None,
    temperature: bool | None = None,
    fixed: Mapping[str, float] | None = None,
) -> FrictionFit:
    """Fit one law to one joint: min sum rho(torque - f(v, load, T)), rho = soft L1.

    temperature: True fits the temperature parameters and refuses data without a span, None does so where it can.
    fixed: parameters held at a value. Samples below MOVING are not used, only judged.
    Raises DataError naming what the data lacks and what to record instead.
    """
    known, fixed = law_named(law), fixed or {}
    if unknown := sorted(set(fixed) - set(known.names)):
        raise DataError(f"{law} has no parameter {unknown[0]}; it has {', '.join(known.names)}")
    heat = _temperature_span(data, temperature)
    moving = np.abs(data.v) >= MOVING
    rows, T0 = data.take(moving), _reference(data, reference_temperature)
    _refuse(known, rows)
    free = _free(known, rows, set(fixed), heat)
    p = np.array([fixed.get(one.name, one.default) for one in known.parameters])
    box = np.array([_box(known, k, rows) for k in free])

    def predict(x: np.ndarray, on: FrictionData) -> np.ndarray:
        q = p.copy()
        q[free] = x
        return _torque(FrictionModel(law, dict(zip(known.names, q, strict=True)), 1, T0), on)

    start = _start(known, free, p[free], box, predict, rows)
    spread = 2 * robust_std(predict(start, rows) - rows.torque) + 1e-6
    found = least_squares(
        lambda x: predict(x, rows) - rows.torque,
        start,
        "3-point",
        bounds=box.T,
        loss="soft_l1",
        f_scale=spread,
        x_scale="jac",
        max_nfev=60,
    )
    p[free] = found.x
    error = predict(found.x, data) - data.torque
    variance = float(error[moving] @ error[moving]) / max(len(rows) - len(free), 1)
    std = np.sqrt(np.diag(covariance(found.jac)) * variance)
    names, T = [known.names[k] for k in free], data.temperature
    loose = [k for k, s, value in zip(names, std, found.x, strict=True) if s > abs(value) > 0]
    return FrictionFit(
        law=law,
        joint=data.joint,
        parameters=dict(zip(known.names, p.tolist(), strict=True)),
        std=dict(zip(names, std.tolist(), strict=True)),
        reference_temperature=T0,
        temperature_range=(float(T.min()), float(T.max())) if heat and T is not None else None,
        samples=len(rows),
        rmse=rms(error),
        rmse_moving=rms(error[moving]),
        nrmse=nrmse(rows.torque, rows.torque + error[moving]),
        notes=(f"poorly determined: {', '.join(loose)}",) if loose else (),
    )


def dissipative_fit(law: str, data: FrictionData, speed: float, reference: float | None = None) -> FrictionFit:
    """`fit_friction` about a reference temperature, without the cubic and then also the quadratic term where the law
    would create energy up to `speed` [rad/s], beyond the speeds of the data. Raises DataError as that.
    """
    fit, names, held = fit_friction(law, data, reference_temperature=reference), law_named(law).names, []
    for term in (name for name in ("fv3", "fv2") if name in names):
        least, at = (float(x[0]) for x in fit.model().least_dissipation(np.array([speed])))
        if least >= -ENERGY_TOLERANCE:
            break
        held.append(term)
        fit = fit_friction(law, data, reference_temperature=reference, fixed=dict.fromkeys(held, 0.0))
        why = f"{', '.join(held)} left at 0: otherwise friction would create energy at {at:.3g} rad/s"
        fit = replace(fit, notes=(*fit.notes, f"{why}, beyond the recorded speeds"))
    return fit


def least_samples(law: FrictionLaw) -> int:
    """Samples of steady sliding that a fit of the law needs: five per parameter."""
    return 5 * len(law.of_role("linear", "nonlinear"))


def load_span(data: FrictionData) -> float:
    """Range of the load's size [Nm] without its outermost 2 % on either side; 0 where none was recorded."""
    return _spread(None if data.load is None else np.abs(data.load))


def _spread(x: np.ndarray | None) -> float:
    return 0.0 if x is None or not len(x) else float(np.ptp(np.quantile(x, [0.02, 0.98])))


def _torque(model: FrictionModel, data: FrictionData) -> np.ndarray:
    columns = [None if x is None else x[:, None] for x in (data.load, data.temperature)]
    return model.torque(data.v[:, None], *columns)[:, 0]


def _reference(data: FrictionData, given: float | None) -> float:
    if given is not None:
        return given
    return 20.0 if data.temperature is None or not len(data) else float(np.round(np.median(data.temperature), 1))


def _temperature_span(data: FrictionData, wanted: bool | None) -> bool:
    """Whether the temperature parameters are fitted: as wanted, or where the data show them."""
    span = _spread(data.temperature)
    if wanted and not span >= SPAN_T:
        raise DataError(
            f"{data.joint}: temperature spans {span:.1f} K, the fit needs {SPAN_T:g} K: "
            "record from a cold start until the joint is warm, at several velocities"
        )
    return span >= SPAN_T if wanted is None else wanted


def _refuse(law: FrictionLaw, data: FrictionData) -> None:
    """DataError where the samples do not determine the parameters of the law."""
    need = least_samples(law)
    ahead = int((data.v > 0).sum())
    if len(data) and not 0.02 <= ahead / len(data) <= 0.98:
        raise DataError(
            f"{data.joint}: moves in one direction only, so Coulomb friction and offset cannot be separated: "
            "record every velocity in both directions"
        )
    if len(data) < need:
        raise DataError(
            f"{data.joint}: {len(data)} samples above {MOVING:g} rad/s, {law.name} needs {need}: record motion at more "
            "speeds or over more travel, or more samples per second"
        )
    low, high = np.quantile(np.abs(data.v), [0.02, 0.98])
    if not high >= 1.5 * low:
        raise DataError(
            f"{data.joint}: constant velocity only ({low:.3g}..{high:.3g} rad/s), so viscous and Coulomb friction "
            "cannot be separated: record several velocities (velocity-steps)"
        )
    load = load_span(data)
    if law.uses_load and law.name != "madsen" and not load >= SPAN_LOAD:  # madsen does without: fl stays 0
        raise DataError(
            f"{data.joint}: {law.name} depends on load, which spans {load:.1f} Nm: "
            "record the joint against gravity in several poses, or with a payload"
        )


def _free(law: FrictionLaw, data: FrictionData, fixed: set[str], heat: bool) -> list[int]:
    """Numbers of the parameters that are fitted."""
    held = fixed | (set() if law.name in STRIBECK else {"gamma"})
    held |= set() if law.name != "madsen" or load_span(data) >= SPAN_LOAD else {"fl"}
    held |= set() if heat else {"alpha", "gamma", "ft2", "ft3"}
    return [k for k in law.of_role("linear", "nonlinear", "thermal") if law.names[k] not in held]


def _box(law: FrictionLaw, k: int, data: FrictionData) -> tuple[float, float]:
    """Where parameter k may lie: inside the law's bounds and what the data resolves.

    No Stribeck speed below the slowest sample or above a third of the fastest (there the polynomial rules), no torque
    beyond twice the largest, and the Coulomb level of every law is not negative.
    """
    p = law.parameters[k]
    slowest, fastest = np.quantile(np.abs(data.v), [0.02, 0.98])
    largest = 2 * float(np.quantile(np.abs(data.torque), 0.999)) + 1e-9
    low, high = (p.lower, p.upper) if p.role == "linear" else p.search
    if p.role == "nonlinear" and p.unit == "rad/s":
        low, high = max(low, slowest), min(high, fastest / 3)
    elif p.name == "h":
        low, high = max(low, 3 / fastest), min(high, 1 / slowest)
    elif p.unit == "Nm" and p.role == "linear":
        low, high = max(low, 0.0 if p.name == "c0" else -largest), min(high, largest)
    return low, max(high, low * (1 + 1e-6) if low > 0 else high)


def _start(
    law: FrictionLaw,
    free: Sequence[int],
    x: np.ndarray,
    box: np.ndarray,
    predict: Callable[[np.ndarray, FrictionData], np.ndarray],
    data: FrictionData,
) -> np.ndarray:
    """The best free parameters whose linear ones are solved for TRIED values of the nonlinear ones in their box."""
    roles = np.array([law.parameters[k].role for k in free])
    linear, search = np.flatnonzero(roles == "linear"), np.flatnonzero(roles == "nonlinear")
    low, high = np.log(box[search]).T
    tried = qmc.Halton(len(search), seed=0).random(TRIED) if len(search) else np.zeros((1, 0))
    found = []
    for share in tried:
        start = x.copy()
        start[search], start[linear] = np.exp(low + share * (high - low)), 0.0
        base = predict(start, data)
        A = np.column_stack([predict(start + np.eye(len(free))[k], data) - base for k in linear])
        start[linear] = np.linalg.lstsq(A, data.torque - base, rcond=None)[0]
        error = A @ start[linear] + base - data.torque
        found.append((float(np.abs(error).sum()), np.clip(start, *box.T)))
    return min(found, key=lambda one: one[0])[1]
