"""Reverse mode of torque and regressor: against Pinocchio's analytic derivatives, differences, and each other."""

import numpy as np
import pinocchio as pin
import pytest
from chains import random_chain, random_motion, random_rotation

from robot_dynamics_ros import _core
from robot_dynamics_ros.models import RobotModel


def turned(chain, seed):
    """The same arm with parameters reported in frames that do not turn about z, as a URDF with other axes gives."""
    rng = np.random.default_rng(seed)
    frames = np.array([random_rotation(rng) for _ in range(chain.n)])
    return RobotModel(_core.Chain(chain.placements, chain.inertia, chain.tool, chain.gravity, frames))


def by_differences(f, x, h=1e-3):
    """Central differences of sixth order of f(q, qd, qdd) (N,) per sample, each sample on its own: (3, N, n)."""
    out = np.zeros((3, *x[0].shape))
    for part in range(3):
        for j in range(x[0].shape[1]):
            for k, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
                for sign in (1, -1):
                    y = [a.copy() for a in x]
                    y[part][:, j] += sign * k * h
                    out[part, :, j] += sign * weight / 60 * f(*y) / h
    return out


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("n,right", [(1, False), (2, False), (3, True), (6, True), (6, False), (7, True), (9, False)])
@pytest.mark.parametrize("framed", [False, True])
def test_regressor_slopes_are_those_of_differences(n, right, framed):
    chain = random_chain(n, seed=10 * n + right, right_angles=right)
    model = turned(chain, n) if framed else chain.model()
    rng, samples = np.random.default_rng(n), 13
    x = random_motion(n, samples, seed=n)
    columns = sorted(rng.choice(10 * n, size=max(7 * n, 1), replace=False).tolist())
    L = np.asfortranarray(rng.normal(size=(n * samples, len(columns))))

    def sums(q, qd, qdd):
        W = model.stacked_regressor(q, qd, qdd, columns)
        return (L * W).reshape(n, samples, -1).sum(axis=(0, 2))

    found = np.array(model.regressor_gradient(*x, L, columns))
    wanted = by_differences(sums, x)
    assert np.allclose(found, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("framed", [False, True])
@pytest.mark.parametrize("n", [1, 4, 6, 7, 16])
def test_torque_slopes_are_those_of_the_regressor(n, framed):
    chain = random_chain(n, seed=n)
    model = turned(chain, 5) if framed else chain.model()
    x, weights = random_motion(n, 11, 3), np.random.default_rng(4).normal(size=(11, n))
    L = np.einsum("kj,c->jkc", weights, model.inertial_parameters).reshape(11 * n, -1)
    by_regressor = model.regressor_gradient(*x, np.asfortranarray(L))
    for a, b in zip(model.torque_gradient(*x, weights), by_regressor, strict=True):
        assert np.allclose(a, b, rtol=1e-10, atol=1e-10 * max(np.abs(b).max(), 1e-3))


@pytest.mark.parametrize("name", ["ur5e", "panda"])
def test_torque_slopes_are_pinocchios(name):
    from bench.speed.setup import Arm

    arm = Arm(name)
    model, data = arm.pinocchio
    x = random_motion(arm.n, 20, 7)
    weights = np.random.default_rng(8).normal(size=(20, arm.n))
    found = arm.model.torque_gradient(*x, weights)
    for k in range(20):
        by_q, by_v, M = pin.computeRNEADerivatives(model, data, *(a[k] for a in x))
        M = np.triu(M) + np.triu(M, 1).T
        for slope, J in zip(found, (by_q, by_v, M), strict=True):
            assert np.allclose(slope[k], J.T @ weights[k], rtol=1e-7, atol=1e-7 * np.abs(J).max())


def test_wrong_arguments_are_named():
    model = random_chain(3, seed=1).model()
    x = random_motion(3, 4, 0)
    with pytest.raises(ValueError, match="weights has shape"):
        model.torque_gradient(*x, np.zeros((4, 2)))
    with pytest.raises(ValueError, match="weights has shape"):
        model.regressor_gradient(*x, np.zeros((12, 29), order="F"))
    with pytest.raises(ValueError, match="weights is not Fortran"):
        model.regressor_gradient(*x, np.zeros((12, 30)))
    with pytest.raises(ValueError, match=r"weights\[1, 2\] is nan"):
        model.torque_gradient(*x, np.where(np.arange(12).reshape(4, 3) == 5, np.nan, 0.0))
    with pytest.raises(ValueError, match="columns contains 40"):
        model.regressor_gradient(*x, np.zeros((12, 1), order="F"), [40])
    with pytest.raises(ValueError, match="q"):
        model.torque_gradient(x[0] * np.nan, *x[1:], np.zeros((4, 3)))
