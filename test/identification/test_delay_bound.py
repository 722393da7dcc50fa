"""Delay of the effort: what deviation the data allow (Cramer-Rao), beside the error of `identify`."""

import numpy as np
import pytest
from test_settings import ROBOT, late

from robot_dynamics_ros.identification.arm.model import joint_rows, motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.fitting import Fitter
from robot_dynamics_ros.identification.arm.tuning import Tuner
from robot_dynamics_ros.identification.dataset.motion import pieces_of


def bound(model, motion):
    """Deviation of the delay [s] for white errors (Cramer-Rao bound, all other parameters unknown).

    y = A x - d dp/dt + e of all joints, p = A x.
    """
    s, W = model.solution, model.rigid.base_regressor(motion.q, motion.qd, motion.qdd)
    size = len(s.x)
    H = np.zeros((size + 1, size + 1))
    for j, row in enumerate(joint_rows(motion, W, model.load(motion), model.structure)):
        p = row.A @ s.x[row.index]
        slope = np.concatenate([np.gradient(p[a:b]) * motion.rate for a, b in pieces_of(motion.start)])
        A, own, w = np.column_stack([row.A, -slope]), np.append(row.index, size), s.weights[:, j]
        H[np.ix_(own, own)] += A.T @ (A * w[:, None]) / np.average((row.y - p) ** 2, weights=w)
    d = np.sqrt(np.maximum(np.diag(H), 1e-300))
    inverse = np.linalg.pinv(H / d / d[:, None], rcond=1e-10) / d / d[:, None]
    return np.sqrt(inverse[size, size])


def synthetic(rate, seed):
    """Error of the delay that is found, and the bound [s]; the laws are those of the truth."""
    rigid, rec = RigidModel(ROBOT), late(0.003, rate, seed)
    structure = Tuner([rec], rigid, True).run()
    motion = motion_of([rec], structure)
    return structure.delay - 0.003, bound(Fitter(rigid, structure, motion).run(), motion)


@pytest.mark.long
@pytest.mark.parametrize("rate", [125.0, 500.0])
def test_where_the_laws_are_right_the_delay_is_found_nearly_as_well_as_the_data_allow(rate):
    error, least = np.array([synthetic(rate, seed) for seed in (1, 2, 3)]).T
    assert np.sqrt((error**2).mean()) < 2 * least.mean()
