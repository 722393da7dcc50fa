"""A log made fit for identification: spikes removed, clock made regular, cut at gaps and where validation begins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import signal
from scipy.spatial import cKDTree

from robot_dynamics_ros.bags import segments
from robot_dynamics_ros.effort.joint_state import MIN_RATE, bursts
from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.dataset.clock import regular
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.signals.runs import runs
from robot_dynamics_ros.signals.speeds import SLOW

MIN_SEGMENT = 1.0  # s; shorter pieces between gaps are left out: most of them is filter edges
MIN_SAMPLES = 200
SHORTEST_GAP = 0.05  # s
IDLE = 0.02  # share of the largest effort of all joints that drives without power show
OFTEN = 0.3  # share of rows
CARRIED = 0.3  # correlation of effort and gravity, over all joints, of drives that carry the arm
BRAKED = 0.3  # s within which brakes close, and drives take over again
SPLIT = 0.7  # share of every recording used for identification when there is none for validation
LATER = 0.2  # s between the two positions of a state, which show its velocity
EVERY = 0.01, 0.05  # s between states of the identified, and of the held-out motion
LEAST = 0.02  # rad, deviation of a joint that moves
ALIKE = 0.05  # rms difference of two states over the motion's deviations; tracking repeats to 1e-3 of them or better
REPEATED = 0.8  # share of the moving states of a recording from which on it is a repeat


@dataclass
class Piece:
    """A stretch without gaps: regular times t (N,) [s], q, qd, effort (N, n), what else was recorded by name."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray | None
    effort: np.ndarray
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    begin: float = 0.0  # s from the first sample of the recording to t = 0

    @cached_property
    def period(self) -> float:
        """Time between samples [s]."""
        return float(np.median(np.diff(self.t)))

    @property
    def position(self) -> np.ndarray:
        """What drives hysteretic friction (N, n) [rad]: the rotor's position where it was recorded, else q."""
        theta = self.extra.get("theta")
        return self.q if theta is None or not np.isfinite(theta).all() else theta

    def take(self, rows: slice) -> Piece:
        """Some of the samples."""
        extra = {k: v[rows] for k, v in self.extra.items()}
        qd = None if self.qd is None else self.qd[rows]
        return Piece(self.t[rows], self.q[rows], qd, self.effort[rows], extra, self.begin)


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

    def stacked(self, name: str) -> np.ndarray:
        """A signal over all pieces (N, n)."""
        return np.concatenate([getattr(p, name) if hasattr(p, name) else p.extra[name] for p in self.pieces])

    def with_effort(self, change: Any) -> Recording:
        """A copy whose effort is change(effort)."""
        return replace(self, pieces=[replace(p, effort=change(p.effort)) for p in self.pieces])


def recording(log: Log, name: str, robot: RobotFile | None = None) -> Recording:
    """Recording of a loaded log; robot: whose gravity shows where brakes are closed. Raises DataError when nothing
    usable is left.
    """
    counts: dict[str, int] = {}
    notes: list[str] = []
    if _loaded(log).all():
        raise DataError(f"{name}: the topic payload names a load in every row: record without one")
    if (np.abs(np.diff(log.q, axis=0)) > np.pi).any():  # positions of joints that turn without end begin again
        log = Log(log.joint_names, log.stamp_ns, log.signals | {"q": np.unwrap(log.q, axis=0)}, log.receive_ns)
    for why, rows in (
        ("repeated rows", _frozen),
        ("rows behind closed brakes", partial(_braked, robot)),
        ("rows with a payload", _loaded),
        ("rows with an isolated spike", _spikes),
    ):
        drop = rows(log)
        if drop.any() and not drop.all():
            counts[why], log = int(drop.sum()), log[~drop]
    pieces, arrived = [], bursts(log.time)
    for part in segments(log, _gap(log, bool(arrived))):
        if len(part) < MIN_SAMPLES // 4 or part.time[-1] < MIN_SEGMENT:
            counts["in pieces shorter than 1 s"] = counts.get("in pieces shorter than 1 s", 0) + len(part)
            continue
        try:
            pieces.append(_piece(part, notes, 1e-9 * float(part.stamp_ns[0] - log.stamp_ns[0])))
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    if sum(len(p.t) for p in pieces) < MIN_SAMPLES:
        few = f"fewer than {MIN_SAMPLES} usable samples; record at least 20 s of motion of every joint"
        raise DataError(f"{name}: {arrived or few}")
    if len(pieces) > 1:
        notes.append(f"{len(pieces) - 1} gaps: identified on the {len(pieces)} pieces between them")
    return Recording(name, log.joint_names, pieces, counts, folded(notes), int(log.stamp_ns[0]))


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


def _frozen(log: Log) -> np.ndarray:
    """Rows (N,) that repeat the row before in every number while the robot moves: written twice, or a stuck reader."""
    q, tau = log.q, log.effort
    same = np.concatenate([[False], ((np.diff(q, axis=0) == 0) & (np.diff(tau, axis=0) == 0)).all(1)])
    moving = np.abs(np.gradient(q, axis=0)).max(1) > 1e-6
    return np.asarray(same & moving)


def _held(log: Log) -> np.ndarray:
    """Rows (N,) with the positions of the row before while a velocity says that they change, where OFTEN of the faster
    half of the motion has them: a slow joint may stay within the resolution of its encoder.
    """
    same = np.concatenate([[False], (np.diff(log.q, axis=0) == 0).all(axis=1)])
    speed = np.abs(np.nan_to_num(log.qd)).max(axis=1) if log.has("qd") else np.zeros(len(log))
    moves = speed > SLOW
    fast = speed > np.median(speed[moves]) if moves.any() else moves
    return same & moves & bool(fast.any() and same[fast].mean() > OFTEN)


def _braked(robot: RobotFile | None, log: Log) -> np.ndarray:
    """Rows (N,) in which no drive carries for BRAKED what friction cannot hold: brakes do. So they do while the drives
    take over, before and after. None where the masses are unknown, or the effort does not contain gravity.
    The rule of torque_health.hpp for an effort of unknown unit, sign and friction: what is small is so beside the rest.
    """
    drop, t = np.zeros(len(log), bool), log.time
    if robot is None:
        return drop
    try:
        gravity = RobotModel(robot.chain()).gravity(log.q)
    except CapabilityError:
        return drop
    size = np.linalg.norm(log.effort, axis=1)
    idle = size < IDLE * np.quantile(size, 0.99)
    alike = np.abs((log.effort * gravity)[~idle].sum())
    if alike < CARRIED * np.linalg.norm(log.effort[~idle]) * np.linalg.norm(gravity[~idle]):
        return drop
    idle &= (np.abs(gravity) > 2 * stuck_friction(robot)).any(axis=1)
    for a, b in runs(idle):
        if t[b - 1] - t[a] > BRAKED:
            drop |= (t > t[a] - BRAKED) & (t < t[b - 1] + BRAKED)
    return drop


def _loaded(log: Log) -> np.ndarray:
    """Rows (N,) with a payload that was named on its topic."""
    return log.named_mass != 0.0


def _spikes(log: Log) -> np.ndarray:
    """Rows (N,) where a signal jumps away and back: over 8 robust deviations off the median of 5 rows."""
    bad = np.zeros(len(log), bool)
    for values, floor in ((log.q, 0.02), (np.nan_to_num(log.qd), 0.3), (log.effort, None)):  # rad, rad/s, Nm or A
        span = np.ptp(np.quantile(values, [0.01, 0.99], axis=0), axis=0)
        least = span if floor is None else np.maximum(floor, 0.05 * span)
        if (2 * np.abs(np.diff(values, axis=0)).max(axis=0, initial=0.0) <= least).all():
            continue  # no row is so far off the two before and after it
        off = np.abs(values - signal.medfilt(values, (5, 1)))
        limit = np.maximum(np.quantile(off, 0.99, axis=0) * 4, least)
        bad |= (off > np.maximum(limit, 1e-9)).any(1)
    return bad


def _piece(part: Log, notes: list[str], begin: float) -> Piece:
    q, held = part.q, _held(part)
    if held.any():
        notes.append("positions come less often than velocities: interpolated between; record each when it is taken")
        q = interpolated(part.time, part.time[~held], q[~held])
    t = regular(part.time, notes, q, part.get("qd"))
    extra = {k: v for k, v in part.signals.items() if k not in ("q", "qd", "effort")}
    return Piece(t, q, part.get("qd"), part.effort, extra, begin)


def set_apart(training: list[Recording], validation: list[Recording]) -> tuple[list[Recording], list[Recording], str]:
    """Recordings to identify and to validate on (other bags, or the last part of each), and a sentence on that."""
    if validation:
        return training, validation, "validated on other bags"
    split = f"no validation bag: identified on the first {SPLIT:.0%} of every bag, validated on the rest"
    return *cut_in_time(training, SPLIT), split


def cut_in_time(recordings: list[Recording], share: float) -> tuple[list[Recording], list[Recording]]:
    """Every recording cut at a share of its samples."""
    first, last = [], []
    for rec in recordings:
        cut = int(share * rec.samples)
        a, b, seen = [], [], 0
        for p in rec.pieces:
            k = min(max(cut - seen, 0), len(p.t))
            seen += len(p.t)
            a += [p.take(slice(0, k))] if k > 50 else []
            b += [p.take(slice(k, None))] if len(p.t) - k > 50 else []
        first.append(replace(rec, pieces=a))
        last.append(replace(rec, pieces=b, notes=[]))
    return first, last


def repeats(training: Sequence[Recording], judged: Sequence[Recording]) -> list[bool]:
    """Of every `judged` recording, whether `training` has most of its moving states as well.

    State: positions of all joints, and those LATER.
    """
    known = np.vstack([_states(rec, EVERY[0]) for rec in training])
    scale = np.maximum(known.std(axis=0), LEAST) * np.sqrt(known.shape[1])
    tree, found = cKDTree(known / scale), []
    for rec in judged:
        states = _states(rec, EVERY[1])
        moving = np.abs(states[:, rec.n :] - states[:, : rec.n]).max(axis=1) > SLOW * LATER
        far, _ = tree.query(states[moving] / scale, distance_upper_bound=ALIKE)
        found.append(bool(moving.any() and np.isfinite(far).mean() > REPEATED))
    return found


def _states(rec: Recording, every: float) -> np.ndarray:
    """Positions of all joints and those LATER (N, 2 n) [rad]."""
    found = [np.zeros((0, 2 * rec.n))]
    for piece in rec.pieces:
        t = np.arange(piece.t[0], piece.t[-1] - LATER, every)
        found.append(np.hstack([interpolated(at, piece.t, piece.q) for at in (t, t + LATER)]))
    return np.vstack(found)
