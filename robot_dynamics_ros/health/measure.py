"""Parameters of each joint from one recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.friction_health import FrictionHealthStage
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.health.warming import warming
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.parameters import resolve
from robot_dynamics_ros.signals import Log

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

MOVING: float = resolve(FrictionHealthStage.parameters)["moving"]  # rad/s, as the live stage
LEAST = 200  # moving samples of a joint for a statement about it
PLAUSIBLE = 946_684_800.0  # s; a stamp before the year 2000 is no date
ABSENT = float("nan")


@dataclass(frozen=True)
class Measurement:
    """One recording: time [s], and per joint (n,) Coulomb level [Nm], its std, residual RMS [Nm], stiffness [Nm/rad],
    thermal time constant [s] and resistance [K/W], temperature [deg C], load (RMS of the model torque in motion) [Nm];
    NaN where the recording does not determine it.
    """

    bag: str
    time: float
    coulomb: np.ndarray
    coulomb_std: np.ndarray
    residual: np.ndarray
    stiffness: np.ndarray
    thermal_time: np.ndarray
    thermal_resistance: np.ndarray
    temperature: np.ndarray
    load: np.ndarray

    @property
    def conditions(self) -> np.ndarray:
        """Temperature and load, (n, 2)."""
        return np.column_stack([self.temperature, self.load])


def measure(bag: Path, robot: RobotFile, topic: str = "auto") -> Measurement:
    """One recording through the stages that run live, joint by joint.

    Raises DataError when no joint moves freely for long enough.
    """
    log = replay([bag], robot, topic=topic).log
    n = robot.n_joints
    level = np.full(n, ABSENT)
    if robot.friction is not None and robot.drives.torque_side == "motor":
        model = FrictionModel.from_robot(robot)
        level = np.array([model.core.coulomb(i, 1.0, model.reference[i]) for i in range(n)])
    friction = log.drive_torque - log.model_torque  # what the drives give beyond the rigid-body model (N, n) [Nm]
    rows = [_joint(log, friction[:, j], j, level[j]) for j in range(n)]
    coulomb, std, residual = (np.array(column) for column in zip(*rows, strict=True))
    if not np.isfinite(residual).any():
        raise DataError(f"{bag}: no joint moves freely for {LEAST} samples; record motion without contact")
    began = 1e-9 * float(log.stamp_ns[0])
    time = began if began > PLAUSIBLE else Path(bag).stat().st_mtime
    heat = log.temperature if log.has("temperature") else log.temperature_estimate
    thermal = [warming(log.time, log.temperature[:, j], friction[:, j] * log.qd[:, j]) for j in range(n)]
    time_constant, resistance = (np.array(column) for column in zip(*thermal, strict=True))
    stiffness = _medians(log.stiffness)
    return Measurement(
        str(bag), time, coulomb, std, residual, stiffness, time_constant, resistance, _medians(heat), _load(log)
    )


def _load(log: Log) -> np.ndarray:
    moving = np.abs(log.qd) > MOVING
    squares = np.where(moving & np.isfinite(log.model_torque), log.model_torque**2, 0.0).sum(axis=0)
    return np.sqrt(squares / np.maximum(moving.sum(axis=0), 1))


def _medians(values: np.ndarray) -> np.ndarray:
    return np.array([np.median(c[np.isfinite(c)]) if np.isfinite(c).any() else ABSENT for c in values.T])


def _joint(log: Log, friction: np.ndarray, j: int, level: float) -> tuple[float, float, float]:
    """Coulomb level, its std and the residual RMS: tau_d - tau_J - f_model = dFc sgn v + dFv v + o, free motion."""
    v, error = log.qd[:, j], friction - log.friction_torque[:, j]
    good = (np.abs(v) > MOVING) & np.isfinite(error) & ~(log.contact[:, -1] > 0.5)
    if good.sum() < LEAST or np.ptp(np.sign(v[good])) < 2:
        return ABSENT, ABSENT, ABSENT
    A = np.column_stack([np.sign(v), v, np.ones_like(v)])[good]
    x, *_ = np.linalg.lstsq(A, error[good], rcond=None)
    rest = error[good] - A @ x
    rho = np.clip(rest[1:] @ rest[:-1] / max(rest @ rest, 1e-300), 0.0, 0.99)  # residuals of recordings are correlated
    variance = rest @ rest / max(len(rest) - 3, 1) * (1 + rho) / (1 - rho)
    std = np.sqrt(variance * np.linalg.pinv(A.T @ A)[0, 0])
    return level + float(x[0]), float(std), float(np.sqrt(np.mean(error[good] ** 2)))


def by_time(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Oldest first."""
    return sorted(measurements, key=lambda m: m.time)
