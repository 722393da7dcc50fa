"""Presliding friction with free spans: the law in numpy, bounds, rate independence, dissipation, load, unknown past."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from presliding_joint import JOINT, MS, NONE, SPANS, law, model
from scipy.integrate import trapezoid

from robot_dynamics_ros import _core
from robot_dynamics_ros.models.hysteresis import presliding_core

paths = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=40).map(np.array)
scales = st.sampled_from([1e-5, 1e-4, 1e-3, 1e-2, 1.0])


def run(core, theta, v=0.0, tau=0.0, step=MS):
    """Friction (N,) of one joint along theta (N,)."""
    columns = [np.array(np.broadcast_to(x, (len(theta), 1)), dtype=float) for x in (theta[:, None], v, tau)]
    return core.run(np.arange(len(theta)) * step, *columns)[0][:, 0]


def after(H, x):
    """H of Dahl elements after x spans."""
    return np.sign(x) + (H - np.sign(x)) * np.exp(-np.abs(x))


def elements(theta, span, widening=(0.0, 0.0), step=0.0):
    """H_k (N, K) of the recursion, in plain numpy; spans widen from cell to cell of a turn. step: Dahl's."""
    d, out, span, ahead = np.zeros(len(span)), np.zeros((len(theta), len(span))), np.asarray(span), 0.0
    cell = (np.floor(theta * 32 / np.pi) + 0.5) * np.pi / 32
    wide = 1 + widening[0] * np.cos(cell) + widening[1] * np.sin(cell)
    for k in range(1, len(theta)):
        ahead += (theta[k] - theta[k - 1]) / wide[k]
        if step:
            z = ahead - np.clip(ahead, -step, step)
            d, ahead = after(d, z / span), ahead - z
            out[k] = after(d, ahead / span)
        else:
            d = np.clip(d + (theta[k] - theta[k - 1]) / wide[k], -span, span)
            out[k] = d / span
    return out


def expected(joint, theta, v, tau):
    """The law as documented, of one joint at its reference temperature."""
    load = np.minimum(np.abs(tau), joint["load_limit"])[:, None] ** joint["load_power"]
    H = elements(theta, joint["span"], joint["widening"], joint["dahl_step"])
    level = ((np.array(joint["level"]) + np.array(joint["load"]) * load) * H).sum(axis=1)
    g = 1 / (1 + (v / joint["stribeck_velocity"]) ** 2)
    s = joint["sliding_ratio"] + (1 - joint["sliding_ratio"]) * g
    level = s * level + joint["fs"] * g * v / (np.abs(v) + joint["eps"])
    level += joint["bearing"] * elements(theta, [joint["bearing_span"]])[:, 0]
    viscous = joint["fv1"] * v + joint["fv2"] * np.abs(v) * v + joint["fv0"] * v / (1 + np.abs(v) / joint["v0"])
    return level + viscous + joint["fo"]


@pytest.mark.parametrize("step", [0.0, 2e-5])
@pytest.mark.parametrize("power", [1.0, 2.0])
def test_is_the_documented_law_over_a_turn(power, step):
    rng, joint = np.random.default_rng(1), JOINT | {"load_power": power, "widening": [-0.3, 0.4], "dahl_step": step}
    joint["bearing"] = 0.8
    theta, v, tau = np.cumsum(rng.normal(2e-3, 5e-3, 3000)), rng.normal(0, 0.3, 3000), rng.normal(0, 60, 3000)
    found = run(model(joint), theta, v[:, None], tau[:, None])
    np.testing.assert_allclose(found, expected(joint, theta, v, tau), atol=1e-10)


steps = st.sampled_from([0.0, 1e-9, 3e-5])


@settings(max_examples=100)
@given(path=paths, scale=scales, step=steps)
def test_elements_stay_within_one_and_follow_the_recursion(path, scale, step):
    theta, start = path * scale, np.zeros(len(path), dtype=bool)
    H = _core.presliding_elements(theta, np.array(SPANS), start, step=step)
    assert np.abs(H).max() <= 1.0
    np.testing.assert_allclose(H, elements(theta, SPANS, step=step), atol=1e-9)
    start[len(path) // 2] = True  # a new piece forgets
    again = _core.presliding_elements(theta, np.array(SPANS), start, step=step)
    assert not again[len(path) // 2].any()
    np.testing.assert_array_equal(again[: len(path) // 2], H[: len(path) // 2])


@settings(max_examples=50)
@given(path=paths, scale=scales, step=steps)
def test_does_not_depend_on_rate_or_on_sub_steps(path, scale, step):
    theta, joint = path * scale, JOINT | {"dahl_step": step}
    coarse = run(model(joint), theta)
    np.testing.assert_array_equal(run(model(joint), theta, step=17 * MS), coarse)
    fine = np.interp(np.arange(10 * (len(theta) - 1) + 1) / 10, np.arange(len(theta)), theta)
    np.testing.assert_allclose(run(model(joint), fine)[::10], coarse, atol=1e-9)


@settings(max_examples=100)
@given(path=paths, scale=scales, tau=st.floats(-100, 100), step=steps)
def test_closed_cycles_dissipate(path, scale, tau, step):
    """Any closed path, gone through until it is periodic: the work of friction over a cycle is not negative."""
    at = np.linspace(0, len(path), 200, endpoint=False)
    cycle = np.interp(at, np.arange(len(path) + 1), [*path, path[0]]) * scale
    theta = np.concatenate([np.tile(cycle, 3), cycle[:1]])
    f = run(model(JOINT | {"fo": 0.0, "dahl_step": step}), theta, 0.0, tau)
    last = slice(400, 601)
    assert trapezoid(f[last], theta[last]) >= (-1e-3 if step else -1e-9) * scale  # the trapezia of a curve


@settings(max_examples=50)
@given(v=st.floats(-3, 3), tau=st.floats(-500, 500))
def test_sliding_friction_dissipates_at_every_speed_and_load(v, tau):
    theta = np.linspace(0, np.copysign(0.1, v), 300)
    assert run(model(JOINT | {"fo": 0.0}), theta, v, tau)[-1] * v >= 0.0


def test_a_velocity_of_the_rotor_moves_the_elements_and_a_deflection_does_not():
    """A push turns the link by 1 mrad while the rotor stands; a creeping rotor moves before its link shows it."""
    joint, theta = JOINT | {"fo": 0.0, "rotor_time": 600.0}, np.linspace(0.0, 1e-3, 501)
    pushed, of_link = run(model(joint), theta), run(model(joint | {"rotor_time": 0.0}), theta)
    assert np.abs(pushed).max() < 1e-2 * np.abs(of_link[-1])
    v = np.full((501, 1), 2e-3)
    crept = run(model(joint | {"fs": 0.0}), np.zeros(501), v)  # 1 mrad within 0.5 s
    shown = run(model(joint | {"fs": 0.0, "rotor_time": 0.0}), np.arange(501) * 2e-6, v)
    np.testing.assert_allclose(crept, shown, atol=5e-3)


@pytest.mark.parametrize("step", [10, 20, 60])
def test_a_rotor_that_only_its_velocity_shows_moves_the_elements_alike_at_every_rate(step):
    """It swings by 2 mrad within 0.96 s while the link stands: one sample per ms, or per `step` of them."""
    core, t = model(JOINT | {"fo": 0.0, "fs": 0.0, "rotor_time": 600.0}), np.arange(1921) * 1e-3
    rate = 2 * np.pi / 0.96
    v = 1e-3 * rate * np.sin(rate * t)[:, None]
    all_samples = run(core, np.zeros(len(t)), v)[::step]
    core.reset()
    some = run(core, np.zeros(len(t[::step])), v[::step], step=step * MS)
    np.testing.assert_allclose(some, all_samples, atol=0.02 * np.abs(all_samples).max())


@pytest.mark.parametrize("amplitude", [1e-3, 1e-4])
def test_a_push_that_turns_the_link_alone_turns_the_friction_of_its_bearing_round(amplitude):
    """The rotor stands, whose elements stay; over a gap and after a reset the bearing goes on, and begins anew."""
    joint = JOINT | {"fo": 0.0, "rotor_time": 600.0, "bearing": 0.8}
    theta = amplitude * np.sin(np.linspace(0, 4 * np.pi, 400))
    core, bare = model(joint, max_gap=0.1), model(joint | {"bearing": 0.0}, max_gap=0.1)
    alone = 0.8 * elements(theta, [joint["bearing_span"]])[:, 0]
    np.testing.assert_allclose(run(core, theta) - run(bare, theta), alone, atol=1e-12)
    assert np.abs(alone[200:]).max() == pytest.approx(0.8 * min(amplitude / joint["bearing_span"], 1.0), rel=1e-3)
    core.reset()
    bare.reset()
    np.testing.assert_allclose(run(core, theta, step=400 * MS) - run(bare, theta, step=400 * MS), alone, atol=1e-12)


@pytest.mark.parametrize("amplitude", [0.015, 0.05])
def test_the_integrated_velocity_returns_to_the_position(amplitude):
    """A biased velocity is off by bias times rotor_time at most, and by nothing where the joint slides, at more than
    20 mrad/s: the recursion in plain numpy.
    """
    T, dt, bias, N = 0.5, 1e-3, 1e-3, 4000
    q = amplitude * np.sin(np.arange(N) * dt)
    v = np.gradient(q, dt) + bias
    off, theta = [0.0], [q[0]]
    for k in range(1, N):
        before = 0.0 if abs(v[k - 1]) > 0.02 else off[-1]
        off.append((before + 0.5 * (v[k - 1] + v[k]) * dt - (q[k] - q[k - 1])) * T / (T + dt))
        theta.append(theta[-1] + q[k] - q[k - 1] + off[-1] - before)
    assert np.abs(off).max() < 1.01 * bias * T and (np.abs(v) > 0.02).any() == (amplitude > 0.02)
    found = run(model(JOINT | {"rotor_time": T}), q, v[:, None])
    np.testing.assert_allclose(found, expected(JOINT, np.array(theta), v, np.zeros(N)), atol=1e-9)


def test_noise_does_not_wear_down_what_gives_way_gradually():
    """A minute of stand at 500 Hz: the joint keeps what it held, which Dahl's elements without a play lose."""
    draw, joint = np.random.default_rng(2), JOINT | {"fo": 0.0}
    theta = np.concatenate([np.linspace(0, 1e-3, 100), 1e-3 + draw.uniform(-2e-6, 2e-6, 30_000)])
    kept, lost = (run(model(joint | {"dahl_step": step}), theta)[[99, -1]] for step in (5e-6, 1e-9))
    assert kept[1] > 0.9 * kept[0] and lost[1] < 0.2 * lost[0]


def test_a_file_without_the_later_parameters_is_what_it_was():
    theta, v = np.linspace(0, 0.01, 100), np.full((100, 1), 0.3)
    old = {name: [JOINT[name]] for name in JOINT if name not in ("fs", "eps", "rotor_time")}
    before, after = presliding_core(old, law(), 1e9), model(JOINT | {"fs": 0.0})
    np.testing.assert_array_equal(run(before, theta, v), run(after, theta, v))


def test_load_counts_up_to_its_limit_and_an_absent_one_is_none():
    theta = np.array([0.0, 0.1])
    levels = [run(model(), theta, 0.0, tau)[-1] for tau in (0.0, np.nan, 60.0, -60.0, 61.0, -1e9)]
    assert levels[0] == levels[1] and len(set(levels[2:])) == 1
    assert levels[2] - levels[0] == pytest.approx(0.07 * 60)


def test_a_joint_without_levels_follows_its_law_and_others_do_not_change():
    rng, friction = np.random.default_rng(3), law(2, fl=0.001)
    theta = np.cumsum(rng.normal(0, 1e-3, (500, 2)), axis=0)
    v, tau = rng.normal(0, 0.3, (500, 2)), rng.normal(0, 30, (500, 2))
    found, _ = model(JOINT, NONE, friction=friction).run(np.arange(500) * MS, theta, v, tau)
    np.testing.assert_array_equal(found[:, 1], friction.torque(v, tau)[:, 1])
    np.testing.assert_allclose(found[:, 0], expected(JOINT, theta[:, 0], v[:, 0], tau[:, 0]), atol=1e-10)


def test_temperature_scales_it_as_the_coulomb_level_of_the_law():
    friction, theta = law(alpha=-0.01, beta=1.0), np.array([[0.0], [0.1]])
    core, v, tau = model(JOINT | {"fo": 0.0}, friction=friction), np.full((2, 1), 0.2), np.zeros((2, 1))
    found = {}
    for temperature in (25.0, 45.0):
        core.reset()
        found[temperature] = core.run(np.arange(2) * MS, theta, v, tau, np.full((2, 1), temperature))[0][-1, 0]
    assert found[45.0] / found[25.0] == pytest.approx(1 - 0.01 * 20)


@pytest.mark.parametrize(("warmer", "viscous"), [(20.0, 0.4), (-10.0, 1.3), (60.0, 0.0)])
def test_viscous_terms_change_by_a_slope_of_their_own_beside_that_of_the_level(warmer, viscous):
    """h = 1 - 0.01/K of the level, beside it -0.02/K: viscous friction ends where the sum would be negative."""
    joint = JOINT | {"fo": 0.0, "viscous_slope": -0.02}
    core = presliding_core({name: [x] for name, x in joint.items()}, law(alpha=-0.01, beta=1.0))
    theta, v, tau = np.array([[0.0], [0.1]]), np.full((2, 1), 0.2), np.zeros((2, 1))
    found = core.run(np.arange(2) * MS, theta, v, tau, np.full((2, 1), 25.0 + warmer))[0][-1, 0]
    terms = 4.0 * 0.2 + 0.5 * 0.2**2 + 3.0 * 0.2 / (1 + 0.2 / 0.3)  # fv1, fv2, fv0 of JOINT
    level = run(model(joint), theta[:, 0], 0.2)[-1] - terms
    assert found == pytest.approx((1 - 0.01 * warmer) * level + viscous * terms)
