"""One property of the joints from a recording: usable segments, fit, numbers, curves for the report.

Each fit takes one joint's record and the robot file and returns a JointFit, or raises DataError naming what to record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord, duty_runs, reversals
from robot_dynamics_ros.identification.joint.friction import fit_friction, friction_updates
from robot_dynamics_ros.identification.joint.friction_fit import SPAN_LOAD, FrictionData, FrictionFit
from robot_dynamics_ros.identification.joint.hysteresis import (
    HysteresisData,
    at_angle,
    fit_hysteresis,
    kinematic_error_and_backlash,
)
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.identification.joint.stiffness import estimate_skew, fit_stiffness, remove_skew
from robot_dynamics_ros.identification.joint.thermal import ThermalRun, fit_thermal
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.signals.speeds import SLIDING

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

LAW = "madsen"
_ELEMENTS = 4  # of the hysteresis [Madsen2020, ch4 4.4.5]
_SETTLE = 4e-3  # rad, travel after which deformation no longer depends on the reversal
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


def fit_velocity(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Friction over velocity, and over load where the joint carries any [Madsen2020, ch4 25, 27]."""
    sliding = measured_sliding(record)
    fit = fit_friction(LAW, sliding.data, temperature=False)
    return _friction(fit, sliding.data, _pairs(sliding.paired, len(sliding.data)))


def fit_load(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Friction over velocity and load [Madsen2020, ch4 27]. Raises DataError for loads too narrow."""
    sliding = measured_sliding(record)
    span = float(np.ptp(np.abs(sliding.data.load))) if sliding.data.load is not None else 0.0
    if not span >= SPAN_LOAD:
        raise DataError(
            f"{record.joint}: load spans {span:.1f} Nm, the fit needs {SPAN_LOAD:g} Nm: record the joint against "
            "gravity in several poses, best with a payload"
        )
    fit = fit_friction(LAW, sliding.data, temperature=False)
    return _friction(fit, sliding.data, _pairs(sliding.paired, len(sliding.data)), over_load=True)


def fit_temperature(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Friction over velocity and temperature; refuses data without a span of temperature [Madsen2020, ch4 28].

    Raises DataError without temperatures.
    """
    if record.temperature is None or not np.isfinite(record.temperature).all():
        raise DataError(f"{record.joint}: no temperature was recorded: record joint_temperatures, from a cold start")
    data = _thinned(measured_sliding(record, width=1.0).data)
    fit = fit_friction(LAW, data, temperature=True)
    return _friction(fit, data, ())


def _friction(fit: FrictionFit, data: FrictionData, notes: tuple[str, ...], over_load: bool = False) -> JointFit:
    updates = friction_updates([fit])
    parameters = {k: (v[0] if isinstance(v, list) else v) for k, v in updates["friction.parameters"].items()}  # type: ignore[attr-defined]
    numbers = {
        "nrmse": fit.nrmse,
        "rmse": fit.rmse_moving,
        **_misfit(data.torque, fit.torque(data)),
        "samples": float(fit.samples),
    }
    x = np.abs(data.load) if over_load and data.load is not None else data.v
    order = np.argsort(x)
    label = "load [Nm]" if over_load else "velocity [rad/s]"
    y, model = data.torque, fit.torque(data)
    if over_load:
        y, model = y * np.sign(data.v), model * np.sign(data.v)
    curve = Curve(x, y, x[order], model[order], label, "friction [Nm]")
    notes = (*fit.notes, *notes)
    return JointFit(
        fit.joint, "friction", fit.law, parameters, numbers, curve, fit.reference_temperature, notes, fit.std
    )


def _misfit(y: np.ndarray, model: np.ndarray) -> dict[str, float]:
    misfit, peak = (float(np.quantile(np.abs(x), 1 - RARE)) for x in (y - model, y - np.mean(y)))
    return {"misfit": misfit, "misfit_share": 100 * misfit / max(peak, 1e-12)}


def hysteresis_fit(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """E-GMS hysteresis from slow reversals: spans, stiffnesses, backlash, Coulomb level [Madsen2020, ch4 4.4.4]."""
    part = record.take(_longest(reversals(record), record, "reversals"))
    theta = part.angle - _table(robot, "kinematic_error", joint, part.angle)
    data = HysteresisData(theta, part.friction - float(np.mean(part.friction)), joint=record.joint)
    fit = fit_hysteresis(_ELEMENTS, data)
    level = _stored(robot, "hysteresis", "egms", "fc1", joint)
    parameters = {**fit.updates(), "fc1": 0.0 if level is None else level}
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
    return JointFit(record.joint, "hysteresis", "egms", parameters, numbers, curve, notes=notes)


def fit_kinematic_error(record: JointRecord, robot: RobotFile, joint: int) -> JointFit:
    """Kinematic error and backlash over one turn, from both encoders [Madsen2020, ch4 29-32].

    Raises DataError without rotor angle.
    """
    if record.theta is None:
        raise DataError(
            f"{record.joint}: no rotor angle was recorded, so kinematic error cannot be seen: "
            "record motor_states of a robot with an encoder on either side of the gear"
        )
    part = record.take(_longest(reversals(record), record, "reversals"))
    phi = part.theta - part.q
    error, gap = kinematic_error_and_backlash(part.theta, phi, settle=_SETTLE)  # type: ignore[arg-type]
    angle = np.arange(len(error)) * 2 * np.pi / len(error)
    turned = np.mod(part.theta, 2 * np.pi)  # type: ignore[arg-type]
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
            f"{record.joint}: no run of two minutes without gaps: record duty cycles of 25..100 % motion from a cold "
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
    notes = tuple(f"run of {r.duration / 60:.0f} min, {100 * r.duty:.0f} % in motion" for r in runs)
    curve = Curve(t, f, t, still, "time [s]", "|friction| [Nm]; line: model at T0")
    return JointFit(record.joint, "thermal", fit.model, fit.updates(), numbers, curve, notes=notes, std=fit.std)


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
    if record.theta is None:
        raise DataError(
            f"{record.joint}: no rotor angle was recorded, so no deflection is measured: record motor_states of a "
            "robot with an encoder on either side of the gear, or use force-gauge data (fit_stiffness)"
        )
    t = record.time
    skew = estimate_skew(t, record.theta, record.q, record.load, record.joint)
    theta = remove_skew(t, record.theta, skew.skew)
    phi = theta - record.q - _table(robot, "kinematic_error", joint, theta)
    # Without contact the spring carries what moves the links: model torque less the rotor's own share.
    inertia = float(robot.effort_inertia[joint]) if robot.drives.torque_side == "motor" else 0.0
    elastic = record.load - inertia * np.gradient(record.v, t)
    use = np.abs(record.v) > SLIDING
    phi = phi - float(np.median(phi[use])) if use.any() else phi
    fit = fit_stiffness(phi[use], elastic[use], joint=record.joint)
    x = np.linspace(-fit.deflection, fit.deflection, 101)
    step = max(int(use.sum()) // 4000, 1)
    numbers = {
        "nrmse": fit.nrmse,
        **_misfit(elastic[use], fit.torque(phi[use])),
        "skew": skew.skew,
        "stiffness": float(fit.stiffness(np.zeros(1))[0]),
    }
    curve = Curve(phi[use][::step], elastic[use][::step], x, fit.torque(x), "deflection [rad]", "elastic torque [Nm]")
    std = {"a": fit.std.tolist()}
    return JointFit(record.joint, "stiffness", "odd_polynomial", {"a": fit.a.tolist()}, numbers, curve, std=std)


Fit = Callable[[JointRecord, "RobotFile", int], JointFit]
FITS: dict[str, Fit] = {
    "friction": fit_velocity,
    "load": fit_load,
    "temperature": fit_temperature,
    "hysteresis": hysteresis_fit,
    "kinematic-error": fit_kinematic_error,
    "thermal": thermal_fit,
    "stiffness": stiffness_fit,
}


def _pairs(paired: int, total: int) -> tuple[str, ...]:
    if paired >= total:
        return ()
    return (f"{total - paired} of {total} values have no partner in the other direction: gravity errors stay in them",)


def _thinned(data: FrictionData, most: int = 1500) -> FrictionData:
    if len(data) <= most:
        return data
    return data.take(np.sort(np.random.default_rng(0).choice(len(data), most, replace=False)))


def _longest(parts: list[slice], record: JointRecord, experiment: str) -> slice:
    if not parts:
        raise DataError(
            f"{record.joint}: no slow reciprocating motion, and hysteresis shows at reversals only: record at least "
            f"eight reversals below 0.3 rad/s ({experiment})"
        )
    return max(parts, key=lambda p: p.stop - p.start)


def _table(robot: RobotFile, name: str, joint: int, theta: np.ndarray) -> np.ndarray:
    """A table of the hysteresis block at rotor angles (N,); zeros where the file has none."""
    if robot.hysteresis is None or name not in robot.hysteresis.parameters:
        return np.zeros_like(theta)
    rows = robot.array(f"hysteresis.parameters.{name}")
    rows = np.array(np.broadcast_to(rows, (robot.n_joints, rows.shape[-1])))
    table = _core.PeriodicTable(np.ascontiguousarray(rows[joint : joint + 1]))
    return table.value(np.ascontiguousarray(theta[:, None]))[:, 0]


def _stored(robot: RobotFile, block: str, model: str, name: str, joint: int) -> float | None:
    """A scalar parameter of one joint in the file, None where it is not there or belongs to another model."""
    found = getattr(robot, block)
    if found is None or found.model != model or not robot.has(f"{block}.parameters.{name}"):
        return None
    return float(np.broadcast_to(robot.array(f"{block}.parameters.{name}"), (robot.n_joints,))[joint])


def _one(robot: RobotFile, joint: int) -> FrictionModel:
    """Friction of one joint of the file at its reference temperature."""
    whole = FrictionModel.from_robot(robot)
    values = {k: v[joint] for k, v in whole.parameters().items()}
    return FrictionModel(whole.law.name, values, 1, float(whole.reference[joint]))
