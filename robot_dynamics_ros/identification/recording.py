"""A log made fit for identification: spikes removed, clock made regular, cut at gaps, state filtered without phase.

The measured effort is never filtered or interpolated here: models are judged against what was recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import signal

from robot_dynamics_ros.bags import segments
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.types import Log

MIN_SEGMENT = 1.0  # s; shorter pieces between gaps are not worth their filter edges
MIN_SAMPLES = 200
LOWER_RATE = 200.0  # Hz kept for identification; robot dynamics and friction reversals lie well below a tenth of it
MOVING = 0.01  # rad/s, a joint faster than this moves; the split of every table of the report
MAX_EDGE = 1.0  # s; slow filters settle from padding that continues the motion
EDGE_PERIODS = 6.0  # periods of the cut-off dropped at both ends of a piece: settling of the order 4 zero-phase filter


@dataclass
class Piece:
    """A stretch without gaps: regular times t (N,) [s], q, qd, effort (N, n), what else was recorded by name."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray | None
    effort: np.ndarray
    extra: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def period(self) -> float:
        """Time between samples [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def position(self) -> np.ndarray:
        """What drives friction with memory (N, n) [rad]: the rotor's position where it was recorded, else q."""
        theta = self.extra.get("theta")
        return self.q if theta is None or not np.isfinite(theta).all() else theta


@dataclass
class Recording:
    """One bag or several parts of one: pieces between gaps, joint names, rate [Hz], and what was repaired."""

    name: str
    joint_names: tuple[str, ...]
    pieces: list[Piece]
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    start_ns: int = 0  # stamp of the first sample

    @property
    def rate(self) -> float:
        """Samples per second, the median of the pieces."""
        return 1.0 / float(np.median([p.period for p in self.pieces]))

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @property
    def samples(self) -> int:
        """Samples of all pieces."""
        return sum(len(p.t) for p in self.pieces)

    @property
    def duration(self) -> float:
        """Length of all pieces [s]."""
        return sum(float(p.t[-1] - p.t[0]) for p in self.pieces)

    def stacked(self, name: str) -> np.ndarray:
        """A signal over all pieces (N, n)."""
        return np.concatenate([getattr(p, name) if hasattr(p, name) else p.extra[name] for p in self.pieces])

    def with_effort(self, change: Any) -> Recording:
        """A copy whose effort is change(effort)."""
        return replace(self, pieces=[replace(p, effort=change(p.effort)) for p in self.pieces])


def recording(log: Log, name: str) -> Recording:
    """Recording of a loaded log. Raises DataError when nothing usable is left."""
    counts: dict[str, int] = {}
    notes: list[str] = []
    log = _without_spikes(_without_frozen(log, counts), counts)
    pieces = []
    for part in segments(log, _gap(log)):
        if len(part) < MIN_SAMPLES // 4 or part.time[-1] < MIN_SEGMENT:
            counts["in pieces shorter than 1 s"] = counts.get("in pieces shorter than 1 s", 0) + len(part)
            continue
        pieces.append(_piece(part, notes))
    if sum(len(p.t) for p in pieces) < MIN_SAMPLES:
        raise DataError(
            f"{name}: fewer than {MIN_SAMPLES} usable samples; record at least 20 s of motion of every joint"
        )
    if len(pieces) > 1:
        notes.append(f"{len(pieces) - 1} gaps: identified on the {len(pieces)} pieces between them")
    return Recording(name, log.joint_names, pieces, counts, notes, int(log.stamp_ns[0]))


def _gap(log: Log) -> float:
    step = np.diff(log.stamp_ns) * 1e-9
    return max(10 * float(np.median(step[step > 0])), 0.05) if (step > 0).any() else 0.05


def _without_frozen(log: Log, counts: dict[str, int]) -> Log:
    """Rows that repeat the row before in every number while the robot moves: written twice, or a stuck reader."""
    q, tau = log.q, log.effort
    same = np.concatenate([[False], ((np.diff(q, axis=0) == 0) & (np.diff(tau, axis=0) == 0)).all(1)])
    moving = np.abs(np.gradient(q, axis=0)).max(1) > 1e-6
    drop = same & moving
    if drop.any():
        counts["repeated rows"] = int(drop.sum())
    return log[~drop] if drop.any() else log


def _without_spikes(log: Log, counts: dict[str, int]) -> Log:
    """Rows whose position or effort jumps away and back: more than 8 robust deviations off the median of 5 rows."""
    bad = np.zeros(len(log), bool)
    for values, floor in ((log.q, 0.02), (log.effort, None)):
        off = np.abs(values - signal.medfilt(values, (5, 1)))
        scale = np.quantile(off, 0.99, axis=0) * 4 if len(off) else 0.0
        span = np.ptp(np.quantile(values, [0.01, 0.99], axis=0), axis=0)
        limit = np.maximum(scale, span) if floor is None else np.maximum(np.maximum(scale, floor), 0.05 * span)
        bad |= (off > np.maximum(limit, 1e-9)).any(1)
    if bad.any():
        counts["isolated spikes"] = int(bad.sum())
    return log[~bad] if bad.any() else log


def _piece(part: Log, notes: list[str]) -> Piece:
    t = regular(part.time, notes)
    extra = {k: v for k, v in part.signals.items() if k not in ("q", "qd", "effort")}
    return Piece(t, part.q, part.get("qd"), part.effort, extra)


def regular(t: np.ndarray, notes: list[str]) -> np.ndarray:
    """Times without jitter [s].

    Clean stamps, with or without missing samples, stay; jittering stamps of a complete log become a straight line.
    Receive stamps jitter by milliseconds while the controller samples evenly; acceleration needs the latter.
    """
    step = np.diff(t)
    period = float(np.median(step))
    multiples = step / period
    clean = np.abs(multiples - np.round(multiples)) < 0.03
    if clean.mean() > 0.9 and (multiples > 0.9).mean() > 0.9:
        return t
    line = np.polynomial.Polynomial.fit(np.arange(len(t)), t, 1)(np.arange(len(t)))
    mean = float(line[-1] - line[0]) / (len(t) - 1)
    if np.abs(line - t).max() < max(3.0 * period, 0.02):
        if np.std(step) > 0.05 * mean:
            notes.append(
                f"stamps jitter by {1e3 * np.std(step):.2g} ms: replaced by an even clock of {1e3 * mean:.4g} ms"
            )
        return line
    notes.append(f"stamps are uneven ({1e3 * np.std(step):.2g} ms) and samples are missing: used as they are")
    return t


@dataclass
class Motion:
    """Filtered state at the instants of the measured effort, all (N, n), pieces stacked; `start` marks their
    beginnings. `measured` are the positions that drive friction with memory: the rotor's where recorded, not filtered.
    `weight`: inverse variances of the effort relative to its joint's median one; None: all alike.
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

    @property
    def position(self) -> np.ndarray:
        """Measured positions (N, n) [rad], the filtered ones where there are none."""
        return self.q if self.measured is None else self.measured

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
        arrays = [getattr(self, k)[first:last] for k in ("t", "q", "qd", "qdd", "effort", "start")]
        measured, weight = (None if x is None else x[first:last] for x in (self.measured, self.weight))
        return Motion(*arrays, self.rate, measured, weight)

    def take(self, rows: np.ndarray) -> Motion:
        """Samples by mask or index in rising order; a hole marks a new start."""
        index = np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows)
        hole = np.concatenate([[True], np.diff(index) != 1])
        passed = np.add.reduceat(self.start, index) > 0 if len(index) else np.zeros(0, bool)
        arrays = [getattr(self, k)[index] for k in ("t", "q", "qd", "qdd", "effort")]
        weight = None if self.weight is None else self.weight[index]
        return Motion(*arrays, hole | passed, self.rate, self.position[index], weight)


def filtered(
    rec: Recording, cutoff: float, source: str = "q", delay: float = 0.0, margin: float | None = None
) -> Motion:
    """Zero-phase Butterworth order 4 at `cutoff` [Hz], then central differences [Madsen2020 ch5 4.1].

    source: "q" differentiates position; "qd" filters the reported velocity. delay [s] > 0: the effort is that much
    later than the state it belongs to. Samples within EDGE_PERIODS of a piece's ends are dropped; `margin` [Hz] drops
    those of another cut-off instead, so that several cut-offs can be compared on the same samples.
    Raises DataError where no piece outlasts the filter's edges.
    """
    parts = [_filtered_piece(p, cutoff, source, delay, margin or cutoff) for p in rec.pieces]
    parts = [p for p in parts if len(p[0]) > 20]
    if not parts:
        raise DataError(f"{rec.name}: no piece is longer than the edges of a {cutoff:.3g} Hz filter")
    start = np.concatenate([np.arange(len(p[0])) == 0 for p in parts])
    t, q, qd, qdd, effort, measured, weight = (np.concatenate([p[k] for p in parts]) for k in range(7))
    weighted = any("weight" in p.extra for p in rec.pieces)
    return Motion(t, q, qd, qdd, effort, start, rec.rate, measured, weight if weighted else None)


def _filtered_piece(p: Piece, cutoff: float, source: str, delay: float, margin: float) -> tuple[np.ndarray, ...]:
    dt = p.period
    grid = np.arange(p.t[0], p.t[-1] + 0.5 * dt, dt)
    even = len(grid) == len(p.t) and np.abs(grid - p.t).max() < 1e-3 * dt
    q = p.q if even else _at(grid, p.t, p.q)
    q = low_pass(q, cutoff, dt)
    if source == "qd" and p.qd is not None:
        qd = low_pass(p.qd if even else _at(grid, p.t, p.qd), cutoff, dt)
    else:
        qd = np.gradient(q, dt, axis=0)
    qdd = np.gradient(qd, dt, axis=0)
    edge = max(min(EDGE_PERIODS / margin, MAX_EDGE), 4 * dt)
    keep = (p.t > p.t[0] + edge) & (p.t < p.t[-1] - edge)
    wanted = p.t[keep] - delay
    effort, weight = p.effort[keep], p.extra.get("weight", np.ones_like(p.effort))[keep]
    if even and delay == 0:
        return p.t[keep], q[keep], qd[keep], qdd[keep], effort, p.position[keep], weight
    return p.t[keep], *(_at(wanted, grid, x) for x in (q, qd, qdd)), effort, _at(wanted, p.t, p.position), weight


def _at(wanted: np.ndarray, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.column_stack([np.interp(wanted, t, x[:, j]) for j in range(x.shape[1])])


def low_pass(x: np.ndarray, cutoff: float, dt: float, order: int = 4) -> np.ndarray:
    """Zero-phase (forward and backward) Butterworth low-pass along axis 0; cut-offs above 0.45 / dt leave x
    unchanged.
    """
    if not cutoff < 0.45 / dt:
        return x
    sos = signal.butter(order, 2 * cutoff * dt, output="sos")
    pad = min(len(x) - 1, int(3 / (cutoff * dt)) + 1)
    return signal.sosfiltfilt(sos, x, axis=0, padlen=pad)


def motion_frequency(rec: Recording) -> float:
    """Frequency [Hz] below which 99.9 % of the velocity's power lies, largest over the joints: f_dyn of
    [Madsen2020 ch5].
    """
    longest = max(rec.pieces, key=lambda p: len(p.t))
    dt = longest.period
    qd = np.gradient(low_pass(longest.q, min(25.0, 0.3 / dt), dt), dt, axis=0)
    f, power = signal.welch(qd, 1 / dt, nperseg=min(len(qd), int(20 / dt)), axis=0)
    total = np.cumsum(power, axis=0)
    strong = total[-1] > 1e-6 * total[-1].max()
    share = total[:, strong] / total[-1, strong]
    return float(max(f[np.argmax(share > 0.999, axis=0)].max(), 2 * f[1]))


def at_lower_rate(motion: Motion) -> Motion:
    """Every k-th sample above LOWER_RATE, the effort behind an anti-alias filter: parallel filter and decimation.

    The state is already far below the new band, so that only the effort needs the filter [Madsen2020 ch5 4.2].
    """
    k = int(motion.rate // LOWER_RATE)
    if k < 2:
        return motion
    edges = [*np.flatnonzero(motion.start).tolist(), len(motion)]
    parts = []
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        effort = low_pass(motion.effort[a:b], 0.4 * motion.rate / k, 1 / motion.rate)
        parts.append((np.arange(a, b)[::k], effort[::k]))
    rows = np.concatenate([p[0] for p in parts])
    start = np.concatenate([np.arange(len(p[0])) == 0 for p in parts])
    state = [getattr(motion, name)[rows] for name in ("t", "q", "qd", "qdd")]
    weight = None if motion.weight is None else motion.weight[rows]
    return Motion(*state, np.concatenate([p[1] for p in parts]), start, motion.rate / k, motion.position[rows], weight)


def stack(motions: Sequence[Motion]) -> Motion:
    """Several recordings as one motion; each beginning is marked."""
    arrays = [np.concatenate([getattr(m, k) for m in motions]) for k in ("t", "q", "qd", "qdd", "effort", "start")]
    weight = None
    if any(m.weight is not None for m in motions):
        weight = np.concatenate([np.ones_like(m.q) if m.weight is None else m.weight for m in motions])
    return Motion(*arrays, motions[0].rate, np.concatenate([m.position for m in motions]), weight)
