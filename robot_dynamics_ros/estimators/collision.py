"""Collisions by fast changes of the external torque, at a rate of false alarms that the user names. No safety function.

Errors of model and friction last for tenths of a second, the onset of a collision does not: what drive, model and
friction torque leave is low-passed at FAST and freed of what a low-pass at SLOW holds (r). Its distance
D^2 = (r/s)' R^-1 (r/s), s by the speed of each joint, R their correlation, is compared with a threshold; s, R and the
threshold are those of recordings without contact (source: own).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log

FAST, SLOW = 400.0, 40.0  # rad/s
STATES = (0.002, 0.05)  # rad/s: below the first a joint stands, up to the second it starts, where friction errs most
ROWS = 200  # of a state of a joint that say something about it
BLOCK = 1.0  # s; one with a distance above the threshold is a false alarm
TAIL = 0.05  # share of the blocks, from whose excesses the tail beyond the recordings is continued
ENOUGH = 10  # blocks above a threshold that need no tail
HELD = 0.1  # s for which a collision is reported
LEAST = 30.0  # s of recordings


@dataclass(frozen=True)
class CollisionDetector:
    """Deviations (3, n) [Nm] of the joints by state, inverse correlation (n, n), distance from which on it is one."""

    std: np.ndarray
    precision: np.ndarray
    threshold: float

    @classmethod
    def fitted(cls, free: Sequence[Log], rate: float = 1.0) -> CollisionDetector:
        """From logs of the pipeline in which nothing touched the robot: `rate` false alarms per hour.

        Where that is rarer than the logs show, an exponential tail goes on. Raises DataError below LEAST.
        """
        length = sum(float(log.time[-1] - log.time[0]) for log in free)
        if length < LEAST:
            raise DataError(f"{length:.0f} s without contact; needs {LEAST:.0f} to tell how often alarms are false")
        rows, state = (np.concatenate([f(log) for log in free]) for f in (fast_changes, _states))
        known = [(state == k) & ((state == k).sum(axis=0) >= ROWS) for k in range(len(STATES) + 1)]
        every = np.sqrt((rows**2).mean(axis=0))
        std = np.stack([np.where(mask.any(axis=0), _rms(rows, mask), every) for mask in known])
        scaled = rows / np.take_along_axis(std, state, axis=0)
        precision = np.linalg.inv(scaled.T @ scaled / len(scaled))
        parts = np.split(_distance(scaled, precision), np.cumsum([len(log) for log in free])[:-1])
        largest = np.concatenate([_blocks(log.time, part) for log, part in zip(free, parts, strict=True)])
        return cls(std, precision, _exceeded(largest, rate * BLOCK / 3600.0))

    def distance(self, log: Log) -> np.ndarray:
        """D (N,) of a log of the pipeline."""
        return _distance(fast_changes(log) / np.take_along_axis(self.std, _states(log), axis=0), self.precision)

    def collided(self, log: Log) -> np.ndarray:
        """(N,) bool: the distance was above the threshold within HELD."""
        over = np.flatnonzero(self.distance(log) > self.threshold)
        if not len(over):
            return np.zeros(len(log), bool)
        place = np.searchsorted(over, np.arange(len(log)), side="right") - 1
        return np.asarray((place >= 0) & (log.time - log.time[over[place]] < HELD))


def fast_changes(log: Log) -> np.ndarray:
    """What drive, model and friction torque leave (N, n) [Nm] between SLOW and FAST, causal; 0 where there is none."""
    torque = np.nan_to_num(log.drive_torque - log.model_torque - log.friction_torque)
    out, fast, slow = np.zeros_like(torque), torque[0], torque[0]
    shares = 1.0 - np.exp(np.outer(np.diff(log.time), (-FAST, -SLOW)))
    for k, (a, b) in enumerate(shares, start=1):
        fast = fast + a * (torque[k] - fast)
        slow = slow + b * (fast - slow)
        out[k] = fast - slow
    return out


def _distance(r: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """sqrt(r' R^-1 r) (N,) of rows (N, n) over their deviations."""
    return np.asarray(np.sqrt(np.einsum("ni,ij,nj->n", r, precision, r)))


def _states(log: Log) -> np.ndarray:
    """(N, n) int: 0 the joint stands, 1 it starts, 2 it moves."""
    return np.asarray(np.searchsorted(STATES, np.abs(np.nan_to_num(log.qd))))


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
    return begin + float((largest[largest > begin] - begin).mean()) * float(np.log(TAIL / share))
