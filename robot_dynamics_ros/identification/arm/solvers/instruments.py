"""IDIM-IV: least squares whose instruments are the regressor of a simulated robot, free of measurement noise.

Z'A x = Z'y with Z = A(simulated motion): noise of the measured motion is not in Z, so that it averages out instead of
pulling the parameters. The robot is simulated in closed loop on the commanded motion with the previous estimate; both
are repeated until the parameters stand still. The method is named in [Madsen2020 ch5, section 1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.solvers.fused_rows import FusedRows
from robot_dynamics_ros.identification.arm.solvers.least_squares import RANK, Solution, deviations
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.signals.speeds import STEP

ROUNDS = 8
STILL = 0.1  # standard deviations: a round that moves no parameter by more has converged
CLEAR = 1e-3  # share of a column that instruments must explain


@dataclass(frozen=True)
class Bodies:
    """What is simulated: a model whose links are possible bodies, and rotor inertias (n,)."""

    model: IdentifiedModel
    rotor: np.ndarray

    def friction(self, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Friction (n,) [Nm] of velocities v (n,) without load, hysteresis and coupling, and its slope (n,), >= 0."""
        f, slope = np.zeros_like(v), np.zeros_like(v)
        for j, law in enumerate(self.model.structure.laws):
            own = dict(zip(law.terms, self.model.friction[j].tolist(), strict=True))
            step = np.tanh(v[j] / STEP)
            f[j] = own["fc"] * step + own["fv1"] * v[j] + own["fo"]
            slope[j] = own["fc"] * (1 - step**2) / STEP + own["fv1"]
        return f, np.maximum(slope, 0.0)


def commanded(recordings: Sequence[Recording]) -> list[Recording]:
    """The recordings with the commanded positions in place of the measured ones.

    Raises DataError where a bag does not hold them.
    """
    found = []
    for rec in recordings:
        pieces = []
        for p in rec.pieces:
            q_d = p.extra.get("q_d")
            if q_d is None or not np.isfinite(q_d).all():
                raise DataError(
                    f"{rec.name}: idim-iv simulates the commanded motion, which is not in the bag: record "
                    "desired_state, or choose another method"
                )
            pieces.append(replace(p, q=q_d, qd=None, extra={}))
        found.append(replace(rec, pieces=pieces))
    return found


def tracked(reference: Motion, measured: Motion) -> Motion:
    """The reference as late as the robot follows it: one delay per joint, the least-squares fit of q_d - delay qd_d."""
    lag = ((reference.q - measured.q) * reference.qd).sum(0) / np.maximum((reference.qd**2).sum(0), 1e-12)
    q = reference.q - lag * reference.qd
    qd = reference.qd - lag * reference.qdd
    return replace(reference, q=q, qd=qd)


def simulated(bodies: Bodies, reference: Motion, bandwidth: float) -> Motion:
    """Motion of the bodies under friction, kept on a reference by a controller with gravity and friction only.

    (M + B) a = g(q_r) + f(v_r) + K (q_r - q) + D (v_r - v) - C v - g(q) - f(v),  K = w^2 m, D = 2 w m,
    m = diag(M + B) at the mean position, w = 2 pi bandwidth [Hz]; linearly implicit in v, so that stiff friction and
    gains stay stable at the log's rate. Tracking errors are those of the bodies' own inertia.
    """
    rigid = bodies.model.rigid
    c, n, dt = rigid.model.chain, rigid.n, 1.0 / reference.rate
    frames = c.frames if c.framed else None
    chain = _core.Chain(c.placements, _chain_inertia(bodies, c), c.tool, np.array(c.gravity), frames)
    body, zero = _core.RigidBody(chain), np.zeros(n)
    m = np.diag(body.mass_matrix(np.ascontiguousarray(reference.q.mean(0)))) + bodies.rotor
    w = 2 * np.pi * bandwidth
    K, D = w**2 * m, 2 * w * m
    gravity = body.gravity(np.ascontiguousarray(reference.q))
    q, v, a = (np.empty_like(reference.q) for _ in range(3))
    for k in range(len(reference)):
        if reference.start[k]:
            x, s, acc = reference.q[k].copy(), reference.qd[k].copy(), reference.qdd[k].copy()
        q[k], v[k], a[k] = x, s, acc
        to = k + 1 if k + 1 < len(reference) and not reference.start[k + 1] else k
        hold = gravity[to] + bodies.friction(reference.qd[to])[0]
        f, slope = bodies.friction(s)
        force = hold + K * (reference.q[to] - x) + D * (reference.qd[to] - s) - body.rnea(x, s, zero) - f
        M = body.mass_matrix(x) + np.diag(bodies.rotor + dt * (D + slope) + dt**2 * K)
        acc = np.linalg.solve(M, force - dt * K * s)
        s = s + dt * acc
        x = x + dt * s
    return Motion(reference.t, q, v, a, reference.effort, reference.start, reference.rate)


def _chain_inertia(bodies: Bodies, chain: _core.Chain) -> np.ndarray:
    phi = bodies.model.phi.reshape(-1, 10)
    if not chain.framed:
        return phi
    raise DataError("idim-iv simulates robots of the robot file's own frames; convert the URDF to a robot file first")


def instrumented(
    rows: FusedRows,
    instruments: FusedRows,
    start: Solution,
    prior: tuple[np.ndarray, np.ndarray] | None,
    held: Mapping[int, float],
) -> Solution:
    """x of Z'W x = Z'y over all joints, weighted as the solution `start` is.

    Per joint one triangle of [Z, A, y]; joints stacked, R of [Z, A, y] has R_ZA x = R_Zy in its first rows: the
    instruments' projection, without products of Z and A. prior: (R (p, p), rhs (p,)) of further rows.
    Raises DataError where Z does not explain A.
    """
    p = len(start.x)
    stacked = []
    for T, own, s in zip(triangles(rows, instruments, start.weights), rows.index, start.scale, strict=True):
        full = np.zeros((len(T), 2 * p + 1))
        full[:, np.r_[own, p + own, 2 * p]] = T / s
        stacked.append(full)
    if prior is not None:
        stacked.append(np.column_stack([prior[0], prior[0], prior[1]]))
    data = np.vstack(stacked)
    for k, value in held.items():
        data[:, -1] -= data[:, p + k] * value
        data[:, [k, p + k]] = 0.0
    free = np.setdiff1d(np.arange(p), list(held))
    size = np.linalg.norm(data[:, p : 2 * p], axis=0)
    size[size == 0] = 1.0
    R: Any = np.linalg.qr(data, mode="r")
    A, z = R[:p, p : 2 * p], R[:p, -1]
    explained = np.linalg.norm(A, axis=0) / size
    if not explained[free].min() > CLEAR:
        raise DataError("idim-iv: the simulated robot does not move as the recorded one; choose another method")
    x = np.linalg.lstsq(A / size, z, rcond=RANK)[0] / size
    x[list(held)] = list(held.values())
    sigma = deviations(rows.residuals(x), list(start.weights.T), rows.index)
    grown = _row_norms(A / size) / size / np.maximum(_row_norms(start.R / size) / size, 1e-300)
    std = start.std * grown * float(np.mean(sigma / start.sigma))
    last: Any = np.linalg.qr(np.column_stack([A, z]), mode="r")
    return replace(start, x=x, std=std, sigma=start.sigma, R=last[:p, :-1], rhs=last[:p, -1])


def _row_norms(R: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.linalg.pinv(R, rcond=RANK), axis=1)


def triangles(rows: FusedRows, instruments: FusedRows, weights: np.ndarray) -> list[np.ndarray]:
    """Triangle (2 k_j + 1) of sqrt(weights) [Z_j, A_j, y_j] of every joint; weights (N, n)."""
    found: list[Any] = [np.zeros((0, 2 * len(i) + 1)) for i in rows.index]
    for (j, first, A), (_, _, Z) in zip(rows.matrices(), instruments.matrices(), strict=True):
        here = slice(first, first + len(A))
        block = np.column_stack([Z, A, rows.motion.effort[here, j]]) * np.sqrt(weights[here, j, None])
        found[j] = np.linalg.qr(np.vstack([found[j], block]), mode="r")
    return found
