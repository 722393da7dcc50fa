"""A recording made fit and folded into triangles: one effort meaning, free of contact, rows that say something."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros import __version__
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.export import bag_files
from robot_dynamics_ros.identification.arm.identify import leave_out_contact, recognise_effort
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.solvers.least_squares import huber
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, filtered, motion_frequency
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.learning.triangles import FORMAT, Triangle
from robot_dynamics_ros.learning.update import Prior, posterior

CUTOFFS = (5.0, 25.0)  # Hz, of the state; 5 times the frequency of the motion between them [Madsen2020 ch5 4.1]
CHUNK = 16_384  # rows whose columns exist at a time
STAND = 1.0  # s after the last motion of any joint in which rows count: a long stand says the same thing again
STILL = 0.005  # rad/s
TRAVEL = 2.0  # largest spans that a joint must have covered before its presliding state is known
BLOCK = 1.0  # s over which residuals are averaged to see how long they stay alike
MIN_ROWS = 500  # of a joint


def learn_bag(prior: Prior, bag: str | Path, options: Options) -> tuple[Triangle, Recording]:
    """One bag as a triangle, and the recording in Nm that is left of it. Raises DataError where nothing is usable."""
    rec = read(prior.columns.robot, bag, options, options.exclude)
    return learn_recording(prior, rec, options, bag_hash(bag))


def bag_hash(bag: str | Path) -> str:
    """SHA-256 over the files of a bag."""
    digest = hashlib.sha256()
    for path in bag_files([bag]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@one_thread()
def learn_recording(prior: Prior, rec: Recording, options: Options, sha256: str) -> tuple[Triangle, Recording]:
    """A loaded recording as a triangle, and what is left of it in Nm. Raises DataError where nothing is usable."""
    robot = prior.columns.robot
    state = Identification(robot, options, [rec], [], "")
    recognise_effort(state)
    if not np.allclose(state.robot.gravity, robot.gravity):
        raise DataError(f"{rec.name}: gravity acts another way than in the robot file: mounted otherwise?")
    if state.effort.includes_gravity != robot.drives.effort.includes_gravity:
        raise DataError(f"{rec.name}: effort is {state.effort.kind}, which the robot file does not say")
    leave_out_contact(state)
    if state.spoiled:
        raise DataError(f"{rec.name}: {state.spoiled}")
    (free,) = state.training
    motion = working_motion(free)
    about = _about(prior, rec, free, state.effort.kind, sha256)
    return _folded(prior, motion, rec.name, about), free


def working_motion(rec: Recording) -> Motion:
    """The motion of a recording at the rate of the triangles. Raises DataError where it is too short."""
    cutoff = float(np.clip(5 * motion_frequency(rec), *CUTOFFS))
    return at_lower_rate(filtered(rec, min(cutoff, 0.2 * rec.rate)))


def _folded(prior: Prior, motion: Motion, name: str, about: dict[str, Any]) -> Triangle:
    """Two passes: all rows alike, then rows far off the solution of the first with less weight (Huber)."""
    columns = prior.columns
    use = np.concatenate([_usable(prior, part) for part in chunks(motion)])
    if (use.sum(axis=0) < MIN_ROWS).any():
        few = [n for n, count in zip(columns.robot.joint_names, use.sum(axis=0), strict=True) if count < MIN_ROWS]
        if len(few) == columns.n:
            raise DataError(f"{name}: hardly moves: no joint has {MIN_ROWS} rows in motion")
    triangles = triangles_of(prior, motion, use)
    count = np.maximum(use.sum(axis=0), 1.0)
    first = Triangle(triangles, count, np.ones(columns.n), np.zeros(columns.n), about | {"time": 0.0})
    x = posterior(prior, [first]).mean
    residual = np.concatenate([_residual(prior, part, x) for part in chunks(motion)])
    weight = np.column_stack([_huber(r, u) for r, u in zip(residual.T, use.T, strict=True)])
    law = file_effort(columns.robot, columns.rigid.gravity, (None,) * columns.n)
    error = np.concatenate([part.effort - law(part) for part in chunks(motion)])
    reference = (weight * error**2).sum(axis=0)
    sums = np.maximum(weight.sum(axis=0), 1.0)
    return Triangle(triangles_of(prior, motion, weight), sums, _correlation(residual, weight, motion), reference, about)


def triangles_of(prior: Prior, motion: Motion, weight: np.ndarray) -> list[np.ndarray]:
    """Triangle of every joint of the rows of a motion with weights (N, n)."""
    columns, qr, first = prior.columns, prior.columns.qr(), 0
    for part in chunks(motion):
        last = first + len(part)
        load = columns.load(part)
        y = np.ascontiguousarray(part.effort - columns.known_torque(part))
        own = np.column_stack(columns.friction(part, load))
        q, qd, qdd = (np.ascontiguousarray(x) for x in (part.q, part.qd, part.qdd))
        qr.update(q, qd, qdd, y, own, np.sqrt(weight[first:last]))
        first = last
    return [qr.triangle(j) for j in range(columns.n)]


def chunks(motion: Motion) -> Iterator[Motion]:
    """The motion in parts of CHUNK rows; each begins anew, without presliding state."""
    for a in range(0, len(motion), CHUNK):
        yield motion.take(np.arange(a, min(a + CHUNK, len(motion))))


def _usable(prior: Prior, motion: Motion) -> np.ndarray:
    """(N, n) of 0 and 1: the arm has moved within STAND, and the joint far enough to know its presliding state."""
    moves = (np.abs(motion.qd) > STILL).any(axis=1)
    awake = motion.t - np.maximum.accumulate(np.where(moves, motion.t, -np.inf)) < STAND
    use = np.repeat(awake[:, None], motion.n, axis=1)
    starts = np.maximum.accumulate(np.where(motion.start, np.arange(len(motion)), 0))
    for j, shape in enumerate(prior.columns.shapes if prior.columns.motor_side else ()):
        q = motion.position[:, j]
        for a in np.unique(starts):
            rows = np.flatnonzero(starts == a)
            span = np.maximum.accumulate(q[rows]) - np.minimum.accumulate(q[rows])
            use[rows, j] &= span > TRAVEL * max(shape.spans)
    return use.astype(float)


def _residual(prior: Prior, motion: Motion, x: np.ndarray) -> np.ndarray:
    """Effort minus prediction (N, n) [Nm] of parameters x (p,)."""
    c = prior.columns
    phi = c.rigid.base.to_standard(x[: c.base])
    own = np.column_stack([F @ x[c.own(j)] for j, F in enumerate(c.friction(motion, c.load(motion)))])
    return motion.effort - c.known_torque(motion) - own - c.rigid.torque(phi, motion.q, motion.qd, motion.qdd)


def _huber(residual: np.ndarray, use: np.ndarray) -> np.ndarray:
    out = np.zeros_like(use)
    rows = use > 0
    if rows.any():
        out[rows] = huber(residual[rows], use[rows])
    return out


def _correlation(residual: np.ndarray, weight: np.ndarray, motion: Motion) -> np.ndarray:
    """Rows per independent row (n,): variance of sums over BLOCK over that of independent rows, at least 1."""
    k = max(round(BLOCK * motion.rate), 1)
    m = len(residual) // k
    if m < 2:
        return np.full(motion.n, float(k))
    r = (np.sqrt(weight) * residual)[: m * k].reshape(m, k, -1)
    return np.clip((r.sum(axis=1) ** 2).sum(axis=0) / np.maximum((r**2).sum(axis=(0, 1)), 1e-12), 1.0, float(k))


def _about(prior: Prior, rec: Recording, free: Recording, kind: str, sha256: str) -> dict[str, Any]:
    seen = [p.extra["temperature"] for p in free.pieces if "temperature" in p.extra]
    warm = np.concatenate(seen) if seen else np.full((1, rec.n), np.nan)
    known = np.isfinite(warm).all()
    return {
        "format": FORMAT,
        "version": __version__,
        "robot_id": prior.columns.robot_id,
        "robot": prior.columns.robot.name,
        "recording": Path(rec.name).name,
        "sha256": sha256,
        "time": 1e-9 * rec.start_ns,
        "seconds": free.duration,
        "unit": "Nm",
        "effort": kind,
        "temperature": warm.mean(axis=0).tolist() if known else None,
        "temperature_range": np.ptp(warm, axis=0).tolist() if known else None,
    }
