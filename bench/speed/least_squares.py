"""States and torques to parameters: the fused solve against a Pinocchio loop and numpy, and against figaroh."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from bench.speed.rigid_body import multiply_adds
from bench.speed.setup import PINOCCHIO_ORDER, Arm, Setup, figaroh
from bench.speed.timing import Case
from robot_dynamics_ros import _core


def cases(setup: Setup) -> Iterator[Case]:
    """Cases of least squares over recordings."""
    arm = Arm("ur5e")
    samples = 12000 if setup.quick else 120000
    columns = _base_columns(arm)
    x = arm.motion(samples)
    tau = arm.model.rnea(*x) + np.random.default_rng(1).normal(size=(samples, arm.n))

    def fused() -> np.ndarray:
        qr = _core.FusedQR(arm.model.chain, columns)
        qr.update(*x, tau)
        return _solution(qr.fold())

    def by_pinocchio() -> np.ndarray:
        return np.linalg.lstsq(_pinocchio_stack(arm, x, columns), tau.T.ravel(), rcond=None)[0]

    text = f"{samples} samples to {len(columns)} parameters"
    limit = multiply_adds(_triangle_operations(arm.n, columns, samples))
    yield Case(text, fused, by_pinocchio, "pin loop + lstsq", budget=5.0, machine=limit, least_share=0.5)
    builder = figaroh(arm)
    if builder is not None:
        places = _pinocchio_places(columns)

        def by_figaroh() -> np.ndarray:
            W = builder.build_basic_regressor(*x, {"act_idxv": []})[:, places]
            Q, R = np.linalg.qr(W)
            return scipy.linalg.solve_triangular(R, Q.T @ tau.T.ravel())

        yield Case(text, fused, by_figaroh, "figaroh + QR", budget=7.0)
    kept = _core.FusedQR(arm.model.chain, columns)
    kept.update(*x, tau)
    weights = np.arange(1.0, arm.n + 1)
    every = {"avx512": 100, "avx2": 100, "sse2": 100}
    name, again = "one re-weighting of the joints", lambda: _solution(kept.fold(weights))
    yield Case(name, again, fused, "fused solve again", floors=every, budget=1.0)
    yield from _condition(arm, columns)


def _condition(arm: Arm, columns: list[int]) -> Iterator[Case]:
    x = arm.motion(1000)

    def ours() -> float:
        qr = _core.FusedQR(arm.model.chain, columns)
        qr.update(*x)
        return float(np.linalg.cond(qr.fold()[:-1, :-1]))

    def peer() -> float:
        return float(np.linalg.cond(_pinocchio_stack(arm, x, columns)))

    yield Case("cond(W) of 1000 samples", ours, peer, "pin loop + cond")


def _triangle_operations(joints: int, columns: list[int], samples: int) -> int:
    """Operations of Householder's QR, 2 m w^2 for m rows of w numbers, over the triangles of the joints.

    A joint feels its own link and those beyond; its torque is the last number of a row. The regressor is not counted.
    """
    widths = [sum(column // 10 >= joint for column in columns) + 1 for joint in range(joints)]
    return sum(2 * samples * width**2 for width in widths)


def _solution(R: np.ndarray) -> np.ndarray:
    return scipy.linalg.solve_triangular(R[:-1, :-1], R[:-1, -1])


def _base_columns(arm: Arm) -> list[int]:
    """Independent columns by a pivoted QR of random samples [Liu2020 9-18]."""
    W = arm.model.stacked_regressor(*arm.motion(300, seed=9))
    _, R, pivots = scipy.linalg.qr(W, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > 1e-9 * abs(R[0, 0])).sum())
    return sorted(int(k) for k in pivots[:rank])


def _pinocchio_places(columns: list[int]) -> list[int]:
    """Our columns in Pinocchio's order within each link."""
    return [10 * (c // 10) + PINOCCHIO_ORDER.index(c % 10) for c in columns]


def _pinocchio_stack(arm: Arm, x: tuple[np.ndarray, ...], columns: list[int]) -> np.ndarray:
    """W by a loop over Pinocchio's regressor, joint by joint as ours."""
    import pinocchio as pin

    model, data = arm.pinocchio
    places, samples = _pinocchio_places(columns), len(x[0])
    W = np.empty((arm.n, samples, len(columns)))
    for k, (q, v, a) in enumerate(zip(*x, strict=True)):
        W[:, k] = pin.computeJointTorqueRegressor(model, data, q, v, a)[:, places]
    return W.reshape(-1, len(columns))
