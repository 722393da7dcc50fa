"""One property of the joints from a recording: usable segments, fit, numbers, curves for the report.

Each fit takes one joint's record and the robot file and returns a JointFit, or raises DataError naming what to record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord, duty_runs, reversals
from robot_dynamics_ros.identification.joint.friction import LAW, SPAN_LOAD, dissipative_fit, least_samples, load_span
from robot_dynamics_ros.identification.joint.hysteresis import (
    HysteresisData,
    at_angle,
    fit_hysteresis,
    kinematic_error_and_backlash,
    sliding_offset,
)
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.identification.joint.stiffness import estimate_skew, fit_stiffness, remove_skew, zero_deflection
from robot_dynamics_ros.identification.joint.thermal import ThermalRun, fit_thermal
from robot_dynamics_ros.models.friction import FrictionModel, law_named
from robot_dynamics_ros.models.hysteresis import elements, kinematic_error
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import SLIDING

_SETTLE = 4e-3  # rad, travel after which deformation no longer depends on the reversal
_RATIO = 1.25  # of reflected rotor angle and joint angle, which no spring explains
_SHOWS_RATIO = 0.1  # rad of travel that shows it
_ROOM = 25.0  # deg C, where nothing is reported
RARE = 0.01  # of the samples, which no misfit is judged by


@dataclass(frozen=True)
class Curve:
    """A picture of one joint: measured points (x, y) and the model's (x, model), with labels."""

    x: np.ndarray
    y: np.ndarray
    model_x: np.ndarray
    model: np.ndarray
    x_label: str
    y_label: str


@dataclass(frozen=True)
class JointFit:
    """Parameters of a block of the robot file for one joint with known deviations, figures of merit, picture, remarks.

    numbers: nrmse [%], 100 is perfect; misfit: the largest error but for RARE samples, in the unit of the picture;
    misfit_share [%] of the largest measured value.
    """

    joint: str
    block: str
    model: str
    parameters: dict[str, Any]
    numbers: dict[str, float]
    curve: Curve
    reference_temperature: float | None = None
    notes: tuple[str, ...] = field(default=())
    std: dict[str, Any] = field(default_factory=dict)


def friction_fit(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Friction over velocity, and over load and temperature where these change enough [Madsen2020, ch4 25, 27, 28].

    Raises DataError where friction would drive the joint: a sign is wrong.
    """
    sliding = measured_sliding(record)
    data, alone = sliding.data, len(sliding.data) - sliding.paired
    if left_out := alone and sliding.paired >= least_samples(law_named(LAW)):
        data = data.take(sliding.pairs)
    along = float(np.median(data.torque * np.sign(data.v)))
    if sliding.paired and not along > 0:
        raise DataError(
            f"{record.joint}: friction drives the joint ({along:.3g} Nm against it): effort or velocity counts against "
            "its axis: check drives.effort.sign"
        )
    fit = dissipative_fit(LAW, data, float(robot.array_or("limits.velocity", 1.0)[joint]), record.reference)
    numbers = {
        "nrmse": fit.nrmse,
        "rmse": fit.rmse_moving,
        **_misfit(data.torque, fit.torque(data)),
        "samples": float(fit.samples),
    }
    order = np.argsort(data.v)
    curve = Curve(data.v, data.torque, data.v[order], fit.torque(data)[order], "velocity [rad/s]", "friction [Nm]")
    notes, span = list(fit.notes), load_span(data)
    if alone:
        which = f"{alone} of {len(sliding.data)} values have no partner in the other direction, which cancels gravity"
        notes.append(which + ", and are left out" * bool(left_out))
    if span < SPAN_LOAD:
        notes.append(f"load spans {span:.1f} Nm: friction over load, which needs {SPAN_LOAD:g} Nm, is left at 0")
    return JointFit(
        fit.joint, "friction", fit.law, fit.written(), numbers, curve, fit.reference_temperature, tuple(notes), fit.std
    )


def _misfit(y: np.ndarray, model: np.ndarray) -> dict[str, float]:
    misfit, peak = (float(np.quantile(np.abs(x), 1 - RARE)) for x in (y - model, y - np.mean(y)))
    return {"misfit": misfit, "misfit_share": 100 * misfit / max(peak, 1e-12)}


def hysteresis_fit(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """E-GMS hysteresis from slow reversals: spans, stiffnesses, backlash, Coulomb level [Madsen2020, ch4 4.4.4]."""
    part = _longest_reversals(record)
    theta = part.angle - at_angle(kinematic_error(robot)[joint], part.angle)
    data = HysteresisData(theta, part.friction - sliding_offset(theta, part.friction), joint=record.joint)
    fit = fit_hysteresis(elements(robot)[0].shape[1], data)
    numbers = {
        "nrmse": fit.nrmse_validation,
        "nrmse_fit": fit.nrmse_estimation,
        **_misfit(data.torque, fit.torque(theta)),
        "samples": float(len(part)),
    }
    rows = slice(None, min(len(theta), 6000))
    curve = Curve(
        theta[rows], data.torque[rows], theta[rows], fit.torque(theta[rows]), "rotor angle [rad]", "friction [Nm]"
    )
    notes = () if part.theta is not None else ("no rotor encoder: angles are those of the link",)
    return JointFit(record.joint, "hysteresis", "egms", fit.updates(), numbers, curve, notes=notes)


def fit_kinematic_error(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Kinematic error and backlash over one turn, from both encoders [Madsen2020, ch4 29-32].

    Raises DataError without rotor angle.
    """
    record, _ = _with_rotor(
        record,
        "so kinematic error cannot be seen: record motor_states of a robot with an encoder on either side of the gear",
    )
    part, rotor = _with_rotor(_longest_reversals(record), "")
    phi = rotor - part.q
    error, gap = kinematic_error_and_backlash(rotor, phi, settle=_SETTLE)
    angle = np.arange(len(error)) * 2 * np.pi / len(error)
    turned = np.mod(rotor, 2 * np.pi)
    left = phi - at_angle(error, turned)
    numbers = {
        "error_peak_to_peak": float(np.ptp(error)),
        "backlash_mean": float(np.mean(gap)),
        "rms_before": float(np.std(phi)),
        "rms_after": float(np.std(left)),
    }
    step = max(len(part) // 4000, 1)
    curve = Curve(turned[::step], phi[::step], angle, error, "rotor angle [rad]", "theta - q [rad]")
    return JointFit(record.joint, "hysteresis", "egms", {"kinematic_error": error.tolist()}, numbers, curve)


def thermal_fit(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Heat balance and temperature factors from duty cycles [Simoni2017, IV]; needs friction of the joint first.

    Raises DataError where no run is long enough.
    """
    runs = duty_runs(record)
    if not runs:
        raise DataError(
            f"{record.joint}: no run of two minutes: record duty cycles of 25..100 % motion from a cold "
            "start (duty-cycles)"
        )
    fit = fit_thermal([_thermal_run(record, r.rows) for r in runs], _one(robot, joint), joint=record.joint)
    numbers = {
        "nrmse": fit.nrmse,
        "nrmse_without": fit.nrmse_without,
        "temperature_span": fit.temperature_span,
        "runs": float(len(runs)),
    }
    part = record.take(runs[0].rows)
    step = max(len(part) // 4000, 1)
    moving = np.abs(part.v[::step]) > 0.05
    t, f = part.time[::step][moving], np.abs(part.friction[::step][moving])
    still = np.abs(_one(robot, joint).torque(part.v[::step][moving][:, None])[:, 0])
    notes = [f"run of {r.duration / 60:.0f} min, {100 * r.duty:.0f} % in motion" for r in runs]
    notes += [f"poorly determined: {', '.join(fit.loose)}"] * bool(fit.loose)
    curve = Curve(t, f, t, still, "time [s]", "|friction| [Nm]; line: model at T0")
    return JointFit(record.joint, "thermal", fit.model, fit.parameters, numbers, curve, notes=tuple(notes), std=fit.std)


def _thermal_run(record: JointRecord, rows: slice) -> ThermalRun:
    """A rested joint, electronics included, is as warm as what the heat balance calls its surroundings."""
    part = record.take(rows)
    T = part.temperature
    if T is None or not np.isfinite(T).any():
        return ThermalRun(part.stamp_ns, part.v, part.friction, _ROOM, load=part.load)
    first = float(np.nanmean(T[:50]))
    return ThermalRun(part.stamp_ns, part.v, part.friction, first, first, T, part.load)


def stiffness_fit(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Elastic torque over deflection, encoder skew removed, from free motion [Madsen2020, ch3 17, ch4 12-22].

    Raises DataError without rotor angle.
    """
    record, rotor = _with_rotor(
        record,
        "so no deflection is measured: record motor_states of a robot with an encoder on either side of the gear, or "
        "use force-gauge data (fit_stiffness)",
    )
    t = record.time
    skew = estimate_skew(t, rotor, record.q, record.load, record.joint)
    theta = remove_skew(t, rotor, skew)
    phi = theta - record.q - at_angle(kinematic_error(robot)[joint], theta)
    # Without contact the spring carries what moves the links: model torque less the rotor's own share.
    inertia = float(robot.effort_inertia[joint]) if robot.drives.torque_side == "motor" else 0.0
    elastic = record.load - inertia * np.gradient(record.v, t)
    use = np.abs(record.v) > SLIDING
    phi = phi - zero_deflection(phi[use], elastic[use]) if use.any() else phi
    fit = fit_stiffness(phi[use], elastic[use], joint=record.joint)
    x = np.linspace(-fit.deflection, fit.deflection, 101)
    step = max(int(use.sum()) // 4000, 1)
    numbers = {
        "nrmse": fit.nrmse,
        **_misfit(elastic[use], fit.torque(phi[use])),
        "skew": skew,
        "stiffness": float(fit.stiffness(np.zeros(1))[0]),
    }
    curve = Curve(phi[use][::step], elastic[use][::step], x, fit.torque(x), "deflection [rad]", "elastic torque [Nm]")
    std = {"a": fit.std.tolist()}
    return JointFit(record.joint, "stiffness", "odd_polynomial", {"a": fit.a.tolist()}, numbers, curve, std=std)


Fit = Callable[[JointRecord, "RobotFile", int], JointFit]
FITS: dict[str, Fit] = {
    "friction": friction_fit,
    "hysteresis": hysteresis_fit,
    "kinematic-error": fit_kinematic_error,
    "thermal": thermal_fit,
    "stiffness": stiffness_fit,
}


def _with_rotor(record: JointRecord, so: str) -> tuple[JointRecord, np.ndarray]:
    """The samples with a rotor angle, and these angles (N,) [rad].

    Raises DataError without any (so: what follows from that), or where the rotor does not turn with the joint.
    """
    known = np.zeros(0, bool) if record.theta is None else np.isfinite(record.theta)
    if record.theta is None or not known.any():
        raise DataError(f"{record.joint}: no rotor angle was recorded, {so}")
    rotor, record = record.theta[known], record.take(known)
    if np.ptp(record.q) > _SHOWS_RATIO:
        q = record.q - np.mean(record.q)
        ratio = float(q @ rotor / (q @ q))
        if not 1 / _RATIO < ratio < _RATIO:
            raise DataError(
                f"{record.joint}: the rotor angle changes by {ratio:.3g} rad per rad of the joint, expected 1: divide "
                "it by the gear ratio (theta is reflected), or check its sign"
            )
    return record, rotor


def _longest_reversals(record: JointRecord) -> JointRecord:
    parts = reversals(record)
    if not parts:
        raise DataError(
            f"{record.joint}: no slow reciprocating motion, and hysteresis shows at reversals only: record at least "
            "eight reversals below 0.3 rad/s (reversals)"
        )
    return record.take(max(parts, key=lambda p: p.stop - p.start))


def _one(robot: RobotFile, joint: int) -> FrictionModel:
    """Friction of one joint of the file at its reference temperature."""
    whole = FrictionModel.from_robot(robot)
    values = {k: v[joint] for k, v in whole.parameters().items()}
    return FrictionModel(whole.law.name, values, 1, float(whole.reference[joint]))
