"""Maxwell-slip hysteresis and E-GMS friction: bounds, dissipation, memory, and the papers' equations in numpy."""

import numpy as np
import pytest
from slip_bench import MS, B, recursion, stamps, wander

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot, maxwell_slip, spacing
from robot_dynamics_ros.robot_file import load_robot


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


def static(n=1):
    return FrictionModel("madsen", {"fc": 5.0, "fs": 6.5, "vs": 0.08, "fv1": 10.0, "ft2": -0.1, "eps": 0.0}, n, 25.0)


def egms(n=1, error=0.0):
    levels = np.full(n, 5.0), np.full(n, 2e-3)
    return _core.Friction.egms(static(n).core, maxwell_slip(n, max_gap=1.0), *levels, np.tile(error, (n, 1)))


def test_egms_is_load_level_times_hysteresis_plus_viscous():
    theta = wander(7) + np.linspace(0, 0.02, 4000)
    v = np.gradient(theta, 1e-3)
    tau = np.random.default_rng(8).uniform(-50, 50, 4000)
    T = np.full(4000, 40.0)
    ours = egms().run(stamps(4000), theta[:, None].copy(), v[:, None].copy(), tau[:, None].copy(), T[:, None].copy())[0]
    a, s = np.abs(v), np.sign(v)
    viscous = s * (1.5 * np.exp(-a / 0.08) + np.sqrt(a) * -0.1 * 15) + 10 * v
    H = recursion(theta, *spacing(), lambda _: B)
    np.testing.assert_allclose(ours[:, 0], (5 + 2e-3 * tau**2) * H + viscous, atol=1e-9)


def test_a_kinematic_error_moves_the_elements():
    theta = 3e-4 * np.sin(np.linspace(0, 20, 2000))[:, None]
    v, models = np.gradient(theta, 1e-3, axis=0).copy(), (egms(), egms(error=2e-4 * np.sin(np.arange(400))))
    f, other = (model.run(stamps(2000), theta, v, np.full((2000, 1), 60.0))[0] for model in models)
    assert abs(f - other).max() > 0.05


def test_a_joint_without_memory_follows_the_law_and_never_claims_to_know_its_past():
    model = _core.Friction.egms(static(2).core, maxwell_slip(2), np.array([0.0, 5.0]), np.zeros(2), np.zeros((2, 1)))
    t = np.arange(2000) * 2e-3
    q = 0.1 * np.sin(3 * t)[:, None] * np.ones(2)
    v, load = np.gradient(q, 2e-3, axis=0), 10 * np.cos(q)
    friction, expected = model.run((t * 1e9).astype(np.int64), q, v, load)[0], static(2).torque(v, load)
    np.testing.assert_allclose(friction[:, 0], expected[:, 0], atol=1e-12)
    assert np.abs(friction[:, 1] - expected[:, 1]).max() > 0.1
    assert model.valid == [False, True]


def with_hysteresis(**parameters):
    static = {"fc": [6.0, 6.0, 6.0, 1.3, 1.3, 1.3], "fv": [8.0, 8.0, 8.0, 1.0, 1.0, 1.0], "eps": 0.02}
    blocks = {"friction": {"source": "estimate_test", "model": "viscous_coulomb", "parameters": static}}
    blocks["hysteresis"] = {"source": "estimate_test", "model": "egms", "parameters": parameters}
    return load_robot("ur5e").with_updates(blocks, {"estimate_test": "numbers of this test"})


def test_built_from_a_robot_file():
    robot = with_hysteresis(b=1e-3, m=4, r_d=4.0, r_k=2.0, fc0=6.0, fc1=1e-3)
    model = hysteresis_from_robot(robot)
    v = np.full((3000, 6), 0.1)
    theta = np.cumsum(v, axis=0) * 1e-3
    f = model.run(stamps(3000), theta, v, np.full_like(v, 10.0))[0]
    expected = FrictionModel.from_robot(robot).torque(v[0]) + np.repeat([0.1, 6.1 - 1.3], 3)
    np.testing.assert_allclose(f[-1], expected, atol=1e-9)


def test_robot_file_without_hysteresis_or_with_a_wrong_one_says_so():
    with pytest.raises(CapabilityError, match="hysteresis"):
        hysteresis_from_robot(load_robot("ur5e").with_updates({"hysteresis": None}))
    bad = with_hysteresis(b=1e-3, d=[[0.5, 1.0]], k=[[1.0, 1.0]], fc0=6.0, fc1=0.0)
    with pytest.raises(ConfigError, match="sum k D"):
        hysteresis_from_robot(bad)


@pytest.mark.parametrize("given", [{"d": [[0.1, 1.0]]}, {"m": [4, 4, 4, 4, 4, 3]}, {"m": 3.5}, {"r_d": 5 * [4] + [3]}])
def test_numbers_of_the_elements_that_would_not_count_are_refused(given):
    """They were left out: the laws had four elements, those of the first joint, or three."""
    block = {"model": "egms", "source": "x", "parameters": {"b": 1e-3, "fc0": 6.0, "fc1": 1e-3} | given}
    with pytest.raises(ConfigError, match="needs both d and k, or one number of all joints for m"):
        hysteresis_from_robot(load_robot("ur5e").with_updates({"hysteresis": block}, {"x": "test"}))
