"""Joint torque to wrench: exact where well posed, finite and honest where not."""

import numpy as np
import pytest
from chains import random_chain
from force_bench import POSE, UR5E, model
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_dynamics_ros import _core

CHAIN = UR5E.chain()
STD = np.array([3.0, 3.0, 2.0, 0.5, 0.4, 0.3])
SINGULAR = {  # wrist, elbow, shoulder (TCP above the base axis)
    "wrist": np.array([0.0, -1.2, 1.3, -1.5, 0.0, 0.3]),
    "elbow": np.array([0.0, -1.2, 0.0, -1.5, -1.4, 0.3]),
}
wrenches = st.tuples(*[st.floats(-150, 150)] * 3, *[st.floats(-20, 20)] * 3).map(np.array)


@settings(max_examples=50, deadline=None)
@given(wrench=wrenches)
def test_well_posed_wrench_is_exact(wrench):
    F, _, singular = _core.invert_wrench(CHAIN, POSE, model().jacobian(POSE).T @ wrench, STD)
    np.testing.assert_allclose(F, wrench, atol=1e-8 * (1 + np.abs(wrench).max()))
    assert singular > 0.08


def test_covariance_is_that_of_the_noise():
    J, rng = model().jacobian(POSE), np.random.default_rng(3)
    wrench = np.array([10, -20, 30, 1, 2, -3.0])
    noisy = [_core.invert_wrench(CHAIN, POSE, J.T @ wrench + STD * rng.normal(size=6), STD)[0] for _ in range(4000)]
    covariance = _core.invert_wrench(CHAIN, POSE, J.T @ wrench, STD)[1]
    np.testing.assert_allclose(covariance, np.linalg.inv(J @ np.diag(1 / STD**2) @ J.T), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.std(noisy, axis=0), np.sqrt(np.diag(covariance)), rtol=0.06)


def test_seven_joints_are_weighted_by_their_noise():
    chain = random_chain(7, 5)
    robot, core = chain.model(), _core.Chain(chain.placements, chain.parameters(), chain.tool, chain.gravity)
    q, std = np.linspace(-2, 1.5, 7), np.array([1, 1, 1, 1, 1, 1, 50.0])
    J, wrench = robot.jacobian(q), np.array([5, 6, 7, 0.1, 0.2, 0.3])
    tau = J.T @ wrench
    tau[6] += 20.0  # the joint that is known to be noisy
    trusted, _, singular = _core.invert_wrench(core, q, tau, std)
    assert singular > 0.08
    naive, _, _ = _core.invert_wrench(core, q, tau, np.ones(7))
    assert np.abs(trusted - wrench).max() < 0.1 * np.abs(naive - wrench).max()
    W = np.diag(1 / std**2)
    np.testing.assert_allclose(trusted, np.linalg.solve(J @ W @ J.T, J @ W @ tau), rtol=1e-6)


@pytest.mark.parametrize("pose", SINGULAR.values(), ids=SINGULAR)
def test_singular_pose_is_finite_with_growing_std(pose):
    away, wrench, stds = POSE - pose, np.array([40.0, -30, 60, 2, 1, -1]), []
    for step in (1.0, 0.1, 0.03, 0.01, 1e-3, 1e-6, 0.0):
        q = pose + step * away
        F, C, singular = _core.invert_wrench(CHAIN, q, model().jacobian(q).T @ wrench, STD)
        std = np.sqrt(np.diag(C))
        stds.append(np.sqrt(np.linalg.eigvalsh(C[:3, :3])[-1]))
        assert np.isfinite(F).all() and np.isfinite(std).all() and (np.diag(C) > 0).all()
        assert (np.abs(F - wrench) <= 3 * std + 1e-6).all()  # what damping removed is inside the band
    assert singular < 1e-6 and stds[-1] > 5 * stds[0]
    assert all(b > 0.99 * a for a, b in zip(stds[1:], stds[2:], strict=False))


@pytest.mark.parametrize("pose", SINGULAR.values(), ids=SINGULAR)
def test_noise_does_not_explode_near_a_singularity(pose):
    rng = np.random.default_rng(1)
    for step in (0.03, 0.003, 0.0):
        q = pose + step * (POSE - pose)
        F = [_core.invert_wrench(CHAIN, q, STD * rng.normal(size=6), STD)[0] for _ in range(200)]
        assert np.abs(F).max() < 600


def test_damping_acts_only_below_the_threshold_and_continuously():
    wrench, errors, seen = np.array([40.0, -30, 60, 2, 1, -1]), [], []
    for angle in np.linspace(0.0, 0.4, 200):
        q = POSE.copy()
        q[4] = angle
        F, _, singular = _core.invert_wrench(CHAIN, q, model().jacobian(q).T @ wrench, STD)
        errors.append(np.abs(F - wrench).max())
        seen.append(singular)
    errors, seen = np.array(errors), np.array(seen)
    assert errors[seen > 0.08].max() < 1e-8 and errors[seen < 0.04].min() > 1e-3
    assert np.abs(np.diff(errors)).max() < 0.1 * errors.max()


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_fewer_than_six_joints_leave_directions_unknown_and_say_so(n):
    chain = random_chain(n, n)
    core = _core.Chain(chain.placements, chain.parameters(), chain.tool, chain.gravity)
    q = np.linspace(0.3, 1, n)
    F, C, singular = _core.invert_wrench(core, q, np.ones(n), np.full(n, 0.1))
    assert singular == 0 and np.isfinite(F).all()
    largest = np.sqrt(np.linalg.eigvalsh(C)[-1])
    assert largest > 20  # of the expected 200 N (times the length for moments)


def test_reference_length_scales_moments_only():
    J = model().jacobian(POSE)
    for length in (0.1, 1.0):
        F, _, _ = _core.invert_wrench(CHAIN, POSE, J.T @ np.arange(6.0), STD, length=length)
        np.testing.assert_allclose(F, np.arange(6.0), atol=1e-8)


@pytest.mark.parametrize("bad", [np.nan, 0.0, -np.nan])
def test_bad_input_is_named(bad):
    std = STD.copy()
    std[2] = bad
    with pytest.raises(ValueError, match="std"):
        _core.invert_wrench(CHAIN, POSE, np.ones(6), std)
    with pytest.raises(TypeError, match="tau"):
        _core.invert_wrench(CHAIN, POSE, np.ones(6, dtype=np.float32), STD)


@pytest.mark.parametrize("joint", range(6))
@pytest.mark.parametrize("lost", [1e4, np.inf])
def test_a_joint_without_weight_cannot_spoil_the_wrench(joint, lost):
    J, wrench = model().jacobian(POSE), np.array([20.0, -10, 15, 1, -1, 0.5])
    tau, std = J.T @ wrench, STD.copy()
    tau[joint], std[joint] = 500.0, lost
    F, C, _ = _core.invert_wrench(CHAIN, POSE, tau, std)
    assert np.abs(F[:3]).max() < 300  # believed, it would be more than 1000 N
    assert (np.abs(F - wrench) <= 3 * np.sqrt(np.diag(C))).all()
    seen = np.delete(np.eye(6), joint, axis=0) @ J.T
    np.testing.assert_allclose(seen @ F, seen @ wrench, atol=0.1)  # what the other joints see is kept


def test_singular_value_is_that_of_the_scaled_jacobian():
    """Exact where it matters, about a per cent where the wrench is well posed."""
    rng = np.random.default_rng(8)
    length = 0.3
    for _ in range(200):
        q = rng.uniform(-3, 3, 6)
        J = model().jacobian(q)
        true = np.linalg.svd(np.vstack([J[:3] / length, J[3:]]), compute_uv=False)[-1]
        found = _core.invert_wrench(CHAIN, q, np.ones(6), STD, length=length)[2]
        assert found == pytest.approx(true, rel=0.015 if true > 0.08 else 1e-6, abs=1e-7)
