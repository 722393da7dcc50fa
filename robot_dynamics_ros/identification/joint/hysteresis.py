"""Identification of Maxwell-slip hysteresis from slow reciprocating motion.

The operator does not depend on rate, so positions may be thinned as long as every turning point stays: the deflections
at the kept samples are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import nnls
from scipy.stats import binned_statistic

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.metrics import column_sizes, nrmse
from robot_dynamics_ros.models.hysteresis import DEFAULT_R_D, spacing
from robot_dynamics_ros.signals.runs import last_true, pieces_of

_FIT_SAMPLES = 5000
_MIN_REVERSALS = 4
POINTS = 240  # of a table over one output turn
# theta (N,) [rad], torque (N,) [Nm], backlash (1, K) [rad], elements M -> spans d (M,), stiffnesses k (M,) [Nm]
Solver = Callable[[np.ndarray, np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class HysteresisData:
    """Slow reciprocating run of one joint: theta (N,) [rad], kinematic-error-compensated; friction torque (N,) [Nm].

    backlash B [rad]: a number, a table over one turn, or None to find the scale from the data.
    """

    theta: np.ndarray
    torque: np.ndarray
    backlash: float | np.ndarray | None = None
    joint: str = "joint"

    def __post_init__(self) -> None:
        """Raises DataError for columns of different length or values that are not finite."""
        if np.shape(self.theta) != np.shape(self.torque):
            raise DataError(f"{self.joint}: theta {np.shape(self.theta)} and torque {np.shape(self.torque)} differ")
        if not (np.isfinite(self.theta).all() and np.isfinite(self.torque).all()):
            raise DataError(f"{self.joint}: theta or torque holds values that are not finite")

    def table(self, scale: float | None = None) -> np.ndarray:
        """Backlash (1, K) [rad]; `scale` stands in where none is given."""
        value = scale if self.backlash is None else self.backlash
        return np.atleast_2d(np.asarray(value, dtype=float))


@dataclass(frozen=True)
class HysteresisFit:
    """f = fc0 H(theta): spans d (M,) and stiffnesses k (M,) normalised to sum k d = 1, backlash b [rad]; NRMSE in %."""

    fc0: float
    d: np.ndarray
    k: np.ndarray
    backlash: np.ndarray
    nrmse_estimation: float
    nrmse_validation: float

    def torque(self, theta: np.ndarray) -> np.ndarray:
        """Friction (N,) [Nm] along theta (N,), from an unknown initial state."""
        return self.fc0 * (_deflections(theta, self.d, self.backlash) @ self.k)

    def updates(self) -> dict[str, object]:
        """Entries of hysteresis.parameters for this joint."""
        return {"fc0": self.fc0, "b": float(np.mean(self.backlash)), "d": self.d.tolist(), "k": self.k.tolist()}


def fit_hysteresis(
    elements: int,
    data: HysteresisData,
    *,
    estimation: slice | None = None,
    validation: slice | None = None,
    solve: Solver | None = None,
) -> HysteresisFit:
    """Spans by the polynomial spacing law (r_D = 4), stiffnesses by least squares: y = sum_i k_i d_i(theta), k >= 0.

    d_i come from the recursion. Default split: first half and second half. solve: another way to spans and
    stiffnesses. Raises DataError for runs without reversals. [Madsen2020, ch4 4.4.3-4.4.4, eq. 35-43]
    """
    if not 1 <= elements <= 16:
        raise DataError(f"elements = {elements} is outside 1..16")
    _refuse(data)
    half = len(data.theta) // 2
    fit_part, judge_part = estimation or slice(0, half), validation or slice(half, None)
    rows = _thinned(data.theta[fit_part], _FIT_SAMPLES)
    theta, y = data.theta[fit_part][rows], data.torque[fit_part][rows]
    backlash = data.table(None if data.backlash is not None else _backlash_scale(theta, y))
    d, k = (solve or _polynomial)(theta, y, backlash, elements)
    level = float(k @ d)
    fit = HysteresisFit(level, d, k / level if level > 0 else k, backlash, np.nan, np.nan)
    figures = [_score(fit, data.theta[p], data.torque[p]) for p in (fit_part, judge_part)]
    return replace(fit, nrmse_estimation=figures[0], nrmse_validation=figures[1])


def kinematic_error_and_backlash(
    theta: np.ndarray, phi: np.ndarray, settle: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Tables (POINTS,) over one output turn: kinematic error th~ = (phi+ + phi-)/2 and backlash 2 d = phi+ - phi-.

    theta, phi (N,) [rad]: rotor angle and deformation theta - q of a slow reciprocating run; phi+ and phi- are the
    medians in each angle bin while moving up and down by more than `settle` since the last reversal. Raises DataError
    when the run does not cover the turn in both directions. [Madsen2020, ch4 eq. 29-32]
    """
    sign = travel_sign(theta)
    turned = np.concatenate([[True], np.diff(sign) != 0])
    since = np.abs(theta - theta[last_true(turned)])
    bins = np.floor(np.mod(theta, 2 * np.pi) / (2 * np.pi) * POINTS + 0.5).astype(int) % POINTS
    sides = []
    for direction in (1.0, -1.0):
        use = (sign == direction) & (since >= settle)
        table = binned_statistic(bins[use], phi[use], "median", np.arange(POINTS + 1) - 0.5).statistic
        if not np.isfinite(table).mean() >= 0.75:
            raise DataError(
                f"the run covers {100 * np.isfinite(table).mean():.0f} % of a turn while moving "
                f"{'up' if direction > 0 else 'down'}: record one slow output turn with about 240 reversals (reversals)"
            )
        sides.append(_filled(table))
    return (sides[0] + sides[1]) / 2, sides[0] - sides[1]


def at_angle(table: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """A table (points,) over one turn at angles theta (N,) [rad]: linear in between, again after 2 pi."""
    angle = np.arange(len(table)) * 2 * np.pi / len(table)
    return np.interp(np.mod(theta, 2 * np.pi), angle, table, period=2 * np.pi)


def _refuse(data: HysteresisData) -> None:
    turns = int(np.sum(np.diff(travel_sign(data.theta)) != 0))
    if turns < 2 * _MIN_REVERSALS:
        raise DataError(
            f"{data.joint}: {turns} velocity reversals, hysteresis shows at reversals only: "
            f"record a slow reciprocating motion (reversals), at least {2 * _MIN_REVERSALS}"
        )


def travel_sign(theta: np.ndarray) -> np.ndarray:
    """Direction of travel (N,) -1 or 1 along theta (N,); standing still keeps the last direction."""
    step = np.sign(np.diff(theta, prepend=theta[:1]))
    held = step[last_true(step != 0)]
    first = step[step != 0][0] if np.any(step) else 1.0
    return np.where(held == 0, first, held)


def _thinned(theta: np.ndarray, most: int) -> np.ndarray:
    """Rows to keep: every turning point and an even selection, about `most`."""
    turning = np.flatnonzero(np.diff(travel_sign(theta)) != 0)
    even = np.linspace(0, len(theta) - 1, min(most, len(theta))).astype(int)
    return np.unique(np.concatenate([even, turning]))


def sliding_level(theta: np.ndarray, y: np.ndarray) -> float:
    """Coulomb level [Nm]: median of |y| over the later half of each stroke; theta (N,) [rad], y (N,) [Nm]."""
    sign, late = _late(theta)
    return max(float(np.median(sign[late] * y[late])), 1e-9)


def sliding_offset(theta: np.ndarray, y: np.ndarray) -> float:
    """Mean [Nm] of the Coulomb levels of both directions, however long each lasts; theta (N,) [rad], y (N,) [Nm]."""
    sign, late = _late(theta)
    levels = [np.median(y[late][sign[late] == side]) for side in (1.0, -1.0) if (sign[late] == side).any()]
    return float(np.mean(levels))


def _late(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Direction of travel (N,), and the rows of the later half of each stroke."""
    sign = travel_sign(theta)
    return sign, np.concatenate([np.arange((a + b) // 2, b) for a, b in pieces_of(np.diff(sign, prepend=0) != 0)])


def _deflections(theta: np.ndarray, d: np.ndarray, backlash: np.ndarray) -> np.ndarray:
    """d_i / B (N, M) along theta for spans d (M,)."""
    k = np.ones(len(d)) / (len(d) * d)
    core = _core.Gms(np.ascontiguousarray(d)[None], k[None], np.ascontiguousarray(backlash), 1e12)
    return core.deflections(np.ascontiguousarray(theta, dtype=float))


def ready(theta: np.ndarray, backlash: np.ndarray, widest: float) -> int:
    """First row of theta (N,) [rad] from which the unknown initial state no longer matters: all elements have slipped.

    backlash (1, K) [rad]; condition C0 of the source.
    """
    extent = np.maximum.accumulate(theta) - np.minimum.accumulate(theta)
    ready = np.flatnonzero(extent > 2 * backlash.max() * widest)
    return int(ready[0]) if len(ready) else len(theta) // 2


def _polynomial(theta: np.ndarray, y: np.ndarray, backlash: np.ndarray, elements: int) -> tuple[np.ndarray, np.ndarray]:
    d = spacing(elements, DEFAULT_R_D)[0]
    return d, linear(theta, y, d, backlash)[0]


def linear(theta: np.ndarray, y: np.ndarray, d: np.ndarray, backlash: np.ndarray) -> tuple[np.ndarray, float]:
    """k (M,) >= 0 and the error norm for given spans d (M,): theta (N,) [rad], y (N,) [Nm], backlash (1, K) [rad]."""
    start = ready(theta, backlash, d[-1])
    A = _deflections(theta, d, backlash)[start:]
    scale = column_sizes(A)
    k, error = nnls(A / scale, y[start:])
    return k / scale, float(error)


def _backlash_scale(theta: np.ndarray, y: np.ndarray) -> float:
    """B [rad] for which elements of the spans of the law fit best: a logarithmic grid, refined once."""
    d = spacing(4, DEFAULT_R_D)[0]

    def error(B: float) -> float:
        table = np.array([[B]])
        return linear(theta, y, d, table)[1] / np.sqrt(len(theta) - ready(theta, table, 1.0))

    coarse = np.geomspace(1e-5, 0.3, 31)
    best = coarse[int(np.argmin([error(B) for B in coarse]))]
    fine = best * np.geomspace(0.75, 1.33, 21)
    return float(fine[int(np.argmin([error(B) for B in fine]))])


def _score(fit: HysteresisFit, theta: np.ndarray, y: np.ndarray) -> float:
    start = ready(theta, fit.backlash, fit.d[-1])
    return nrmse(y[start:], fit.torque(theta)[start:])


def _filled(table: np.ndarray) -> np.ndarray:
    """Missing entries by periodic linear interpolation."""
    known = np.flatnonzero(np.isfinite(table))
    return np.interp(np.arange(len(table)), known, table[known], period=len(table))
