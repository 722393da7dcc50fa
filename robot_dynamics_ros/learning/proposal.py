"""Acceptance test: a new robot file is proposed only where it predicts recordings that it has not seen better.

The recordings that the present file has not seen are cut into up to FOLDS parts, in the order of time. For each, a file
is written from all other recordings and judged on every recording i of that part, joint by joint:
d_ij = log(rms_present / rms_new). `verdict` compares the means of d_ij with their scatter. Force at rest is compared on
recordings that are at hand, replayed through the live pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import stdtrit

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.identification.arm.residuals import piece_log
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.metrics import rms
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Information
from robot_dynamics_ros.learning.written import parameters_of, shows_rotors, with_residuals, written
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.verdict import times

FOLDS = 5
CHANCE = 0.05  # of a joint that is alike to be found better (any of them) or worse (each)
MARGIN = 0.02  # of the error, by which a joint is better or worse at least: a robot that works repeats itself no better
SHARED = 4.0  # nu_0, recordings' worth of the scatter of all joints
SETTLING = 2.0  # s at the beginning of a piece that are not judged
FORCE = 0.1  # N by which the force at rest may be larger: what one recording tells from another


@dataclass
class Proposal:
    """robot: the proposed file, None where nothing is proposed; better, worse: joints; reasons in words.

    present, new (n,) [Nm]: held-out RMS of the present file and of those written without the held-out part.
    rest: force at rest in free motion [N] with the present and the new file, None where no recording was at hand.
    halves: judged on the halves of a single recording, which say little about another day.
    """

    robot: RobotFile | None
    state: Information
    present: np.ndarray
    new: np.ndarray
    better: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    rest: tuple[float, float] | None = None
    reasons: list[str] = field(default_factory=list)
    halves: bool = False


def propose(
    seen: Running, triangles: Sequence[Triangle], present: RobotFile | None, recordings: Sequence[Recording] = ()
) -> Proposal:
    """The file of all recordings, judged on held-out parts of `triangles` against `present` (None: the columns' own).

    seen: what is known from the recordings that the present file was learned from: learned from, not judged on.
    recordings: those at hand, in Nm, for the force at rest and for what the live pipeline leaves unexplained.
    Raises DataError where no consistent body is found.
    """
    columns = seen.prior.columns
    order = sorted(triangles, key=lambda t: t.time)
    if not order:
        nothing = np.full(columns.n, np.nan)
        found = Proposal(None, seen.state, nothing, nothing)
        found.reasons.append("the present file has seen every recording: nothing is new")
        return found
    x_present = None if present is None else parameters_of(columns, present)
    pairs = []
    for part in np.array_split(np.arange(len(order)), min(FOLDS, len(order))):
        others = seen.with_all([t for k, t in enumerate(order) if k not in part])
        x = parameters_of(columns, written(columns, others.state, "held out"))
        pairs += [(_squares(columns, order[k], x_present), _squares(columns, order[k], x)) for k in part]
    before, after = np.swapaxes(np.maximum(pairs, 1e-12), 0, 1)
    everything, count = seen.with_all(order), np.sum([t.count for t in order], axis=0)
    found = Proposal(None, everything.state, np.sqrt(before.sum(axis=0) / count), np.sqrt(after.sum(axis=0) / count))
    judge(found, 0.5 * np.log(before / after), columns.robot.joint_names)
    by_rotor = not recordings or shows_rotors(columns, recordings)
    robot = written(columns, everything.state, _source(everything), by_rotor)
    if recordings:
        robot = with_residuals(robot, recordings)
        unseen = _unseen(seen, order, recordings, by_rotor)
        _judge_rest(found, columns.robot if present is None else present, unseen, recordings)
    else:
        found.reasons.append("force at rest was not compared: no recording is at hand")
    if found.better and not found.worse and found.rest is not None and found.rest[1] <= found.rest[0] + FORCE:
        found.robot = robot
    return found


def _squares(columns: Columns, recording: Triangle, x: np.ndarray | None) -> np.ndarray:
    """Weighted squared error (n,) [Nm^2] of parameters x (p,), of the columns' own file where None."""
    return recording.reference if x is None else recording.squares(x, columns.index)


def verdict(ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which joints are better, which are worse (n,) bool, from d (m, n) of m >= 2 held-out recordings.

    Means of d against their scatter by Student's t, the variance of a joint s_j^2 with nu = m - 1 degrees of freedom
    moderated by that of all joints, s_0^2 (Smyth 2004):
      s'_j^2 = (nu s_j^2 + nu_0 s_0^2)/(nu + nu_0),  t_j = mean_j / (s'_j/sqrt(m)) with nu + nu_0 degrees of freedom
    Better: t_j beyond CHANCE/n, so that a file that is as good is proposed with probability CHANCE at most. Worse: -t_j
    beyond CHANCE, and the mean beyond MARGIN (`judge` asks as much of the RMS of a joint that is better).
    G. K. Smyth, Linear models and empirical Bayes methods, Stat. Appl. Genet. Mol. Biol. 3.
    """
    m, n = ratio.shape
    own = ratio.var(axis=0, ddof=1)
    shared = (m - 1) * own + SHARED * own.mean()
    error = np.maximum(np.sqrt(shared / (m - 1 + SHARED) / m), 1e-9)
    mean, freedom = ratio.mean(axis=0), m - 1 + SHARED
    better = mean > stdtrit(freedom, 1 - CHANCE / n) * error
    worse = mean < -np.maximum(stdtrit(freedom, 1 - CHANCE) * error, MARGIN)
    return better, worse


def judge(found: Proposal, ratio: np.ndarray, names: Sequence[str]) -> None:
    """Fill better and worse from d (recordings, n)."""
    if len(ratio) < 2:
        found.reasons.append("a single new recording that is short or not at hand cannot be judged: record once more")
        return
    mean = ratio.mean(axis=0)
    better, worse = verdict(ratio)
    better &= found.new < (1.0 - MARGIN) * found.present
    found.better, found.worse = (
        [n for n, is_so in zip(names, which, strict=True) if is_so] for which in (better, worse)
    )
    change = ", ".join(f"{n} {times(np.exp(-m))}" for n, m in zip(names, mean, strict=True))
    found.reasons.append(f"error on held-out recordings: {change}")
    if found.worse:
        found.reasons.append(f"held-out recordings contradict the learned file: worse in {', '.join(found.worse)}")
    if not found.better:
        found.reasons.append("no joint is better by more than the scatter of the recordings")


def _unseen(seen: Running, order: Sequence[Triangle], recordings: Sequence[Recording], by_rotor: bool) -> RobotFile:
    """The file without the newest half of the recordings at hand, with residuals of those it has seen, if any."""
    late = {1e-9 * r.start_ns for r in recordings[len(recordings) // 2 :]}
    known = seen.with_all([t for t in order if t.time not in late])
    robot = written(seen.prior.columns, known.state, "held out", by_rotor)
    at_hand = list(recordings[: len(recordings) // 2]) or list(recordings)
    return with_residuals(robot, at_hand)


def _judge_rest(found: Proposal, present: RobotFile, new: RobotFile, recordings: Sequence[Recording]) -> None:
    """Fill rest: root mean square of the estimated force where the arm stands free, newest half of the recordings."""
    late = recordings[len(recordings) // 2 :]
    before, after = (rest_force(robot, late) for robot in (present, new))
    if not np.isfinite([before, after]).all():
        found.reasons.append("the arm never stands still in these recordings: force at rest was not compared")
        found.rest = (0.0, 0.0)
        return
    found.rest = before, after
    word = "is larger" if after > before + FORCE else "is not larger"
    found.reasons.append(f"force at rest in free motion {word}: {after:.1f} N instead of {before:.1f} N")


def rest_force(robot: RobotFile, recordings: Sequence[Recording]) -> float:
    """RMS [N] per axis of the estimated contact force where the whole arm stands; NaN where it never does."""
    found = []
    for piece in (piece for rec in recordings for piece in rec.pieces):
        log = piece_log(robot, piece)
        Pipeline(robot).run(log)
        still = ~moving_mask(log.qd, log.time) & (log.time > SETTLING)
        force = log.external_wrench[still, :3]
        found.append(force[np.isfinite(force).all(axis=1)])
    return rms(np.concatenate(found))


def _source(known: Running) -> str:
    names = list(known.recordings.values())
    shown = ", ".join(names[:3] + (["..."] if len(names) > 4 else []) + names[3:][-1:])
    return f"robot-dynamics learn on {len(names)} recordings, {known.seconds:.0f} s: {shown}"
