"""Friction while sliding steadily: one value per stretch of constant velocity, gravity cancelled where it can be.

Forward and backward stretches of equal speed over the same positions give f = (tau(+) - tau(-))/2: what the model of
the links gets wrong is the same in both and drops out. [Luo2024, eq. 15]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord, constant_velocity
from robot_dynamics_ros.identification.joint.friction import FrictionData

_SAME_SPEED = 0.05  # relative difference of speeds that still form a pair
_BIN = 0.15  # rad: a stretch is split into bins of position, so that load stays the same within each
_MIN_SAMPLES = 25  # samples per bin


@dataclass(frozen=True)
class Sliding:
    """Sliding friction of one joint, columns (K,): speed, friction, load, temperature; `pairs` (K,): those of pairs.

    common (P, 2): position [rad] and (tau(+) + tau(-))/2 [Nm] of each pair, what the model of the links gets wrong.
    """

    data: FrictionData
    pairs: np.ndarray
    common: np.ndarray

    @property
    def paired(self) -> int:
        """Number of values that are of pairs."""
        return int(self.pairs.sum())


def measured_sliding(record: JointRecord, width: float = _BIN) -> Sliding:
    """Means of every stretch of constant velocity in bins of position, paired forward with backward.

    Raises DataError where the joint never slides at a constant velocity.
    """
    bins = [b for part in constant_velocity(record) for b in _bins(record, part, width)]
    if not bins:
        raise DataError(
            f"{record.joint}: no stretch of constant velocity of 0.15 s: record the joint at constant velocities in "
            "both directions (velocity-steps)"
        )
    place, time, q, v, friction, load, temperature = np.array(bins).T
    mate = _mates(place, time, v)
    pairs, gained = mate >= 0, np.flatnonzero((mate >= 0) & (v > 0))
    common = np.column_stack([(x + x[mate])[gained] / 2 for x in (q, friction)])
    friction = np.where(pairs, (friction - friction[mate]) / 2, friction)
    load, temperature = (np.where(pairs, (x + x[mate]) / 2, x) for x in (load, temperature))
    hot = temperature if np.isfinite(temperature).all() else None
    return Sliding(FrictionData(v, friction, load, hot, joint=record.joint), pairs, common)


def _bins(record: JointRecord, part: slice, width: float) -> list[list[float]]:
    """Rows (place, time, q, v, friction, load, temperature) of means."""
    own = record.take(part)  # time and temperature of all samples would be made for every stretch
    place, time = np.floor(own.q / width).astype(int), (own.stamp_ns - record.stamp_ns[0]) * 1e-9
    T = np.full(len(own), np.nan) if own.temperature is None else own.temperature
    found = []
    for here in np.unique(place):
        rows = np.flatnonzero(place == here)
        if len(rows) >= _MIN_SAMPLES:
            means = [float(np.mean(x[rows])) for x in (own.q, own.v, own.friction, own.load, T)]
            found.append([here, time[rows[0]], *means])
    return found


def _mates(place: np.ndarray, time: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Number (K,) of each bin's partner, the nearest in time of the same place and speed in the other direction; -1."""
    mate = np.full(len(v), -1)
    for i in np.flatnonzero(v > 0):
        others = np.flatnonzero((mate < 0) & (v < 0) & (place == place[i]) & (np.abs(v + v[i]) < _SAME_SPEED * v[i]))
        if len(others):
            k = others[np.argmin(np.abs(time[others] - time[i]))]
            mate[i], mate[k] = k, i
    return mate
