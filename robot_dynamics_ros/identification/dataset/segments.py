"""Usable segments of a recording, found in the motion itself: constant velocity, slow reversals, duty cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.dataset.recording import possible_temperatures
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import pieces_of, runs

MOVING = 0.0015  # rad/s, below this a joint stands still
_WINDOW = 0.2  # s over which a velocity must stay the same
_RELATIVE_CHANGE = 0.04  # share of the velocity by which it may change
_MAX_CHANGE, _MIN_CHANGE = 0.02, 1e-3  # rad/s, largest such change; allowed beside it
_SHORTEST, _SHORTEST_DUTY = 0.15, 120.0  # s, of constant velocity; of a duty cycle
_SETTLE = 0.02  # rad of travel after a reversal before presliding friction has settled
_SLOW = 0.3  # rad/s, fastest reciprocating motion in which only hysteresis shows
_GAP, _COLD = 0.5, 6 * 3600.0  # s without samples, in which a joint cools; behind the longer one it is cold
_READINGS, _COOLED = 50, 0.2  # samples whose mean is a temperature; share of the warming that a cold joint has left


@dataclass(frozen=True)
class JointRecord:
    """One joint of a recording, columns (N,): friction = drive torque - model torque [Nm], load = model torque [Nm].

    theta: rotor angle [rad], None where the robot has no such encoder; temperature: reported [deg C] or None;
    reference: of the friction of all joints [deg C], None: nothing says one.
    """

    joint: str
    stamp_ns: np.ndarray
    q: np.ndarray
    v: np.ndarray
    friction: np.ndarray
    load: np.ndarray
    theta: np.ndarray | None = None
    temperature: np.ndarray | None = None
    reference: float | None = None

    def __len__(self) -> int:
        return len(self.stamp_ns)

    @property
    def time(self) -> np.ndarray:
        """Seconds since the first sample."""
        return (self.stamp_ns - self.stamp_ns[0]) * 1e-9

    @property
    def angle(self) -> np.ndarray:
        """What hysteretic friction follows (N,) [rad]: the rotor's angle, the link's where no rotor was recorded."""
        return self.q if self.theta is None else self.theta

    @property
    def period(self) -> float:
        """Median time between samples [s]."""
        return float(np.median(np.diff(self.stamp_ns))) * 1e-9

    def take(self, rows: slice | np.ndarray) -> JointRecord:
        """Some of the samples."""
        columns: dict[str, Any] = {k: x[rows] for k, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **columns)


def joint_records(log: Log, robot: RobotFile, notes: list[str] | None = None) -> list[JointRecord]:
    """Every joint of a log through the motion stage that also runs live; rows it refuses are left out, impossible
    temperatures with one of the notes.

    Raises CapabilityError where the robot file lacks links or torque constants, DataError for an empty log.
    """
    status = Pipeline(robot, stages=["motion"]).run(log)
    good = np.isfinite(log.drive_torque).all(1) & np.isfinite(log.model_torque).all(1)
    if len(log) < 10 or good.sum() < 10:
        raise DataError(f"no usable samples of {len(status)}: the log needs q and effort of every joint")
    part = log if good.all() else log[good]
    friction = part.drive_torque - part.model_torque
    heat = part.get("temperature")
    heat = None if heat is None else possible_temperatures(np.arange(len(part)), heat, [] if notes is None else notes)
    reference = None if robot.friction is None else robot.friction.reference_temperature
    if reference is None and heat is not None and np.isfinite(heat).any():
        reference = round(float(np.nanmean(heat)), 1)
    theta = part.get("theta")
    return [
        JointRecord(
            name,
            part.stamp_ns,
            *(part.q[:, i], part.qd[:, i], friction[:, i], part.model_torque[:, i]),
            theta=None if theta is None else theta[:, i],
            temperature=None if heat is None else heat[:, i],
            reference=reference,
        )
        for i, name in enumerate(robot.joint_names)
    ]


def constant_velocity(record: JointRecord) -> list[slice]:
    """Stretches of at least 0.15 s at one velocity, without the travel in which friction settles after a reversal."""
    period = record.period  # a median over all samples: once, not for every stretch
    half = max(round(0.5 * _WINDOW / period), 1)
    v = _smoothed(record.v, half)
    change = np.abs(_shifted(v, -half) - _shifted(v, half))
    even = (
        (np.abs(v) > MOVING)
        & (change < np.minimum(_RELATIVE_CHANGE * np.abs(v), _MAX_CHANGE) + _MIN_CHANGE)
        & ~_near_gap(record, half)
    )
    found = []
    for part in (slice(*ends) for ends in runs(even)):
        settled = np.flatnonzero(np.abs(record.q[part] - record.q[part.start]) > _settling(record, part))
        if len(settled):
            part = slice(part.start + int(settled[0]), part.stop)
        if (part.stop - part.start) * period >= _SHORTEST and len(settled):
            found.append(part)
    return found


def _settling(record: JointRecord, part: slice) -> float:
    return min(_SETTLE, 0.4 * float(np.ptp(record.q[part])))


def turning_points(x: np.ndarray, least: float) -> np.ndarray:
    """Indices where x (N,) turns around after moving by more than `least` since the turn before."""
    found, low, high, sign = [], 0, 0, 0
    for i, value in enumerate(x.tolist()):
        if value > x[high]:
            high = i
        if value < x[low]:
            low = i
        if sign >= 0 and x[high] - value > least:
            found += [high] if sign else []
            sign, low = -1, i
        elif sign <= 0 and value - x[low] > least:
            found += [low] if sign else []
            sign, high = 1, i
    return np.array(found, dtype=int)


def reversals(record: JointRecord, least: float = 2e-3) -> list[slice]:
    """Slow reciprocating parts with at least eight turns: only hysteresis shows there. least [rad]: shortest stroke."""
    x = record.angle
    step = max(round(0.01 / record.period), 1)
    speed = np.abs(_smoothed(record.v, max(round(0.1 / record.period), 1)))
    found = []
    for part in (slice(*ends) for ends in runs((speed < _SLOW) & ~_near_gap(record, 1))):
        turns = turning_points(x[part][::step], least) * step
        if len(turns) >= 8:
            found.append(slice(part.start + int(turns[0]), part.start + int(turns[-1]) + 1))
    return found


@dataclass(frozen=True)
class DutyRun:
    """A run for heating: its rows, share of time in motion, and duration [s]."""

    rows: slice
    duty: float
    duration: float


def duty_runs(record: JointRecord) -> list[DutyRun]:
    """Runs from a cold start of at least _SHORTEST_DUTY, with the share of time the joint moves in each. A gap ends one
    where the joint is cold behind it.
    """
    found, step, begin = [], np.diff(record.stamp_ns, prepend=record.stamp_ns[:1]) * 1e-9, 0
    cold = (step < 0) | (step > _COLD)
    for k in np.flatnonzero(cold | (step > _GAP)).tolist():
        cold[k] |= not _warm(record.temperature, begin, k)
        begin = k if cold[k] else begin
    for rows in (slice(*ends) for ends in pieces_of(cold)):
        t = record.time[rows]
        if t[-1] - t[0] >= _SHORTEST_DUTY:
            moving = float(np.mean(np.abs(record.v[rows]) > 0.01))
            found.append(DutyRun(rows, moving, float(t[-1] - t[0])))
    return found


def _warm(temperature: np.ndarray | None, begin: int, gap: int) -> bool:
    """Whether a joint that began cold is warmer than then behind a gap, too; False where nothing reports it."""
    if temperature is None:
        return False
    places = (begin, max(begin, gap - _READINGS), gap)
    first, before, after = (float(np.mean(temperature[a : a + _READINGS])) for a in places)
    return after - first > _COOLED * (before - first)


def _near_gap(record: JointRecord, reach: int) -> np.ndarray:
    gap = np.abs(np.diff(record.stamp_ns, prepend=record.stamp_ns[:1])) > 10e9 * record.period
    near = np.convolve(gap, np.ones(2 * reach + 1))[reach : reach + len(gap)] > 0
    near[:reach] = near[max(len(near) - reach, 0) :] = True
    return near


def _smoothed(x: np.ndarray, half: int) -> np.ndarray:
    """Centred moving mean over 2 half + 1 samples, shorter at the ends."""
    total = np.concatenate([[0.0], np.cumsum(x)])
    i = np.arange(len(x))
    low, high = np.maximum(i - half, 0), np.minimum(i + half + 1, len(x))
    return (total[high] - total[low]) / (high - low)


def _shifted(x: np.ndarray, by: int) -> np.ndarray:
    return x[np.clip(np.arange(len(x)) + by, 0, len(x) - 1)]
