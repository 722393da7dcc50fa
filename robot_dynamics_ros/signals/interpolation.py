"""Columns of a signal at other instants."""

from __future__ import annotations

import numpy as np


def interpolated(at: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Columns of x (N, k) given at rising t (N,), on straight lines, at `at` (M,): (M, k); constant beyond the ends."""
    return np.column_stack([np.interp(at, t, column) for column in x.T])
