"""Joint torque to wrench: the posterior under a prior on the environment, and the frames it is stated in."""

from functools import cache

import numpy as np
import pytest
from chains import random_chain
from force_bench import POSE, UR5E, model
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from robot_dynamics_ros import _core

CHAIN = UR5E.chain()
STD = np.array([3.0, 3.0, 2.0, 0.5, 0.4, 0.3])
FORCE, MOMENT = 80.0, 1.5  # the defaults
wrenches = st.tuples(*[st.floats(-150, 150)] * 3, *[st.floats(-20, 20)] * 3).map(np.array)
poses = st.tuples(*[st.floats(-3, 3)] * 6).map(np.array)


def posterior(J, tau, std, force=FORCE, moment=MOMENT, axes=6):
    """F, its covariance: least squares of the weighted torques and the prior as `axes` more rows, by QR."""
    rows = np.vstack([J[:axes].T / std[:, None], np.diag(1 / np.repeat([force, moment], 3)[:axes])])
    Q, R = np.linalg.qr(rows)
    inverse = np.linalg.inv(R)
    return inverse @ (Q.T @ np.concatenate([tau / std, np.zeros(axes)])), inverse @ inverse.T


@pytest.mark.parametrize("n", range(1, 8))
@settings(max_examples=40)
@given(
    q=st.tuples(*[st.floats(-3, 3)] * 7).map(np.array),
    tau=st.tuples(*[st.floats(-3, 3)] * 7).map(np.array),
    std=st.lists(st.sampled_from([0.3, 2.0, 1e4, np.inf]), min_size=7, max_size=7).map(np.array),
    force=st.floats(1, 500),
    moment=st.floats(0.1, 20),
    straight=st.sampled_from([None, 2, 4]),
)
def test_is_the_posterior_in_every_pose_of_any_arm(n, q, tau, std, force, moment, straight):
    """Singular poses and joints without weight (they are as if they were not there) included."""
    model_of, core = random_model(n) if n != 6 else (model(), CHAIN)
    q, tau, std = q[:n].copy(), tau[:n], std[:n]
    if straight is not None and n == 6:
        q[straight] = 0.0  # of the elbow or the wrist
    F, C, _ = _core.invert_wrench(core, q, tau, std, expected_force=force, expected_moment=moment)
    mean, covariance = posterior(model_of.jacobian(q), tau, std, force, moment)
    scale = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(F / scale, mean / scale, atol=1e-6)
    np.testing.assert_allclose(C / scale / scale[:, None], covariance / scale / scale[:, None], atol=1e-6)


@cache
def random_model(n):
    chain = random_chain(n, n)
    return chain.model(), chain.core


@pytest.mark.parametrize("moment", [MOMENT, 0.0], ids=["with moments", "a force alone"])
@settings(max_examples=100)
@given(q=poses, wrench=wrenches, share=st.floats(0.02, 0.9), noise=st.integers(0, 1000))
def test_priors_of_two_sizes_are_weighted_by_their_marginal_likelihood(moment, q, wrench, share, noise):
    """tau ~ N(0, J' P J + STD^2) under each; mean and covariance of the mixture, between-part included."""
    J, axes = model().jacobian(q), 6 if moment else 3
    tau = J[:axes].T @ (wrench[:axes] * 0.2) + STD * np.random.default_rng(noise).normal(size=6)
    found, C, _ = _core.invert_wrench(CHAIN, q, tau, STD, expected_moment=moment, small_contact=share)
    priors = [(f * FORCE, m * MOMENT) for f in (1, share) for m in ((1, share) if moment else (1,))]
    means, covariances = (np.array(x) for x in zip(*(posterior(J, tau, STD, *p, axes) for p in priors), strict=True))
    seen = [J[:axes].T @ np.diag(np.repeat(p, 3)[:axes] ** 2) @ J[:axes] + np.diag(STD**2) for p in priors]
    logs = np.array([stats.multivariate_normal(np.zeros(6), S, allow_singular=True).logpdf(tau) for S in seen])
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    mean = weights @ means
    apart = means - mean
    mixed = np.einsum("k,kij->ij", weights, covariances + apart[:, :, None] * apart[:, None])
    scale = np.sqrt(np.diag(covariances[0]))
    np.testing.assert_allclose(found[:axes] / scale, mean / scale, atol=1e-4)
    np.testing.assert_allclose(C[:axes, :axes] / scale / scale[:, None], mixed / scale / scale[:, None], atol=1e-4)


@pytest.mark.parametrize("bad", [np.nan, 0.0, -np.nan])
def test_bad_input_is_named(bad):
    std = STD.copy()
    std[2] = bad
    with pytest.raises(ValueError, match="std"):
        _core.invert_wrench(CHAIN, POSE, np.ones(6), std)
    with pytest.raises(TypeError, match="tau"):
        _core.invert_wrench(CHAIN, POSE, np.ones(6, dtype=np.float32), STD)
    for name, value in (("expected_force", 0.0), ("expected_moment", -1.0), ("small_contact", 0.0)):
        with pytest.raises(ValueError, match=name):
            _core.invert_wrench(CHAIN, POSE, np.ones(6), STD, **{name: value})


def test_singular_value_is_that_of_the_scaled_jacobian():
    """Exact where it matters, about a per cent where the wrench is well posed; moments over a quarter of the arm."""
    rng = np.random.default_rng(8)
    origins = model().fk(POSE)[:, :3, 3]
    length = 0.25 * np.linalg.norm(np.diff(origins, axis=0), axis=1).sum()
    for k in range(400):
        q = rng.uniform(-3, 3, 6)
        if k % 2:  # wrist or elbow close to straight
            q[4 if k % 4 == 1 else 2] = 10.0 ** rng.uniform(-9, -1)
        J = model().jacobian(q)
        true = np.linalg.svd(np.vstack([J[:3] / length, J[3:]]), compute_uv=False)[-1]
        found = _core.invert_wrench(CHAIN, q, np.ones(6), STD)[2]
        assert found == pytest.approx(true, rel=0.015 if true > 0.08 else 1e-6, abs=1e-7)


def test_significance_is_the_tail_of_chi_squared():
    """Against the exact tail [scipy]: without a prior, six joints show a wrench by chi-squared of six degrees."""
    rng = np.random.default_rng(3)
    q, tau = np.tile(POSE, (400, 1)), rng.normal(size=(400, 6)) * rng.uniform(0.2, 4.0, (400, 1))
    std = np.full((400, 6), 0.7)
    wide = {"expected_force": 1e6, "expected_moment": 1e6}
    found = _core.wrench_significance(UR5E.chain(), q, 0.7 * tau, std, **wide)
    exact = stats.norm.isf(stats.chi2.sf((tau**2).sum(axis=1), 6))
    tail = (exact > 1.0) & (exact < 8.0)
    assert tail.sum() > 100 and (found < 1.01 * exact)[tail].all() and (found > 0.93 * exact)[tail].all()
    assert (found >= 0).all()


@pytest.mark.parametrize("wrench", [{}, {"expected_moment": 0.0}])
def test_noise_of_the_stated_size_is_as_rarely_significant_as_one_normal_variable(wrench):
    rng = np.random.default_rng(4)
    std = rng.uniform(0.1, 3.0, (20_000, 6))
    q = np.tile(POSE, (20_000, 1)) + rng.uniform(-0.5, 0.5, (20_000, 6))
    found = _core.wrench_significance(UR5E.chain(), q, std * rng.normal(size=std.shape), std, **wrench)
    for k in (1.0, 2.0, 3.0):
        assert (found > k).mean() < 1.3 * stats.norm.sf(k)


def test_a_push_that_one_good_joint_shows_is_significant_however_poor_the_others_are():
    """A large deviation of the others makes the force uncertain, and does not hide that something acts."""
    q, std = POSE[None], np.full((1, 6), 20.0)
    std[0, 5] = 0.02
    tau = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.3]])
    force, covariance, _ = _core.invert_wrench(UR5E.chain(), POSE, tau[0], std[0])
    along = np.sqrt(force[:3] @ covariance[:3, :3] @ force[:3] / (force[:3] @ force[:3]))
    assert np.linalg.norm(force[:3]) < along
    assert _core.wrench_significance(UR5E.chain(), q, tau, std)[0] > 5.0
