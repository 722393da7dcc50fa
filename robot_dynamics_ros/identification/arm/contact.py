"""Contact in recordings that were to be free: found and left out.

Contact: effort that neither a rigid body nor friction can hold. A robust fit of rigid body, rotor inertia and friction
leaves a residual; its mean over BLOCK seconds beyond CORE times the joint's own friction is contact, with what is
beyond EDGE times it before and after. Beside identified friction smaller contact shows (`touched`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.wrench_metrics import runs
from robot_dynamics_ros.identification.arm.friction_columns import simple_friction
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, filtered
from robot_dynamics_ros.identification.dataset.recording import MIN_SAMPLES, MIN_SEGMENT, Piece, Recording
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING, SLOW

if TYPE_CHECKING:
    from robot_dynamics_ros.identification.arm.live_model import LiveModel

CUTOFF, RATE = 10.0, 50.0  # Hz, of the state and of the samples that are looked at
BLOCK = 0.3  # s
CORE, EDGE = 1.8, 0.8  # of the level; free motion of simulated and public real robots stays below 1.6
REST = 1.5  # times the level of a joint that stands, where friction may hold it with either sign
STAND = 1.0  # s of a stand that the fit sees
LOAD = 0.05  # of the RMS of the rigid-body torque, that errors of the model may be
ROUNDS, FITTED = 8, 10_000  # of the robust fit; at most this many rows, evenly thinned
FAR, SHARE, MIN_BLOCKS = 6.0, 0.25, 20  # deviations, of friction, blocks: contact beside a known model
SEVERAL = 2.0  # times the second joint: a contact loads several joints, an error of friction one
MAX_CONTACT_SHARE = 0.5  # share of the data in contact above which leaving it out leaves too little
OTHER_ROTOR = 3.0  # factor between identified and initial rotor inertia beyond which it is reported
ROTOR = 0.1  # identified over initial rotor inertia below which it is suspicious
SIGNIFICANCE = 3.0  # standard deviations
NAMED = 4  # stretches, the largest
OVERRULE = "--contact ignore identifies it all the same"


@dataclass(frozen=True)
class Stretch:
    """Contact in a recording: its name, seconds since its first sample, largest residual over the level."""

    name: str
    begin: float
    end: float
    size: float

    @property
    def duration(self) -> float:
        """Length [s]."""
        return self.end - self.begin


def contact_stretches(rigid: RigidModel, recordings: list[Recording]) -> list[Stretch]:
    """Stretches of contact in recordings whose effort is in Nm."""
    looked = [(rec, piece, motion) for rec in recordings for piece, motion in _motions(rec)]
    if not looked:
        return []
    motions = [motion for _, _, motion in looked]
    residual, level = _residual(rigid, motions, np.concatenate([after_motion(m) for m in motions]))
    parts = np.split(residual, np.cumsum([len(m) for m in motions])[:-1])
    return [
        Stretch(rec.name, *rows)
        for (rec, piece, motion), part in zip(looked, parts, strict=True)
        for rows in _stretches(piece, motion, part, level)
    ]


def contact_beside(live: LiveModel, recordings: list[Recording]) -> list[Stretch]:
    """Stretches of contact that an identified model shows where joints slide; at rest friction may hold it."""
    looked = [(rec, piece, motion) for rec in recordings for piece, motion in _motions(rec)]
    if not looked:
        return []
    motions = [motion for _, _, motion in looked]
    residuals = [m.effort - live.predict(m) for m in motions]
    links = [live.rigid.torque(live.phi, m.q, m.qd, m.qdd) for m in motions]
    level = np.median(np.concatenate([np.abs(m.effort - x) for m, x in zip(motions, links, strict=True)]), axis=0)
    rows = touched(residuals, [np.abs(m.qd) > MOVING for m in motions], level, motions[0].rate)
    return [
        Stretch(rec.name, piece.begin + float(m.t[a]), piece.begin + float(m.t[b - 1]), 0.0)
        for (rec, piece, m), own in zip(looked, rows, strict=True)
        for a, b in runs(own)
    ]


def touched(
    residuals: Sequence[np.ndarray], uses: Sequence[np.ndarray], level: np.ndarray, rate: float
) -> list[np.ndarray]:
    """(N,) bool of every motion: the mean of a residual (N, n) over a block in which all of a joint's rows are used
    (N, n) is beyond FAR robust deviations of all such means, and beyond SHARE of the joint's friction, level (n,) [Nm];
    and half of that in a second joint, if there is one.

    A payload or another calibration moves all means alike and marks nothing: it is a change point, not a contact.
    """
    means = [in_blocks(residual, rate).mean(axis=1) for residual in residuals]
    seen = [in_blocks(use, rate).min(axis=1) > 0 for use in uses]
    mean, known = np.concatenate(means), np.concatenate(seen)
    joints = np.zeros_like(mean)
    for j, (value, rows, least) in enumerate(zip(mean.T, known.T, SHARE * level, strict=True)):
        if rows.sum() > MIN_BLOCKS:
            off = np.abs(value - np.median(value[rows]))
            joints[:, j] = rows * off / max(FAR * 1.4826 * float(np.median(off[rows])), least)
    joints.sort(axis=1)
    size = np.minimum(joints[:, -1], SEVERAL * joints[:, -2:][:, 0])
    sizes = np.split(size, np.cumsum([len(m) for m in means])[:-1])
    parts = zip(residuals, seen, sizes, strict=True)
    return [_spread(len(residual), one, own, max(round(BLOCK * rate), 1)) for residual, one, own in parts]


def _spread(count: int, seen: np.ndarray, size: np.ndarray, block: int) -> np.ndarray:
    """(count,) bool of a motion from its blocks (m,): in a long standstill contact lasts until one shows its end."""
    last = np.maximum.accumulate(np.where(seen.any(axis=1), np.arange(len(size)), 0))
    rows = np.repeat(touched_blocks(size[last])[1:-1], block)
    return np.concatenate([rows, np.zeros(count - len(rows), bool)])


def after_motion(motion: Motion) -> np.ndarray:
    """(N,) bool: some joint has moved within STAND seconds; long standstills would outweigh motion in a robust fit."""
    moves = (np.abs(motion.qd) > SLOW).any(axis=1)
    last = np.maximum.accumulate(np.where(moves, motion.t, -np.inf))
    return motion.t - last < STAND


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
        k = max(int(motion.rate // RATE), 1)
        thin = motion.every(k)
        if len(thin) / thin.rate > 2 * BLOCK:
            yield piece, thin


def _residual(rigid: RigidModel, motions: list[Motion], use: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residual (N, n) of all motions [Nm] from the robust fit over rows `use` (N,), and the level (n,) that friction
    may explain.
    """
    q, qd, qdd, effort = (np.concatenate([getattr(m, k) for m in motions]) for k in ("q", "qd", "qdd", "effort"))
    W = rigid.base_regressor(q, qd, qdd)
    fitted = np.flatnonzero(use)
    fitted = fitted[:: max(len(fitted) // FITTED, 1)]
    residual, level = np.empty_like(effort), np.empty(effort.shape[1])
    for j, (A, v, y) in enumerate(zip(W, qd.T, effort.T, strict=True)):
        friction, b = simple_friction(v), A.shape[1]
        columns = np.column_stack([A, qdd[:, j], friction])
        load = A @ _robust(columns[fitted], y[fitted])[:b]
        columns = np.column_stack([columns, friction[:, 0] * np.abs(load)])
        x = _robust(columns[fitted], y[fitted])
        residual[:, j] = y - columns @ x
        size = abs(x[b + 1]) + abs(x[-1]) * float(np.abs(load).mean())
        noise = float(np.median(np.abs(np.diff(residual[:, j])))) if len(v) > 1 else 0.0
        level[j] = max(size, LOAD * float(np.sqrt((load**2).mean()))) + noise
    return residual, level


def _robust(columns: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients of an L1-like fit (Huber weights at 1.5 robust deviations)."""
    weight = np.ones(len(y))
    scale = np.maximum(np.sqrt((columns**2).mean(0)), 1e-300)
    scaled = columns / scale
    for _ in range(ROUNDS):
        A = scaled * weight[:, None]
        x = np.linalg.pinv(A.T @ A, rcond=1e-10, hermitian=True) @ (A.T @ (y * weight)) / scale
        rest = y - columns @ x
        sigma = 1.4826 * float(np.median(np.abs(rest))) + 1e-9
        weight = np.sqrt(1.0 / np.maximum(1.0, np.abs(rest) / (1.5 * sigma)))
    return x


def _stretches(
    piece: Piece, motion: Motion, residual: np.ndarray, level: np.ndarray
) -> list[tuple[float, float, float]]:
    """Begin and end [s since the first sample of the recording], and size of the contacts of one piece."""
    still = in_blocks(np.abs(motion.qd), motion.rate).mean(axis=1) < SLOW
    mean = in_blocks(residual, motion.rate).mean(axis=1)
    size = (np.abs(mean) / (CORE * level * np.where(still, REST, 1.0))).max(axis=1)
    found, block = [], max(round(BLOCK * motion.rate), 1) / motion.rate
    for a, b in runs(touched_blocks(size, EDGE / CORE)):
        begin, end = float(motion.t[0]) + block * (a - 1), float(motion.t[0]) + block * (b - 1)
        largest = CORE * float(size[max(a - 1, 0) : b - 1].max())
        found.append((piece.begin + max(begin, float(piece.t[0])), piece.begin + min(end, float(piece.t[-1])), largest))
    return found


def in_blocks(x: np.ndarray, rate: float) -> np.ndarray:
    """Samples x (N, n) in whole blocks of BLOCK seconds (m, k, n)."""
    k = max(round(BLOCK * rate), 1)
    return x[: len(x) // k * k].reshape(-1, k, x.shape[1])


def touched_blocks(size: np.ndarray, edge: float = 1.0) -> np.ndarray:
    """(m + 2,) bool: contact, from the residual of every block over its limit (m,): what exceeds 1, with all around it
    that exceeds `edge` and one block more before and after, which may lie before the first and after the last.
    """
    touched = np.zeros(len(size) + 2, bool)
    for a, b in runs(size > edge):
        touched[a : b + 2] |= bool(size[a:b].max() > 1.0)
    return touched


def without(recordings: list[Recording], stretches: list[Stretch]) -> list[Recording]:
    """Recordings without the stretches of their names; pieces shorter than 1 s are dropped, empty recordings too."""
    left: list[Recording] = []
    for rec in recordings:
        mine = [(s.begin, s.end) for s in stretches if s.name == rec.name]
        pieces = [part for piece in rec.pieces for part in _cut(piece, mine)]
        if sum(len(p.t) for p in pieces) >= MIN_SAMPLES:
            left.append(replace(rec, pieces=pieces))
    return left


def _cut(piece: Piece, stretches: list[tuple[float, float]]) -> Iterator[Piece]:
    t = piece.begin + piece.t
    keep = np.ones(len(t), bool)
    for begin, end in stretches:
        keep &= (t < begin) | (t > end)
    for a, b in runs(keep):
        if piece.t[b - 1] - piece.t[a] >= MIN_SEGMENT:
            yield piece.take(slice(a, b))


def described(stretches: list[Stretch], recordings: list[Recording]) -> str:
    """How much of the recordings, and where the largest stretches lie."""
    total, whole = sum(s.duration for s in stretches), sum(r.duration for r in recordings)
    largest = sorted(stretches, key=lambda s: -s.size)[:NAMED]
    where = ", ".join(f"{s.name} {s.begin:.1f}:{s.end:.1f}" for s in sorted(largest, key=lambda s: (s.name, s.begin)))
    return f"{total:.1f} s of {whole:.1f} s ({where}{' and others' if len(stretches) > NAMED else ''})"


def lost_rotors(robot: RobotFile, rotor: np.ndarray, std: np.ndarray) -> list[str]:
    """Joints whose identified rotor inertia (n,) is far below the one of the robot file: contact that moved the arm."""
    if not robot.has("drives.rotor_inertia"):
        return []
    initial = robot.array("drives.rotor_inertia")
    with np.errstate(invalid="ignore"):
        low = (initial > 0) & (rotor < ROTOR * initial) & (initial - rotor > SIGNIFICANCE * std)
    return [
        f"{name} {value:.2g} instead of {was:.2g} kg m2"
        for name, value, was, below in zip(robot.joint_names, rotor, initial, low, strict=True)
        if below
    ]


def far_rotors(robot: RobotFile, rotor: np.ndarray) -> str:
    """A sentence about joints whose identified rotor inertia (n,) is FAR from that of the robot file; else empty."""
    if not robot.has("drives.rotor_inertia"):
        return ""
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = rotor / robot.array("drives.rotor_inertia")
        far = np.isfinite(ratio) & ((ratio > OTHER_ROTOR) | (ratio < 1 / OTHER_ROTOR))
    found = [f"{name} {r:.2g}" for name, r, f in zip(robot.joint_names, ratio, far, strict=True) if f]
    if not found:
        return ""
    return (
        f"rotor inertia over that of the initial model: {', '.join(found)}; where that model is right, the motion "
        "does not separate it from the links: add accelerations, or use --known-rotor"
    )
