"""Contact in a recording that is learned from, beside parameters that are known: in the means of residuals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import binary_dilation

BLOCK = 0.3  # s
FAR, SHARE, MIN_BLOCKS = 6.0, 0.25, 20  # deviations, of friction, blocks: contact beside a known model
CORE = 1.8  # of friction, which no error of a model exceeds
SEVERAL = 2.0  # times the second joint: a contact loads several joints, an error of friction one


def touched(
    residuals: Sequence[np.ndarray], uses: Sequence[np.ndarray], level: np.ndarray, rate: float
) -> list[np.ndarray]:
    """(N,) bool of every motion: the mean of a residual (N, n) over a block in which all of a joint's rows are used
    (N, n) is beyond FAR robust deviations of all such means, at least SHARE and at most CORE of the joint's friction,
    level (n,) [Nm]; and half of that in a second joint, if there is one.

    A payload or another calibration moves all means alike and marks nothing: it is a change point, not a contact.
    """
    means = [in_blocks(residual, rate).mean(axis=1) for residual in residuals]
    seen = [in_blocks(use, rate).min(axis=1) > 0 for use in uses]
    mean, known = np.concatenate(means), np.concatenate(seen)
    joints = np.zeros_like(mean)
    for j, (value, rows) in enumerate(zip(mean.T, known.T, strict=True)):
        if rows.sum() > MIN_BLOCKS:
            off = np.abs(value - np.median(value[rows]))
            limit = np.clip(FAR * 1.4826 * np.median(off[rows]), SHARE * level[j], CORE * level[j])
            joints[:, j] = rows * off / limit
    joints.sort(axis=1)
    size = np.minimum(joints[:, -1], SEVERAL * joints[:, -2:][:, 0])
    sizes = np.split(size, np.cumsum([len(m) for m in means])[:-1])
    parts = zip(residuals, seen, sizes, strict=True)
    return [_spread(len(residual), one, own, max(round(BLOCK * rate), 1)) for residual, one, own in parts]


def _spread(count: int, seen: np.ndarray, size: np.ndarray, block: int) -> np.ndarray:
    """(count,) bool of a motion from its blocks (m,): in a long standstill contact lasts until one shows its end."""
    last = np.maximum.accumulate(np.where(seen.any(axis=1), np.arange(len(size)), 0))
    rows = np.repeat(binary_dilation(size[last] > 1.0), block)
    return np.concatenate([rows, np.zeros(count - len(rows), bool)])


def in_blocks(x: np.ndarray, rate: float) -> np.ndarray:
    """Samples x (N, n) in whole blocks of BLOCK seconds (m, k, n)."""
    k = max(round(BLOCK * rate), 1)
    return x[: len(x) // k * k].reshape(-1, k, x.shape[1])
