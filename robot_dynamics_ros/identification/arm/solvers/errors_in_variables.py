"""Total least squares: noise in the motion as well as in the effort.

Least squares takes the regressor for exact. Noise of positions reaches it through the derivatives, and pulls the
parameters towards zero. With S = E[D'D] of the noise D in the rows [A, y], the total solution is the one without that
pull:  (A'A - s S_A) x = A'y,  s = min(1, smallest eigenvalue of ([A y]'[A y], S)).
s = 1 where the noise explains no more than the residuals do; less where [A, y] could not have so much noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.arm.model import Structure, joint_rows, motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import RANK, JointRows, Solution
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Recording

BLOCK = 2048  # samples whose rows exist at a time
DRAWS = 4  # realisations of the noise that its covariance is taken from
# share of some direction's square that may be noise; beyond it what is left is too uncertain to divide by
MAX_NOISE_SHARE = 0.7


def noise_deviation(x: np.ndarray) -> np.ndarray:
    """Deviation (n,) of the white noise of evenly sampled signals x (N, n), from fourth differences.

    Motion of f Hz passes them with (2 pi f dt)^4 of its amplitude only; 70 is the sum of their squared weights.
    """
    d = np.diff(x, 4, axis=0)
    return 1.4826 * np.median(np.abs(d - np.median(d, axis=0)), axis=0) / np.sqrt(70.0)


def noisy(rec: Recording, rng: np.random.Generator) -> Recording:
    """The recording with noise of the size it already has on positions and velocities."""
    pieces = []
    for p in rec.pieces:
        q = p.q + noise_deviation(p.q) * rng.standard_normal(p.q.shape)
        qd = None if p.qd is None else p.qd + noise_deviation(p.qd) * rng.standard_normal(p.qd.shape)
        pieces.append(replace(p, q=q, qd=qd))
    return replace(rec, pieces=pieces)


def noise_grams(
    recordings: Sequence[Recording],
    rigid: RigidModel,
    structure: Structure,
    load_phi: np.ndarray,
    weights: np.ndarray,
    seed: int = 0,
) -> list[np.ndarray]:
    """E[D'D] (k_j + 1, k_j + 1) of every joint's weighted rows over all samples.

    Motion noise goes through the same filters and derivatives as the motion; effort noise is white. weights (N, n).
    """
    rng = np.random.default_rng(seed)
    clean = motion_of(recordings, structure)
    grams: list[np.ndarray] = []
    for _ in range(DRAWS):
        noisy_motion = motion_of([noisy(r, rng) for r in recordings], structure)
        for a in range(0, len(clean), BLOCK):
            w = weights[a : a + BLOCK]
            pair = [_rows(rigid, structure, m.block(a, a + BLOCK), load_phi) for m in (noisy_motion, clean)]
            D = [(x.A - y.A) * np.sqrt(w[:, j, None]) for j, (x, y) in enumerate(zip(*pair, strict=True))]
            parts = [d.T @ d / DRAWS for d in D]
            grams = parts if not grams else [g + p for g, p in zip(grams, parts, strict=True)]
    effort = noise_deviation(clean.effort)
    return [_with_target(g, float(s**2 * w.sum())) for g, s, w in zip(grams, effort, weights.T, strict=True)]


def _rows(rigid: RigidModel, structure: Structure, motion: Motion, phi: np.ndarray) -> list[JointRows]:
    W = rigid.base_regressor(motion.q, motion.qd, motion.qdd)
    load = rigid.torque(phi, motion.q, motion.qd, motion.qdd)
    return joint_rows(motion, W, load, structure)


def _with_target(gram: np.ndarray, effort: float) -> np.ndarray:
    out = np.zeros((len(gram) + 1, len(gram) + 1))
    out[:-1, :-1], out[-1, -1] = gram, effort
    return out


def total_solution(R: np.ndarray, z: np.ndarray, rho: float, S: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """R', z' of the total least squares problem, whose solution minimises |R' x - z'|, and the largest share of noise
    in the square of any combination of columns.

    R (p, p), z (p,), rho: triangle of the weighted rows [A, y]; S (p + 1, p + 1): covariance of their noise, summed.
    With E = R^-T S_A R^-1:  R'(1 - s E) R x = R' z, so no Gram matrix of A is formed.
    """
    p = len(R)
    whole = np.zeros((p + 1, p + 1))
    whole[:p, :p], whole[:p, p], whole[p, p] = R, z, rho
    size = np.linalg.norm(whole, axis=0)
    size[size == 0] = 1.0
    inverse = np.linalg.pinv(whole / size, rcond=RANK) / size[:, None]
    largest = float(np.linalg.eigvalsh(inverse.T @ S @ inverse)[-1])
    s = min(1.0, 1.0 / largest) if largest > 0 else 1.0
    within = np.linalg.pinv(R / size[:p], rcond=RANK) / size[:p, None]
    values, vectors = np.linalg.eigh(within.T @ S[:p, :p] @ within)
    root = np.sqrt(np.maximum(1.0 - s * values, RANK))
    return (vectors * root).T @ R, (vectors / root).T @ z, float(s * values[-1])


def as_total(found: Solution, index: Sequence[np.ndarray], grams: Sequence[np.ndarray]) -> tuple[Solution, float]:
    """A weighted solution corrected for noise in the motion, and the largest share of noise (`total_solution`).

    Per joint: index (k,), numbers of its parameters; grams (k + 1, k + 1), of `noise_grams`.
    """
    p = len(found.x)
    free = np.maximum(found.weights.sum(0) - [len(i) for i in index], 1.0)
    rho = float(np.linalg.norm(np.sqrt(free) * found.sigma / found.scale))
    S = np.zeros((p + 1, p + 1))
    for own, g, s in zip(index, grams, found.scale, strict=True):
        at = np.r_[own, p]
        S[np.ix_(at, at)] += g / s**2
    R, rhs, share = total_solution(found.R, found.rhs, rho, S)
    size = np.linalg.norm(R, axis=0)
    size[size == 0] = 1.0
    x = np.linalg.lstsq(R / size, rhs, rcond=RANK)[0] / size
    grown = np.linalg.norm(np.linalg.pinv(R / size, rcond=RANK) / size[:, None], axis=1)
    before = np.linalg.norm(np.linalg.pinv(found.R / size, rcond=RANK) / size[:, None], axis=1)
    std = found.std * grown / np.maximum(before, 1e-300)
    return replace(found, x=x, std=std, R=R, rhs=rhs), share
