"""Direction of gravity beside all bodies and friction of a fit: masses of a robot file leave it up to a degree off."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.model import IdentifiedModel, joint_rows, passed
from robot_dynamics_ros.identification.arm.mounting import STANDARD, SURE
from robot_dynamics_ros.identification.arm.solvers.fitting import ROUGH, ROUGH_ROWS, Prior
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, solve
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import thinned


def direction_beside(fit: IdentifiedModel, motion: Motion, prior: Prior) -> tuple[np.ndarray, float]:
    """Direction (3,) of gravity, and the cosine between directions that may be one: SURE deviations of this solution.

    One Gauss-Newton step of min |effort - A(g) x| over parameters x and the direction of g: effort = A(g) x + L u,
    where L is what x weighs in 1 m/s2 along the two axes across g, and u [m/s2] its turn (Bjorck, Numerical Methods for
    Least Squares Problems, 1996, 9.2).
    """
    motion, gravity, size = thinned(motion, ROUGH_ROWS), fit.rigid.gravity, len(fit.solution.x)
    across = np.linalg.svd(gravity[None])[2][1:]
    rows = _with_lean(fit, motion, across, size)
    weights = None if motion.weight is None else list(motion.weight.T)
    limited = np.append(fit.structure.non_negative(fit.rigid.base.size), [False, False])
    wider = np.pad(prior[0], ((0, 0), (0, 2))), prior[1]
    found = solve(rows, size + 2, wider, ROUGH, weights, limited)
    turned = gravity + found.x[size:] @ across
    same = np.cos(min(SURE * float(np.linalg.norm(found.std[size:])) / STANDARD, np.pi))
    return turned / np.linalg.norm(turned), float(same)


def _with_lean(fit: IdentifiedModel, motion: Motion, across: np.ndarray, size: int) -> list[JointRows]:
    """Rows of every joint with two more columns, parameters `size` and size + 1: its torque in 1 m/s2 along across."""
    W, still = fit.rigid.base_regressor(motion.q, motion.qd, motion.qdd), np.zeros_like(motion.q)
    lean = np.stack([fit.rigid.torque(fit.phi, motion.q, still, still, axis) for axis in across], axis=-1)
    rows = joint_rows(motion, W, fit.load(motion), fit.structure)
    more = [passed(chosen, lean[:, j], motion) for j, chosen in enumerate(fit.structure.filters)]
    shared = np.array([size, size + 1])
    return [
        JointRows(np.column_stack([row.A, own]), np.append(row.index, shared), row.y)
        for row, own in zip(rows, more, strict=True)
    ]
