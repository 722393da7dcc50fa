"""Noise, band and contact thresholds of the force stage from a recording with a force sensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.external_force import significance
from robot_dynamics_ros.estimators.force_arguments import NOISE, torque_scale
from robot_dynamics_ros.estimators.friction import usual_error
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.reference import TOUCH, Comparison, judged, judged_rows
from robot_dynamics_ros.estimators.replay import Replay
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import MOVING

COVERED = 0.683  # share of a normal distribution within one standard deviation
FALSE_SHARE = 1e-3  # share of the free time that may lie above the thresholds
RATIOS = (2.5, 15.0)  # contact_on_ratio that may be written
SCALES = (0.05, 20.0)  # of the band
STEPS = 8  # halvings of the range of scales
STICTION = 0.4  # known_stiction by default
MIN_ROWS = 500  # free rows below which nothing is calibrated
HIGH = 0.1  # s, what changes within it at rest is noise of the torque
SLOW = 1.0  # s, the same of the filtered force

Settings = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Calibration:
    """settings: stage -> parameter -> value; figures before and after."""

    settings: Settings
    before: Comparison
    after: Comparison


def calibrate(result: Replay, before: Comparison, touch: float = TOUCH) -> Calibration:
    """Parameters of the stages `force` and `friction` from a replay that was compared with a sensor.

    Noise: what the torque shows at rest within 0.1 s. Band: errors of the model and of sliding friction are scaled
    until 68 % of the free moving rows lie within one standard deviation, then what memory leaves of stiction until 68 %
    of the free resting rows do (a static law has no such parameter: there it stays). Thresholds: exceeded in 0.1 % of
    the free time. Raises DataError with too few rows without contact.
    """
    free = ~before.series.contact
    if free.sum() < MIN_ROWS:
        raise DataError(f"{int(free.sum())} rows without contact; needs {MIN_ROWS} to separate noise from force")
    noise = torque_noise(result.log, result)
    settings = _sized(result, lambda scale: _band(result, noise, scale), moving=True, touch=touch)
    if result.pipeline.stage("friction").hysteresis is not None:
        settings = _sized(result, lambda scale: _with_stiction(settings, scale), moving=False, touch=touch)
    settings["force"] |= thresholds(result, settings, noise, touch)
    return Calibration(settings, before, run_again(result, settings, touch))


def _sized(result: Replay, scaled: Callable[[float], Settings], moving: bool, touch: float) -> Settings:
    """scaled(s) for the s at which COVERED of the free rows (moving, or at rest) lie within one deviation.

    With one prior of the wrench: a small one is right where nothing touches, and would hide errors of the torques.
    """
    low, high = np.log(SCALES)
    for _ in range(STEPS):  # the share within one deviation rises with the scale
        scale = 0.5 * (low + high)
        given = scaled(float(np.exp(scale)))
        s = run_again(result, given | {"force": given["force"] | {"small_contact": 1.0}}, touch).series
        rows = ~s.contact & (s.moving == moving)
        if rows.sum() < MIN_ROWS // 5:
            return scaled(1.0)
        inside = float((np.abs(s.estimate - s.reference) <= s.std)[rows].mean())
        low, high = (low, scale) if inside > COVERED else (scale, high)
    return scaled(float(np.exp(high)))


def torque_noise(log: Log, result: Replay) -> float:
    """Noise of the drive torque at rest over the torque limit, RMS over the joints; NaN without rest."""
    rows = judged_rows(log, result.status)
    still = rows & (np.abs(np.nan_to_num(log.qd)).max(axis=1) < MOVING)
    if still.sum() < MIN_ROWS // 5:
        return np.nan
    noise = _unsteady(log.drive_torque, still, log.time, HIGH)
    return float(np.sqrt(((noise / torque_scale(result.robot)) ** 2).mean()))


def _unsteady(values: np.ndarray, rows: np.ndarray, time: np.ndarray, window: float) -> np.ndarray:
    """RMS deviation (k,) of values (N, k) from their mean over `window` [s], where it is all in `rows`; else NaN."""
    width = max(int(window / float(np.median(np.diff(time)))), 3)
    smooth = np.column_stack([np.convolve(x, np.ones(width) / width, mode="same") for x in values.T])
    inner = np.convolve(rows, np.ones(width), mode="same") >= width - 1e-6
    return (values - smooth)[inner].std(axis=0) if inner.any() else np.full(values.shape[1], np.nan)


def _band(result: Replay, noise: float, scale: float) -> Settings:
    """Deviations of model and sliding friction `scale` times the defaults, the measured noise in the place of its.

    The residuals of a robot file are its own noise and error of the model: beside them only friction is scaled.
    """
    friction = {"relative_error": _rounded(min(usual_error(result.robot) * scale, 10.0))}
    if result.robot.residuals is not None:
        return {"force": {}, "friction": friction}
    sensor = noise if np.isfinite(noise) else NOISE * scale
    return {
        "force": {
            "torque_std": _rounded(np.clip(sensor, 1e-6, 1.0)),
            "model_error": _rounded(min(0.03 * scale, 1.0)),
            "unknown_friction": _rounded(min(0.1 * scale, 1.0)),
        },
        "friction": friction,
    }


def _with_stiction(settings: Settings, scale: float) -> Settings:
    return settings | {"friction": settings["friction"] | {"known_stiction": _rounded(min(STICTION * scale, 1.0))}}


def thresholds(result: Replay, settings: Settings, noise: float, touch: float) -> dict[str, float]:
    """contact_on_ratio, contact_force and contact_torque from the rows without contact."""
    log, rows = _replayed(result, settings)
    s = judged(log, rows, touch).series
    rare = significance(result.robot, log)[rows]
    on = float(np.clip(np.quantile(rare[~s.contact], 1 - FALSE_SHARE), *RATIOS))
    rest = ~s.contact & ~s.moving
    sensor = float(np.linalg.norm(_unsteady(s.estimate[:, :3], rest, s.stamps, SLOW)))
    floor = {"contact_force": _rounded(max(on * sensor, 0.1))} if np.isfinite(sensor) else {}
    if np.isfinite(noise):
        floor["contact_torque"] = _rounded(min(on * noise, 1.0))
    return {"contact_on_ratio": _rounded(on), **floor}


def run_again(result: Replay, settings: Settings, touch: float) -> Comparison:
    """The same recording with other parameters."""
    return judged(*_replayed(result, settings), touch)


def _replayed(result: Replay, settings: Settings) -> tuple[Log, np.ndarray]:
    source = result.log
    measured = ("q", "qd", "effort", "current", "theta", "omega", "motor_torque", "temperature", "measured_wrench")
    log = Log(source.joint_names, source.stamp_ns, {k: source.signals[k].copy() for k in measured if source.has(k)})
    status = Pipeline(result.robot, settings).run(log)
    return log, judged_rows(log, status)


def write_parameters(settings: Settings, path: Path) -> None:
    """A ROS parameter file for all nodes: `up --params` and `replay --params` read it. Raises OSError."""
    blocks = {stage: {k: float(v) for k, v in values.items()} for stage, values in settings.items()}
    write_atomically(path, yaml.safe_dump({"/**": {"ros__parameters": blocks}}, sort_keys=False))


def _rounded(value: Any) -> float:
    return float(f"{float(value):.3g}")
