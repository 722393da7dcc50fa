"""The recursive update of stiffness: as printed in its source, positive definite, accurate online."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from spring_bench import bang_coast_bang, deflection, spring

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.metrics import nrmse


def paper_step(a, P, x, y, mu, delta):
    """[Madsen2020 ch3 18] as printed, in plain numpy."""
    e, r = y - x @ a, x @ P @ x
    L = P @ x / (1 + r)
    beta = mu - (1 - mu) / r if r > 0 else 1.0
    return a + L * e, P - P @ np.outer(x, x) @ P / (1 / beta + r) + delta * np.eye(len(x))


def test_update_is_the_one_of_the_source():
    rls = _core.RlsDf()
    a, P = np.zeros(2), np.diag([1e9, 1e18])
    rng = np.random.default_rng(0)
    for _ in range(300):
        phi = rng.uniform(-1.5e-3, 1.5e-3)
        y = spring(phi) + rng.normal(0, 0.5)
        rls.update(phi, y, 1e-3)
        a, P = paper_step(a, P, np.array([phi, phi**3]), y, np.exp(-1e-3 / 20.0), 0.1)
        P = (P + P.T) / 2
    np.testing.assert_allclose(rls.coefficients, a, rtol=1e-6)
    np.testing.assert_allclose(rls.covariance, P, rtol=1e-5, atol=1e-8 * abs(P).max())


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-9, 1e-6, 1e-4, 1e-3, 1e-1, 10.0]),
    memory=st.sampled_from([0.05, 1.0, 20.0, 1e4]),
)
def test_covariance_stays_positive_definite_and_capped(seed, scale, memory):
    rls = _core.RlsDf(time_constant=memory)
    rng = np.random.default_rng(seed)
    phis = rng.normal(0, scale, 400) * rng.choice([0, 1e-3, 1], 400)
    unit = np.array([1e-3, 1e-9])
    for phi in phis:
        rls.update(phi, rng.normal(0, 10), 1e-3)
    P = np.array(rls.covariance)
    scaled = P * np.outer(unit, unit)
    np.testing.assert_array_equal(P, P.T)
    assert np.linalg.eigvalsh(scaled).min() > -1e-12 * np.trace(scaled)
    assert (np.diag(P) <= np.array([1e9, 1e18]) * (1 + 1e-12)).all()
    assert np.isfinite(rls.coefficients).all()


def test_nothing_but_finite_samples_with_time_enter():
    rls = _core.RlsDf()
    rls.update(1e-3, 20.0, 1e-3)
    before = np.array(rls.coefficients), np.array(rls.covariance)
    for phi, y, dt in ((np.nan, 1, 1e-3), (1e-3, np.inf, 1e-3), (1e-3, 1, 0.0), (1e-3, 1, -1.0), (0.0, 5.0, 1e-3)):
        rls.update(phi, y, dt)
    np.testing.assert_array_equal(rls.coefficients, before[0])
    np.testing.assert_array_equal(rls.covariance, before[1])


def test_online_estimate_reaches_the_accuracy_of_the_source():
    """[Madsen2020 ch3]: NRMSE 95.2 % after 10 s, 96.6 % after 35 s; after halving 94.0 % within 25 s."""
    _, tau = bang_coast_bang(35)
    phi = deflection(tau) + np.random.default_rng(1).normal(0, 1e-5, tau.size)
    noise = np.random.default_rng(2).normal(0, 2.0, tau.size)
    grid = np.linspace(-1.5e-3, 1.5e-3, 61)
    for factor, when, floor in ((1.0, 10, 95.2), (1.0, 35, 96.6), (0.5, 35, 94.0)):
        rls = _core.RlsDf()
        for k in range(when * 1000):
            share = factor if k > 10_000 else 1.0
            rls.update(phi[k], share * (tau[k] + noise[k]), 1e-3)
        true = spring(grid) * (factor if when > 10 else 1.0)
        assert nrmse(true, np.array([rls.torque(x) for x in grid])) > floor
