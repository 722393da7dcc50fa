"""What further torques that all joints share, and a turn of gravity, are beside all bodies and friction of a fit."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.model import IdentifiedModel, joint_rows, passed
from robot_dynamics_ros.identification.arm.mounting import STANDARD, SURE
from robot_dynamics_ros.identification.arm.solvers.fitting import ROUGH, ROUGH_ROWS, Prior
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, solve
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import thinned


def solved_beside(
    fit: IdentifiedModel, motion: Motion, columns: np.ndarray, prior: Prior
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients (k,) of columns (n, N, k) beside the parameters of a fit, found with them, and their deviations."""
    size, more = len(fit.solution.x), columns.shape[2]
    shared = np.arange(size, size + more)
    W = fit.rigid.base_regressor(motion.q, motion.qd, motion.qdd)
    rows = [
        JointRows(np.column_stack([row.A, passed(chosen, own, motion)]), np.append(row.index, shared), row.y)
        for row, own, chosen in zip(
            joint_rows(motion, W, fit.load(motion), fit.structure), columns, fit.structure.filters, strict=True
        )
    ]
    weights = None if motion.weight is None else list(motion.weight.T)
    limited = np.append(fit.structure.non_negative(fit.rigid.base.size), np.zeros(more, bool))
    found = solve(rows, size + more, (np.pad(prior[0], ((0, 0), (0, more))), prior[1]), ROUGH, weights, limited)
    return found.x[size:], found.std[size:]


def direction_beside(fit: IdentifiedModel, motion: Motion, prior: Prior) -> tuple[np.ndarray, float]:
    """Direction (3,) of gravity, and the cosine between directions that may be one: SURE deviations of this solution.

    Masses of a robot file leave it up to a degree off. One Gauss-Newton step of min |effort - A(g) x| over parameters x
    and the direction of g: effort = A(g) x + L u, where L is what x weighs in 1 m/s2 along the two axes across g, and
    u [m/s2] its turn (Bjorck, Numerical Methods for Least Squares Problems, 1996, 9.2).
    """
    motion, gravity = thinned(motion, ROUGH_ROWS), fit.rigid.gravity
    across, still = np.linalg.svd(gravity[None])[2][1:], np.zeros_like(motion.q)
    lean = np.array([fit.rigid.torque(fit.phi, motion.q, still, still, axis) for axis in across]).T
    turn, std = solved_beside(fit, motion, lean, prior)
    turned = gravity + turn @ across
    same = np.cos(min(SURE * float(np.linalg.norm(std)) / STANDARD, np.pi))
    return turned / np.linalg.norm(turned), float(same)
