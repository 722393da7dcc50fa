"""Fits of static friction laws to measured friction torque."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.joint.friction_fit import (
    SPAN_LOAD,
    FrictionData,
    FrictionFit,
    FrictionProblem,
    global_start,
    load_span,
    polish,
    spread,
)
from robot_dynamics_ros.identification.metrics import nrmse, rms
from robot_dynamics_ros.models.friction import FACTORS, FrictionLaw, law_named
from robot_dynamics_ros.signals.speeds import MOVING

SPAN_T = 5.0  # K: least spread of the temperature for a fit


def fit_friction(
    law: str,
    data: FrictionData,
    *,
    reference_temperature: float | None = None,
    temperature: bool | None = None,
    fixed: Mapping[str, float] | None = None,
    rest: float = MOVING,
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
    problem = FrictionProblem(known, data.take(moving), T0, fixed or {}, heat)
    _refuse(known, problem.data, rest)
    start = global_start(problem, seed)
    p, covariance = polish(problem, start)
    return _judge(problem, data, p, covariance, moving, heat)


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
    """Whether the temperature parameters are fitted: as wanted, or where the data show them."""
    span = spread(data.temperature)
    if wanted and not span >= SPAN_T:
        raise DataError(
            f"{data.joint}: temperature spans {span:.1f} K, the fit needs {SPAN_T:g} K: "
            "record from a cold start until the joint is warm, at several velocities"
        )
    return span >= SPAN_T if wanted is None else wanted


def least_samples(law: FrictionLaw) -> int:
    """Samples of steady sliding that a fit of the law needs: five per parameter."""
    return 5 * len(law.of_role("linear", "nonlinear"))


def _refuse(law: FrictionLaw, data: FrictionData, rest: float) -> None:
    """DataError where the samples do not determine the parameters of the law."""
    need = least_samples(law)
    if len(data) < need:
        raise DataError(
            f"{data.joint}: {len(data)} samples above {rest:g} rad/s, {law.name} needs {need}: record motion"
        )
    forward = float(np.mean(data.v > 0))
    if not 0.02 <= forward <= 0.98:
        raise DataError(
            f"{data.joint}: moves in one direction only, so Coulomb friction and offset cannot be separated: "
            "record every velocity in both directions"
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


def _judge(
    problem: FrictionProblem, data: FrictionData, p: np.ndarray, covariance: np.ndarray, moving: np.ndarray, heat: bool
) -> FrictionFit:
    error = problem.predict(p, data) - data.torque
    std = dict(zip(problem.names, np.sqrt(np.maximum(np.diag(covariance), 0.0)).tolist(), strict=True))
    values = dict(zip(problem.law.names, p.tolist(), strict=True))
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
        nrmse=nrmse(data.torque[moving], data.torque[moving] + error[moving]),
        notes=notes,
    )


__all__ = ["FrictionData", "FrictionFit", "fit_friction", "friction_updates"]
