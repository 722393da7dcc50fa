"""Held-out errors of a structure inside the identification data, and the motors of a coupled wrist that they show.

Folds are clusters of the state (q, qd), not only stretches of time: a periodic excitation repeats every pose, so that a
held-out period does not test generalisation; a held-out region of the state space is what a new trajectory will visit.
Bodies and friction of all joints are solved from Gram matrices of the other folds: a motor costs one small solve per
fold and no pass over the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.cluster.vq import kmeans2, vq

from robot_dynamics_ros.identification.arm.friction_columns import coupled_terms, neighbours
from robot_dynamics_ros.identification.arm.model import Structure, joint_rows
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, StoredRows, gram_triangle, solve
from robot_dynamics_ros.identification.dataset.motion import Motion

N_FOLDS = 8
COUPLED_GAIN, WRIST = 0.1, 3  # share of a joint's error that a coupled motor saves, where both are of the last joints
ARM_GAIN = 0.5  # the same before the wrist: a parallelogram saves 0.95, what friction has beyond its law up to 0.25
RIDGE = 1e-6  # on unit-diagonal Gram matrices: keeps unexcited directions finite, below any excited one


def state_folds(q: np.ndarray, qd: np.ndarray, n_folds: int = N_FOLDS) -> np.ndarray:
    """Fold number (N,) of each sample: k-means clusters of standardised (q, qd); deterministic."""
    x = np.hstack([q, qd])
    x = (x - x.mean(0)) / np.maximum(x.std(0), 1e-9)
    step = max(1, len(x) // 5000)
    centres, _ = kmeans2(x[::step], n_folds, minit="++", seed=np.random.default_rng(0))
    return vq(x, centres)[0]


def fold_sets(motion: Motion) -> list[np.ndarray]:
    """Two partitions of the samples: regions of the state space, and stretches of time."""
    time = np.minimum(np.arange(len(motion)) * 6 // len(motion), 5)
    return [state_folds(motion.q, motion.qd), time]


def clearly_better(new: np.ndarray, old: np.ndarray, gain: float) -> bool:
    """Whether the total held-out error falls by more than `gain` (relative) and does not rise in half of the folds.

    new, old (F,): held-out squared error of every fold.
    """
    return bool(new.sum() < (1 - gain) * old.sum() and (new <= old).mean() >= 0.5)


class Folds:
    """Partitions of samples, fold numbers (N,) of each, of which `rows` are taken: these need not be of all folds.

    order: samples with the same fold in every partition (a cell) follow each other, so that the Gram matrices of all
    folds of all partitions cost one pass.
    """

    def __init__(self, folds: Sequence[np.ndarray], rows: np.ndarray | slice = slice(None)) -> None:
        counts = [int(fold.max()) + 1 for fold in folds]
        folds = [fold[rows] for fold in folds]
        code = np.ravel_multi_index(tuple(folds), counts)
        self.order, self.partitions = np.argsort(code.astype(np.int16), kind="stable"), len(folds)  # a radix sort
        first = np.flatnonzero(np.diff(code[self.order], prepend=-1))
        numbers = [fold[self.order[first]] for fold in folds]
        self._cells = list(itertools.pairwise([*first.tolist(), len(code)]))
        self._of = [np.flatnonzero(c == k) for c, count in zip(numbers, counts, strict=True) for k in range(count)]

    def grams(self, A: np.ndarray) -> np.ndarray:
        """Gram matrices (F, k, k) of the rows of every fold; A (N, k) in `order`."""
        cells = np.array([A[a:b].T @ A[a:b] for a, b in self._cells])
        return np.array([cells[own].sum(0) for own in self._of])

    def whole(self, grams: np.ndarray) -> np.ndarray:
        """Gram matrix (k, k) of all samples from those of the folds (F, k, k)."""
        return np.asarray(grams.sum(0) / self.partitions)


def squares(grams: np.ndarray, x: np.ndarray) -> np.ndarray:
    """|y - A x|^2 (F,) from Gram matrices (F, k + 1, k + 1) of [A, y] and x (F or 1, k)."""
    x = np.column_stack([np.broadcast_to(x, (len(grams), x.shape[1])), np.full(len(grams), -1.0)])
    return np.asarray((x[:, None] @ grams @ x[:, :, None])[:, 0, 0])


class CrossValidation:
    """Held-out errors of structures on one motion; weights and variances of the joints are the given structure's."""

    def __init__(self, rigid: RigidModel, structure: Structure, motion: Motion) -> None:
        self.motion, self.folds = motion, Folds(fold_sets(motion))
        self.W = rigid.base_regressor(motion.q, motion.qd, motion.qdd)
        self.base = self.W.shape[2]
        weights = None if motion.weight is None else list(motion.weight.T)
        self._first = structure, self._made(structure)
        rows = StoredRows(self._first[1], gram_triangle)
        solution = solve(rows, structure.size(self.base), iterations=1, row_weights=weights)
        self.weight, self.variance = solution.weights, solution.sigma**2
        self.power = (self.weight * motion.effort**2).sum(0) * self.folds.partitions  # (n,) of each joint's effort

    def errors(self, structure: Structure) -> np.ndarray:
        """Held-out error (n,) of every joint over all folds, as a share of the power of its effort."""
        return self._held_out(self._grams(structure), structure).sum(1) / self.power

    def with_motors(self, structure: Structure) -> Structure:
        """The structure with the motors that turn with two joints: those that save enough of a joint's error."""
        n = len(structure.laws)
        motors = {j: [(k, g) for k in neighbours(j, n) for g in coupled_terms(k)] for j in range(n)}
        every = {j: tuple(dict.fromkeys(itertools.chain(*(g for _, g in groups)))) for j, groups in motors.items()}
        wide = structure.with_laws([law.with_terms(every[j]) for j, law in enumerate(structure.laws)])
        grams = self._grams(wide)
        now = self._part(grams, wide, structure)
        for j, groups in motors.items():
            for _ in neighbours(j, n):
                trials = [(k, structure.extended(j, g)) for k, g in groups if g[1] not in structure.laws[j].terms]
                judged = [(trial, self._part(grams, wide, trial), self._gain(j, k)) for k, trial in trials]
                found = [(trial, errors) for trial, errors, gain in judged if clearly_better(errors[j], now[j], gain)]
                if not found:
                    break
                structure, now = min(found, key=lambda pair: pair[1][j].sum())
        return structure

    def _gain(self, *joints: int) -> float:
        """What a motor of two joints has to save."""
        return COUPLED_GAIN if min(joints) >= self.motion.q.shape[1] - WRIST else ARM_GAIN

    def _part(self, grams: list[np.ndarray], wide: Structure, structure: Structure) -> np.ndarray:
        """Held-out errors (n, F) of some of the terms of a wide structure, from its Gram matrices."""
        parts = []
        for G, all_terms, law in zip(grams, wide.laws, structure.laws, strict=True):
            own = [self.base + all_terms.terms.index(t) for t in law.terms]
            kept = np.r_[0 : self.base, own, self.base + len(all_terms.terms) : G.shape[1]]
            parts.append(G[:, kept[:, None], kept])
        return self._held_out(parts, structure)

    def _made(self, structure: Structure) -> list[JointRows]:
        return joint_rows(self.motion, self.W, np.zeros_like(self.motion.q), structure)

    def _grams(self, structure: Structure) -> list[np.ndarray]:
        """Per joint: weighted Gram matrices (F, k, k) of [W_j, F_j, effort] in every fold."""
        found, (first, rows) = [], self._first
        for j, row in enumerate(rows if structure is first else self._made(structure)):
            A = np.column_stack([row.A, self.motion.effort[:, j]])[self.folds.order]
            A *= np.sqrt(self.weight[self.folds.order, j, None])
            found.append(self.folds.grams(A))
        return found

    def _held_out(self, grams: list[np.ndarray], structure: Structure) -> np.ndarray:
        """Squared error (n, F) of every joint in every fold under what the other folds identify."""
        index = structure.index(self.base)
        size, (folds, *_) = structure.size(self.base), grams[0].shape
        H, h = np.zeros((folds, size, size)), np.zeros((folds, size, 1))
        for G, own, variance in zip(grams, index, self.variance, strict=True):
            rest, k = (self.folds.whole(G) - G) / variance, len(own)
            H[:, own[:, None], own] += rest[:, :k, :k]
            h[:, own] += rest[:, :k, k:]
        x = _solved(H, h)
        return np.array([squares(G, x[:, own, 0]) for G, own in zip(grams, index, strict=True)])


def _solved(H: np.ndarray, h: np.ndarray) -> np.ndarray:
    """x (F, p, D) of H x = h for a stack, H scaled to unit diagonal, with a ridge."""
    d = np.sqrt(np.maximum(np.einsum("fkk->fk", H), 1e-300))
    scaled = H / d[:, :, None] / d[:, None, :] + RIDGE * np.eye(H.shape[1])
    return np.linalg.solve(scaled, h / d[..., None]) / d[..., None]
