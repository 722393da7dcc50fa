"""The estimated wrench of a replay against a force sensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.force_sensor import SensorOptions, add_force_sensor
from robot_dynamics_ros.estimators.replay import Replay
from robot_dynamics_ros.estimators.wrench_metrics import SETTLED, Series, figures, held, moving_mask
from robot_dynamics_ros.outputs import plain
from robot_dynamics_ros.signals import WRENCH_AXES, Log
from robot_dynamics_ros.signals.interpolation import interpolated

TOUCH = 5.0  # N on the sensor from which on the arm is in contact
AFTER = 0.2  # s after a contact that still count as contact
OPPOSITE = -0.5  # correlation of the forces below which the sensor measures robot on environment
LONGEST_DELAY = 0.5  # s
LEAST_CHANGE = np.array([1.0] * 3 + [0.1] * 3)  # N, Nm: deviation of the sensor below which an axis has no gain


@dataclass
class Comparison:
    """Rows that were judged, the figures of wrench_metrics, and per axis (6,): correlation, gain and bias of
    estimate = gain sensor + bias. delay [s]: how much later the estimate is. precision: flagged rows in contact over
    flagged rows; recall: flagged rows over rows in contact. sign: -1 where the sensor measured robot on environment.
    """

    series: Series
    figures: dict[str, Any]
    correlation: np.ndarray
    gain: np.ndarray
    bias: np.ndarray
    delay: float
    precision: float
    recall: float
    sign: int
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Plain values; NaN as None."""
        axes = {name: dict(zip(WRENCH_AXES, getattr(self, name), strict=True)) for name in ("correlation", "gain")}
        axes["bias"] = dict(zip(WRENCH_AXES, self.bias, strict=True))
        single = {"delay": self.delay, "precision": self.precision, "recall": self.recall, "sign": self.sign}
        return plain({**self.figures, **axes, **single, "notes": self.notes})


def compare(result: Replay, bags: Sequence[str | Path], options: SensorOptions, touch: float = TOUCH) -> Comparison:
    """Estimate of a replay against the sensor of the same bags; fills `measured_wrench` of its log.

    touch [N]: force on the sensor that counts as contact. Raises DataError where no row can be judged, and what
    add_force_sensor raises.
    """
    log = result.log
    notes = add_force_sensor(log, result.robot, bags, options, result.report.stamps)
    rows = judged_rows(log, result.status)
    if not rows.any():
        raise DataError(f"{options.topic}: no estimate at the time of its messages")
    sign = sensor_sign(log.external_wrench[rows], log.measured_wrench[rows])
    if sign < 0:
        log.measured_wrench = -log.measured_wrench
        notes.append(f"{options.topic} is robot on environment (opposite to the estimate): its sign is turned")
    return judged(log, rows, touch, sign, notes)


def judged_rows(log: Log, status: np.ndarray) -> np.ndarray:
    """Rows (N,) with a settled estimate and a sensor."""
    finite = np.isfinite(log.external_wrench).all(axis=1) & np.isfinite(log.measured_wrench).all(axis=1)
    return finite & (status != int(Status.warming_up)) & (log.time >= SETTLED)


def judged(log: Log, rows: np.ndarray, touch: float, sign: int = 1, notes: Sequence[str] = ()) -> Comparison:
    """All figures over some rows (N,) of a log that holds estimate and sensor."""
    moving = moving_mask(np.nan_to_num(log.qd), log.time)
    touched = np.linalg.norm(np.nan_to_num(log.measured_wrench[:, :3]), axis=1) >= touch
    contact = held(touched, log.time, AFTER)
    columns = (log.time, log.external_wrench, log.external_wrench_std, log.measured_wrench, moving, contact)
    s = Series(*(values[rows] for values in (*columns, log.contact[:, -1] > 0.5)))
    correlation, gain, bias = by_axis(s.estimate, s.reference)
    flagged, truth = s.flagged.sum(), touched[rows].sum()
    return Comparison(
        s,
        figures(s),
        correlation,
        gain,
        bias,
        delay_of(s),
        float((s.flagged & s.contact).sum() / flagged) if flagged else np.nan,
        float((s.flagged & touched[rows]).sum() / truth) if truth else np.nan,
        sign,
        list(notes),
    )


def sensor_sign(estimate: np.ndarray, reference: np.ndarray) -> int:
    """-1 where the forces (N, 3) of estimate and sensor (N, 6) are opposite, else 1."""
    a, b = (x[:, :3] - x[:, :3].mean(axis=0) for x in (estimate, reference))
    size = np.sqrt((a**2).sum() * (b**2).sum())
    return -1 if size > 0 and (a * b).sum() < OPPOSITE * size else 1


def by_axis(estimate: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlation, gain and bias (6,) of estimate = gain reference + bias, by least squares; NaN where an axis of the
    reference hardly changes (LEAST_CHANGE).
    """
    e, r = estimate - estimate.mean(axis=0), reference - reference.mean(axis=0)
    power, own, cross = (r**2).mean(axis=0), (e**2).mean(axis=0), (e * r).mean(axis=0)
    shown = np.sqrt(power) >= LEAST_CHANGE
    gain = np.where(shown, cross / np.maximum(power, 1e-300), np.nan)
    correlation = np.where(shown, cross / np.sqrt(np.maximum(power * own, 1e-300)), np.nan)
    bias = estimate.mean(axis=0) - np.where(shown, gain, 0.0) * reference.mean(axis=0)
    return correlation, gain, bias


def delay_of(s: Series) -> float:
    """Delay [s] of the estimated force behind the sensor's: where their product is largest; NaN without a force."""
    if len(s.stamps) < 2:
        return np.nan
    step = float(np.median(np.diff(s.stamps)))
    t = np.arange(s.stamps[0], s.stamps[-1], max(step, 2e-3))
    a, b = (interpolated(t, s.stamps, x[:, :3]) for x in (s.estimate, s.reference))
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    reach = min(int(LONGEST_DELAY / (t[1] - t[0])), len(t) // 4) if len(t) > 8 else 0
    if not reach or (b.std(axis=0) < LEAST_CHANGE[:3]).all():
        return np.nan
    lags = range(-reach, reach + 1)
    scores = np.array([(a[reach + k : len(a) - reach + k] * b[reach : len(b) - reach]).sum() for k in lags])
    k = int(scores.argmax())
    if not 0 < k < len(scores) - 1:
        return np.nan
    left, top, right = scores[k - 1 : k + 2]
    bend = left - 2 * top + right
    return float((k - reach + (0.5 * (left - right) / bend if bend < 0 else 0.0)) * (t[1] - t[0]))
