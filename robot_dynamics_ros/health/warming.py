"""How a joint warms while it works: thermal time constant and resistance out of one recording."""

from __future__ import annotations

import numpy as np

BINS = 200
LEAST_RISE = 3.0  # K
CERTAIN = 0.2  # relative standard deviation of the time constant that is still reported
ABSENT = (float("nan"), float("nan"))


def warming(seconds: np.ndarray, temperature: np.ndarray, power: np.ndarray) -> tuple[float, float]:
    """Time constant [s] and thermal resistance [K/W] of one joint; NaN where the recording does not determine them.

    C dx/dt = P - x/R with x the rise above the first temperature, which is taken for that of the surroundings;
    integrated, x = x_0 + (1/C) int P dt - (1/RC) int x dt is linear in 1/C, 1/RC and what the first instant is off.
    seconds, temperature [deg C] and friction power [W] are (N,).
    """
    known = np.isfinite(temperature) & np.isfinite(power)
    if known.sum() < 2 * BINS or np.ptp(seconds[known]) <= 0:
        return ABSENT
    t, T, P = (_binned(seconds[known], x[known]) for x in (seconds, temperature, power))
    x = T - T[0]
    if not x.max() >= LEAST_RISE or not P.mean() > 0:
        return ABSENT
    A = np.column_stack([_integral(t, P), -_integral(t, x), np.ones(BINS)])
    scale = np.maximum(np.abs(A).max(axis=0), 1e-12)
    found, *_ = np.linalg.lstsq(A / scale, x, rcond=None)
    rest = x - A / scale @ found
    std = np.sqrt(rest @ rest / (BINS - 3) * np.diag(np.linalg.pinv((A / scale).T @ (A / scale))))
    if not (found[:2] > 0).all() or not std[1] < CERTAIN * found[1]:
        return ABSENT
    per_capacity, per_time, _ = found / scale
    return float(1.0 / per_time), float(per_capacity / per_time)


def _binned(seconds: np.ndarray, values: np.ndarray) -> np.ndarray:
    edges = np.linspace(seconds[0], seconds[-1], BINS + 1)
    place = np.clip(np.searchsorted(edges, seconds, side="right") - 1, 0, BINS - 1)
    count = np.bincount(place, minlength=BINS)
    mean = np.bincount(place, weights=values, minlength=BINS) / np.maximum(count, 1)
    filled = np.flatnonzero(count)
    return np.interp(np.arange(BINS), filled, mean[filled])


def _integral(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    steps = 0.5 * (values[1:] + values[:-1]) * np.diff(t)
    return np.concatenate([[0.0], np.cumsum(steps)])
