"""Trend and change points of one quantity over recordings, and the verdict by the live alarms' thresholds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import theilslopes

from robot_dynamics_ros.estimators.stiffness import StiffnessStage
from robot_dynamics_ros.identification.metrics import robust_std
from robot_dynamics_ros.parameters import resolve
from robot_dynamics_ros.verdict import changed

MONTH = 30 * 86400.0  # s
LEAST_SPAN = 2 * 86400.0  # s between the first and the last recording: within a day it is warmth, not wear
SEGMENT = 3  # recordings between two change points
PENALTY = 4.0  # times log N: cost of a change point in variances; 3 is BIC for level and place
CONFIDENCE = 0.99
SCATTER = 4  # recordings from which on their scatter is known
NOTABLE = 1 / 3  # of the warning threshold: a smaller step or drift is not reported even when it is significant


STIFFNESS = resolve(StiffnessStage.parameters)
CHANGED = (0.3, 0.6, 0)
# quantity -> warn, error: share of change (of stiffness that of the live stage); sign: +-1, 0 both directions
THRESHOLDS: dict[str, tuple[float, float, int]] = {
    "coulomb": CHANGED,
    "stiffness": (STIFFNESS["wear_warn"], STIFFNESS["wear_error"], -1),
    "thermal_time": CHANGED,
    "thermal_resistance": CHANGED,
}


@dataclass(frozen=True)
class Trend:
    """values (N,) over time (N,) [s]; slope per month with its interval; changes: first recording after each change;
    old: median of the oldest; change: newest against oldest, as a share of it; level: ok, warn, error or unknown.
    """

    values: np.ndarray
    time: np.ndarray
    slope: float = float("nan")
    interval: tuple[float, float] = (float("nan"), float("nan"))
    changes: list[int] = field(default_factory=list)
    change: float = float("nan")
    level: str = "unknown"
    notable: bool = True
    old: float = float("nan")

    @property
    def pattern(self) -> str:
        """How the quantity changed: "step" (at `changes`), "drift" (a significant slope), or "none"."""
        return "step" if self.changes else "drift" if self.significant else "none"

    @property
    def significant(self) -> bool:
        """The interval of the slope excludes zero, and the drift over all recordings is notable."""
        return bool(self.notable and (self.interval[0] > 0 or self.interval[1] < 0))


def change_points(y: np.ndarray) -> list[int]:
    """Indices where the mean of y (N,) changes: least squares over all segmentations plus PENALTY log N per change.

    Noise from the median absolute difference of neighbours, so that a step does not hide itself.
    """
    N = len(y)
    if N < 2 * SEGMENT:
        return []
    sigma = _noise(y)
    one, two = np.concatenate([[0], np.cumsum(y)]), np.concatenate([[0], np.cumsum(y**2)])
    best, last = np.full(N + 1, np.inf), np.zeros(N + 1, dtype=int)
    best[0] = -PENALTY * np.log(N)
    for end in range(SEGMENT, N + 1):
        starts = np.array([s for s in range(end - SEGMENT + 1) if s == 0 or s >= SEGMENT])
        cost = (two[end] - two[starts] - (one[end] - one[starts]) ** 2 / (end - starts)) / sigma**2
        total = best[starts] + cost + PENALTY * np.log(N)
        best[end], last[end] = total.min(), starts[int(np.argmin(total))]
    found, end = [], N
    while last[end] > 0:
        end = int(last[end])
        found.append(end)
    return found[::-1]


def _line_fits_better(y: np.ndarray, t: np.ndarray, changes: list[int]) -> bool:
    """True where a straight line over time explains y (N,) at a lower cost than steps at `changes`.

    Cost: squared residuals in variances plus PENALTY log N for the slope, or for each change point.
    """
    if not changes:
        return False
    sigma = _noise(y)
    line = y - np.polyval(np.polyfit(t - t[0], y, 1), t - t[0])
    parts = np.concatenate([part - part.mean() for part in np.split(y, changes)])
    more = PENALTY * np.log(len(y)) * (len(changes) - 1)
    return bool(line @ line / sigma**2 < parts @ parts / sigma**2 + more)


def _noise(y: np.ndarray) -> float:
    """Standard deviation of one recording, from the median absolute difference of neighbours, above rounding."""
    return max(robust_std(np.diff(y)) / np.sqrt(2), 1e-9 * max(float(np.abs(y).max()), 1e-300))


def trend_of(values: np.ndarray, time: np.ndarray, quantity: str, std: np.ndarray | float = 0.0) -> Trend:
    """Trend of the finite values (N,) over time (N,) [s]; `unknown` with fewer than two recordings or LEAST_SPAN.

    std: deviation of each value, where it is known. A quantity without a threshold stays ok.
    """
    known = np.isfinite(values)
    y, t = values[known], time[known]
    if len(y) < 2 or np.ptp(t) < LEAST_SPAN:
        return Trend(values, time)
    few = min(SEGMENT, len(y) // 2)
    old, new = float(np.median(y[:few])), float(np.median(y[-few:]))
    change = (new - old) / max(abs(old), 1e-12)
    slope = low = high = float("nan")
    if len(y) >= 2 * SEGMENT:  # n values in chance order are monotonic, which excludes zero, in 2 of n! cases
        slope, _, low, high = (float(x) for x in theilslopes(y, t / MONTH, CONFIDENCE))
    places = np.flatnonzero(known)
    steps = change_points(y)
    least = NOTABLE * THRESHOLDS[quantity][0] * max(abs(float(np.median(y))), 1e-12) if quantity in THRESHOLDS else 0.0
    changes = [] if _line_fits_better(y, t, steps) else [int(places[k]) for k in _notable(y, steps, least)]
    single = max(_noise(y) if len(y) >= SCATTER else 0.0, float(np.median(np.broadcast_to(std, known.shape)[known])))
    clear = changed(new - old, single * np.sqrt(2 / few), old, 0.0)
    notable = bool(abs(slope) * np.ptp(t) / MONTH >= least)
    level = level_of(change if clear else 0.0, quantity)
    return Trend(values, time, slope, (low, high), changes, change, level, notable, old)


def _notable(y: np.ndarray, changes: list[int], least: float) -> list[int]:
    """Change points with a step of at least `least` between the medians on both sides."""
    steps = np.diff([np.median(part) for part in np.split(y, changes)])
    return [k for k, step in zip(changes, steps, strict=True) if abs(step) >= least]


def level_of(change: float, quantity: str) -> str:
    """ok, warn or error for a change as a share; quantities without threshold are ok."""
    if quantity not in THRESHOLDS:
        return "ok"
    warn, error, sign = THRESHOLDS[quantity]
    size = abs(change) if sign == 0 else sign * change
    return "error" if size > error else "warn" if size > warn else "ok"
