"""Maxwell-slip hysteresis: bounds, dissipation, rate independence, memory, and the papers' equations in numpy."""

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot, maxwell_slip, spacing
from robot_dynamics_ros.robot_file import load_robot

MS = 1_000_000
B = 1e-3


def stamps(N, step=MS):
    return np.arange(N) * step


def H_of(theta, gms=None):
    """Hysteresis (N,) of one joint along theta (N,)."""
    gms = gms or maxwell_slip(1, max_gap=1e9)
    return gms.run(stamps(len(theta)), np.ascontiguousarray(theta)[:, None])[0][:, 0]


def recursion(theta, D, k, backlash):
    """[Madsen2020 ch6 14-15] as printed, in plain numpy; backlash is a function of theta."""
    d, H = np.zeros(len(D)), np.zeros(len(theta))
    for j in range(1, len(theta)):
        x = theta[j] - theta[j - 1] + d
        d = np.sign(x) * np.minimum(np.abs(x), backlash(theta[j]) * D)
        H[j] = k @ d / backlash(theta[j])
    return H


def wander(seed, N=4000, scale=1e-4):
    return np.cumsum(np.random.default_rng(seed).normal(0, scale, N))


@pytest.mark.parametrize("M", range(1, 11))
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
    ours = H_of(theta, maxwell_slip(1, backlash=table[None], max_gap=1e9))
    D, k = spacing()
    np.testing.assert_allclose(ours, recursion(theta, D, k, at), atol=2e-2)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-2, 3.0])
def test_never_exceeds_one(seed, scale):
    K = 16
    table = 1e-3 * (1 + 0.8 * np.sin(2 * np.pi * np.arange(K) / K))
    for gms in (maxwell_slip(1, 5, max_gap=1e9), maxwell_slip(1, 5, backlash=table[None], max_gap=1e9)):
        assert abs(H_of(wander(seed, scale=scale), gms)).max() <= 1 + 1e-9


@pytest.mark.parametrize("amplitude", [1e-5, 1e-4, 5e-4, 5e-3])
def test_a_closed_cycle_dissipates_and_is_symmetric(amplitude):
    phase = np.linspace(0, 6 * np.pi, 6001)
    theta = amplitude * np.sin(phase)
    H = H_of(theta)
    last = slice(4000, 6001)
    work = np.trapezoid(H[last], theta[last])
    assert work >= -1e-15
    assert work > 0 or amplitude < 2e-6
    np.testing.assert_allclose(H[4000:5000], -H[5000:6000], atol=5e-3)


def test_does_not_depend_on_rate_or_on_sub_steps():
    knots = np.array([0, 3e-4, -2e-4, 5e-4, 1e-4, 8e-4, -9e-4, 0])
    coarse = H_of(knots)
    fine_t = np.linspace(0, len(knots) - 1, 7 * 1000 + 1)
    fine = H_of(np.interp(fine_t, np.arange(len(knots)), knots))
    np.testing.assert_allclose(fine[::1000], coarse, atol=1e-9)
    slow = maxwell_slip(1, max_gap=1e9).run(stamps(len(knots), 17 * MS), knots[:, None].copy())[0][:, 0]
    np.testing.assert_array_equal(slow, coarse)


def test_remembers_nested_loops():
    """Closing an inner loop returns to the outer one: non-local memory, which LuGre lacks."""
    outer = [0, 2e-3, -2e-4]
    inner = [*outer, 1e-4, -2e-4]
    assert H_of(np.array(inner))[-1] == pytest.approx(H_of(np.array(outer))[-1], abs=1e-12)


def test_steady_sliding_is_one_for_any_backlash():
    table = 1e-3 * np.array([[1.0, 2.0, 0.5, 1.5]])
    H = H_of(np.linspace(0, 7, 5000), maxwell_slip(1, backlash=table, max_gap=1e9))
    np.testing.assert_allclose(H[100:], 1.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_valid_means_the_initial_state_no_longer_matters(seed):
    """Two unknown pasts agree from the moment the flag rises."""
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(0, 2e-4, 3000))
    past = rng.choice([-1, 1]) * 5e-3
    fresh, other = maxwell_slip(1, max_gap=1e9), maxwell_slip(1, max_gap=1e9)
    out = np.zeros(1)
    for k, x in enumerate((past, 0.0)):  # the other one comes from somewhere
        other.step(k * MS, np.array([x]), out)
    a, b, valid = np.zeros((3000, 1)), np.zeros((3000, 1)), np.zeros(3000, bool)
    for k, x in enumerate(path - path[0]):
        fresh.step(10 * MS + k * MS, np.array([x]), a[k])
        valid[k] = fresh.valid[0]
        other.step(10 * MS + k * MS, np.array([x]), b[k])
    assert not valid[0] and valid[-1]
    np.testing.assert_allclose(a[valid], b[valid], atol=1e-12)


def test_validity_shows_in_the_status_and_a_gap_forgets():
    gms, H = maxwell_slip(1), np.zeros(1)
    theta = [0.0, 1e-3, 2.5e-3, 2.6e-3]
    codes = [int(gms.step(k * MS, np.array([x]), H)) for k, x in enumerate(theta)]
    warming, ok, reset = (int(s) for s in (_core.Status.warming_up, _core.Status.ok, _core.Status.reset))
    assert codes == [warming, warming, ok, ok] and gms.valid == [True]
    assert int(gms.step(10_000 * MS, np.array([0.5]), H)) == reset
    assert H[0] == 0 and gms.valid == [False]
    assert int(gms.step(0, np.array([0.5]), H)) == reset  # clock backwards


def test_duplicates_and_nan_do_not_enter():
    gms, H = maxwell_slip(2), np.zeros(2)
    gms.step(0, np.zeros(2), H)
    gms.step(MS, np.full(2, 3e-4), H)
    before, state = H.copy(), gms.state.copy()
    dropped = int(_core.Status.dropped)
    assert int(gms.step(MS, np.full(2, 9e-4), H)) == dropped
    assert int(gms.step(2 * MS, np.array([np.nan, 0.0]), H)) == dropped
    np.testing.assert_array_equal(H, before)
    np.testing.assert_array_equal(gms.state, state)


@pytest.mark.parametrize(
    ("D", "k", "b", "what"),
    [
        ([0.5, 1.0], [1.0, 1.0], 1e-3, "sum k D"),
        ([1.0, 0.5], [0.5, 1.0], 1e-3, "increasing"),
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


def test_fourier_form_is_the_series():
    rng = np.random.default_rng(4)
    c, theta = rng.normal(0, 1, (2, 25)), rng.uniform(-20, 20, (50, 2))
    ours = _core.FourierTable(c).value(theta)
    for i in range(2):
        n = np.arange(1, 13)
        a, b = c[i, 1::2], c[i, 2::2]
        paper = c[i, 0] / 2 + np.cos(np.outer(theta[:, i], n)) @ a + np.sin(np.outer(theta[:, i], n)) @ b
        np.testing.assert_allclose(ours[:, i], paper, atol=1e-11)


def static(n=1):
    return FrictionModel("madsen", {"fc": 5.0, "fs": 6.5, "vs": 0.08, "fv1": 10.0, "ft2": -0.1, "eps": 0.0}, n, 25.0)


def egms(n=1, fc1=2e-3, error=0.0):
    levels = np.full(n, 5.0), np.full(n, fc1)
    return _core.EGms(static(n).core, maxwell_slip(n, max_gap=1.0), *levels, np.full((n, 1), error))


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


def test_egms_slides_on_the_static_map():
    theta = np.linspace(0, 0.4, 4000)
    v = np.full((4000, 1), 0.1)
    f = egms().run(stamps(4000), theta[:, None].copy(), v)[0]
    assert f[-1, 0] == pytest.approx(static().torque(v[-1])[0], rel=1e-9)


@pytest.mark.parametrize("change", ["load", "hysteresis", "kinematic_error"])
def test_each_part_of_egms_has_an_effect(change):
    theta = 3e-4 * np.sin(np.linspace(0, 20, 2000))[:, None]
    v, tau = np.gradient(theta, 1e-3, axis=0).copy(), np.full((2000, 1), 60.0)
    f = egms().run(stamps(2000), theta, v, tau)[0]
    if change == "load":
        other = egms(fc1=0.0).run(stamps(2000), theta, v, tau)[0]
    elif change == "hysteresis":
        other = static().torque(v)
    else:
        table = 2e-4 * np.sin(np.arange(400))[None]
        moved = _core.EGms(static().core, maxwell_slip(1, max_gap=1.0), np.array([5.0]), np.array([2e-3]), table)
        other = moved.run(stamps(2000), theta, v, tau)[0]
    assert abs(f - other).max() > 0.05


def rate_state(C=200.0, M=4, n=1):
    D, k = spacing(M)
    nu = np.tile(k * D, (n, 1))
    return _core.RateStateGms(static(n).core, np.tile(k * 5.0 / B, (n, 1)), nu, C), nu[0], k * 5.0 / B


def test_rate_state_converges_to_the_stribeck_curve():
    """The sign printed in the sources would diverge."""
    for v in (0.02, -0.3):
        f, _ = rate_state()[0].run(stamps(4000), np.full((4000, 1), v))
        assert f[-1, 0] == pytest.approx(static().torque(np.array([v]))[0], rel=1e-6)


def test_rate_state_follows_its_differential_equation_and_any_step_size():
    core, nu, k = rate_state()
    dt, C = 1e-5, 200.0
    t = np.arange(0, 0.4, dt)
    v = 0.03 * np.sign(np.sin(2 * np.pi * 5 * t + 0.1)) * (1 + 0.5 * np.sin(40 * t))
    F, slip, direction, expected = np.zeros(4), np.zeros(4, bool), 0, np.empty(t.size)
    s_of = static().torque(v)
    for j, vj in enumerate(v):
        if np.sign(vj) != direction:
            slip[:], direction = False, np.sign(vj)
        breaks = ~slip & (direction * (F + k * vj * dt) > nu * abs(s_of[j]))
        slip, F = slip | breaks, np.where(breaks, nu * s_of[j], F)
        F += np.where(slip, np.sign(vj) * C * (nu - F / s_of[j]), k * vj) * dt * (j > 0)
        expected[j] = F.sum()
    fine = core.run(np.round(t * 1e9).astype(np.int64), v[:, None].copy())[0][:, 0]
    assert abs(fine - expected).max() < 0.05
    constant = [rate_state()[0].run(stamps(N, int(4e8 / N)), np.full((N, 1), 0.02))[0][-1, 0] for N in (20, 200, 20000)]
    np.testing.assert_allclose(constant, constant[-1], rtol=1e-3)


@pytest.mark.parametrize("make", [lambda n: maxwell_slip(n), egms, lambda n: rate_state(n=n)[0]])
def test_step_by_step_is_run(make):
    rng = np.random.default_rng(5)
    N, n = 300, 3
    t = np.cumsum(rng.integers(0, 3, N)) * MS
    t[200] -= 30 * MS
    x, v = np.cumsum(rng.normal(0, 3e-4, (N, n)), axis=0), rng.normal(0, 0.1, (N, n))
    x[40, 1] = v[40, 1] = np.nan
    batch, live, f = make(n), make(n), np.zeros(n)
    if isinstance(batch, _core.EGms):
        args = lambda k: (x[k].copy(), v[k].copy(), None, None)  # noqa: E731
        out, codes = batch.run(t, x, v)
    elif isinstance(batch, _core.RateStateGms):
        args = lambda k: (v[k].copy(), None)  # noqa: E731
        out, codes = batch.run(t, v)
    else:
        args = lambda k: (x[k].copy(),)  # noqa: E731
        out, codes = batch.run(t, x)
    for k in range(N):
        assert int(live.step(int(t[k]), *args(k), f)) == codes[k]
        np.testing.assert_array_equal(f, out[k])


def with_hysteresis(model, **parameters):
    static = {"fc": [6.0, 6.0, 6.0, 1.3, 1.3, 1.3], "fv": [8.0, 8.0, 8.0, 1.0, 1.0, 1.0], "eps": 0.02}
    blocks = {
        "friction": {"source": "estimate_test", "model": "viscous_coulomb", "parameters": static},
        "hysteresis": {"source": "estimate_test", "model": model, "parameters": parameters},
    }
    return load_robot("ur5e").with_updates(blocks, {"estimate_test": "numbers of this test"})


def test_built_from_a_robot_file():
    robot = with_hysteresis("egms", b=1e-3, m=4, r_d=4.0, r_k=2.0, fc0=6.0, fc1=1e-3)
    model = hysteresis_from_robot(robot)
    v = np.full((3000, 6), 0.1)
    theta = np.cumsum(v, axis=0) * 1e-3
    f = model.run(stamps(3000), theta, v, np.full_like(v, 10.0))[0]
    expected = FrictionModel.from_robot(robot).torque(v[0]) + np.repeat([0.1, 6.1 - 1.3], 3)
    np.testing.assert_allclose(f[-1], expected, atol=1e-9)


def test_robot_file_without_hysteresis_or_with_a_wrong_one_says_so():
    with pytest.raises(CapabilityError, match="hysteresis"):
        hysteresis_from_robot(load_robot("ur5e").with_updates({"hysteresis": None}))
    bad = with_hysteresis("gms", b=1e-3, d=[[0.5, 1.0]], k=[[1.0, 1.0]])
    with pytest.raises(ConfigError, match="sum k D"):
        hysteresis_from_robot(bad)
