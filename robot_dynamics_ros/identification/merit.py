"""Figures of merit shared by the joint fits: RMS, the papers' NRMSE, information criteria."""

from __future__ import annotations

import numpy as np


def rms(error: np.ndarray) -> float:
    """Root mean square of an error (N,); NaN for none."""
    return float(np.sqrt(np.mean(np.square(error)))) if len(error) else float("nan")


def nrmse(y: np.ndarray, estimate: np.ndarray) -> float:
    """100 (1 - |y - yh| / |y - mean y|) [%], 100 is a perfect fit. [Madsen2020, ch4 eq. 9]"""
    spread = float(np.linalg.norm(y - np.mean(y))) if len(y) else 0.0
    return 100.0 * (1.0 - float(np.linalg.norm(y - estimate)) / spread) if spread > 0 else float("nan")


def information_criteria(error: np.ndarray, parameters: int) -> tuple[float, float]:
    """AIC = N ln(RSS/N) + 2 k and BIC = N ln(RSS/N) + k ln N for k parameters; lower is better."""
    N = max(len(error), 1)
    fit = N * float(np.log(max(float(error @ error) / N, 1e-300)))
    return fit + 2.0 * parameters, fit + parameters * float(np.log(N))
