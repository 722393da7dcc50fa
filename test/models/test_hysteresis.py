"""Maxwell-slip hysteresis: bounds, dissipation, rate independence, memory, and the papers' equations in numpy."""

import numpy as np
import pytest
from slip_bench import MS, B, recursion, stamps, wander

from robot_dynamics_ros import _core
from robot_dynamics_ros.models.hysteresis import maxwell_slip, spacing


def H_of(theta, gms):
    """Hysteresis (N,) of one joint along theta (N,)."""
    return gms.run(stamps(len(theta)), np.ascontiguousarray(theta)[:, None])[0][:, 0]


@pytest.mark.parametrize("M", [1, 4, 10])
def test_spacing_laws(M):
    D, k = spacing(M)
    i = np.arange(1, M + 1)
    np.testing.assert_allclose(D, (i / M) ** 4.0)
    np.testing.assert_allclose(k * D, (M + 1 - i) ** 2 / np.sum(i**2))
    assert k @ D == pytest.approx(1.0)


@pytest.mark.parametrize("M", [1, 3, 4, 10])
def test_is_the_recursion_of_the_paper(M):
    theta = wander(M)
    D, k = spacing(M)
    expected = recursion(theta, D, k, lambda _: B)
    np.testing.assert_allclose(H_of(theta, maxwell_slip(1, M, max_gap=1e9)), expected, atol=1e-12)


def test_position_dependent_backlash_is_the_recursion_of_the_paper_for_fine_steps():
    K = 64
    table = 1e-3 * (1 + 0.4 * np.sin(2 * np.pi * np.arange(K) / K))
    theta = np.cumsum(np.random.default_rng(2).normal(0, 1e-6, 20000)) + np.linspace(0, 7, 20000)
    at = lambda x: np.interp(x % (2 * np.pi), 2 * np.pi * np.arange(K + 1) / K, np.append(table, table[0]))  # noqa: E731
    D, k = spacing()
    ours = H_of(theta, _core.Gms(D[None], k[None], table[None], 1e9))
    np.testing.assert_allclose(ours, recursion(theta, D, k, at), atol=2e-2)


@pytest.mark.parametrize("seed", range(5))
def test_valid_means_the_initial_state_no_longer_matters(seed):
    """Two unknown pasts agree from the moment the flag rises."""
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(0, 2e-4, 3000))
    past = rng.choice([-1, 1]) * 5e-3
    fresh, other = maxwell_slip(1, max_gap=1e9), maxwell_slip(1, max_gap=1e9)
    other.run(np.array([0, MS]), np.array([[past], [0.0]]))  # it comes from somewhere
    stamps, path = 10 * MS + np.arange(3000) * MS, (path - path[0])[:, None]
    a, codes = fresh.run(stamps, path)
    b, valid = other.run(stamps, path)[0], codes == int(_core.Status.ok)
    assert not valid[0] and valid[-1]
    np.testing.assert_allclose(a[valid], b[valid], atol=1e-12)


def test_validity_shows_in_the_status_and_after_a_gap_the_deflection_is_a_guess():
    gms = maxwell_slip(1)
    _, codes = gms.run(np.arange(4) * MS, np.array([[0.0], [1e-3], [2.5e-3], [2.6e-3]]))
    warming, ok, reset = (int(s) for s in (_core.Status.warming_up, _core.Status.ok, _core.Status.reset))
    assert codes.tolist() == [warming, warming, ok, ok] and gms.valid == [True]
    H, codes = gms.run(np.array([10_000 * MS]), np.array([[0.5]]))
    assert codes == [reset] and H == pytest.approx(1.0) and gms.valid == [False]  # as if it went there on one way
    H, codes = gms.run(np.array([0]), np.array([[0.5]]))  # clock backwards
    assert codes == [reset] and H == 0


def test_duplicates_and_nan_do_not_enter():
    gms = maxwell_slip(2)
    gms.run(np.array([0, MS]), np.array([[0.0, 0.0], [3e-4, 3e-4]]))
    state = gms.state.copy()
    _, codes = gms.run(np.array([MS, 2 * MS]), np.array([[9e-4, 9e-4], [np.nan, 0.0]]))
    assert (codes == int(_core.Status.dropped)).all()
    np.testing.assert_array_equal(gms.state, state)


@pytest.mark.parametrize(
    ("D", "k", "b", "what"),
    [
        ([0.5, 1.0], [1.0, 1.0], 1e-3, "sum k D"),
        ([1.0, 0.5], [0.5, 1.0], 1e-3, "rising"),
        ([0.5, 1.0], [3.0, -0.5], 1e-3, "k = -0.5"),
        ([0.5, 1.0], [1.0, 0.5], 0.0, "backlash"),
        ([0.5, 1.0], [1.0, 0.5], np.nan, "not finite"),
    ],
)
def test_construction_names_what_is_wrong(D, k, b, what):
    with pytest.raises(ValueError, match=what):
        _core.Gms(np.array([D]), np.array([k]), np.array([[b]]))


def test_tables_interpolate_and_repeat_after_a_turn():
    table = _core.PeriodicTable(np.array([[0.0, 1.0, 0.0, -1.0]]))
    theta = np.array([[0.0, np.pi / 4, np.pi / 2, 7 * np.pi / 4, 2 * np.pi, -np.pi / 2, 100 * np.pi + np.pi / 4]]).T
    np.testing.assert_allclose(table.value(theta)[:, 0], [0, 0.5, 1, -0.5, 0, -1, 0.5], atol=1e-12)
