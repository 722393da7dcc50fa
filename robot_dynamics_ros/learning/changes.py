"""Change points: a recording that contradicts all before it is not averaged in; the report names what changed.

Innovation of a recording's rows A, y against the posterior x, C C' of all before:  r = y - A x, S = I + A C C' A'.
A hypothesis adds columns D: r = D theta + e. Its evidence is what chi2 = r' S^-1 r falls by. Columns of
  payload   mass and first moments of the last link (mX, mY, mZ, m)
  gain      of joint j: its own predicted torque A x        (a re-calibrated sensor, another torque constant)
  gear      of joint j: all of its own friction             (a replaced gear; by as much as live nodes call unusual)
  bias      of joint j: its offset column                   (a re-calibrated torque zero)
  friction  of all joints: all of it                        (temperature, wear, running-in); learned as it is
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import linalg

from robot_dynamics_ros.estimators.external_force import UNUSUAL
from robot_dynamics_ros.estimators.force_arguments import CHANGED
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.replay_changes import torques_changed
from robot_dynamics_ros.identification.arm.friction_differences import LEARNED, coulomb_text, what_they_show
from robot_dynamics_ros.identification.arm.friction_shares import common, over_first, share_columns
from robot_dynamics_ros.identification.arm.residuals import piece_log
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.metrics import covariance
from robot_dynamics_ros.learning.columns import GROUPS, VISCOUS, Columns
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Information, rows_of
from robot_dynamics_ros.models.sliding_friction import share_text
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.verdict import CLEAR, SHARE, changed, times

PAYLOAD, SCALED = 0.2, 0.05  # kg, share of a torque: smaller ones are no change point
STRANGE = 8.0  # chi2 per row above which a recording is held back although no hypothesis explains it
ORDINARY = "friction"  # kind of a change that is learned, where less than that is left
EXPLAINED = 0.3  # of what chi2 exceeds its rows by, that a hypothesis must explain

Words = Callable[[np.ndarray, np.ndarray], str]  # of theta (k,) and its deviation (k,)


@dataclass(frozen=True)
class Change:
    """kind: that of a hypothesis or unexplained; text in words; chi2 per row before and with the hypothesis.

    where: number of the hypothesis; size and std of its first parameter, least: of a change that counts.
    """

    kind: str
    text: str
    before: float
    after: float
    where: int = -1
    size: float = 0.0
    std: float = 0.0
    least: float = 0.0


def is_new(found: Change, state: Information, earlier: Triangle, columns: Columns) -> bool:
    """False where an earlier recording shows the same against this state: what `state` does not know did not change."""
    old = change_of(state, earlier, columns) if found.where >= 0 else None
    if old is None or old.where != found.where:
        return True
    return bool(changed(found.size - old.size, np.hypot(found.std, old.std), found.least, 1.0))


def change_since(
    state: Information, new: Triangle, learned: Callable[[], Sequence[Triangle]], columns: Columns
) -> Change | None:
    """What changed since the recording before, of those `learned` in order of time; None where nothing did."""
    found = change_of(state, new, columns)
    if found is None:
        return None
    before = learned()
    earlier = ([t for t in before if t.time < new.time] or before[::-1])[-1]
    return found if is_new(found, state, earlier, columns) else None


def change_of(state: Information, recording: Triangle, columns: Columns) -> Change | None:
    """What changed since the recordings in `state`; None where the recording agrees with them."""
    rows = rows_of(recording, columns, 1.0)
    A, y = rows[:, :-1], rows[:, -1]
    x, AC = state.mean, A @ state.root
    L = np.linalg.cholesky(np.eye(len(A)) + AC @ AC.T)
    r = linalg.solve_triangular(L, y - A @ x, lower=True)
    chi2, m = float(r @ r), len(r)
    best: tuple[float, Change] | None = None
    for where, (kind, D, words, least) in enumerate(_hypotheses(columns, recording, A, x)):
        D = linalg.solve_triangular(L, D, lower=True)
        theta, *_ = np.linalg.lstsq(D, r, rcond=None)
        gained = float(np.sum((D @ theta) ** 2))
        size, std = float(theta[0]), np.sqrt(np.diag(np.linalg.pinv(D.T @ D)))
        text = words(theta, std) if changed(size, std[0], least, 1.0) else ""
        enough = gained > CLEAR**2 + len(theta) and gained > EXPLAINED * max(chi2 - m, 0.0)
        enough &= kind != ORDINARY or chi2 - gained < STRANGE * m
        if text and enough and (best is None or gained - len(theta) > best[0]):
            after = (chi2 - gained) / m
            best = gained - len(theta), Change(kind, text, chi2 / m, after, where, size, float(std[0]), least)
    if best is not None:
        return best[1]
    if chi2 > STRANGE * m:
        return Change(
            "unexplained", "contradicts all earlier recordings: collision, other tool or clock?", chi2 / m, chi2 / m
        )
    return None


def against_the_file(robot: RobotFile, rec: Recording) -> str:
    """What the longest piece of a recording in Nm contradicts in a robot file, as `replay` says it; "" where nothing
    does, and for a file that was not identified, which states no residuals.
    """
    if not robot.has("residuals.moving"):
        return ""
    log, pipeline = piece_log(robot, max(rec.pieces, key=lambda piece: len(piece.t))), Pipeline(robot)
    torques = torques_changed(pipeline, log, pipeline.run(log))
    return torques or pipeline.stage("force").payload_message()


def _hypotheses(
    columns: Columns, recording: Triangle, A: np.ndarray, x: np.ndarray
) -> Iterator[tuple[str, np.ndarray, Words, float]]:
    """(kind, D (m, k), words(theta, std), least theta[0] that matters)."""
    own = [columns.place(j, t) for j, terms in enumerate(columns.terms) for t in terms if t not in ("fo", "ia")]
    yield ORDINARY, (A[:, own] @ x[own])[:, None], _friction, SCALED
    P = columns.rigid.base.matrix()
    last = 10 * (columns.n - 1) + np.array([9, 6, 7, 8])
    yield "payload", A[:, : columns.base] @ P[:, last], _payload, PAYLOAD
    ends = np.cumsum([len(T) - 1 for T in recording.joints])
    for j, name in enumerate(columns.robot.joint_names):
        mine = np.zeros(len(A), bool)
        mine[ends[j] - len(recording.joints[j]) + 1 : ends[j]] = True
        yield "gain", np.where(mine, A @ x, 0.0)[:, None], partial(_gain, name), SCALED
        size = float(np.sqrt(np.sum(recording.joints[j][:, -1] ** 2) / recording.count[j]))
        ours = [k for k in own if columns.own(j).start <= k < columns.own(j).stop]
        unusual = UNUSUAL * CHANGED[columns.robot.drives.torque_side]
        yield "gear", (A[:, ours] @ x[ours])[:, None], partial(_gear, name), unusual
        yield "bias", np.where(mine, A[:, columns.place(j, "fo")], 0.0)[:, None], partial(_bias, name), SHARE * size


def friction_between(state: Information, recordings: Sequence[Triangle], columns: Columns) -> list[str]:
    """Sentences about recordings whose viscous or Coulomb friction differs from that of the first, and their cause.

    What the parameters of all, without their temperature slopes, leave of each joint is regressed as in `identify`:
    rest = a0 S + a1 L + a2 + [r > 0] (d_r S + e_r L)      S, L: viscous friction and level of the model
    """
    if len(recordings) < 2:
        return []
    x = state.mean
    x[[columns.place(j, t) for j in range(columns.n) for t in ("tc", "tv")]] = 0.0
    share, std = common([_shares(x, recordings, columns, j) for j in range(columns.n)])
    names = [T.about["recording"] for T in recordings]
    warm, samples = [T.about.get("temperature") for T in recordings], np.array([T.count.sum() for T in recordings])
    said, why, slope = what_they_show(share[0], std[0], names, warm, samples)
    held = "the learned file holds a slope per joint" if np.isfinite(slope) else LEARNED
    return [*said, *([f"{why}: {held}."] if said else []), *coulomb_text(share[1], std[1], names)]


def _shares(x: np.ndarray, recordings: Sequence[Triangle], columns: Columns, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Viscous and Coulomb friction (2, R) of joint j over that in the first recording, less 1, and deviations."""
    R, parts, own = len(recordings), [], columns.own(j)
    terms = [t.partition("@")[0] for t in columns.terms[j]]
    viscous, level, offset = (own.start + np.flatnonzero(np.isin(terms, kinds)) for kinds in (VISCOUS, GROUPS, ("fo",)))
    for r, recording in enumerate(recordings):
        T, weight = recording.joints[j], recording.sigma[j] * np.sqrt(recording.correlation[j])
        A, y = np.split(columns.wide(j, T[:-1]), [-1], axis=1)
        S, L = A[:, viscous] @ np.maximum(x[viscous], 0.0), A[:, level] @ x[level]
        parts.append(np.column_stack([share_columns(S, L, A[:, offset], r, R), y[:, 0] - A @ x]) / max(weight, 1e-6))
    rows = np.vstack(parts)
    solved = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=1e-10)[0]
    std = np.sqrt(np.diag(covariance(rows[:, :-1])))
    return over_first(solved, solved), over_first(std, solved)


def _friction(theta: np.ndarray, std: np.ndarray) -> str:
    return share_text("friction of all joints", float(theta[0]), float(std[0]))


def _payload(theta: np.ndarray, std: np.ndarray) -> str:
    com = ", ".join(f"{v / theta[0]:.3f}" for v in theta[1:])
    return f"load of {theta[0]:+.2f} +- {std[0]:.2f} kg at the last link (centre {com} m): payload or tool"


def _gain(name: str, theta: np.ndarray, std: np.ndarray) -> str:
    size = f"{times(1 + theta[0])} +- {100 * std[0]:.1f} %"
    return f"torque of {name} {size}: sensor or torque constant re-calibrated, or other friction"


def _gear(name: str, theta: np.ndarray, std: np.ndarray) -> str:
    return share_text(f"friction of {name}", float(theta[0]), float(std[0])) + ": replaced or damaged?"


def _bias(name: str, theta: np.ndarray, std: np.ndarray) -> str:
    return f"torque of {name} {theta[0]:+.2f} +- {std[0]:.2f} Nm: zero of the sensor re-calibrated"
