"""Filtered motion of recordings: the state without phase, beside the effort as it was recorded.

The measured effort is not filtered or interpolated, but behind an anti-alias filter where samples are left out: models
are judged against what was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import signal

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.signals.runs import pieces_of
from robot_dynamics_ros.signals.speeds import MOVING

LOWER_RATE = 200.0  # Hz kept for identification; robot dynamics and friction reversals lie well below a tenth of it
LOWEST_RATE, ENOUGH = 100.0, 60_000  # Hz kept at least of recordings that still have so many samples then
ALIKE = 1.001  # ratio of two rates that clocks and rounding make of one
MIN_FITTED = 12  # samples
MAX_SLOW_SAMPLES = 20_000  # of a motion that shows gravity
TOGETHER = 250_000  # values that are filtered in one call
ROTOR_TIME = 600.0  # s; so long that the deflection of the gear does not enter during a stand
# Hz, of the acceleration. Ripple of the drives and friction that no law has shake the arm by torque that the effort
# does not show: with accelerations of up to 30 Hz the inertia of slow simulated arms came out 10 to 30 % too small.
# What a lower band leaves out hardly correlates with what it keeps.
RIGID_BAND = 8.0
MAX_EDGE = 1.0  # s; slow filters settle from padding that continues the motion
# Periods of the cut-off dropped at both ends of a piece that parameters are fitted to: there the order 4 zero-phase
# filter has settled to 0.3 % of the acceleration (its slowest pole decays by e in 0.42 periods).
EDGE_PERIODS = 1.5
JUDGED_PERIODS = 0.5  # the same for figures: to 3 % of the acceleration
# Beyond its ends a piece goes on as a cubic, fitted over FITTED periods of the cut-off; its even part ends after
# CONTINUED periods, and what is left is the reflection of the piece.
FITTED, CONTINUED = 2.0, 1.5


@dataclass
class Motion:
    """Filtered state at the instants of the measured effort, all (N, n), pieces stacked; `start` marks their
    beginnings, t (N,) [s] counts from the first sample of the recording. `measured` are the positions that drive
    hysteretic friction: the rotor's where recorded, not filtered. `rotor`: the rotor's from the reported velocity
    (`rotor_position`); None: there is none, or it was recorded. `weight`: inverse variances of the effort relative to
    its joint's median one; None: all alike.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    effort: np.ndarray
    start: np.ndarray
    rate: float
    measured: np.ndarray | None = None
    weight: np.ndarray | None = None
    rotor: np.ndarray | None = None

    @property
    def position(self) -> np.ndarray:
        """Measured positions (N, n) [rad], the filtered ones where there are none."""
        return self.q if self.measured is None else self.measured

    @property
    def weights(self) -> np.ndarray:
        """Weights (N, n) of the samples, 1 where none are given."""
        return np.ones_like(self.q) if self.weight is None else self.weight

    def __len__(self) -> int:
        return len(self.t)

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[1]

    @property
    def moving(self) -> np.ndarray:
        """(N, n) bool: |qd| > MOVING."""
        return np.abs(self.qd) > MOVING

    def block(self, first: int, last: int) -> Motion:
        """Samples first..last-1 as views; nothing is copied and no new start is marked."""
        return self._of(slice(first, last))

    def take(self, rows: np.ndarray) -> Motion:
        """Samples by mask or index in rising order; a hole marks a new start."""
        index = np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows)
        hole = np.concatenate([[True], np.diff(index) != 1])
        part = self._of(index)
        return replace(part, start=hole[: len(index)] | part.start)

    def every(self, k: int) -> Motion:
        """Every k-th sample; the pieces stay the same."""
        rows = np.arange(0, len(self), k)
        return replace(self._of(rows), start=np.diff(np.cumsum(self.start)[rows], prepend=0) > 0, rate=self.rate / k)

    def _of(self, rows: slice | np.ndarray) -> Motion:
        """Some of the samples, with their marks of a start."""
        signals: dict[str, Any] = {k: x[rows] for k, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **signals)


def filtered(rec: Recording, cutoff: float, delay: float = 0.0, margin: float | None = None) -> Motion:
    """Zero-phase Butterworth order 4 at `cutoff` [Hz], then central differences [Madsen2020 ch5 4.1]; the acceleration
    at no more than RIGID_BAND.

    delay [s] > 0: the effort is that much later than the state it belongs to. Samples within EDGE_PERIODS of a piece's
    ends are dropped; `margin` [Hz] drops those of another cut-off instead, so that several cut-offs can be compared on
    the same samples.
    Raises DataError where no piece outlasts the filter's edges.
    """
    parts = [_filtered_piece(p, cutoff, delay, margin or cutoff) for p in rec.pieces]
    parts = [p for p in parts if len(p[0]) > 20]
    if not parts:
        raise DataError(f"{rec.name}: no piece is longer than the edges of a {cutoff:.3g} Hz filter")
    start = np.concatenate([np.arange(len(p[0])) == 0 for p in parts])
    t, q, qd, qdd, effort, measured = (_joined([p[k] for p in parts]) for k in range(6))
    rotor = None if any(p[6] is None for p in parts) else _joined([p[6] for p in parts])
    return Motion(t, q, qd, qdd, effort, start, rec.rate, measured, rotor=rotor)


def slow_motion(rec: Recording) -> Motion:
    """State of a recording behind a filter that keeps gravity and removes noise; every k-th sample of a long one, far
    above that filter's band.
    """
    motion = filtered(rec, min(5.0, 0.2 * rec.rate))
    k = min(len(motion) // MAX_SLOW_SAMPLES, int(rec.rate / 25))
    return motion if k < 2 else motion.every(k)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """Parts one after the other; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def on_grid(p: Piece) -> Piece:
    """Positions and reported velocity of a piece at instants one period apart, where a filter may take them; the piece
    itself where no sample is missing.
    """
    dt = p.period
    grid = np.arange(p.t[0], p.t[-1] + 0.5 * dt, dt)
    if len(grid) == len(p.t) and np.abs(grid - p.t).max() < 1e-3 * dt:
        return p
    qd = None if p.qd is None else interpolated(grid, p.t, p.qd)
    return replace(p, t=grid, q=interpolated(grid, p.t, p.q), qd=qd, extra={})


def _filtered_piece(p: Piece, cutoff: float, delay: float, margin: float) -> tuple[Any, ...]:
    dt, state = p.period, on_grid(p)
    grid, even = state.t, state is p
    q = low_pass(state.q, cutoff, dt, continued=True)
    qd = np.gradient(q, dt, axis=0)
    slow = qd if cutoff <= RIGID_BAND else low_pass(qd, RIGID_BAND, dt, continued=True)
    qdd = np.gradient(slow, dt, axis=0)
    edge = max(min(EDGE_PERIODS / margin, MAX_EDGE), 4 * dt)
    first, last = np.searchsorted(p.t, p.t[0] + edge, "right"), np.searchsorted(p.t, p.t[-1] - edge)
    keep = slice(int(first), int(last))  # views, no copies
    wanted = p.t[keep] - delay
    effort, rotor = p.effort[keep], rotor_position(p)
    if even and delay == 0:
        shown = None if rotor is None else rotor[keep]
        return p.time[keep], q[keep], qd[keep], qdd[keep], effort, p.position[keep], shown
    states = (interpolated(wanted, grid, x) for x in (q, qd, qdd))
    shown = None if rotor is None else interpolated(wanted, p.t, rotor)
    return p.time[keep], *states, effort, interpolated(wanted, p.t, p.position), shown


def rotor_position(p: Piece) -> np.ndarray | None:
    """Position (N, n) [rad] of the rotors from the reported velocity, as the live nodes integrate it; None without one
    or where theta was recorded.
    """
    if p.qd is None or p.position is not p.q:
        return None
    return _core.rotor_positions(p.t, p.q, p.qd, ROTOR_TIME)


def low_pass(x: np.ndarray, cutoff: float, dt: float, order: int = 4, continued: bool = False) -> np.ndarray:
    """Zero-phase (forward and backward) Butterworth low-pass of x (N,) or (N, n) along axis 0; `cutoff` [Hz].

    Beyond its ends x is reflected, which keeps position and velocity; `continued`: the curvature too (`_continued`).
    A cut-off above 0.45 / dt leaves x unchanged.
    """
    if not cutoff < 0.45 / dt:
        return x
    if x.ndim == 2 and x.size > TOGETHER:  # column by column: scipy copies what it filters several times
        out = np.empty_like(x)
        for j, column in enumerate(x.T):
            out[:, j] = low_pass(column, cutoff, dt, order, continued)
        return out
    sos = butterworth(order, 2 * cutoff * dt)
    pad = min(len(x) - 1, int(3 / (cutoff * dt)) + 1)
    if not continued or len(x) < MIN_FITTED:
        return signal.sosfiltfilt(sos, x, axis=0, padlen=pad)
    before, after = _continued(x, pad, cutoff * dt), _continued(x[::-1], pad, cutoff * dt)
    return signal.sosfiltfilt(sos, np.concatenate([before[::-1], x, after]), axis=0, padlen=0)[pad:-pad]


@lru_cache(maxsize=256)
def butterworth(order: int, cutoff: float) -> np.ndarray:
    """Second-order sections of a Butterworth low-pass; cutoff: share of half the rate. One array for all: scipy reads
    it only.
    """
    return signal.butter(order, cutoff, output="sos")


def _continued(x: np.ndarray, count: int, periods: float) -> np.ndarray:
    """`count` samples before the first of x, the nearest one first: 2 c0 - x(t) + 2 c2 t^2 exp(-(t / CONTINUED)^2).

    c0 + c1 t + c2 t^2 + c3 t^3 is fitted to the beginning of x; periods: of the cut-off per sample.
    """
    fitted = min(max(round(FITTED / periods), MIN_FITTED), len(x))
    t = periods * np.arange(fitted)
    c = np.linalg.lstsq(np.vander(t, 4, increasing=True), x[:fitted], rcond=None)[0]
    t = (periods * np.arange(1, count + 1)).reshape(-1, *[1] * (x.ndim - 1))
    return 2 * c[0] - x[1 : count + 1] + 2 * c[2] * t**2 * np.exp(-((t / CONTINUED) ** 2))


def motion_frequency(rec: Recording) -> float:
    """Frequency [Hz] below which 99.9 % of the velocity's power lies, largest over the joints: f_dyn of
    [Madsen2020 ch5].
    """
    longest = on_grid(max(rec.pieces, key=lambda p: len(p.t)))
    dt = longest.period
    qd = np.gradient(low_pass(longest.q, min(25.0, 0.3 / dt), dt), dt, axis=0)
    f, power = signal.welch(qd, 1 / dt, nperseg=min(len(qd), int(20 / dt)), axis=0)
    total = np.cumsum(power, axis=0)
    strong = total[-1] > 1e-6 * total[-1].max()
    share = total[:, strong] / total[-1, strong]
    return float(max(f[np.argmax(share > 0.999, axis=0)].max(initial=0.0), 2 * f[1]))  # 0: a piece that stands


def kept_rate(samples: int, rate: float) -> float:
    """Rate [Hz] kept of so many samples at `rate` [Hz]: LOWER_RATE, less where ENOUGH are left, down to LOWEST_RATE."""
    return min(max(rate * ENOUGH / max(samples, 1), LOWEST_RATE), LOWER_RATE)


def step_of(rate: float, lower: float) -> int:
    """k of every k-th sample that a lower rate keeps of a rate, both [Hz]; at least 1."""
    return max(int(ALIKE * rate / lower), 1)


def at_lower_rate(motion: Motion, rate: float = LOWER_RATE) -> Motion:
    """Every k-th sample above a rate [Hz], the effort behind an anti-alias filter: parallel filter and decimation.

    The state is already far below the new band, so that only the effort needs the filter [Madsen2020 ch5 4.2].
    """
    k = step_of(motion.rate, rate)
    if k < 2:
        return motion
    parts = []
    for a, b in pieces_of(motion.start):
        effort = low_pass(motion.effort[a:b], 0.4 * motion.rate / k, 1 / motion.rate)
        parts.append((np.arange(a, b)[::k], effort[::k]))
    rows = np.concatenate([p[0] for p in parts])
    start = np.concatenate([np.arange(len(p[0])) == 0 for p in parts])
    effort = np.concatenate([p[1] for p in parts])
    return replace(motion.take(rows), effort=effort, start=start, rate=motion.rate / k)


def stack(motions: Sequence[Motion]) -> Motion:
    """Several recordings as one motion, its rate the samples over their time; each beginning is marked. A single one is
    not copied.
    """
    if len(motions) == 1:
        return motions[0]
    rate = sum(map(len, motions)) / sum(len(m) / m.rate for m in motions)
    names = ("t", "q", "qd", "qdd", "effort", "start", "position")
    t, q, qd, qdd, effort, start, position = (np.concatenate([getattr(m, k) for m in motions]) for k in names)
    given = any(m.weight is not None for m in motions)
    weight, rotor = np.concatenate([m.weights for m in motions]) if given else None, None
    if all(m.rotor is not None for m in motions):
        rotor = np.concatenate([m.rotor for m in motions if m.rotor is not None])
    return Motion(t, q, qd, qdd, effort, start, rate, position, weight, rotor)
