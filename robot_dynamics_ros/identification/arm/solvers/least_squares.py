"""Least squares over joints that share the rigid-body parameters: one triangle per joint, so that re-weighting is free.

Joint j contributes rows A_j = [W_j, F_j] on the parameters `index_j`. Its triangle R_j (QR of [A_j, y_j], row blocks
folded in one after the other) holds all that any weighting of whole joints needs; the stacked matrix is never formed.
Rows come from anything that gives triangles and residuals (`Rows`): matrices in memory (`StoredRows`), or a motion
whose rows exist only block by block (`fused_rows.FusedRows`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import nnls

from robot_dynamics_ros.identification.metrics import NORMAL, column_sizes, per_independent

BLOCK = 8192  # rows folded into a triangle at once
HUBER = 2.5  # residuals beyond this many robust deviations lose weight; 98.8 % of a normal distribution keeps all
ROUNDS = 6  # of robust weights
MEDIAN_ROWS = 20_000  # samples of which the robust deviation is taken
RANK = 1e-10  # singular values of the unit-column system below this share of the largest are no information
SHRINKAGE = 1e-4  # relative ridge of non-negative coefficients: alike columns share what the data do not separate
KNOWN = 1e5  # of a known rotor inertia [1/(kg m2)]: far above what a recording says, near enough for a solver
DEPENDENT = 1e-6  # the same for rank and condition: such directions are groups (a rotor and the ZZ of its link)


@dataclass(frozen=True)
class JointRows:
    """Rows of one joint: A (N, k) on global parameters `index` (k,), y (N,)."""

    A: np.ndarray
    index: np.ndarray
    y: np.ndarray


class Rows(Protocol):
    """Rows of n joints: targets y, global parameters index[j] of each joint, triangles and residuals on demand."""

    @property
    def y(self) -> Sequence[np.ndarray]:
        """Targets (N_j,) of every joint."""
        ...

    @property
    def index(self) -> Sequence[np.ndarray]:
        """Global parameters (k_j,) of every joint."""
        ...

    def triangles(self, weights: Sequence[np.ndarray] | None = None) -> list[np.ndarray]:
        """R_j (k_j + 1, k_j + 1) of the QR of sqrt(weights[j]) [A_j, y_j]."""
        ...

    def residuals(self, x: np.ndarray) -> list[np.ndarray]:
        """y_j - A_j x[index_j] of every joint."""
        ...


@dataclass(frozen=True)
class Solution:
    """x (p,), std (p,), sigma (n,) residual deviation per joint, triangle R (p, p) and rhs of the weighted problem.

    separable (p,): the data alone determine this parameter, not only a sum of it with others.
    """

    x: np.ndarray
    std: np.ndarray
    sigma: np.ndarray
    R: np.ndarray
    rhs: np.ndarray
    rank: int
    condition: float
    weights: np.ndarray
    separable: np.ndarray
    scale: np.ndarray  # (n,) the rows of each joint were divided by it
    covariance: np.ndarray | None = None  # (p, p), where it was asked for

    @property
    def relative_std(self) -> np.ndarray:
        """100 std / |x| [%] of every parameter [Madsen2020 ch5, Table 4]."""
        return 100 * self.std / np.maximum(np.abs(self.x), 1e-300)


def gram_triangle(A: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """`triangle` of A (N, k), y (N,), weight (N,) by Cholesky of the Gram matrix.

    Several times faster with half the digits: for choices only.
    """
    rows = np.column_stack([A, y])
    G = rows.T @ (rows if weight is None else rows * weight[:, None])
    d = np.sqrt(np.maximum(np.diag(G), 1e-300))
    return np.linalg.cholesky(G / d / d[:, None] + 1e-12 * np.eye(len(G))).T * d


def triangle(A: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """R (k + 1, k + 1) of the QR of sqrt(weight) [A, y], folded block by block; A (N, k), y (N,), weight (N,)."""
    k = A.shape[1] + 1
    R: Any = np.zeros((0, k))
    for a in range(0, len(A), BLOCK):
        rows = np.column_stack([A[a : a + BLOCK], y[a : a + BLOCK]])
        if weight is not None:
            rows *= np.sqrt(weight[a : a + BLOCK, None])
        R = np.linalg.qr(np.vstack([R, rows]), mode="r")
    return R if len(R) == k else np.vstack([R, np.zeros((k - len(R), k))])


@dataclass(frozen=True)
class StoredRows:
    """`Rows` of matrices in memory, with the triangle of choice."""

    joints: Sequence[JointRows]
    fold: Callable[..., np.ndarray] = triangle

    @property
    def y(self) -> list[np.ndarray]:
        """Targets (N_j,) of every joint."""
        return [j.y for j in self.joints]

    @property
    def index(self) -> list[np.ndarray]:
        """Global parameters (k_j,) of every joint."""
        return [j.index for j in self.joints]

    def triangles(self, weights: Sequence[np.ndarray] | None = None) -> list[np.ndarray]:
        """Triangle of every joint, its rows times sqrt(weights)."""
        if weights is None:
            return [self.fold(j.A, j.y) for j in self.joints]
        return [self.fold(j.A, j.y, w) for j, w in zip(self.joints, weights, strict=True)]

    def residuals(self, x: np.ndarray) -> list[np.ndarray]:
        """y - A x of every joint."""
        return [j.y - j.A @ x[j.index] for j in self.joints]


def solve(
    joint_rows: Rows | Sequence[JointRows],
    size: int,
    prior: tuple[np.ndarray, np.ndarray] | None = None,
    iterations: int = ROUNDS,
    row_weights: Sequence[np.ndarray] | None = None,
    non_negative: np.ndarray | None = None,
    known: Mapping[int, float] | None = None,
) -> Solution:
    """Parameters x (size,) of all joints' rows; x >= 0 where non_negative (size,) says so.

    Rows of joint j count 1 / sigma_j of their residuals [Madsen2020 ch5 19-20], where [Liu2020 19-22] takes the norm of
    tau_j, with iteratively re-weighted samples; iterations = 0: ordinary least squares. prior: rows (P, z) added to the
    weighted problem, e.g. CAD values with a stated strength. row_weights (N,) per joint: inverse variances of the
    samples relative to each other; robust weights come on top. known: parameters by number that are measured with the
    deviation 1/KNOWN [Madsen2020 ch5 14].
    """
    rows: Rows = StoredRows(joint_rows) if isinstance(joint_rows, Sequence) else joint_rows
    given = [np.ones(len(y)) for y in rows.y] if row_weights is None else list(row_weights)
    weights, sigma = given, np.ones(len(given))
    triangles = rows.triangles(row_weights)
    found = combined(triangles, rows.index, sigma, size, prior, non_negative, known)
    residuals = rows.residuals(found[0])
    for _ in range(iterations):
        weights = [huber(r, g) for r, g in zip(residuals, given, strict=True)]
        triangles = rows.triangles(weights)
        sigma = deviations(residuals, weights, rows.index)
        found = combined(triangles, rows.index, sigma, size, prior, non_negative, known)
        residuals = rows.residuals(found[0])
    final = deviations(residuals, weights, rows.index)
    x, R, rhs, rank, condition, separable = found
    std = _parameter_deviations(triangles, rows.index, sigma, final, residuals, R)
    return Solution(x, std, final, R, rhs, rank, condition, np.column_stack(weights), separable, sigma)


def huber(r: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Weights (N,) of residuals r (N,): given, less beyond HUBER robust deviations of sqrt(given) r."""
    size = np.abs(r) * np.sqrt(given)
    scale = max(NORMAL * _median(size, given), 1e-9)
    return given * np.minimum(1.0, HUBER * scale / np.maximum(size, 1e-12))


def _median(x: np.ndarray, weight: np.ndarray) -> float:
    """Median of x (N,) where a sample counts as its weight (N,); of at most MEDIAN_ROWS samples."""
    step = max(len(x) // MEDIAN_ROWS, 1)
    x, weight = x[::step], weight[::step]
    order = np.argsort(x)
    total = np.cumsum(weight[order])
    return float(x[order[np.searchsorted(total, 0.5 * total[-1])]])


def deviations(
    residuals: Sequence[np.ndarray], weights: Sequence[np.ndarray], index: Sequence[np.ndarray]
) -> np.ndarray:
    """Deviation sigma (n,) of every joint's weighted residuals (N,), its number of parameters taken off the samples."""
    rows = zip(residuals, weights, index, strict=True)
    return np.array([max(float(np.sqrt((w * r**2).sum() / max(w.sum() - len(i), 1.0))), 1e-9) for r, w, i in rows])


def combined(
    triangles: Sequence[np.ndarray],
    index: Sequence[np.ndarray],
    sigma: np.ndarray,
    size: int,
    prior: tuple[np.ndarray, np.ndarray] | None,
    non_negative: np.ndarray | None,
    known: Mapping[int, float] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, float, np.ndarray]:
    """x (p,), R (p, p), rhs (p,), rank, condition, separable (p,) of the triangles stacked with weights 1 / sigma.

    Coefficients that are non_negative (p,) get a ridge and do not count in rank and condition; columns of R whose x is
    at the limit 0 are 0: the rest is a problem without limits.
    """
    limited = np.zeros(size, bool) if non_negative is None else non_negative
    rows = []
    for T, own, s in zip(triangles, index, sigma, strict=True):
        full = np.zeros((len(T), size + 1))
        full[:, own] = T[:, :-1] / s
        full[:, -1] = T[:, -1] / s
        rows.append(full)
    for k, value in (known or {}).items():
        rows.append(np.zeros((1, size + 1)))
        rows[-1][0, [k, -1]] = KNOWN, KNOWN * value
    data = np.vstack(rows)
    scale = column_sizes(data[:, :-1])
    _, values, Vt = np.linalg.svd(np.linalg.qr((data[:, :-1] / scale)[:, ~limited], mode="r"))
    rank = int((values > DEPENDENT * values[0]).sum())
    condition = float(values[0] / values[rank - 1]) if rank else np.inf
    ridge = np.sqrt(SHRINKAGE) * np.diag(np.append(scale, 0.0))[:-1][limited]
    R: Any = np.linalg.qr(np.vstack([data, ridge, *([] if prior is None else [np.column_stack(prior)])]), mode="r")
    R, rhs = R[:size, :size], R[:size, size]
    x = bounded(R / scale, rhs, limited) / scale
    R = R * (~limited | (x > 0))
    separable = np.ones(size, bool)
    separable[~limited] = np.linalg.norm(Vt[rank:], axis=0) < 1e-3
    return x, R, rhs, rank, condition, separable


def bounded(R: np.ndarray, z: np.ndarray, limited: np.ndarray) -> np.ndarray:
    """x (p,) of min |R x - z| with x >= 0 where it is limited (p,); columns of about unit length.

    The free ones are eliminated first, by a projection that leaves out directions without information.
    """
    U, values, Vt = np.linalg.svd(R[:, ~limited], full_matrices=False)
    kept = values > RANK * values[0]
    U, back, x = U[:, kept], Vt[kept].T / values[kept], np.zeros(len(limited))
    A, y = R[:, limited], z - U @ (U.T @ z)
    if limited.any():
        x[limited] = nnls(A - U @ (U.T @ A), y)[0]
    x[~limited] = back @ (U.T @ (z - A @ x[limited]))
    return x


def _parameter_deviations(
    triangles: Sequence[np.ndarray],
    index: Sequence[np.ndarray],
    sigma: np.ndarray,
    final: np.ndarray,
    residuals: Sequence[np.ndarray],
    R: np.ndarray,
) -> np.ndarray:
    """Standard deviations (p,): residuals of real logs are correlated in time, which a white-noise formula would
    ignore.

    cov = H^-1 (sum_j kappa_j (final_j / sigma_j)^2 H_j) H^-1, H_j = R_j'R_j / sigma_j^2, kappa_j: `per_independent`.
    """
    inverse = np.linalg.pinv(R, rcond=RANK)
    total = np.zeros(len(R))
    for T, own, s, f, r in zip(triangles, index, sigma, final, residuals, strict=True):
        full = np.zeros((len(T), len(R)))
        full[:, own] = T[:, :-1] / s
        gain = full @ inverse @ inverse.T
        total += per_independent(r) * (f / s) ** 2 * (gain**2).sum(0)
    return np.sqrt(total)
