"""Momentum and C' qd without forming matrices, against the matrices and against numerical derivatives."""

import numpy as np
import pytest
from chains import random_chain

from robot_dynamics_ros import _core


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 16])
@pytest.mark.parametrize("seed", range(3))
def test_momentum_and_transposed_coriolis(n, seed):
    chain = random_chain(n, seed)
    robot, core = chain.model(), chain.core
    rng = np.random.default_rng(seed + 50)
    q, qd = rng.uniform(-3, 3, n), rng.normal(size=n)
    p, beta = _core.generalised_momentum(core, q, qd)
    M = robot.mass_matrix(q)
    np.testing.assert_allclose(p, M @ qd, rtol=1e-10, atol=1e-10)
    # C'qd = Mdot qd - C qd with Mdot qd from a central difference of M along the motion
    h = 1e-5
    mdot_qd = (robot.mass_matrix(q + h * qd) - robot.mass_matrix(q - h * qd)) @ qd / (2 * h)
    scale = np.abs(mdot_qd).max() + 1
    np.testing.assert_allclose(beta, mdot_qd - robot.coriolis(q, qd), atol=1e-7 * scale)
    # and = the gradient of the kinetic energy with respect to q
    energy = [0.5 * qd @ robot.mass_matrix(q + s * h * e) @ qd for e in np.eye(n) for s in (1, -1)]
    np.testing.assert_allclose(beta, (np.array(energy[::2]) - energy[1::2]) / (2 * h), atol=1e-7 * scale)
