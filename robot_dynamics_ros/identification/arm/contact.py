"""Contact in recordings that were to be free: found beside an identified model, and left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import binary_dilation

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.estimators.wrench_metrics import runs
from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.arm.residuals import rare
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, filtered
from robot_dynamics_ros.identification.dataset.recording import MIN_SAMPLES, MIN_SEGMENT, Piece, Recording
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING

CUTOFF, RATE = 10.0, 50.0  # Hz, of the state and of the samples that are looked at
BLOCK = 0.3  # s
FAR, SHARE, MIN_BLOCKS = 6.0, 0.25, 20  # deviations, of friction, blocks: contact beside a known model
CORE = 1.8  # of friction, which no error of a model exceeds
LOAD = 0.05  # of the RMS of the links' torque, which errors of the model may be where friction is less
RARE = 7.0  # standard deviations of a contact; free simulated robots stay below 5.25 for LASTS
EDGE = 0.5  # of it before and after
LASTS, BEFORE, AFTER = 0.25, 0.1, 0.3  # s of a contact; s that are left out before, and after, while filters settle
SEVERAL = 2.0  # times the second joint: a contact loads several joints, an error of friction one
MAX_CONTACT_SHARE = 0.5  # share of the data in contact above which leaving it out leaves too little
OTHER_ROTOR = 3.0  # factor between identified and initial rotor inertia beyond which it is reported
ROTOR = 0.1  # identified over initial rotor inertia below which it is suspicious
SIGNIFICANCE = 3.0  # standard deviations
NAMED = 4  # stretches, the longest
OVERRULE = "--contact ignore identifies it all the same"


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

    A push is rare for the live pipeline, at rest too; behind a gear, a long contact is for the means of joints that
    slide.
    """
    slid = _slid(live, recordings) if robot.drives.torque_side == "motor" else []
    try:
        values = rare(robot, recordings, elsewhere)
    except CapabilityError:  # of a file without a force, as its missing residuals say
        return slid
    return _joined([*_pushed(recordings, values), *slid])


def _pushed(recordings: Sequence[Recording], values: Sequence[np.ndarray]) -> Iterator[Stretch]:
    """Stretches in which the values (N,) of the pieces are `rare`, and what lies around them."""
    pieces = [(rec.name, piece) for rec in recordings for piece in rec.pieces]
    for (name, piece), own in zip(pieces, values, strict=True):
        t = piece.begin + piece.t
        for a, b in runs(own > EDGE * RARE):
            if own[a:b].max() > RARE and t[b - 1] - t[a] > LASTS:
                yield Stretch(name, float(t[a]) - BEFORE, float(t[b - 1]) + AFTER)


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Overlapping stretches of a recording as one."""
    left: list[Stretch] = []
    for s in sorted(stretches, key=lambda s: (s.name, s.begin)):
        if left and left[-1].name == s.name and s.begin <= left[-1].end:
            left[-1] = replace(left[-1], end=max(left[-1].end, s.end))
        else:
            left.append(s)
    return left


def _slid(live: LiveModel, recordings: Sequence[Recording]) -> list[Stretch]:
    """Stretches of contact in the means of joints that slide; at rest friction may hold it."""
    looked = [(rec, piece, motion) for rec in recordings for piece, motion in _motions(rec)]
    if not looked:
        return []
    motions = [motion for _, _, motion in looked]
    residuals = [m.effort - live.predict(m) for m in motions]
    links = [live.rigid.torque(live.phi, m.q, m.qd, m.qdd) for m in motions]
    friction = np.concatenate([live.friction_torque(m, x) for m, x in zip(motions, links, strict=True)])
    load = np.sqrt((np.concatenate(links) ** 2).mean(axis=0))
    level = np.fmax(np.median(np.abs(friction), axis=0), LOAD * load)
    rows = touched(residuals, [np.abs(m.qd) > MOVING for m in motions], level, motions[0].rate)
    return [
        Stretch(rec.name, piece.begin + float(m.t[a]), piece.begin + float(m.t[b - 1]))
        for (rec, piece, m), own in zip(looked, rows, strict=True)
        for a, b in runs(own)
    ]


def touched(
    residuals: Sequence[np.ndarray], uses: Sequence[np.ndarray], level: np.ndarray, rate: float
) -> list[np.ndarray]:
    """(N,) bool of every motion: the mean of a residual (N, n) over a block in which all of a joint's rows are used
    (N, n) is beyond FAR robust deviations of all such means, at least SHARE and at most CORE of the joint's friction,
    level (n,) [Nm]; and half of that in a second joint, if there is one.

    A payload or another calibration moves all means alike and marks nothing: it is a change point, not a contact.
    """
    means = [in_blocks(residual, rate).mean(axis=1) for residual in residuals]
    seen = [in_blocks(use, rate).min(axis=1) > 0 for use in uses]
    mean, known = np.concatenate(means), np.concatenate(seen)
    joints = np.zeros_like(mean)
    for j, (value, rows) in enumerate(zip(mean.T, known.T, strict=True)):
        if rows.sum() > MIN_BLOCKS:
            off = np.abs(value - np.median(value[rows]))
            limit = np.clip(FAR * 1.4826 * np.median(off[rows]), SHARE * level[j], CORE * level[j])
            joints[:, j] = rows * off / limit
    joints.sort(axis=1)
    size = np.minimum(joints[:, -1], SEVERAL * joints[:, -2:][:, 0])
    sizes = np.split(size, np.cumsum([len(m) for m in means])[:-1])
    parts = zip(residuals, seen, sizes, strict=True)
    return [_spread(len(residual), one, own, max(round(BLOCK * rate), 1)) for residual, one, own in parts]


def _spread(count: int, seen: np.ndarray, size: np.ndarray, block: int) -> np.ndarray:
    """(count,) bool of a motion from its blocks (m,): in a long standstill contact lasts until one shows its end."""
    last = np.maximum.accumulate(np.where(seen.any(axis=1), np.arange(len(size)), 0))
    rows = np.repeat(binary_dilation(size[last] > 1.0), block)
    return np.concatenate([rows, np.zeros(count - len(rows), bool)])


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


def in_blocks(x: np.ndarray, rate: float) -> np.ndarray:
    """Samples x (N, n) in whole blocks of BLOCK seconds (m, k, n)."""
    k = max(round(BLOCK * rate), 1)
    return x[: len(x) // k * k].reshape(-1, k, x.shape[1])


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
    """How much of the recordings, and where the longest stretches lie."""
    total, whole = sum(s.duration for s in stretches), sum(r.duration for r in recordings)
    longest = sorted(stretches, key=lambda s: -s.duration)[:NAMED]
    where = ", ".join(f"{s.name} {s.begin:.1f}:{s.end:.1f}" for s in sorted(longest, key=lambda s: (s.name, s.begin)))
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
