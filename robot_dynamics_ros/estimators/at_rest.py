"""Forces that are shown while nothing touches a standing robot: over its poses, and from one visit to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.outputs import plain
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import runs

LEAST = 1.0  # s a stop lasts
CALM = 0.5  # s at its begin in which observers and the arm settle
SAME = 0.05  # rad, stops whose joints differ by less are one pose
APART = 60.0  # s between two visits of a pose from which on a change of their force is a growth


@dataclass(frozen=True)
class Stop:
    """Rows of a log in which the robot stands, after CALM; time [s] of the first; pose: its number."""

    rows: slice
    time: float
    pose: int


@dataclass(frozen=True)
class AtRest:
    """An estimate without contact: force [N], RMS and largest over the stops; RMS of its deviation per axis; share of
    the axes within two of them; growth: of the size from the first to the last visit of a pose, mean over the poses.
    """

    name: str
    rms: float
    largest: float
    std: float
    within_2: float
    growth: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values; NaN as None."""
        return plain(vars(self))


def stops(log: Log) -> list[Stop]:
    """Stops of a recording in order. Raises DataError where there is none."""
    time, found, poses = log.time, [], []  # type: ignore[var-annotated]
    for a, b in runs(~moving_mask(np.nan_to_num(log.qd), time), log.stamp_ns * 1e-9):
        calm = a + int(np.searchsorted(time[a:b], time[a] + CALM))
        if time[b - 1] - time[a] < LEAST or calm >= b:
            continue
        q = log.q[calm:b].mean(axis=0)
        pose = next((k for k, p in enumerate(poses) if np.abs(p - q).max() < SAME), len(poses))
        poses += [q] * (pose == len(poses))
        found.append(Stop(slice(calm, b), float(time[a]), pose))
    if not found:
        raise DataError(f"the robot does not stand still for {LEAST:g} s: record stops at several poses")
    return found


def at_rest(
    name: str, wrench: np.ndarray, std: np.ndarray | None, judged: Sequence[Stop], every: Sequence[Stop]
) -> AtRest:
    """Figures of an estimate (N, 6) whose truth is zero over the stops `judged`, its growth over `every` stop.

    Raises DataError where it is not there in any stop.
    """
    force = _means(wrench[:, :3], judged)
    known = np.isfinite(force).all(axis=1)
    if not known.any():
        raise DataError(f"{name}: no value while the robot stands")
    size = np.linalg.norm(force[known], axis=1)
    deviation = np.full((1, 3), np.nan) if std is None else _means(std[:, :3], judged)[known]
    within = np.nan if std is None else float((np.abs(force[known]) <= 2 * deviation).mean())
    rms, rms_std = np.sqrt((size**2).mean()), np.sqrt((deviation**2).mean())
    growth = _growth(np.linalg.norm(_means(wrench[:, :3], every), axis=1), every)
    return AtRest(name, float(rms), float(size.max()), float(rms_std), within, growth)


def _means(values: np.ndarray, found: Sequence[Stop]) -> np.ndarray:
    return np.array([values[stop.rows].mean(axis=0) for stop in found])


def _growth(size: np.ndarray, found: Sequence[Stop]) -> float:
    """Mean change of the force's size [N] from the first to the last visit of a pose; NaN without a pose visited again.

    Friction that holds a joint differs from visit to visit and cancels in the mean; a drift does not.
    """
    changes = []
    for pose in {stop.pose for stop in found}:
        visits = [k for k, stop in enumerate(found) if stop.pose == pose and np.isfinite(size[k])]
        if visits and found[visits[-1]].time - found[visits[0]].time >= APART:
            changes.append(size[visits[-1]] - size[visits[0]])
    return float(np.mean(changes)) if changes else np.nan
