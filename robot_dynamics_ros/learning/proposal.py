"""Never worse: a new robot file is proposed only where it predicts recordings that it has not seen better.

The recordings that the present file has not seen are cut into up to FOLDS parts, in the order of time. For each, a file
is written from all other recordings and judged on that part, joint by joint: d_ij = log(rms_present / rms_new). A joint
is better where the mean of d_ij is above SURE standard errors, worse where it is below -SURE of them. Force at rest is
compared on recordings that are at hand, replayed through the live pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.identification.arm.residuals import piece_log
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import TAU, Information, Prior, posterior
from robot_dynamics_ros.learning.written import parameters_of, with_residuals, written
from robot_dynamics_ros.robot_file import RobotFile

FOLDS = 5
SURE = 2.0  # standard errors
FLOOR = 0.01  # least standard error of a mean of d_ij: less than a percent is no change
SETTLING = 2.0  # s at the beginning of a piece that are not judged
FORCE = 0.1  # N by which the force at rest may be larger: what one recording tells from another


@dataclass
class Proposal:
    """robot: the proposed file, None where nothing is proposed; better, worse: joints; reasons in words.

    present, new (n,) [Nm]: held-out RMS of the present file and of those written without the held-out part.
    rest: force at rest in free motion [N] with the present and the new file, None where no recording was at hand.
    """

    robot: RobotFile | None
    state: Information
    present: np.ndarray
    new: np.ndarray
    better: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    rest: tuple[float, float] | None = None
    reasons: list[str] = field(default_factory=list)


def propose(
    prior: Prior,
    triangles: Sequence[Triangle],
    present: RobotFile | None,
    recordings: Sequence[Recording] = (),
    tau: float = TAU,
    seen: Sequence[Triangle] = (),
) -> Proposal:
    """The file of all triangles, judged on held-out parts of `triangles` against `present` (None: the columns' own).

    seen: triangles that the present file was learned from: learned from again, not judged on. recordings: those at
    hand, in Nm, for the force at rest and for what the live pipeline leaves unexplained.
    Raises DataError where no consistent body is found.
    """
    columns = prior.columns
    order = sorted(triangles, key=lambda t: t.time)
    if not order:
        nothing = np.full(columns.n, np.nan)
        found = Proposal(None, posterior(prior, seen, tau), nothing, nothing)
        found.reasons.append("the present file has seen every recording: nothing is new")
        return found
    x_present = None if present is None else parameters_of(columns, present)
    ratio, squares = [], []
    for part in np.array_split(np.arange(len(order)), min(FOLDS, len(order))):
        others = [*seen, *(t for k, t in enumerate(order) if k not in part)]
        x = parameters_of(columns, written(columns, posterior(prior, others, tau), "held out"))
        held_out = [order[k] for k in part]
        before, after = _squares(columns, held_out, x_present), _squares(columns, held_out, x)
        ratio.append(0.5 * np.log(np.maximum(before, 1e-12) / np.maximum(after, 1e-12)))
        squares.append([before, after, np.sum([t.count for t in held_out], axis=0)])
    before, after, count = np.sum(squares, axis=0)
    everything = [*seen, *order]
    state = posterior(prior, everything, tau)
    found = Proposal(None, state, np.sqrt(before / count), np.sqrt(after / count))
    _judge(found, np.array(ratio), columns.robot.joint_names)
    robot = written(columns, state, _source(everything))
    if recordings:
        robot = with_residuals(robot, recordings, next(k for k in robot.sources if k.startswith("learned_")))
        _judge_rest(
            found,
            columns.robot if present is None else present,
            _unseen(prior, everything, recordings, tau),
            recordings,
        )
    else:
        found.reasons.append("force at rest was not compared: no recording is at hand")
    if found.better and not found.worse and found.rest is not None and found.rest[1] <= found.rest[0] + FORCE:
        found.robot = robot
    return found


def _squares(columns: Columns, triangles: Sequence[Triangle], x: np.ndarray | None) -> np.ndarray:
    """Weighted squared error (n,) [Nm^2] of parameters x (p,), of the columns' own file where None."""
    return np.sum([t.reference if x is None else t.squares(x, columns.index) for t in triangles], axis=0)


def _judge(found: Proposal, ratio: np.ndarray, names: Sequence[str]) -> None:
    """Fill better and worse from ratio (folds, n)."""
    if len(ratio) < 2:
        found.reasons.append("a single new recording that is not at hand cannot be judged: record once more")
        return
    mean, error = ratio.mean(axis=0), np.maximum(ratio.std(axis=0, ddof=1) / np.sqrt(len(ratio)), FLOOR)
    found.better = [n for n, m, e in zip(names, mean, error, strict=True) if m > SURE * e]
    found.worse = [n for n, m, e in zip(names, mean, error, strict=True) if m < -SURE * e]
    change = ", ".join(f"{n} {100 * (np.exp(-m) - 1):+.0f} %" for n, m in zip(names, mean, strict=True))
    found.reasons.append(f"error on held-out recordings: {change}")
    if found.worse:
        found.reasons.append(f"held-out recordings contradict it: worse in {', '.join(found.worse)}")
    if not found.better:
        found.reasons.append("no joint is better by more than the scatter of the recordings")


def _unseen(prior: Prior, order: Sequence[Triangle], recordings: Sequence[Recording], tau: float) -> RobotFile:
    """The file without the newest half of the recordings at hand, with residuals of those it has seen, if any."""
    late = {1e-9 * r.start_ns for r in recordings[len(recordings) // 2 :]}
    others = [t for t in order if t.time not in late]
    robot = written(prior.columns, posterior(prior, others, tau), "held out")
    seen = list(recordings[: len(recordings) // 2]) or list(recordings)
    return with_residuals(robot, seen, next(k for k in robot.sources if k.startswith("learned_")))


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
    rows = np.concatenate(found)
    return float(np.sqrt((rows**2).mean())) if len(rows) else float("nan")


def _source(order: Sequence[Triangle]) -> str:
    seconds = sum(float(t.about.get("seconds", 0.0)) for t in order)
    names = [str(t.about.get("recording")) for t in order]
    shown = ", ".join(names[:3] + (["..."] if len(names) > 4 else []) + names[3:][-1:])
    return f"robot-dynamics learn on {len(order)} recordings, {seconds:.0f} s: {shown}"
