"""Contact in recordings that were to be free: found beside an identified model, and left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.arm.residuals import MIN_STD, rare, robust
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, filtered, step_of
from robot_dynamics_ros.identification.dataset.recording import MIN_SAMPLES, MIN_SEGMENT, Piece, Recording
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.runs import last_true, runs
from robot_dynamics_ros.signals.speeds import MOVING

CUTOFF, RATE = 10.0, 50.0  # Hz, of the state and of the samples that are looked at
SHORTEST = 0.6  # s of a piece that is looked at
RARE = 7.0  # standard deviations of a contact; free simulated robots stay below 5.25 for LASTS
EDGE = 0.5  # of it before and after
LASTS, BEFORE, AFTER = 0.25, 0.1, 0.3  # s of a contact; s that are left out before, and after, while filters settle
WINDOW, MIN_WINDOWS = 2.0, 5  # s over which a force is the same, every half of it; windows that tell what most show
LEAST, MOST = 0.03, 0.1  # of the arm's weight that a force differs from that of most windows
SCATTER = 3.0  # times the median difference of all windows, in deviations of their forces
MAX_CONTACT_SHARE = 2 / 3  # of the data: leaving more out leaves too little
NAMED = 4  # stretches, the longest
OVERRULE = "identify --contact ignore takes it all the same"


@dataclass(frozen=True)
class Stretch:
    """Contact in a recording: its name, seconds since its first sample."""

    name: str
    begin: float
    end: float

    @property
    def duration(self) -> float:
        """Length [s]."""
        return self.end - self.begin


def contact_stretches(
    live: LiveModel, robot: RobotFile, recordings: Sequence[Recording], elsewhere: np.ndarray
) -> list[Stretch]:
    """Stretches of contact that an identified model and its robot file show; elsewhere (n,): see `residuals`.

    A push is rare for the live pipeline, at rest too. A long contact or another payload shows as a force of its own in
    the rest.
    """
    try:
        pushed = pushes(robot, recordings, elsewhere)
    except CapabilityError:  # of a file without a force, as its missing residuals say
        pushed = []
    return joined([*pushed, *_held(live, without(recordings, pushed))])


def pushes(robot: RobotFile, recordings: Sequence[Recording], elsewhere: np.ndarray | float = 0.0) -> list[Stretch]:
    """Stretches of recordings in Nm that are `rare` for the live pipeline of a robot file, and what lies around them;
    elsewhere (n,): see `residuals`.

    Raises CapabilityError where the file has no force.
    """
    found, pieces = [], [(rec.name, piece.time) for rec in recordings for piece in rec.pieces]
    for (name, t), own in zip(pieces, rare(robot, recordings, elsewhere), strict=True):
        for a, b in runs(own > EDGE * RARE):
            if own[a:b].max() > RARE and t[b - 1] - t[a] > LASTS:
                found.append(Stretch(name, float(t[a]) - BEFORE, float(t[b - 1]) + AFTER))
    return found


def joined(stretches: list[Stretch]) -> list[Stretch]:
    """Overlapping stretches of a recording as one."""
    left: list[Stretch] = []
    for s in sorted(stretches, key=lambda s: (s.name, s.begin)):
        if left and left[-1].name == s.name and s.begin <= left[-1].end:
            left[-1] = replace(left[-1], end=max(left[-1].end, s.end))
        else:
            left.append(s)
    return left


def arm_mass(robot: RobotFile, phi: np.ndarray) -> float:
    """Mass [kg] of the links by the robot file, as recordings show sums only; without masses that of phi (10 n,)."""
    return float((robot.link_parameters if robot.links else phi.reshape(-1, 10))[:, 9].sum())


def _held(live: LiveModel, recordings: Sequence[Recording]) -> list[Stretch]:
    """Stretches in which joints that slide show a force (3,) [N] that the rest of the recordings does not: a long
    contact, or a payload that comes and goes.
    """
    looked = [(rec.name, motion) for rec in recordings for _, motion in _motions(rec)]
    if not looked:
        return []
    residuals = [motion.effort - live.predict(motion) for _, motion in looked]
    both = np.concatenate(residuals)
    deviation = np.fmax(robust(both, np.isfinite(both)), MIN_STD)
    weight = 9.81 * arm_mass(live.rigid.robot, live.phi)
    rows, forces = [], []
    for (name, m), residual in zip(looked, residuals, strict=True):
        size = round(WINDOW * m.rate)
        J = live.rigid.model.jacobian(m.q)[:, :3] / deviation
        for first in range(0, len(m) - size // 2, size // 2):
            part = slice(first, first + size)
            forces.append(_force(J[part], residual[part] / deviation, np.abs(m.qd[part]) > MOVING, weight))
            rows.append(Stretch(name, float(m.t[first]), float(m.t[part][-1])))
    return _other(rows, np.array(forces).reshape(-1, 2, 3), weight)


def _force(J: np.ndarray, residual: np.ndarray, use: np.ndarray, expected: float) -> tuple[np.ndarray, np.ndarray]:
    """Force (3,) [N] of residuals (N, n) = -J' F, J (N, 3, n), both over the deviations of the joints, in the samples
    (N, n) that are used, and its deviation; NaN where these are few. expected [N]: deviation before the samples.
    """
    if use.sum() < len(use):
        return np.full(3, np.nan), np.full(3, np.nan)
    A = J.transpose(0, 2, 1)[use]
    covariance = np.linalg.inv(A.T @ A / len(use) + np.eye(3) / expected**2)  # errors last: a window is one sample
    return -covariance @ A.T @ residual[use] / len(use), np.sqrt(np.diag(covariance))


def _other(rows: list[Stretch], forces: np.ndarray, weight: float) -> list[Stretch]:
    """The rows whose force, with its deviation (N, 2, 3), differs from that of most by more than such a deviation
    explains; where no joint slides it lasts, but not into the next recording. weight [N]: of the arm.
    """
    force, deviation = forces[:, 0], forces[:, 1]
    known = np.isfinite(force[:, 0])
    if known.sum() < MIN_WINDOWS:
        return []
    away = np.abs(force - np.median(force[known], axis=0))
    scatter = SCATTER * np.median((away / deviation).max(axis=1)[known])
    most = np.fmax(MOST * weight, deviation)
    other = (away > np.clip(scatter * deviation, LEAST * weight, most)).any(axis=1)
    names, last = np.array([row.name for row in rows]), last_true(known)
    return [row for row, own in zip(rows, other[last] & (names[last] == names), strict=True) if own]


def looked_at(recordings: Sequence[Recording]) -> list[tuple[Piece, Motion]]:
    """Every piece that is long enough, with its filtered motion at RATE. Raises DataError where there is none."""
    found = [pair for rec in recordings for pair in _motions(rec)]
    if not found:
        raise DataError(f"{', '.join(r.name for r in recordings)}: no piece is long enough to look at")
    return found


def _motions(rec: Recording) -> Iterator[tuple[Piece, Motion]]:
    """Every piece that outlasts the filter's edges, at RATE."""
    for piece in rec.pieces:
        try:
            motion = at_lower_rate(filtered(replace(rec, pieces=[piece]), min(CUTOFF, 0.2 * rec.rate)))
        except DataError:
            continue
        thin = motion.every(step_of(motion.rate, RATE))
        if len(thin) / thin.rate > SHORTEST:
            yield piece, thin


def without(recordings: Sequence[Recording], stretches: list[Stretch]) -> list[Recording]:
    """Recordings without the stretches of their names; pieces shorter than 1 s are dropped, empty recordings too."""
    left: list[Recording] = []
    for rec in recordings:
        mine = [(s.begin, s.end) for s in stretches if s.name == rec.name]
        pieces = [part for piece in rec.pieces for part in _cut(piece, mine)]
        if sum(len(p.t) for p in pieces) >= MIN_SAMPLES:
            left.append(replace(rec, pieces=pieces))
    return left


def _cut(piece: Piece, stretches: list[tuple[float, float]]) -> Iterator[Piece]:
    t = piece.time
    keep = np.ones(len(t), bool)
    for begin, end in stretches:
        keep &= (t < begin) | (t > end)
    for a, b in runs(keep):
        if piece.t[b - 1] - piece.t[a] >= MIN_SEGMENT:
            yield piece.take(slice(a, b))


def length(stretches: Sequence[Stretch]) -> float:
    """Length of all together [s]."""
    return sum(s.duration for s in stretches)


def described(stretches: list[Stretch], recordings: list[Recording]) -> str:
    """How much of the recordings, and where the longest stretches lie."""
    total, whole = length(stretches), sum(r.duration for r in recordings)
    longest = sorted(stretches, key=lambda s: -s.duration)[:NAMED]
    where = ", ".join(f"{s.name} {s.begin:.1f}:{s.end:.1f}" for s in sorted(longest, key=lambda s: (s.name, s.begin)))
    return f"{total:.1f} s of {whole:.1f} s ({where}{' and others' if len(stretches) > NAMED else ''})"
