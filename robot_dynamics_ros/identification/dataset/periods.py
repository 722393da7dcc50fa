"""Periods of a motion: a recording that repeats itself does not show how a model predicts other motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from robot_dynamics_ros.estimators.wrench_metrics import runs
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording

SHORTEST = 1.0  # s; nothing that excites a robot repeats faster
ENOUGH = 0.01  # s between the samples that are compared: between them they are interpolated
ALIKE = 0.02  # rms difference of two periods over the motion's deviation; tracking repeats to 1e-3 of it or better
REPEATED = 0.8  # share of a recording in whole periods from which on its last part is a repeat of its first


@dataclass(frozen=True)
class Periods:
    """Periodic stretch of a piece: first time [s], period [s], number of whole periods."""

    start: float
    period: float
    count: int


def find_periods(piece: Piece, period: float | None = None) -> Periods | None:
    """The longest run of whole periods of the commanded positions, of the measured ones where none were recorded.

    period [s]: where it is known; found by itself in a piece most of which repeats.
    """
    q_d = piece.extra.get("q_d")
    q = piece.q if q_d is None or not np.isfinite(q_d).all() else q_d
    dt, every = piece.period, max(1, int(ENOUGH / piece.period))
    grid = np.arange(piece.t[0], piece.t[-1] + 0.5 * dt, dt)
    x = CubicSpline(piece.t, q)(grid) if len(grid) != len(q) or np.ptp(np.diff(piece.t)) > 1e-3 * dt else q
    grid, x, dt = grid[::every], x[::every], every * dt
    spread = x.std(0)
    moving = spread > 0.02
    if not moving.any():
        return None
    x = (x[:, moving] - x[:, moving].mean(0)) / spread[moving]
    for lag in _candidates(x, round(SHORTEST / dt)) if period is None else [period / dt]:
        run = _longest_alike(x, lag)
        if run is not None:
            period = _refined(x[run[0] : run[1]], lag)
            count = int((run[1] - run[0]) / period + 0.02)
            return Periods(float(grid[run[0]]), period * dt, count) if count >= 2 else None
    return None


def _candidates(x: np.ndarray, shortest: int) -> list[float]:
    """Lags [samples, with fractions] at which the motion resembles itself, shortest first: local minima of the mean
    squared difference.
    """
    d = difference(x)
    inner = np.arange(max(shortest, 1), len(d) - 1)
    low = inner[(d[inner] <= d[inner - 1]) & (d[inner] < d[inner + 1])]
    low = low[d[low] < 1.0]  # 2 is what two unrelated stretches have
    return [float(k + _vertex(d[k - 1 : k + 2])) for k in low]


def _vertex(d: np.ndarray) -> float:
    """Place of the smallest value of a parabola through three values at -1, 0, 1."""
    bend = d[0] - 2 * d[1] + d[2]
    return float(0.5 * (d[0] - d[2]) / bend) if bend > 0 else 0.0


def difference(x: np.ndarray) -> np.ndarray:
    """Mean squared difference d(lag) of x (N, n) with itself, lags 0..N/2, mean over samples and columns; by FFT."""
    N = len(x)
    size = 2 ** int(np.ceil(np.log2(2 * N)))
    F = np.fft.rfft(x, size, axis=0)
    product = np.fft.irfft((F * F.conj()).sum(1), size)[: N // 2 + 1]
    square = np.concatenate([[0.0], np.cumsum((x**2).sum(1))])
    lag = np.arange(N // 2 + 1)
    return (square[N - lag] + square[N] - square[lag] - 2 * product) / ((N - lag) * x.shape[1])


def _longest_alike(x: np.ndarray, lag: float) -> tuple[int, int] | None:
    """First and last sample of the longest stretch that repeats after `lag`, if it moves and has two periods."""
    size = max(int(lag) // 20, 1)
    whole, part = int(lag), lag - int(lag)
    later = (1 - part) * x[whole:-1] + part * x[whole + 1 :]
    e = ((later - x[: len(later)]) ** 2).mean(1)
    local = np.convolve(e, np.ones(size) / size, mode="same")
    first, end = max(runs(local < ALIKE**2), key=lambda part: part[1] - part[0], default=(0, 0))
    last = int(end + lag)
    moves = x[first:last].std(0).max() > 0.2  # standing still repeats at any lag
    return (first, last) if last - first >= 1.98 * lag and moves else None


def _refined(x: np.ndarray, lag: float) -> float:
    """Period in samples, a fraction of one resolved: minimum of the difference near the largest whole multiple."""
    period, k = lag, 1
    while k <= (len(x) - 0.5 * lag) // lag:
        centre = round(k * period)
        around = np.arange(centre - 2, centre + 3)
        around = around[(around > 0) & (around < len(x) - lag / 4)]
        if len(around) < 5:
            break
        d = np.array([((x[m:] - x[:-m]) ** 2).mean() for m in around])
        m = int(np.clip(np.argmin(d), 1, 3))
        period = (around[m] + _vertex(d[m - 1 : m + 2])) / k
        k *= 2
    return period


def judged_on_a_repeat(recordings: Sequence[Recording]) -> str:
    """A sentence naming recordings whose last part repeats their first; empty where none does, so that it can judge."""
    names = []
    for rec in recordings:
        longest = max(rec.pieces, key=lambda p: len(p.t))
        found = find_periods(longest)
        if found is not None and found.count * found.period > REPEATED * rec.duration:
            names.append(rec.name)
    if not names:
        return ""
    return (
        f"{', '.join(names)}: periodic, so the last part repeats the first and the figures do not show how the model "
        "predicts other motions: record a second motion (robot-dynamics excite --seed 2) for --validate"
    )
