"""A log made fit for identification: unusable rows left out, clock made regular, cut at gaps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.bags import segments
from robot_dynamics_ros.effort.joint_state import MIN_RATE, bursts, clipped, commanded
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.clock import regular
from robot_dynamics_ros.identification.dataset.rows import held, loaded, usable
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.interpolation import interpolated

MIN_SEGMENT = 1.0  # s; shorter pieces between gaps are left out: most of them is filter edges
MIN_SAMPLES, MIN_PIECE = 200, 50  # of a recording, of one of its pieces
SHORTEST_GAP = 0.05  # s
TRAVEL = 0.02  # rad of the joint that travels farthest; a robot that travels less stands


@dataclass
class Piece:
    """A stretch without gaps: regular times t (N,) [s], q, qd, effort (N, n), what else was recorded by name; steps
    (n,) [rad, rad/s] in which its positions and velocities were reported, 0: fine.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray | None
    effort: np.ndarray
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    begin: float = 0.0  # s from the first sample of the recording to t = 0
    q_steps: np.ndarray | None = None
    qd_steps: np.ndarray | None = None

    @property
    def time(self) -> np.ndarray:
        """Times (N,) [s] from the first sample of the recording."""
        return self.begin + self.t

    @cached_property
    def period(self) -> float:
        """Time between samples [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def velocity(self) -> np.ndarray:
        """Velocity (N, n) [rad/s] as reported, else the derivative of the positions."""
        return np.gradient(self.q, self.period, axis=0) if self.qd is None else self.qd

    @property
    def position(self) -> np.ndarray:
        """What drives hysteretic friction (N, n) [rad]: the rotor's position where it was recorded, else q."""
        theta = self.extra.get("theta")
        return self.q if theta is None or not np.isfinite(theta).all() else theta

    def take(self, rows: slice) -> Piece:
        """Some of the samples."""
        extra = {k: v[rows] for k, v in self.extra.items()}
        qd = None if self.qd is None else self.qd[rows]
        return replace(self, t=self.t[rows], q=self.q[rows], qd=qd, effort=self.effort[rows], extra=extra)


@dataclass
class Recording:
    """One bag or several parts of one: pieces between gaps, joint names, rate [Hz], and what was repaired.

    effort_unit: A or % where a table says so.
    """

    name: str
    joint_names: tuple[str, ...]
    pieces: list[Piece]
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    start_ns: int = 0  # stamp of the first sample
    recorded_names: tuple[str, ...] = ()  # joint names of the bag where none of them is the robot file's
    effort_unit: str = ""

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

    @property
    def moves(self) -> bool:
        """Whether a joint travels by more than TRAVEL."""
        return bool(self.pieces) and bool(np.ptp(self.stacked("q"), axis=0).max() > TRAVEL)

    @property
    def q_steps(self) -> np.ndarray:
        """Steps (n,) [rad] in which positions were reported, 0: fine, or without velocities."""
        return np.max([np.zeros(self.n), *(p.q_steps for p in self.pieces if p.q_steps is not None)], axis=0)

    @property
    def qd_steps(self) -> np.ndarray | None:
        """Steps (n,) [rad/s] in which velocities were reported, 0: fine; None where they are missing."""
        if any(piece.qd is None for piece in self.pieces):
            return None
        return np.max([np.zeros(self.n), *(p.qd_steps for p in self.pieces if p.qd_steps is not None)], axis=0)

    @property
    def blind(self) -> bool:
        """Whether velocities are missing or coarse."""
        return self.qd_steps is None or bool(self.qd_steps.any())

    def stacked(self, name: str) -> np.ndarray:
        """A signal over all pieces (N, n)."""
        return np.concatenate([getattr(p, name) if hasattr(p, name) else p.extra[name] for p in self.pieces])

    def with_effort(self, change: Any) -> Recording:
        """A copy whose effort is change(effort)."""
        return replace(self, pieces=[replace(p, effort=change(p.effort)) for p in self.pieces])


def recording(log: Log, name: str, robot: RobotFile | None = None, start_ns: int | None = None) -> Recording:
    """Recording of a loaded log; robot: whose gravity shows where brakes are closed; start_ns: stamp from which times
    count, None: that of the first row. Raises DataError when nothing usable is left.
    """
    notes: list[str] = []
    if loaded(log).all():
        raise DataError(f"{name}: the topic payload names a load in every row: record without one")
    notes += filter(None, [clipped(log), commanded(log)])
    if (np.abs(np.diff(log.q, axis=0)) > np.pi).any():  # positions of joints that turn without end begin again
        log = Log(log.joint_names, log.stamp_ns, log.signals | {"q": np.unwrap(log.q, axis=0)}, log.receive_ns)
    first = int(log.stamp_ns[0]) if start_ns is None else start_ns
    log, counts = usable(log, robot)
    pieces, arrived = [], bursts(log.time)
    for part in segments(log, _gap(log, bool(arrived))):
        if len(part) < MIN_PIECE or part.time[-1] < MIN_SEGMENT:
            counts["in pieces shorter than 1 s"] = counts.get("in pieces shorter than 1 s", 0) + len(part)
            continue
        try:
            pieces.append(_piece(part, notes, 1e-9 * float(part.stamp_ns[0] - first)))
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    if sum(len(p.t) for p in pieces) < MIN_SAMPLES:
        few = f"fewer than {MIN_SAMPLES} usable samples; record at least 20 s of motion of every joint"
        raise DataError(f"{name}: {arrived or few}")
    if len(pieces) > 1:
        notes.append(f"{len(pieces) - 1} gaps: identified on the {len(pieces)} pieces between them")
    return Recording(name, log.joint_names, pieces, counts, folded(notes), first)


def possible_temperatures(t: np.ndarray, reported: np.ndarray, notes: list[str]) -> np.ndarray:
    """Temperatures (N, n) [deg C] at times t (N,) [s]: between the possible ones where a row has none, NaN of a joint
    without any; a note where there are others.
    """
    possible = _core.possible_temperature(reported)
    if (np.isfinite(reported) & ~possible).any():
        notes.append(f"temperatures beyond {_core.COLDEST:g} to {_core.HOTTEST:g} deg C, or 0, are left out (kelvin?)")
    found = np.full(reported.shape, np.nan)
    for x, given, known in zip(found.T, reported.T, possible.T, strict=True):
        x[:] = np.interp(t, t[known], given[known]) if known.any() else np.nan
    return found


def temperature_of(rec: Recording) -> np.ndarray | None:
    """Mean temperature (n,) [deg C] of the joints while they were recorded; None where it was not recorded."""
    recorded = [p.extra["temperature"] for p in rec.pieces if "temperature" in p.extra]
    values = np.concatenate(recorded) if recorded else np.full((1, rec.n), np.nan)
    return np.nanmean(values, axis=0) if np.isfinite(values).any(axis=0).all() else None


def folded(notes: Sequence[str], subjects: Sequence[str] | None = None) -> list[str]:
    """Notes that differ only in their numbers as one with a count; subjects: what each is about, named before it."""
    groups: dict[str, list[int]] = {}
    for k, note in enumerate(notes):
        groups.setdefault(re.sub(r"\d[\d.e+-]*", "#", note), []).append(k)
    lines = []
    for rows in groups.values():
        names = list(dict.fromkeys(subjects[k] for k in rows)) if subjects is not None else []
        about = f"{names[0]}: " if names else ""
        others = f", {len(names)} recordings" if len(names) > 1 else ""
        count = f" ({len(rows)} times{others})" if len(rows) > 1 else ""
        lines.append(f"{about}{notes[rows[0]]}{count}")
    return lines


def _gap(log: Log, arrived: bool) -> float:
    """Shortest gap [s] between two pieces; arrived: stamps come in bursts."""
    step = np.diff(log.stamp_ns) * 1e-9
    if not (step > 0).any():
        return SHORTEST_GAP
    step = step[step > 0]
    period = np.minimum(step, 1.0 / MIN_RATE).mean() if arrived else np.median(step)
    return max(10 * float(period), SHORTEST_GAP)


def _piece(part: Log, notes: list[str], begin: float) -> Piece:
    q, same = part.q, held(part)
    if same.any():
        notes.append("positions come less often than velocities: interpolated between; record each when it is taken")
        q = interpolated(part.time, part.time[~same], q[~same])
    qd = part.get("qd")
    t = regular(part.time, notes, q, qd)
    steps: list[np.ndarray] = []
    if qd is not None:
        q, qd, *steps = _core.within_steps(t, q, qd)
    extra = {k: v for k, v in part.signals.items() if k not in ("q", "qd", "effort")}
    if part.has("temperature"):
        extra["temperature"] = possible_temperatures(part.time, part.temperature, notes)
    return Piece(t, q, qd, part.effort, extra, begin, *steps)
