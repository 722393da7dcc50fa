"""A recording prepared and reduced to QR factors: one meaning of effort, no contact, informative rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import binary_dilation

from robot_dynamics_ros import __version__
from robot_dynamics_ros.bags.storage import bag_files
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.contact import MAX_CONTACT_SHARE, Stretch, without
from robot_dynamics_ros.identification.arm.friction_samples import covered
from robot_dynamics_ros.identification.arm.identify import recognise_effort
from robot_dynamics_ros.identification.arm.parameters import OTHER_ROBOT, gravity_factor, other_masses
from robot_dynamics_ros.identification.arm.solvers.least_squares import huber
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, filtered, motion_frequency
from robot_dynamics_ros.identification.dataset.recording import Recording, temperature_of
from robot_dynamics_ros.identification.metrics import robust_std
from robot_dynamics_ros.learning.columns import WARM
from robot_dynamics_ros.learning.triangles import FORMAT, Triangle
from robot_dynamics_ros.learning.update import Information, Prior, rows_of
from robot_dynamics_ros.robot_file.store import file_sha256
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.signals.runs import last_true, runs
from robot_dynamics_ros.signals.speeds import SLIDING, SLOW

CUTOFFS = (5.0, 25.0)  # Hz, of the state; 5 times the frequency of the motion between them [Madsen2020 ch5 4.1]
CHUNK = 16_384  # rows whose columns exist at a time
TRAVEL = 2.0  # largest spans that a joint must have covered before its presliding state is known
BLOCK = 1.0  # s over which residuals are averaged to see how long they stay alike
MIN_ROWS = 500  # of a joint
STAND = 1.0  # s of a stand that are learned from
ALIKE = 50.0  # rows per independent row of a first look
TOUCH = 0.3  # s over which residuals are averaged to see a contact
FAR, SHARE, MIN_BLOCKS = 6.0, 0.25, 20  # deviations, of friction, blocks: contact beside a known model
STILL_SHARE = 0.7  # of friction, in a long stand: the residuals of free simulated robots change by less there
CORE = 1.8  # of friction, which no error of a model exceeds
SEVERAL = 2.0  # times the second joint: a contact loads several joints, an error of friction one


def bag_hash(bag: str | Path) -> str:
    """SHA-256 over the files of a bag."""
    return file_sha256(*bag_files([bag]))


@one_thread()
def learn_recording(
    prior: Prior, rec: Recording, options: Options, sha256: str, state: Information | None = None
) -> tuple[Triangle, Recording]:
    """A loaded recording as a triangle, and what is left of it in Nm.

    state: what is known from other recordings, which separates contact from friction. Raises DataError where nothing
    is usable.
    """
    robot = prior.columns.robot
    found = Identification(robot, options, [rec], [], "")
    recognise_effort(found)
    if not np.allclose(found.robot.gravity, robot.gravity):
        raise DataError(
            f"{rec.name}: gravity has another direction than in the robot file: is the arm mounted otherwise?"
        )
    meaning = found.effort.meaning
    if meaning.includes_gravity != robot.drives.effort.includes_gravity:
        raise DataError(f"{rec.name}: effort is {meaning.word}, which the robot file does not say")
    if gravity_factor(found.effort) < 1 / OTHER_ROBOT:  # a payload raises it
        raise DataError(f"{rec.name}: {other_masses(robot, found.effort)}")
    (free,) = found.training
    motion = working_motion(free, robot.drives.effort.delay)
    work = Work(motion, warmer_than(free, motion))
    use, x = _rows(prior, work, rec.name, state)
    triangle, contact = _folded(prior, work, use, x)
    if contact.mean() > MAX_CONTACT_SHARE:
        raise DataError(f"{rec.name}: contact for {contact.mean():.0%} of the time: record without contact")
    free = _without(free, motion, contact)
    return replace(triangle, about=_about(prior, rec, free, meaning.word, sha256)), free


@dataclass(frozen=True)
class Work:
    """A motion, and by how much each joint is warmer than T0 (N, n) [K]; None: not known."""

    motion: Motion
    warmer: np.ndarray | None = None

    def chunks(self) -> Iterator[Work]:
        """Parts of CHUNK rows; each begins anew, without presliding state."""
        for a in range(0, len(self.motion), CHUNK):
            b = min(a + CHUNK, len(self.motion))
            yield Work(self.motion.take(np.arange(a, b)), None if self.warmer is None else self.warmer[a:b])


def warmer_than(rec: Recording, motion: Motion) -> np.ndarray | None:
    """T - T0 (N, n) [K] at the rows of a motion; None where a recording does not hold all temperatures."""
    if not all("temperature" in p.extra and np.isfinite(p.extra["temperature"]).all() for p in rec.pieces):
        return None
    return interpolated(motion.t, rec.stacked("time"), rec.stacked("temperature")) - WARM


def working_motion(rec: Recording, delay: float = 0.0) -> Motion:
    """The motion of a recording at the rate of the triangles, t from its first sample; its effort is `delay` [s] later
    than the positions.

    Raises DataError where it is too short.
    """
    cutoff = float(np.clip(5 * motion_frequency(rec), *CUTOFFS))
    return at_lower_rate(filtered(rec, min(cutoff, 0.2 * rec.rate), delay=delay))


def _rows(prior: Prior, work: Work, name: str, state: Information | None) -> tuple[np.ndarray, np.ndarray]:
    """Informative rows (N, n) of 0 and 1, and parameters x (p,) that the residuals of a first look are about, without
    the contact that the state shows or, where nothing is known, a look at all rows.

    Raises DataError where no joint moves.
    """
    columns = prior.columns
    moving = (part.motion for part in work.chunks())  # or just after it
    use = np.concatenate([_known(prior, motion) * _after_motion(motion)[:, None] for motion in moving])
    if (use.sum(axis=0) < MIN_ROWS).all():
        raise DataError(f"{name}: hardly moves: no joint has {MIN_ROWS} rows in motion")
    ones = np.ones(columns.n)
    count = np.maximum(use.sum(axis=0), 1.0)

    def fitted(rows: np.ndarray) -> np.ndarray:
        first = Triangle(triangles_of(prior, work, rows), count, ALIKE * ones, 0 * ones)
        return known.with_rows(rows_of(first, columns)).mean

    known = prior.information if state is None else state
    x = fitted(use) if state is None else state.mean
    return use, fitted(use * ~_contact(prior, work, x)[1][:, None])


def _contact(prior: Prior, work: Work, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Residuals (N, n) [Nm] of parameters x (p,), and which rows (N,) they show as contact."""
    parts = list(work.chunks())
    of_parts = [_residual(prior, part, x) for part in parts]
    residual = np.concatenate(of_parts)
    known = np.concatenate([_known(prior, part.motion) for part in parts])
    moved = np.concatenate([_after_motion(part.motion) for part in parts])[:, None]
    changes = np.concatenate([_in_stands(r, part.motion) for r, part in zip(of_parts, parts, strict=True)])
    still = (residual, known * ~moved, SHARE), (changes, ~moved * np.ones_like(known), STILL_SHARE)
    return residual, touched([(residual, known * moved, SHARE), *still], _level(prior, parts), work.motion.rate)


def _in_stands(residual: np.ndarray, motion: Motion) -> np.ndarray:
    """Residuals (N, n) less their median of the stand: what they change by while friction stays as it is, also where it
    is not known. A push moves no joint as fast as SLIDING.
    """
    fast = (np.abs(motion.qd) > SLIDING).any(axis=1)
    begins = np.flatnonzero(motion.start | np.diff(fast, prepend=fast[0]))
    return np.concatenate([r - np.median(r, axis=0) for r in np.split(residual, begins) if len(r)])


def touched(looks: Sequence[tuple[np.ndarray, np.ndarray, float]], level: np.ndarray, rate: float) -> np.ndarray:
    """(N,) bool of looks at residuals (N, n) [Nm] in the rows (N, n) of a state; a share of friction belongs to each.

    The mean of a residual over a block in which all of a joint's rows are of the state is beyond FAR robust deviations
    of all such means, at least the share and at most CORE of the joint's friction, level (n,) [Nm]; and half of that in
    a second joint, if there is one. Contact lasts until a block that can be judged shows its end.

    A payload or another calibration moves all means alike and marks nothing: it is a change point, not a contact.
    """
    k = max(round(TOUCH * rate), 1)
    joints = np.zeros((len(looks[0][0]) // k, len(level)))
    judged = np.zeros(len(joints), bool)
    for residual, state, share in looks:
        mean = in_blocks(residual, k).mean(axis=1)
        for j, (value, rows) in enumerate(zip(mean.T, in_blocks(state, k).min(axis=1).T > 0, strict=True)):
            if rows.sum() > MIN_BLOCKS:
                off = np.abs(value - np.median(value[rows]))
                least = np.clip(FAR * robust_std(off[rows]), share * level[j], CORE * level[j])
                joints[:, j] = np.maximum(joints[:, j], rows * off / least)
                judged |= rows
    joints.sort(axis=1)
    size = np.minimum(joints[:, -1], SEVERAL * joints[:, -2:][:, 0])
    rows = np.repeat(binary_dilation(size[last_true(judged)] > 1.0), k)
    return np.concatenate([rows, np.zeros(len(looks[0][0]) - len(rows), bool)])


def in_blocks(x: np.ndarray, k: int) -> np.ndarray:
    """Samples x (N, n) in whole blocks of k (m, k, n)."""
    return x[: len(x) // k * k].reshape(-1, k, x.shape[1])


def _level(prior: Prior, parts: list[Work]) -> np.ndarray:
    """Friction (n,) [Nm]: median of what is not the links' torque."""
    rest = [np.abs(part.motion.effort - prior.columns.load(part.motion)) for part in parts]
    found: np.ndarray = np.median(np.concatenate(rest), axis=0)
    return found


def _folded(prior: Prior, work: Work, use: np.ndarray, x: np.ndarray) -> tuple[Triangle, np.ndarray]:
    """The triangle without what was touched, rows far off x (p,) with less weight (Huber); touched (N,) bool."""
    columns = prior.columns
    residual, contact = _contact(prior, work, x)
    use = use * ~contact[:, None]
    weight = np.column_stack([_huber(r, u) for r, u in zip(residual.T, use.T, strict=True)])
    law = file_effort(columns.robot, columns.rigid.gravity, (None,) * columns.n)
    error = np.concatenate([part.motion.effort - law(part.motion) for part in work.chunks()])
    reference = (weight * error**2).sum(axis=0)
    sums, alike = np.maximum(weight.sum(axis=0), 1.0), _correlation(residual, weight, work.motion)
    return Triangle(triangles_of(prior, work, weight), sums, alike, reference), contact


def _without(rec: Recording, motion: Motion, touched: np.ndarray) -> Recording:
    """The recording without the time of touched rows."""
    step = 1 / motion.rate
    found = [Stretch(rec.name, float(motion.t[a]) - step, float(motion.t[b - 1]) + step) for a, b in runs(touched)]
    left = without([rec], found)
    return left[0] if left else rec


def triangles_of(prior: Prior, work: Work, weight: np.ndarray) -> list[np.ndarray]:
    """Triangle of every joint of the rows of a motion with weights (N, n)."""
    columns, qr, first = prior.columns, prior.columns.qr(), 0
    for chunk in work.chunks():
        part = chunk.motion
        last = first + len(part)
        y = part.effort - columns.known_torque(part)
        own = np.column_stack(columns.friction(part, columns.load(part), chunk.warmer))
        qr.update(part.q, part.qd, part.qdd, y, own, np.sqrt(weight[first:last]))
        first = last
    return [qr.triangle(j) for j in range(columns.n)]


def _after_motion(motion: Motion) -> np.ndarray:
    """(N,) bool: some joint has moved within STAND seconds, or a piece has begun, before which it may have moved."""
    moves = (np.abs(motion.qd) > SLOW).any(axis=1) | motion.start
    last = np.maximum.accumulate(np.where(moves, motion.t, -np.inf))
    return motion.t - last < STAND


def _known(prior: Prior, motion: Motion) -> np.ndarray:
    """(N, n) of 0 and 1: the joint has moved far enough to know its presliding state."""
    spans = np.array([max(shape.spans) for shape in prior.columns.shapes])
    return (covered(motion.position, motion.start) > TRAVEL * spans).astype(float)


def _residual(prior: Prior, work: Work, x: np.ndarray) -> np.ndarray:
    """Effort minus prediction (N, n) [Nm] of parameters x (p,)."""
    c, motion = prior.columns, work.motion
    phi = c.rigid.base.to_standard(x[: c.base])
    own = np.column_stack([F @ x[c.own(j)] for j, F in enumerate(c.friction(motion, c.load(motion), work.warmer))])
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
    r = in_blocks(np.sqrt(weight) * residual, k)
    if len(r) < 2:
        return np.full(motion.n, float(k))
    return np.clip((r.sum(axis=1) ** 2).sum(axis=0) / np.maximum((r**2).sum(axis=(0, 1)), 1e-12), 1.0, float(k))


def _about(prior: Prior, rec: Recording, free: Recording, kind: str, sha256: str) -> dict[str, Any]:
    warm = temperature_of(free)
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
        "temperature": None if warm is None else warm.tolist(),
    }
