"""Choice of each joint's friction law by cross-validation inside the identification data.

Folds are clusters of the state (q, qd), not stretches of time: a periodic excitation repeats every pose, so that a
held-out period is no test at all, while a held-out region of the state space is what a new trajectory will visit.
All errors come from Gram matrices per joint and fold, so that a candidate costs one small solve and no pass over the
data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.vq import kmeans2, vq

from robot_dynamics_ros.identification.arm.friction_columns import (
    CURVED,
    VELOCITY_WIDTHS,
    JointFriction,
    JointSignals,
    candidates,
    column_key,
)

N_FOLDS = 8
COUPLED_GAIN = 0.1  # a coupled wrist is a matter of construction: it shows clearly or is not there
RIDGE = 1e-6  # on unit-diagonal Gram matrices: keeps unexcited directions finite, below any excited one


def state_folds(q: np.ndarray, qd: np.ndarray, n_folds: int = N_FOLDS, seed: int = 0) -> np.ndarray:
    """Fold number (N,) of each sample: k-means clusters of standardised (q, qd); deterministic."""
    x = np.hstack([q, qd])
    x = (x - x.mean(0)) / np.maximum(x.std(0), 1e-9)
    step = max(1, len(x) // 5000)
    centres, _ = kmeans2(x[::step], n_folds, minit="++", seed=np.random.default_rng(seed))
    return vq(x, centres)[0]


@dataclass
class Evidence:
    """What the selection reads: base columns W (n, N, b), effort and weights (N, n), fold numbers of one or more
    partitions, friction inputs per joint, and the filter each joint's effort has passed. effort may hold D versions of
    the effort side by side (N, D n), shifted in time: the first one counts, `shifted_errors` judges all."""

    W: np.ndarray
    effort: np.ndarray
    weight: np.ndarray
    folds: list[np.ndarray]
    signals: list[JointSignals]
    motion: Any
    filters: tuple[Any, ...] = ()

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.weight.shape[1]


class GramTable:
    """Gram matrices per joint and fold of [W_j, columns, effort], extended by a column when it is first asked for."""

    def __init__(self, data: Evidence) -> None:
        self.data, self.b = data, data.W.shape[2]
        self.versions = data.effort.shape[1] // data.n
        self.orders = [np.argsort(p, kind="stable") for p in data.folds]
        self.edges = [np.concatenate([[0], np.cumsum(np.bincount(p))]) for p in data.folds]
        self.sets = len(data.folds)
        self.names: list[dict[str, int]] = [{} for _ in range(data.n)]
        self.columns = [
            np.column_stack([self._filtered(j, data.W[j]), data.effort[:, j :: data.n]]) for j in range(data.n)
        ]
        self.gram = [self._grams(j, self.columns[j], self.columns[j]) for j in range(data.n)]

    def total(self, j: int) -> np.ndarray:
        """Gram matrix of all samples of joint j."""
        return self.gram[j].sum(0) / self.sets

    def _filtered(self, j: int, x: np.ndarray) -> np.ndarray:
        chosen = self.data.filters[j] if self.data.filters else None
        return x if chosen is None else chosen.apply(x, self.data.motion.rate, self.data.motion.start)

    def _grams(self, j: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Gram matrices of left and right (both (N, .)) per fold: samples sorted by fold once per partition."""
        weighted, grams = left * self.data.weight[:, j, None], []
        for order, edges in zip(self.orders, self.edges, strict=True):
            a, b = weighted[order], right[order]
            grams += [a[lo:hi].T @ b[lo:hi] for lo, hi in zip(edges[:-1], edges[1:], strict=True)]
        return np.array(grams)

    def index(self, j: int, law: JointFriction) -> np.ndarray:
        """Rows of the Gram matrix of joint j that belong to W and to a law's columns."""
        missing = [t for t in law.terms if column_key(t, law.eps) not in self.names[j]]
        if missing:
            self._extend(j, missing, law.eps)
        own = [self.names[j][column_key(t, law.eps)] for t in law.terms]
        return np.array([*range(self.b), *own])

    def _extend(self, j: int, terms: list[str], eps: float) -> None:
        new = self._filtered(j, np.column_stack([self.data.signals[j].column(t, eps) for t in terms]))
        cross = self._grams(j, self.columns[j], new)
        own = self._grams(j, new, new)
        self.gram[j] = np.block([[self.gram[j], cross], [np.swapaxes(cross, 1, 2), own]])
        start = self.columns[j].shape[1]
        self.names[j].update({column_key(t, eps): start + i for i, t in enumerate(terms)})
        self.columns[j] = np.hstack([self.columns[j], new])


class Selector:
    """Greedy forward and backward choice of every joint's law, joint by joint, the others held."""

    def __init__(
        self, data: Evidence, laws: list[JointFriction], coupled: dict[int, tuple[int, ...]] | None = None
    ) -> None:
        self.table, self.laws, self.coupled = GramTable(data), list(laws), coupled or {}
        self.sigma2 = np.ones(data.n)
        self._schur: list[tuple[np.ndarray, np.ndarray] | None] = [None] * data.n
        self._refresh_noise()

    # -- errors ---------------------------------------------------------------------------------------------------
    def _train(self, j: int, law: JointFriction, versions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Per fold: Gram and right-hand sides of all other folds, and the joint's columns' index."""
        index = self.table.index(j, law)
        G = self.table.gram[j]
        rest = self.table.total(j) - G
        b = self.table.b
        return rest[:, index[:, None], index], rest[:, index, b : b + versions], index

    def _eliminate(self, j: int, versions: int) -> tuple[np.ndarray, np.ndarray]:
        """Contribution of joint j to the rigid-body normal equations with its own columns eliminated, per fold."""
        known = self._schur[j]
        if known is None or known[1].shape[2] < versions:
            A, h, _ = self._train(j, self.laws[j], versions)
            b = self.table.b
            own = A[:, b:, b:] + RIDGE * _diagonal(A[:, b:, b:])
            gain = np.linalg.solve(own, A[:, b:, :b])
            S = A[:, :b, :b] - A[:, :b, b:] @ gain
            r = h[:, :b] - np.swapaxes(gain, 1, 2) @ h[:, b:]
            known = self._schur[j] = (S / self.sigma2[j], r / self.sigma2[j])
        return known

    def fold_errors(self, j: int, law: JointFriction) -> np.ndarray:
        """Held-out squared error (F,) of joint j in each fold when it has `law`."""
        return self.shifted_errors(j, law, 1)[:, 0]

    def shifted_errors(self, j: int, law: JointFriction, versions: int | None = None) -> np.ndarray:
        """The same for each version of the effort (F, D), all of them by default."""
        D = versions or self.table.versions
        A, h, index = self._train(j, law, D)
        A, h = A / self.sigma2[j], h / self.sigma2[j]
        b = self.table.b
        for i in range(self.table.data.n):
            if i != j:
                S, r = self._eliminate(i, D)
                A[:, :b, :b] += S
                h[:, :b] += r[:, :, :D]
        x = _ridge_solve(A, h)
        G, y = self.table.gram[j], np.arange(b, b + D)
        inner = G[:, index[:, None], index]
        cross = (x * G[:, index[:, None], y]).sum(1)
        return G[:, y, y] - 2 * cross + (x * (inner @ x)).sum(1)

    def _refresh_noise(self) -> None:
        counts = np.array([self.table.data.weight[:, j].sum() for j in range(self.table.data.n)])
        total = [self.table.total(j)[self.table.b, self.table.b] for j in range(self.table.data.n)]
        self.sigma2 = np.maximum(np.array(total) / counts, 1e-12)
        for _ in range(2):
            self._schur = [None] * self.table.data.n
            errors = [self.fold_errors(j, law).sum() / self.table.sets for j, law in enumerate(self.laws)]
            self.sigma2 = np.maximum(np.array(errors) / counts, 1e-12)
        self._schur = [None] * self.table.data.n

    # -- search ---------------------------------------------------------------------------------------------------
    def run(self, sweeps: int = 2, gain: float = 0.002) -> list[JointFriction]:
        """The chosen laws; a group is kept when it lowers the held-out error by more than `gain` and in most folds."""
        for _ in range(sweeps):
            for j in range(self.table.data.n):
                self.laws[j] = self._joint(j, gain)
                self._schur[j] = None
            self._refresh_noise()
        return self.laws

    def _joint(self, j: int, gain: float) -> JointFriction:
        law = self._best_eps(j, self.laws[j])
        error = self.fold_errors(j, law)
        for _ in range(8):
            best = min(self._extensions(j, law), key=lambda pair: pair[1].sum(), default=None)
            if best is None or not clearly_better(best[1], error, gain):
                break
            law, error = best
        return self._prune(j, self._best_eps(j, law), gain)

    def _extensions(self, j: int, law: JointFriction) -> list[tuple[JointFriction, np.ndarray]]:
        found = []
        fast = bool(np.abs(self.table.data.signals[j].v).max() > CURVED)
        now = self.fold_errors(j, law)
        for group in candidates(law, fast, self.coupled.get(j, ())):
            wider = JointFriction(law.eps, (*law.terms, *group))
            errors = self.fold_errors(j, wider)
            if group[0].startswith("cv@") and not clearly_better(errors, now, COUPLED_GAIN):
                continue
            found.append((wider, errors))
        return found

    def _best_eps(self, j: int, law: JointFriction) -> JointFriction:
        return min((law.with_eps(e) for e in VELOCITY_WIDTHS), key=lambda w: self.fold_errors(j, w).sum())

    def _prune(self, j: int, law: JointFriction, gain: float) -> JointFriction:
        for term in law.terms[3:]:
            if term[:2] in ("ca", "cc", "cv", "ia"):
                continue
            less = law.without(term)
            if not clearly_better(self.fold_errors(j, law), self.fold_errors(j, less), gain):
                law = less
        return law


def clearly_better(new: np.ndarray, old: np.ndarray, gain: float) -> bool:
    """Whether the total held-out error falls by more than `gain` (relative) and does not rise in half of the folds.

    new, old (F,): held-out squared error of every fold.
    """
    return bool(new.sum() < (1 - gain) * old.sum() and (new <= old).mean() >= 0.5)


def _diagonal(A: np.ndarray) -> np.ndarray:
    """Diagonal part of a stack of matrices."""
    return A * np.eye(A.shape[-1])


def _ridge_solve(A: np.ndarray, h: np.ndarray) -> np.ndarray:
    """x (f, k, D) of A x = h for a stack, scaled to unit diagonal and ridged by RIDGE."""
    d = np.sqrt(np.maximum(np.einsum("fkk->fk", A), 1e-300))
    scaled = A / d[:, :, None] / d[:, None, :] + RIDGE * np.eye(A.shape[1])
    return np.linalg.solve(scaled, h / d[..., None]) / d[..., None]
