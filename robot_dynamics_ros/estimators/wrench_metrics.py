"""How good an estimated wrench is beside a reference: error by state, coverage, detection, delay.

Takes arrays only, so that a simulated truth and a measured reference are judged alike.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from robot_dynamics_ros.signals.runs import last_true, runs
from robot_dynamics_ros.signals.speeds import MOVING

STATES = ("moving", "rest", "contact", "contact_rest")
LEVELS = (10.0, 20.0)  # N
PARTS = (slice(0, 3), slice(3, 6))  # force, moment
CLASS = (0.9, 1.5)  # peaks within these multiples of a level belong to it
SETTLED = 2.0  # s at the beginning that are not judged: observers and filters settle
HOLD = 0.1  # s around a motion that still count as moving


@dataclass
class Series:
    """Rows of one or several recordings: stamps (N,) [s], wrenches (N, 6) [N, Nm], masks (N,).

    moving: the arm moves; contact: the environment acts, known from the reference; flagged: the detector says so.
    """

    stamps: np.ndarray
    estimate: np.ndarray
    std: np.ndarray
    reference: np.ndarray
    moving: np.ndarray
    contact: np.ndarray
    flagged: np.ndarray

    def joined(self, other: Series) -> Series:
        """This one and then another, a minute apart."""
        later = other.stamps - other.stamps[0] + self.stamps[-1] + 60.0
        rest = {f.name: np.concatenate([getattr(self, f.name), getattr(other, f.name)]) for f in fields(self)[1:]}
        return Series(np.concatenate([self.stamps, later]), **rest)


def moving_mask(qd: np.ndarray, stamps: np.ndarray) -> np.ndarray:
    """Rows (N,) within HOLD [s] of a joint speed above MOVING [rad/s]."""
    fast = stamps[np.abs(qd).max(axis=1) > MOVING]
    if not len(fast):
        return np.zeros(len(stamps), bool)
    near = np.searchsorted(fast, stamps).clip(0, len(fast) - 1)
    before = np.maximum(near - 1, 0)
    return np.minimum(np.abs(fast[near] - stamps), np.abs(fast[before] - stamps)) <= HOLD


def figures(s: Series) -> dict[str, float | list[float]]:
    """Every figure by name; NaN where no row says anything.

    force_STATE, moment_STATE: RMS per axis pooled over the three [N], [Nm], and axes_STATE the six axes.
    within_1_STATE, within_2_STATE: share of the six axes with |error| <= 1, 2 std; an axis that is known without
    deviation (moments of a point contact) does not count.
    found_LEVEL, delay_LEVEL: see `detection`. false_share: flagged share of the time without contact; false_10,
    false_20: share of it with an estimated |F| of 10, 20 N and more.
    """
    known = np.isfinite(s.estimate).all(axis=1) & np.isfinite(s.reference).all(axis=1)
    error = s.estimate - s.reference
    masks = (s.moving & ~s.contact, ~s.moving & ~s.contact, s.contact, s.contact & ~s.moving)
    result: dict[str, float | list[float]] = {}
    for name, mask in zip(STATES, masks, strict=True):
        e, std = error[mask & known], s.std[mask & known]
        axes = rms(e)
        result[f"force_{name}"], result[f"moment_{name}"] = (float(rms(e[:, p].reshape(-1, 1))[0]) for p in PARTS)
        result[f"axes_{name}"] = axes.tolist()
        for k in (1, 2):
            within = (np.abs(e) <= k * std)[std != 0]
            result[f"within_{k}_{name}"] = float(within.mean()) if len(within) else np.nan
    free = ~s.contact & known
    size = np.linalg.norm(s.estimate[:, :3], axis=1)
    result["false_share"] = float(s.flagged[free].mean()) if free.any() else np.nan
    for level in LEVELS:
        result[f"false_{level:.0f}"] = float((size[free] >= level).mean()) if free.any() else np.nan
        result |= detection(s, level)
    return result


def detection(s: Series, level: float) -> dict[str, float]:
    """Contacts of a level: stretches with reference |F| >= level/2 whose peak is 0.9 to 1.5 times the level.

    found: share of them that are flagged for at least half of their time. delay [s]: median time from |F| passing
    level/2 to the first flagged row, of those found. events: how many there are.
    """
    size = np.linalg.norm(s.reference[:, :3], axis=1)
    found, delays = [], []
    for begin, end in runs(size >= 0.5 * level, s.stamps):
        if not CLASS[0] * level <= size[begin:end].max() < CLASS[1] * level:
            continue
        flags = s.flagged[begin:end]
        found.append(bool(flags.mean() >= 0.5))
        if found[-1]:
            delays.append(s.stamps[begin + int(flags.argmax())] - s.stamps[begin])
    return {
        f"found_{level:.0f}": float(np.mean(found)) if found else np.nan,
        f"delay_{level:.0f}": float(np.median(delays)) if delays else np.nan,
        f"events_{level:.0f}": float(len(found)),
    }


def held(mask: np.ndarray, time: np.ndarray, after: float) -> np.ndarray:
    """Rows (N,) at or within `after` [s] behind a True one, up to where the clock goes back."""
    last = last_true(mask)
    since = time - time[last]
    return mask[last] & (since >= 0) & (since <= after)


def rms(values: np.ndarray) -> np.ndarray:
    """RMS (k,) of rows (N, k); NaN without rows."""
    return np.sqrt((values**2).mean(axis=0)) if len(values) else np.full(values.shape[1], np.nan)
