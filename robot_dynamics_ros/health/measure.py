"""What one recording says about each joint, at the temperature and load the friction model already accounts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.friction_health import FrictionHealthStage
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.replay import replay
from robot_dynamics_ros.types import Log

if TYPE_CHECKING:
    from robot_dynamics_ros.config import RobotFile

MOVING = next(
    float(p.default) for p in FrictionHealthStage.parameters if p.name == "moving"
)  # rad/s, as the live stage
LEAST = 200  # moving samples of a joint for a statement about it
PLAUSIBLE = 946_684_800.0  # s; a stamp before the year 2000 is no date
ABSENT = float("nan")


@dataclass(frozen=True)
class Measurement:
    """One recording: time [s], and per joint (n,) Coulomb level [Nm], its std, residual RMS [Nm], stiffness [Nm/rad],
    temperature [deg C]; NaN where the recording cannot tell.
    """

    bag: str
    time: float
    coulomb: np.ndarray
    coulomb_std: np.ndarray
    residual: np.ndarray
    stiffness: np.ndarray
    temperature: np.ndarray


def measure(bag: Path, robot: RobotFile, topic: str = "auto") -> Measurement:
    """Raises DataError when no joint moves freely for long enough."""
    log = replay([bag], robot, topic=topic).log
    n = robot.n_joints
    level = np.full(n, ABSENT)
    if robot.friction is not None and robot.drives.torque_side == "motor":
        model = FrictionModel.from_robot(robot)
        level = np.array([model.core.coulomb(i, 1.0, model.reference[i]) for i in range(n)])
    rows = [_joint(log, j, level[j]) for j in range(n)]
    coulomb, std, residual = (np.array(column) for column in zip(*rows, strict=True))
    if not np.isfinite(residual).any():
        raise DataError(f"{bag}: no joint moves freely for {LEAST} samples; record motion without contact")
    began = 1e-9 * float(log.stamp_ns[0])
    time = began if began > PLAUSIBLE else Path(bag).stat().st_mtime
    heat = log.temperature if log.has("temperature") else log.temperature_estimate
    return Measurement(str(bag), time, coulomb, std, residual, _medians(log.stiffness), _medians(heat))


def _medians(values: np.ndarray) -> np.ndarray:
    return np.array([np.median(c[np.isfinite(c)]) if np.isfinite(c).any() else ABSENT for c in values.T])


def _joint(log: Log, j: int, level: float) -> tuple[float, float, float]:
    """Coulomb level, its std and the residual RMS: tau_d - tau_J - f_model = dFc sgn v + dFv v + o, free motion."""
    v, error = log.qd[:, j], log.drive_torque[:, j] - log.model_torque[:, j] - log.friction_torque[:, j]
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


def at_equal_temperature(
    values: np.ndarray, temperature: np.ndarray, least: int = 6, spread: float = 5.0
) -> np.ndarray:
    """Values (N,) with their linear dependence on temperature (N,) removed, referred to the median temperature.

    Only with `least` recordings that span `spread` K. Slopes are those of neighbours in time, so that slow wear is not
    taken for heat.
    """
    known = np.isfinite(values) & np.isfinite(temperature)
    if known.sum() < least or np.ptp(temperature[known]) < spread:
        return values
    y, T = values[known], temperature[known]
    slopes = np.diff(y)[np.abs(np.diff(T)) > 1.0] / np.diff(T)[np.abs(np.diff(T)) > 1.0]
    if len(slopes) < least - 1:
        return values
    out = values.copy()
    out[known] = y - np.median(slopes) * (T - np.median(T))
    return out


def by_time(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Oldest first."""
    return sorted(measurements, key=lambda m: m.time)
