"""Collisions by fast changes of the external torque, at a rate of false alarms that the user names. No safety function.

Errors of model and friction last for tenths of a second, the onset of a collision does not: what drive, model and
friction torque leave is low-passed at FAST and freed of what a low-pass at SLOW holds (r). Its distance
D^2 = (r/s)' R^-1 (r/s), s by the speed of each joint, R their correlation, is compared with a threshold; s, R and the
threshold are those of recordings without contact (source: own).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.wrench_metrics import SETTLED, held
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import runs

FAST, SLOW = 400.0, 40.0  # rad/s
STATES = (0.002, 0.05)  # rad/s: below the first a joint stands, up to the second it starts, where friction errs most,
START = 0.1  # s for which it still does beyond it: a joint that breaks away is fast before the torque has settled
ROWS = 200  # of a state of a joint that say something about it
BLOCK = 1.0  # s; one with a distance above the threshold is a false alarm
TAIL = 0.05  # share of the blocks, from whose excesses the tail beyond the recordings is continued
ENOUGH = 10  # blocks above a threshold that need no tail
SURE = 1.28  # deviations of the tail's mean excess by which it is taken longer: 90 %
HELD = 0.1  # s for which a collision is reported
LEAST = 30.0  # s of recordings


@dataclass(frozen=True)
class CollisionDetector:
    """Deviations (3, n) [Nm] of the joints by state, inverse correlation (n, n), distance from which on it is one."""

    std: np.ndarray
    precision: np.ndarray
    threshold: float

    @classmethod
    def fitted(cls, free: Iterable[Log], rate: float = 1.0) -> CollisionDetector:
        """From logs of the pipeline, read once, in which nothing touched the robot: `rate` false alarms per hour.

        Where that is rarer than the logs show, an exponential tail goes on. Raises DataError below LEAST.
        """
        parts = [_settled(log) for log in free]
        length = sum(float(time[-1] - time[0]) for time, _, _ in parts if len(time))
        if length < LEAST:
            raise DataError(f"{length:.0f} s without contact; needs {LEAST:.0f} to tell how often alarms are false")
        rows, state = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        known = [(state == k) & ((state == k).sum(axis=0) >= ROWS) for k in range(len(STATES) + 1)]
        every = np.sqrt((rows**2).mean(axis=0))
        std = np.stack([np.where(mask.any(axis=0), _rms(rows, mask), every) for mask in known])
        scaled = rows / np.take_along_axis(std, state, axis=0)
        precision = np.linalg.inv(scaled.T @ scaled / len(scaled))
        distances = np.split(_distance(scaled, precision), np.cumsum([len(part[0]) for part in parts])[:-1])
        largest = np.concatenate([_blocks(part[0], d) for part, d in zip(parts, distances, strict=True) if len(d)])
        return cls(std, precision, _exceeded(largest, rate * BLOCK / 3600.0))

    def distance(self, log: Log) -> np.ndarray:
        """D (N,) of a log of the pipeline."""
        return _distance(fast_changes(log) / np.take_along_axis(self.std, _states(log), axis=0), self.precision)

    def collided(self, log: Log, distance: np.ndarray | None = None) -> np.ndarray:
        """(N,) bool: the distance (that of the log, where it is known already) was above the threshold within HELD."""
        return held((self.distance(log) if distance is None else distance) > self.threshold, log.time, HELD)

    def collisions(self, log: Log) -> list[dict[str, Any]]:
        """Begin [s] and largest distance of every collision of a log after its first SETTLED seconds."""
        distance = self.distance(log)
        hit = self.collided(log, distance) & (log.time - log.time[0] >= SETTLED)
        found = runs(hit, log.time)
        return [{"begin": float(log.time[a]), "distance": float(np.nanmax(distance[a:b]))} for a, b in found]


def _settled(log: Log) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Time, fast changes and states from SETTLED on, where there is an estimate."""
    changes = fast_changes(log)
    rows = (log.time - log.time[0] >= SETTLED) & np.isfinite(changes).all(axis=1)
    return log.time[rows], changes[rows], _states(log)[rows]


def fast_changes(log: Log) -> np.ndarray:
    """What drive, model and friction torque, where that is known, leave (N, n) [Nm] between SLOW and FAST, causal; NaN
    without an estimate, as behind closed brakes.
    """
    torque = log.drive_torque - log.model_torque - np.nan_to_num(log.friction_torque)
    known = np.isfinite(torque + log.external_joint_torque).all(axis=1)
    out, fast, slow = np.full_like(torque, np.nan), torque[0], torque[0]
    steps = np.diff(log.time, prepend=log.time[0])
    shares = 1.0 - np.exp(np.outer(np.maximum(steps, 0.0), (-FAST, -SLOW)))
    for k in np.flatnonzero(known):
        if k == 0 or not known[k - 1] or steps[k] < 0:  # a clock that was set back
            fast = slow = torque[k]
        a, b = shares[k]
        fast = fast + a * (torque[k] - fast)
        slow = slow + b * (fast - slow)
        out[k] = fast - slow
    return out


def _distance(r: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """sqrt(r' R^-1 r) (N,) of rows (N, n) over their deviations."""
    return np.asarray(np.sqrt(np.einsum("ni,ij,nj->n", r, precision, r)))


def _states(log: Log) -> np.ndarray:
    """(N, n) int: 0 the joint stands, 1 it starts, 2 it moves."""
    state = np.searchsorted(STATES, np.abs(np.nan_to_num(log.qd))).astype(np.int8)
    slow = np.maximum.accumulate(np.where(state < len(STATES), log.time[:, None], -np.inf), axis=0)
    return np.where(log.time[:, None] - slow <= START, np.minimum(state, 1), state)


def _rms(rows: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt((rows**2 * mask).sum(axis=0) / mask.sum(axis=0).clip(1)))


def _blocks(time: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Largest distance of every block."""
    block = ((time - time[0]) / BLOCK).astype(int)
    return np.maximum.reduceat(distance, np.flatnonzero(np.diff(block, prepend=-1)))


def _exceeded(largest: np.ndarray, share: float) -> float:
    """What a share of the blocks exceeds; where fewer than ENOUGH do, by the exponential tail of the largest ones."""
    if share * len(largest) >= ENOUGH:
        return float(np.quantile(largest, 1.0 - share))
    begin = float(np.quantile(largest, 1.0 - TAIL))
    excess = largest[largest > begin] - begin
    return begin + float(excess.mean() * (1.0 + SURE / np.sqrt(len(excess))) * np.log(TAIL / share))
