"""Criteria of a motion as functions f(G) of the Gram matrix G = W'W / N of its base regressor W (n N, b); S = df/dG.

  condition  log cond(W) = (log l_max - log l_min) / 2 of the eigenvalues l of G; S = (v v'/l)_max/2 - (v v'/l)_min/2
  logdet     -log det(G) / b [Luo2024 20];                                        S = -inv(G) / b
  hadamard   -sum log G_kk / b, a lower bound of logdet [Luo2024 20];             S = -diag(1 / G_kk) / b
From df = tr(S dG) the slopes by W are 2/N W S, and those by the motion the reverse mode of the regressor with them.

The condition number has no slope where the largest or the smallest eigenvalue is repeated, and a search that follows
it halts there. Smooth extremes, log(sum l^r)/r and -log(sum l^-r)/r, count every eigenvalue near the extreme one and
have slopes wherever the eigenvalues lie.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import linalg

SHARPNESS = 20.0  # r: at most log(b)/r, for 36 parameters 0.18, above log cond
MIN_EIGENVALUE = 1e-13  # of the largest eigenvalue: what rounding leaves of a rank-deficient G

Criterion = Callable[[np.ndarray], tuple[float, np.ndarray]]


def soft_max(e: np.ndarray, sharpness: float) -> tuple[float, np.ndarray]:
    """m = log(sum exp(r e)) / r >= max e, at most log(size) / r above it, and dm/de (same shape, sums to 1)."""
    top = float(e.max())
    p = np.exp(sharpness * (e - top))
    total = float(p.sum())
    return top + np.log(total) / sharpness, p / total


def condition(G: np.ndarray, sharpness: float = SHARPNESS) -> tuple[float, np.ndarray]:
    """Smooth log cond(W) of G = W'W / N (b, b), and S (b, b)."""
    values, V = _eigen(G)
    logs = np.log(values)
    (high, p), (low, r) = soft_max(logs, sharpness), soft_max(-logs, sharpness)
    return 0.5 * (high + low), (V * (0.5 * (p - r) / values)) @ V.T


def sharp_condition(G: np.ndarray) -> tuple[float, np.ndarray]:
    """log cond(W) itself and one of its slopes: where an extreme eigenvalue is repeated, that of one eigenvector."""
    values, V = _eigen(G)
    first, last = V[:, :1], V[:, -1:]
    return 0.5 * float(np.log(values[-1] / values[0])), 0.5 * (last @ last.T / values[-1] - first @ first.T / values[0])


def logdet(G: np.ndarray) -> tuple[float, np.ndarray]:
    """-log det(G) / b and S (b, b)."""
    b = len(G)
    try:
        L = linalg.cholesky(G, lower=True)
    except linalg.LinAlgError:  # without rank: towards where the smallest eigenvalues grow
        values, V = _eigen(G)
        return float(-np.log(values).mean()), (V * (-1 / b / values)) @ V.T
    return float(-2 / b * np.log(np.diag(L)).sum()), linalg.cho_solve((L, True), np.eye(b)) * (-1 / b)


def hadamard(G: np.ndarray) -> tuple[float, np.ndarray]:
    """-sum log G_kk / b and S (b, b)."""
    squares, b = np.maximum(np.diag(G), 1e-24), len(G)
    return float(-np.log(squares).sum() / b), np.diag(-1 / (b * squares))


def _eigen(G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    values, V = np.linalg.eigh(G)
    return np.maximum(values, MIN_EIGENVALUE * values[-1]), V


CRITERIA: dict[str, Criterion] = {
    "condition": condition,
    # moves many eigenvalues at each end: faster far from the optimum
    "blunt_condition": partial(condition, sharpness=5.0),
    "sharp_condition": sharp_condition,
    "logdet": logdet,
    "hadamard": hadamard,
}
