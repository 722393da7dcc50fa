"""Smooth upper bounds of maxima, with slopes: what a search by gradients needs of limits and eigenvalues."""

from __future__ import annotations

import numpy as np

SHARPNESS = 40.0  # of columns, per root mean square: the bound lies a few per cent above the largest sample


def soft_max(e: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
    """m = log(sum exp(r e)) / r >= max e, at most log(size) / r above it, and dm/de (same shape, sums to 1)."""
    top = float(e.max())
    p = np.exp(sharpness * (e - top))
    total = float(p.sum())
    return top + np.log(total) / sharpness, p / total


def column_max(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound (n,) of the largest entry of every column of y (N, n), and its slopes (N, n).

    m = s/r log(sum exp(r y / s)) with s the root mean square of the column: m(c y) = c m(y) for c > 0, as of a maximum.
    """
    s = np.sqrt(np.mean(y * y, axis=0)) + 1e-12
    top = y.max(axis=0)
    p = np.exp((SHARPNESS / s) * (y - top))
    total = p.sum(axis=0)
    p /= total
    bound = top + s / SHARPNESS * np.log(total)
    return bound, p + (bound - (p * y).sum(axis=0)) / (len(y) * s * s) * y


def column_max_size(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bound (n,) of the largest absolute entry of every column of y (N, n), and its slopes (N, n)."""
    bound, slopes = column_max(np.concatenate([y, -y]))
    return bound, slopes[: len(y)] - slopes[len(y) :]


def power_max(parts: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Bound (n,) of the largest of positive parts (k, n) by their `power` norm, and its slopes (k, n)."""
    top = parts.max(axis=0)
    bound = top * ((parts / top) ** power).sum(axis=0) ** (1 / power)
    return bound, (parts / bound) ** (power - 1)
