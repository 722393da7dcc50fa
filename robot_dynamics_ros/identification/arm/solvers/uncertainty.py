"""Uncertainty of the identified parameters: the jackknife over regions of the state space.

What a model leaves of the effort is not noise: friction that the law misses, a spring, a kinematic error come back
whenever the robot comes back to the same state. Neither a white-noise formula nor one for correlation in time sees
that. So the samples are cut into regions of the state (q, qd), each region is left out once, and the spread of the
estimates is the uncertainty:

    x_b - x = (H - H_b)^-1 s_b,   cov = (B - 1)/B sum_b (x_b - x)(x_b - x)'

H (p, p) normal matrix with the prior's rows, H_b and s_b = A_b' (y_b - A_b x) weighted as in the solution, of region b;
eigenvalues of R^-T (H - H_b) R^-1, H = R'R, count 1 - MOST at least.
A motion that is repeated gives one set of regions, however often it is repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student_t

from robot_dynamics_ros.identification.arm.cross_validation import state_folds
from robot_dynamics_ros.identification.arm.friction_columns import sliding
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, joint_rows
from robot_dynamics_ros.identification.arm.solvers.least_squares import RANK, JointRows, Solution
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.signals.speeds import SLIDING

# Left out one at a time. With 15, 30, 60 regions the errors of identified parameters of the simulated UR5e (8
# individuals, 304 parameters) were 0.99, 1.14, 1.21 times the reported deviation: small regions are not independent.
# 10 or 20 stretches of time instead: friction of three recordings of one robot differs by 2.1..3.3 instead of 1.7..2.0.
REGIONS = 20
# Share of the information on a direction that goes with a region at most: a refit without what one region alone shows
# moves by many times the error. The error of gravity over its deviation scatters by exp(0.67) instead of exp(1.09) on
# 27 simulated robots; with 20 regions and 0.9 its median is 1.9, 1.6, 1.0, 1.2, 0.6 in joints 2 to 6.
MOST = 0.9
CHUNK = 4096  # samples whose rows are in memory at a time
MAX_SAMPLES = 30_000  # of a longer log every second, third.. chunk is looked at: the regions are the same
BLOCKS = 6  # of a recording, whose levels tell scatter within it from scatter between recordings
SETTLE = 2.0  # s before each chunk, in which filters and presliding friction find their state
Parts = Iterable[tuple[Sequence[JointRows], slice]]  # rows of all joints, and which samples they are of


def with_uncertainty(model: IdentifiedModel, motion: Motion) -> IdentifiedModel:
    """The model with covariance (p, p) and standard deviations (p,) of its solution by the jackknife on the motion that
    it was identified on.
    """
    stride = -(-len(motion) // MAX_SAMPLES)
    covariance = left_out(model.solution, _chunks(model, motion, stride), motion, stride)
    return replace(model, solution=replace(model.solution, std=np.sqrt(np.diag(covariance)), covariance=covariance))


def left_out(s: Solution, parts: Parts, motion: Motion, stride: int = 1) -> np.ndarray:
    """Covariance (p, p) of a solution of which every region of the motion is left out once; every `stride`-th sample is
    among the parts.
    """
    region = state_folds(motion.q, motion.qd, REGIONS)
    return jackknife(s.R, [(stride * H, stride * score) for H, score in _normal(s, parts, region)])


def jackknife(R: np.ndarray, regions: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Covariance (p, p) of a solution with triangle R from the normal matrix (p, p) and score (p,) of every region."""
    inverse, moved = np.linalg.pinv(R, rcond=RANK), []
    for H, score in regions:
        left = np.eye(len(R)) - inverse.T @ H @ inverse  # of R'R, so that its condition does not square
        values, axes = np.linalg.eigh(left)
        moved.append(inverse @ axes @ (axes.T @ inverse.T @ score / np.maximum(values, 1.0 - MOST)))
    D = np.array(moved)
    return np.asarray((len(D) - 1) / len(D) * D.T @ D)


def _normal(s: Solution, parts: Parts, region: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Normal matrix (p, p) and score (p,) of every region."""
    p = len(s.x)
    found = [(np.zeros((p, p)), np.zeros(p)) for _ in range(REGIONS)]
    for rows, part in parts:
        for j, joint in enumerate(rows):
            weight = np.sqrt(s.weights[part, j]) / s.scale[j]
            rest = joint.y - joint.A @ s.x[joint.index]
            for b in np.unique(region[part]):
                mine = region[part] == b
                A = joint.A[mine] * weight[mine, None]
                found[b][0][np.ix_(joint.index, joint.index)] += A.T @ A
                found[b][1][joint.index] += A.T @ (rest[mine] * weight[mine])
    return found


def _chunks(model: IdentifiedModel, motion: Motion, stride: int) -> Iterator[tuple[list[JointRows], slice]]:
    """Rows of all joints, every `stride`-th chunk of the motion at a time."""
    before = int(SETTLE * motion.rate)
    base = model.rigid.base.size
    for a in range(0, len(motion), stride * CHUNK):
        part = slice(a, min(a + CHUNK, len(motion)))
        first = max(a - before, 0)
        m = motion.take(np.arange(first, part.stop))
        W = model.rigid.base_regressor(m.q, m.qd, m.qdd)
        rows = joint_rows(m, W, (W @ model.solution.x[:base]).T, model.structure)
        yield [JointRows(r.A[a - first :], r.index, r.y[a - first :]) for r in rows], part


def between_recordings(model: IdentifiedModel, motions: Sequence[Motion]) -> np.ndarray:
    """Variance (n,) [Nm^2] of the level of sliding friction between recordings, for a further one: t^2 s^2 (1 + 1/R), t
    the 84 % quantile of Student's t with R - 1 degrees of freedom: within its root lie 68 % of further levels.

    The level of a recording is the robust mean of what the model leaves of the effort along the motion, r sign(v),
    where the joint moves; the scatter of a level within its recording is taken off.
    """
    rest = [(motion.effort - model.predict(motion)) * np.sign(motion.qd) for motion in motions]
    slides = [np.where(np.abs(m.qd) > SLIDING, own, np.nan) for m, own in zip(motions, rest, strict=True)]
    return np.array([_of_levels([own[:, j] for own in slides]) for j in range(model.rigid.n)])


def _of_levels(slides: Sequence[np.ndarray]) -> float:
    """The same of one joint's residuals (N,) [Nm] along the motion of every recording, NaN where it does not slide; 0
    where fewer than two recordings show a level.
    """
    levels, noise = [], []
    for rest in slides:
        blocks = [np.nanmedian(part) for part in np.array_split(rest, BLOCKS) if np.isfinite(part).any()]
        if len(blocks) >= 2:
            levels.append(np.mean(blocks))
            noise.append(np.var(blocks, ddof=1) / len(blocks))
    R = len(levels)
    if R < 2:
        return 0.0
    scatter = max(float(np.var(levels, ddof=1) - np.mean(noise)), 0.0)
    return scatter * (1 + 1 / R) * float(student_t.ppf(norm.cdf(1.0), R - 1)) ** 2


def widened(model: IdentifiedModel, variance: np.ndarray) -> IdentifiedModel:
    """The model whose level of sliding friction has a further variance (n,) [Nm^2]."""
    s, b, covariance = model.solution, model.rigid.base.size, model.covariance.copy()
    for j, (law, index) in enumerate(zip(model.structure.laws, model.structure.index(b), strict=True)):
        level = index[b:][[term == "fc" or term.startswith("h@") for term in law.terms]]
        if total := s.x[level].sum():
            share = s.x[level] / total
            covariance[np.ix_(level, level)] += variance[j] * np.outer(share, share)
    return replace(model, solution=replace(s, covariance=covariance, std=np.sqrt(np.diag(covariance))))


def steady_friction(
    model: IdentifiedModel, speeds: np.ndarray, load: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Friction (n, k) [Nm] that slides at speeds (k,) or (n, k) > 0 [rad/s], mean of both directions, and its
    deviation (n, k).

    load (n,) [Nm]: torque without friction at which it is asked for; zero by default.
    """
    s, structure = model.solution, model.structure
    index, n = structure.index(model.rigid.base.size), len(structure.laws)
    load = np.zeros(n) if load is None else load
    speeds = np.broadcast_to(speeds, (n, np.shape(speeds)[-1]))
    value, std = np.zeros(speeds.shape), np.zeros(speeds.shape)
    for j, law in enumerate(structure.laws):
        own = index[j][model.rigid.base.size :]
        rows = sliding(law, speeds[j], abs(load[j]))
        value[j] = rows @ s.x[own]
        std[j] = np.sqrt(np.einsum("ka,ab,kb->k", rows, model.covariance[np.ix_(own, own)], rows))
    return value, std
