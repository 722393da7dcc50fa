"""What temperature and load do to a quantity, learned from neighbouring recordings, and taken away again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares

LEAST = 6  # recordings, or differences of neighbours, for a statement about temperature or load
SPREAD = (5.0, 0.1)  # temperature [K] and load (share of its median) that must vary before anything is corrected


def slopes_of(values: Sequence[np.ndarray], conditions: Sequence[np.ndarray]) -> np.ndarray:
    """Change of a quantity per kelvin and per Nm of load (2,), from one or several robots.

    values: (N,) of each robot in order of time; conditions: (N, 2) temperature and load of each. Differences of
    neighbours, dy = s_T dT + s_L dL, so that slow wear is not taken for heat; their large ones count little, so that a
    step is not either. 0 where a condition does not vary enough, or with fewer than LEAST differences.
    """
    dy, dx = [np.zeros(0)], [np.zeros((0, 2))]
    for y, x in zip(values, conditions, strict=True):
        known = np.isfinite(y) & np.isfinite(x).all(axis=1)
        dy.append(np.diff(y[known]))
        dx.append(np.diff(x[known], axis=0))
    y, x = np.concatenate(dy), np.concatenate(dx)
    rows = np.concatenate([c[np.isfinite(c).all(axis=1)] for c in conditions])
    slopes = np.zeros(2)
    if len(y) < LEAST - 1 or len(rows) < LEAST:
        return slopes
    enough = np.array([SPREAD[0], SPREAD[1] * abs(float(np.median(rows[:, 1])))])
    use = (np.ptp(rows, axis=0) >= enough) & (np.ptp(x, axis=0) > 0)
    if use.any():
        slopes[use] = _robust(x[:, use], y)
    return slopes


def _robust(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    size = np.maximum(np.abs(x).max(axis=0), 1e-12)
    start, *_ = np.linalg.lstsq(x / size, y, rcond=None)
    noise = max(1.4826 * float(np.median(np.abs(y - x / size @ start))), 1e-12)
    fit = least_squares(lambda s: (y - x / size @ s) / noise, start, loss="cauchy")
    return fit.x / size


def at_equal_conditions(
    values: np.ndarray, conditions: np.ndarray, slopes: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """Values (N,) as they would be at the reference temperature and load (2,); what is unknown stays as it is."""
    known = np.isfinite(conditions) & np.isfinite(reference)
    return values - np.where(known, conditions - reference, 0.0) @ slopes


def middle(conditions: Sequence[np.ndarray]) -> np.ndarray:
    """Median temperature and load (2,) over all recordings; NaN where unknown in all of them."""
    rows = np.concatenate(list(conditions))
    return np.array([np.median(c[np.isfinite(c)]) if np.isfinite(c).any() else np.nan for c in rows.T])
