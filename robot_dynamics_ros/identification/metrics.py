"""Figures of merit: one signal against its estimate, and measured effort against a model's, joint by joint."""

from __future__ import annotations

import numpy as np

NORMAL = 1.4826  # standard deviation of a normal distribution over the median of its magnitudes


def rms(error: np.ndarray) -> float:
    """Root mean square of an error (N,); NaN for none."""
    return float(np.sqrt(np.mean(np.square(error)))) if len(error) else float("nan")


def robust_std(error: np.ndarray) -> float:
    """Standard deviation of a normal error (N,) by the median of its magnitudes, which outliers do not move."""
    return NORMAL * float(np.median(np.abs(error)))


def nrmse(y: np.ndarray, estimate: np.ndarray) -> float:
    """100 (1 - |y - yh| / |y - mean y|) [%] of y and its estimate yh (N,); 100 is perfect. [Madsen2020, ch4 eq. 9]"""
    spread = float(np.linalg.norm(y - np.mean(y))) if len(y) else 0.0
    return 100.0 * (1.0 - float(np.linalg.norm(y - estimate)) / spread) if spread > 0 else float("nan")


def per_independent(r: np.ndarray) -> float:
    """Samples per independent one of residuals r (N,) in order of time: (1 + rho) / (1 - rho), rho of neighbours."""
    rho = float(np.clip(r[1:] @ r[:-1] / max(r @ r, 1e-300), 0.0, 0.99))
    return (1 + rho) / (1 - rho)


def jackknife_std(others: np.ndarray) -> np.ndarray:
    """Standard deviation (...) of an estimate from those (k, ...) that leave out one of k parts each."""
    return np.sqrt((len(others) - 1) * others.var(axis=0))


def column_sizes(A: np.ndarray) -> np.ndarray:
    """Norms (k,) of the columns of A (N, k) that make them comparable; 1 of a column of zeros."""
    size = np.linalg.norm(A, axis=0)
    return np.where(size == 0, 1.0, size)


def covariance(J: np.ndarray) -> np.ndarray:
    """Covariance (k, k) of least squares with Jacobian J (N, k) and rows of unit variance; 0 where J shows nothing."""
    size = column_sizes(J)
    return np.linalg.pinv((J / size).T @ (J / size), hermitian=True) / np.outer(size, size)


def regression(A: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float, float]:
    """x (k,) of y = A x by least squares, variance of residuals as if they were independent in time, their squares'
    sum; A (N, k), y (N,).
    """
    x = np.linalg.lstsq(A, y, rcond=1e-10)[0]
    r = y - A @ x
    return x, (r @ r) / max(len(y) - A.shape[1], 1) * per_independent(r), float(r @ r)


def metrics(y: np.ndarray, p: np.ndarray) -> dict[str, np.ndarray]:
    """RMSE, NRMSE %, R2, correlation, largest and mean error of p (N, n) against y (N, n), deviation of y, each (n,).

    R2 = 1 - |y-p|^2 / |y - mean y|^2; NRMSE% = 100 (1 - |y-p| / |y - mean y|) [Madsen2020 ch4]. A y that is NaN is not
    judged. NaN where there are fewer than two samples or the effort is constant.
    """
    known = np.isfinite(y)
    count = known.sum(axis=0)
    size = np.where(count >= 2, count, np.nan)
    e, y, p = (np.where(known, x, 0.0) for x in (y - p, y, p))
    mean = e.sum(axis=0) / size
    y, p = (np.where(known, x - x.sum(axis=0) / np.maximum(count, 1), 0.0) for x in (y, p))
    rest, spread, own, both = (np.einsum("ij,ij->j", a, b) for a, b in ((e, e), (y, y), (p, p), (y, p)))
    spread = np.where(spread > 1e-12 * size, spread, np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "rmse": np.sqrt(rest / size),
            "nrmse": 100 * (1 - np.sqrt(rest / spread)),
            "r2": 1 - rest / spread,
            "correlation": both / np.sqrt(spread * own),
            "max": np.abs(e).max(axis=0, initial=0.0) + 0.0 * size,
            "mean": mean,
            "deviation": np.sqrt(spread / size),
        }


def split_metrics(y: np.ndarray, p: np.ndarray, moving: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
    """`metrics` of efforts y and predictions p (N, n) where each joint moves (`moving` (N, n) bool) and rests."""
    result: dict[str, dict[str, np.ndarray]] = {}
    for name, mask in (("moving", moving), ("at_rest", ~moving)):
        parts = [metrics(y[mask[:, j], j : j + 1], p[mask[:, j], j : j + 1]) for j in range(y.shape[1])]
        result[name] = {k: np.concatenate([part[k] for part in parts]) for k in parts[0]}
        result[name]["samples"] = (mask & np.isfinite(y)).sum(0)
    return result


def mean_r2(values: np.ndarray) -> float:
    """Mean of R2 `values` (n,) over joints whose effort varies; NaN without any."""
    return float(np.nanmean(values)) if np.isfinite(values).any() else float("nan")
