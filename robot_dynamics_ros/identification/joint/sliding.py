"""Friction while sliding steadily: one value per stretch of constant velocity, gravity cancelled where it can be.

Forward and backward stretches of equal speed over the same positions give f = (tau(+) - tau(-))/2: what the model of
the links gets wrong is the same in both and drops out. [Luo2024, eq. 15]
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Sliding friction of one joint, columns (K,): speed, friction, load, temperature; `paired` of them are pairs.

    common (P, 2): position [rad] and (tau(+) + tau(-))/2 [Nm] of each pair, what the model of the links gets wrong.
    """

    data: FrictionData
    paired: int
    stretches: int
    common: np.ndarray

    def gravity_error(self, q: np.ndarray) -> np.ndarray:
        """Torque (N,) [Nm] missing in the model of this joint at positions q (N,): a sin q + b cos q + c, fitted.

        Exact for a joint that moves alone; zero without pairs.
        """
        if len(self.common) < 6:
            return np.zeros_like(q)
        x = np.linalg.lstsq(_waves(self.common[:, 0]), self.common[:, 1], rcond=None)[0]
        return _waves(q) @ x


def _waves(q: np.ndarray) -> np.ndarray:
    return np.column_stack([np.sin(q), np.cos(q), np.ones_like(q)])


@dataclass(frozen=True)
class _Bin:
    place: int
    q: float
    v: float
    friction: float
    load: float
    temperature: float
    time: float


def measured_sliding(record: JointRecord, width: float = _BIN) -> Sliding:
    """Means of every stretch of constant velocity in bins of position, paired forward with backward.

    Raises DataError where the joint never slides at a constant velocity.
    """
    parts = constant_velocity(record)
    bins = [b for part in parts for b in _bins(record, part, width)]
    if not bins:
        raise DataError(
            f"{record.joint}: no stretch of constant velocity of 0.15 s: record the joint at constant velocities in "
            "both directions (velocity-steps)"
        )
    rows, common = _paired(bins)
    v, friction, load, temperature = np.array(rows).T
    hot = temperature if np.isfinite(temperature).all() else None
    return Sliding(FrictionData(v, friction, load, hot, joint=record.joint), 2 * len(common), len(parts), common)


def _bins(record: JointRecord, part: slice, width: float) -> list[_Bin]:
    place = np.floor(record.q[part] / width).astype(int)
    found = []
    for here in np.unique(place):
        rows = part.start + np.flatnonzero(place == here)
        if len(rows) < _MIN_SAMPLES:
            continue
        T = np.nan if record.temperature is None else float(np.mean(record.temperature[rows]))
        q, v, friction, load = (float(np.mean(x[rows])) for x in (record.q, record.v, record.friction, record.load))
        found.append(_Bin(int(here), q, v, friction, load, T, float(record.stamp_ns[rows[0]]) * 1e-9))
    return found


def _paired(bins: Sequence[_Bin]) -> tuple[list[tuple[float, ...]], np.ndarray]:
    """Rows (v, friction, load, temperature): both of each pair, then bins without a partner; and what pairs share."""
    rows: list[tuple[float, ...]] = []
    used: set[int] = set()
    common = []
    backward = [k for k, b in enumerate(bins) if b.v < 0]
    for i, b in enumerate(bins):
        if b.v <= 0:
            continue
        partners = [
            k
            for k in backward
            if k not in used and bins[k].place == b.place and abs(bins[k].v + b.v) < _SAME_SPEED * b.v
        ]
        if not partners:
            continue
        k = min(partners, key=lambda k: abs(bins[k].time - b.time))
        used |= {i, k}
        common.append(((b.q + bins[k].q) / 2, (b.friction + bins[k].friction) / 2))
        f, load, T = (
            (b.friction - bins[k].friction) / 2,
            (b.load + bins[k].load) / 2,
            (b.temperature + bins[k].temperature) / 2,
        )
        rows += [(b.v, f, load, T), (bins[k].v, -f, load, T)]
    rows += [(b.v, b.friction, b.load, b.temperature) for i, b in enumerate(bins) if i not in used]
    return rows, np.array(common).reshape(-1, 2)
