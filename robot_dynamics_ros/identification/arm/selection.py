"""Choice of each joint's friction law by cross-validation inside the identification data.

Folds are clusters of the state (q, qd), not stretches of time: a periodic excitation repeats every pose, so that a
held-out period is no test at all, while a held-out region of the state space is what a new trajectory will visit.
All errors come from Gram matrices per joint and fold, so that a candidate costs one small solve and no pass over the
data.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
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
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import cells

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


def fold_sets(motion: Motion) -> list[np.ndarray]:
    """Two partitions of the samples: regions of the state space, and stretches of time."""
    time = np.minimum(np.arange(len(motion)) * 6 // len(motion), 5)
    return [state_folds(motion.q, motion.qd), time]


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
    """Gram matrices per joint and fold of [W_j, effort, columns], extended by columns when they are first asked for."""

    def __init__(self, data: Evidence) -> None:
        self.data, self.b = data, data.W.shape[2]
        self.versions, self.sets = data.effort.shape[1] // data.n, len(data.folds)
        self.order, self.edges, self.parts = cells(data.folds)
        self.names: list[dict[str, int]] = [{} for _ in range(data.n)]
        columns = [np.column_stack([self._filtered(j, W), data.effort[:, j :: data.n]]) for j, W in enumerate(data.W)]
        self.columns = [c[self.order] for c in columns]  # samples sorted by cell
        self.weight = data.weight[self.order]
        self.gram = [self._grams(j, c, c) for j, c in enumerate(self.columns)]

    def total(self, j: int) -> np.ndarray:
        """Gram matrix of all samples of joint j."""
        return self.gram[j].sum(0) / self.sets

    def _filtered(self, j: int, x: np.ndarray) -> np.ndarray:
        chosen = self.data.filters[j] if self.data.filters else None
        return x if chosen is None else chosen.apply(x, self.data.motion.rate, self.data.motion.start)

    def _grams(self, j: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Gram matrices of left and right (both (N, .), sorted) per fold: those of the cells, added up."""
        weighted = left * self.weight[:, j, None]
        found = np.array([weighted[a:b].T @ right[a:b] for a, b in itertools.pairwise(self.edges)])
        return np.array([found[own].sum(0) for own in self.parts])

    def index(self, j: int, law: JointFriction) -> np.ndarray:
        """Places of a law's columns beside W and effort."""
        return np.array([self.names[j][column_key(t, law.eps)] for t in law.terms])

    def extend(self, j: int, laws: Sequence[JointFriction]) -> bool:
        """Whether joint j gets columns: those of the laws that it has not had."""
        wanted = {column_key(t, law.eps): (t, law.eps) for law in laws for t in law.terms}
        missing = {key: column for key, column in wanted.items() if key not in self.names[j]}
        if not missing:
            return False
        columns = [self.data.signals[j].column(*column) for column in missing.values()]
        new = self._filtered(j, np.column_stack(columns))[self.order]
        cross = self._grams(j, self.columns[j], new)
        own = self._grams(j, new, new)
        self.gram[j] = np.block([[self.gram[j], cross], [np.swapaxes(cross, 1, 2), own]])
        first = len(self.names[j])
        self.names[j].update({key: first + i for i, key in enumerate(missing)})
        self.columns[j] = np.hstack([self.columns[j], new])
        return True


@dataclass(frozen=True)
class Reduced:
    """Held-out errors of one joint for D versions of the effort as functions of its own coefficients x (K, D) alone,
    the bodies solved for them: per fold S x = s identifies x, the error is c - 2 x' p + x' Q x.

    S, Q (F, K, K); s, p (F, K, D); c (F, D).
    """

    S: np.ndarray
    s: np.ndarray
    Q: np.ndarray
    p: np.ndarray
    c: np.ndarray

    def errors(self, own: np.ndarray) -> np.ndarray:
        """Held-out squared error (F, D) with the columns `own` (k,)."""
        x = np.linalg.solve(self.S[:, own[:, None], own], self.s[:, own])
        return self.c - 2 * (x * self.p[:, own]).sum(1) + (x * (self.Q[:, own[:, None], own] @ x)).sum(1)


class Selector:
    """Greedy forward and backward choice of every joint's law, joint by joint, the others held."""

    def __init__(
        self, data: Evidence, laws: list[JointFriction], coupled: dict[int, tuple[int, ...]] | None = None
    ) -> None:
        self.table, self.laws, self.coupled = GramTable(data), list(laws), coupled or {}
        self.sigma2 = np.ones(data.n)
        self._schur: list[tuple[np.ndarray, np.ndarray] | None] = [None] * data.n
        self._reduced: tuple[int, Reduced] | None = None  # of one joint, while the others are held
        self._refresh_noise()

    # -- errors ---------------------------------------------------------------------------------------------------
    def _normal(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Per fold: normal matrix (F, k, k) of all other folds over W and joint j's columns, ridge of the own columns
        included, and right-hand sides (F, k, D), both over the joint's variance.
        """
        G, b, versions = self.table.gram[j], self.table.b, self.table.versions
        rest = (self.table.total(j) - G) / self.sigma2[j]
        columns = np.r_[0:b, b + versions : G.shape[1]]
        A = rest[:, columns[:, None], columns]
        own = np.arange(b, len(columns))
        A[:, own, own] *= 1 + RIDGE
        return A, rest[:, columns, b : b + versions]

    def _eliminate(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """Contribution of joint j to the rigid-body normal equations with its law's columns eliminated, per fold."""
        known = self._schur[j]
        if known is None:
            self.table.extend(j, [self.laws[j]])
            A, h = self._normal(j)
            b, own = self.table.b, self.table.b + self.table.index(j, self.laws[j])
            gain = np.linalg.solve(A[:, own[:, None], own], A[:, own, :b])
            S = A[:, :b, :b] - A[:, :b, own] @ gain
            r = h[:, :b] - np.swapaxes(gain, 1, 2) @ h[:, own]
            known = self._schur[j] = S, r
        return known

    def _reduce(self, j: int) -> Reduced:
        """The problem of joint j with the bodies eliminated, beside the laws of the others."""
        A, h = self._normal(j)
        b, versions = self.table.b, self.table.versions
        M, r = A[:, :b, :b], h[:, :b]
        for i in range(self.table.data.n):
            if i != j:
                S, more = self._eliminate(i)
                M, r = M + S, r + more
        M = M + RIDGE * _diagonal(M)
        T = _solved(M, np.concatenate([A[:, :b, b:], r], axis=2))
        gain, x = T[:, :, : A.shape[2] - b], T[:, :, A.shape[2] - b :]
        across = np.swapaxes(A[:, :b, b:], 1, 2)
        G = self.table.gram[j]
        y, own = np.arange(b, b + versions), np.arange(b + versions, G.shape[1])
        B, C, left = G[:, :b, :b], G[:, :b, own], np.swapaxes(gain, 1, 2)
        BT, rest = B @ gain, G[:, :b, y] - B @ x
        Q = G[:, own[:, None], own] - left @ C - np.swapaxes(C, 1, 2) @ gain + left @ BT
        line = G[:, own[:, None], y] - np.swapaxes(C, 1, 2) @ x - left @ rest
        c = G[:, y, y] - (x * (G[:, :b, y] + rest)).sum(1)
        return Reduced(A[:, b:, b:] - across @ gain, h[:, b:] - across @ x, Q, line, c)

    def fold_errors(self, j: int, law: JointFriction) -> np.ndarray:
        """Held-out squared error (F,) of joint j in each fold when it has `law`."""
        return self.shifted_errors(j, [law])[0, :, 0]

    def shifted_errors(self, j: int, laws: Sequence[JointFriction]) -> np.ndarray:
        """The same of several laws for each version of the effort (laws, F, D)."""
        known = self._reduced
        if self.table.extend(j, laws) or known is None or known[0] != j:
            known = self._reduced = j, self._reduce(j)
        return np.array([known[1].errors(self.table.index(j, law)) for law in laws])

    def _refresh_noise(self) -> None:
        n = self.table.data.n
        counts = np.array([self.table.data.weight[:, j].sum() for j in range(n)])
        total = [self.table.total(j)[self.table.b, self.table.b] for j in range(n)]
        self.sigma2 = np.maximum(np.array(total) / counts, 1e-12)
        for _ in range(2):
            self._forget(*range(n))
            errors = [self.fold_errors(j, law).sum() / self.table.sets for j, law in enumerate(self.laws)]
            self.sigma2 = np.maximum(np.array(errors) / counts, 1e-12)
        self._forget(*range(n))

    def _forget(self, *joints: int) -> None:
        """The laws or variances of joints have changed."""
        self._reduced = None
        for j in joints:
            self._schur[j] = None

    # -- search ---------------------------------------------------------------------------------------------------
    def run(self, sweeps: int = 2, gain: float = 0.002) -> list[JointFriction]:
        """The chosen laws; a group is kept when it lowers the held-out error by more than `gain` and in most folds."""
        for _ in range(sweeps):
            for j in range(self.table.data.n):
                self.laws[j] = self._joint(j, gain)
                self._forget(j)
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
        fast = bool(np.abs(self.table.data.signals[j].v).max() > CURVED)
        groups = list(candidates(law, fast, self.coupled.get(j, ())))
        wider = [JointFriction(law.eps, (*law.terms, *group)) for group in groups]
        now, *errors = self.shifted_errors(j, [law, *wider])[:, :, 0]
        return [
            (law, e)
            for law, group, e in zip(wider, groups, errors, strict=True)
            if not group[0].startswith("cv@") or clearly_better(e, now, COUPLED_GAIN)
        ]

    def _best_eps(self, j: int, law: JointFriction) -> JointFriction:
        laws = [law.with_eps(e) for e in VELOCITY_WIDTHS]
        return laws[int(self.shifted_errors(j, laws)[:, :, 0].sum(1).argmin())]

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


def _solved(A: np.ndarray, h: np.ndarray) -> np.ndarray:
    """x (f, k, D) of A x = h for a stack, A scaled to unit diagonal."""
    d = np.sqrt(np.maximum(np.einsum("fkk->fk", A), 1e-300))
    return np.linalg.solve(A / d[:, :, None] / d[:, None, :], h / d[..., None]) / d[..., None]
