"""Parameters of each joint from one recording, its thermal ones included."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.stats import binned_statistic

from robot_dynamics_ros import _core
from robot_dynamics_ros.bags.rows import dated
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.identification.metrics import covariance, regression, rms
from robot_dynamics_ros.models.sliding_friction import sliding_friction
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLIDING

MIN_SAMPLES = 200  # moving samples of a joint for a statement about it
BINS = 200  # of a recording, for what warms slowly
MIN_RISE = 3.0  # K
CERTAIN = 0.2  # relative standard deviation of the time constant that is still reported
ABSENT = float("nan")


@dataclass(frozen=True)
class Measurement:
    """One recording: time [s], and per joint (n,) Coulomb level [Nm], its std, residual RMS [Nm], viscosity that the
    live filter has learned [Nm s/rad], stiffness [Nm/rad], thermal time constant [s] and resistance [K/W], temperature
    [deg C], load (RMS of the model torque in motion) [Nm]; NaN where the recording does not determine it.
    """

    bag: str
    time: float
    coulomb: np.ndarray
    coulomb_std: np.ndarray
    residual: np.ndarray
    viscous: np.ndarray
    stiffness: np.ndarray
    thermal_time: np.ndarray
    thermal_resistance: np.ndarray
    temperature: np.ndarray
    load: np.ndarray
    by_file: bool = False  # time is the date of the file
    payload: str = ""  # what looks like one that the robot file lacks, in words

    @property
    def conditions(self) -> np.ndarray:
        """Temperature and load, (n, 2)."""
        return np.column_stack([self.temperature, self.load])


def measure(bag: Path, robot: RobotFile, topic: str = "auto") -> Measurement:
    """One recording through the stages that run live, joint by joint.

    Raises DataError when no joint moves freely for long enough, CapabilityError for a motor side without friction.
    """
    known = robot.drives.torque_side == "motor" or robot.friction is not None
    law = sliding_friction(robot) if known else None
    run = replay([bag], robot, topic=topic)
    log = run.log
    n = robot.n_joints
    level = np.full(n, ABSENT) if law is None else law.coulomb_viscous()[:, 0]  # memory included
    friction = log.drive_torque - log.model_torque  # what the drives give beyond the rigid-body model (N, n) [Nm]
    error = friction if law is None else friction - log.friction_torque
    rows = [_joint(log, error[:, j], j, level[j]) for j in range(n)]
    coulomb, std, residual = (np.array(column) for column in zip(*rows, strict=True))
    if not np.isfinite(residual).any():
        raise DataError(f"{bag}: no joint moves freely for {MIN_SAMPLES} samples; record motion without contact")
    stamp = int(log.stamp_ns[0])
    began = dated(stamp, bag)
    reported = np.where(_core.possible_temperature(log.temperature), log.temperature, ABSENT)
    heat = reported if np.isfinite(reported).any() else log.temperature_estimate
    thermal = [warming(log.time, reported[:, j], friction[:, j] * log.qd[:, j]) for j in range(n)]
    time_constant, resistance = (np.array(column) for column in zip(*thermal, strict=True))
    stiffness = medians(log.stiffness)
    viscous = run.pipeline.stage("force").viscosity()
    warmth = time_constant, resistance, medians(heat)
    values = coulomb, std, residual, viscous, stiffness, *warmth, _load(log)
    payload = run.pipeline.stage("force").payload_message() or run.recognised
    return Measurement(str(bag), 1e-9 * began, *values, by_file=began != stamp, payload=payload)


def _load(log: Log) -> np.ndarray:
    known = (np.abs(log.qd) > SLIDING) & np.isfinite(log.model_torque)
    squares = np.where(known, log.model_torque**2, 0.0).sum(axis=0)
    return np.sqrt(squares / np.where(known.any(axis=0), known.sum(axis=0), ABSENT))


def medians(values: np.ndarray) -> np.ndarray:
    """Median (k,) of what is known in every column of values (N, k); NaN where nothing is."""
    return np.array([np.median(c[np.isfinite(c)]) if np.isfinite(c).any() else ABSENT for c in values.T])


def _joint(log: Log, error: np.ndarray, j: int, level: float) -> tuple[float, float, float]:
    """Coulomb level, its std and the residual RMS: tau_d - tau_J - f_model = dFc sgn v + dFv v + o, free motion."""
    v = log.qd[:, j]
    good = (np.abs(v) > SLIDING) & np.isfinite(error) & ~(log.contact[:, -1] > 0.5)
    if good.sum() < MIN_SAMPLES or np.ptp(np.sign(v[good])) < 2:
        return ABSENT, ABSENT, ABSENT
    A = np.column_stack([np.sign(v), v, np.ones_like(v)])[good]
    x, variance, _ = regression(A, error[good])
    return level + float(x[0]), float(np.sqrt(variance * covariance(A)[0, 0])), rms(error[good])


def warming(seconds: np.ndarray, temperature: np.ndarray, power: np.ndarray) -> tuple[float, float]:
    """Time constant [s] and thermal resistance [K/W] of one joint; NaN where the recording does not determine them.

    C dx/dt = P - x/R with x the rise above the first temperature, which is taken for that of the surroundings;
    integrated, x = x_0 + (1/C) int P dt - (1/RC) int x dt is linear in 1/C, 1/RC and what the first instant is off.
    seconds, temperature [deg C] and friction power [W] are (N,).
    """
    known = np.isfinite(temperature) & np.isfinite(power)
    if known.sum() < 2 * BINS or np.ptp(seconds[known]) <= 0:
        return ABSENT, ABSENT
    t, T, P = (_binned(seconds[known], x[known]) for x in (seconds, temperature, power))
    x = T - T[0]
    if not x.max() >= MIN_RISE or not P.mean() > 0:
        return ABSENT, ABSENT
    power_until, rise_until = (cumulative_trapezoid(values, t, initial=0) for values in (P, x))
    A = np.column_stack([power_until, -rise_until, np.ones(BINS)])
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    found, *_ = np.linalg.lstsq(A / scale, x, rcond=None)
    rest = x - A / scale @ found
    std = np.sqrt(rest @ rest / (BINS - 3) * np.diag(np.linalg.pinv((A / scale).T @ (A / scale))))
    if not (found[:2] > 0).all() or not std[1] < CERTAIN * found[1]:
        return ABSENT, ABSENT
    per_capacity, per_time, _ = found / scale
    return float(1.0 / per_time), float(per_capacity / per_time)


def _binned(seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
    mean = binned_statistic(seconds, values, bins=BINS).statistic
    filled = np.flatnonzero(np.isfinite(mean))
    return np.interp(np.arange(BINS), filled, mean[filled])
