"""What a few further torques that all joints share weigh beside all bodies and friction of a fit."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.model import IdentifiedModel, joint_rows, passed
from robot_dynamics_ros.identification.arm.solvers.fitting import ROUGH, Prior
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, solve
from robot_dynamics_ros.identification.dataset.motion import Motion


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
