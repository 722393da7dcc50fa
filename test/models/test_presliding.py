"""Presliding friction with free spans: the law in numpy, bounds, rate independence, dissipation, load, unknown past."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot, presliding_core
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import Log, Sample

MS = 1_000_000
SPANS = [1e-4, 1e-3, 1e-2]
JOINT = {
    "span": SPANS,
    "level": [1.0, 2.0, 3.0],
    "load": [0.02, 0.0, 0.05],
    "load_limit": 60.0,
    "load_power": 1.0,
    "sliding_ratio": 0.7,
    "stribeck_velocity": 0.05,
    "fv1": 4.0,
    "fv2": 0.5,
    "fv0": 3.0,
    "v0": 0.3,
    "fo": -0.4,
    "fs": 1.5,
    "eps": 5e-3,
    "rotor_time": 0.0,
}
NONE = JOINT | {"level": [0.0] * 3, "load": [0.0] * 3, "fv1": 0.0, "fv2": 0.0, "fv0": 0.0, "fo": 0.0, "fs": 0.0}
LAW = {"fc": 6.0, "fs": 7.0, "vs": 0.05, "fv1": 9.0, "fv2": -1.0, "fv3": 0.1, "alpha": -0.008}
paths = st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=40).map(np.array)
scales = st.sampled_from([1e-5, 1e-4, 1e-3, 1e-2, 1.0])


def law(n=1, **changes):
    return FrictionModel("madsen", LAW | changes, n, 25.0)


def model(*joints, max_gap=1e9, friction=None):
    """Presliding joints from parameters by name."""
    chosen = joints or (JOINT,)
    block = {name: [joint[name] for joint in chosen] for name in JOINT}
    return presliding_core(block, friction or law(len(chosen)), max_gap)


def run(core, theta, v=0.0, tau=0.0, step=MS):
    """Friction (N,) of one joint along theta (N,)."""
    columns = [np.array(np.broadcast_to(x, (len(theta), 1)), dtype=float) for x in (theta[:, None], v, tau)]
    return core.run(np.arange(len(theta)) * step, *columns)[0][:, 0]


def elements(theta, span):
    """H_k (N, K) of the recursion, in plain numpy."""
    d, out = np.zeros(len(span)), np.zeros((len(theta), len(span)))
    for k in range(1, len(theta)):
        d = np.clip(d + theta[k] - theta[k - 1], -np.asarray(span), span)
        out[k] = d / span
    return out


def expected(joint, theta, v, tau):
    """The law as documented, of one joint at its reference temperature."""
    load = np.minimum(np.abs(tau), joint["load_limit"])[:, None] ** joint["load_power"]
    level = ((np.array(joint["level"]) + np.array(joint["load"]) * load) * elements(theta, joint["span"])).sum(axis=1)
    g = 1 / (1 + (v / joint["stribeck_velocity"]) ** 2)
    s = joint["sliding_ratio"] + (1 - joint["sliding_ratio"]) * g
    level = s * level + joint["fs"] * g * v / (np.abs(v) + joint["eps"])
    viscous = joint["fv1"] * v + joint["fv2"] * np.abs(v) * v + joint["fv0"] * v / (1 + np.abs(v) / joint["v0"])
    return level + viscous + joint["fo"]


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_is_the_documented_law(power):
    rng, joint = np.random.default_rng(1), JOINT | {"load_power": power}
    theta, v, tau = np.cumsum(rng.normal(0, 1e-3, 3000)), rng.normal(0, 0.3, 3000), rng.normal(0, 60, 3000)
    found = run(model(joint), theta, v[:, None], tau[:, None])
    np.testing.assert_allclose(found, expected(joint, theta, v, tau), atol=1e-10)


@settings(max_examples=100, deadline=None)
@given(path=paths, scale=scales)
def test_elements_stay_within_one_and_follow_the_recursion(path, scale):
    theta, start = path * scale, np.zeros(len(path), dtype=bool)
    H = _core.presliding_elements(theta, np.array(SPANS), start)
    assert np.abs(H).max() <= 1.0
    np.testing.assert_allclose(H, elements(theta, SPANS), atol=1e-9)
    start[len(path) // 2] = True  # a new piece forgets
    again = _core.presliding_elements(theta, np.array(SPANS), start)
    assert not again[len(path) // 2].any()
    np.testing.assert_array_equal(again[: len(path) // 2], H[: len(path) // 2])


@settings(max_examples=50, deadline=None)
@given(path=paths, scale=scales)
def test_does_not_depend_on_rate_or_on_sub_steps(path, scale):
    theta = path * scale
    coarse = run(model(), theta)
    np.testing.assert_array_equal(run(model(), theta, step=17 * MS), coarse)
    fine = np.interp(np.arange(10 * (len(theta) - 1) + 1) / 10, np.arange(len(theta)), theta)
    np.testing.assert_allclose(run(model(), fine)[::10], coarse, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(path=paths, scale=scales, tau=st.floats(-100, 100))
def test_closed_cycles_dissipate(path, scale, tau):
    """Any closed path, gone through until it is periodic: the work of friction over a cycle is not negative."""
    cycle = (
        np.interp(np.linspace(0, len(path), 200, endpoint=False), np.arange(len(path) + 1), [*path, path[0]]) * scale
    )
    theta = np.concatenate([np.tile(cycle, 3), cycle[:1]])
    f = run(model(JOINT | {"fo": 0.0}), theta, 0.0, tau)
    last = slice(400, 601)
    assert np.trapezoid(f[last], theta[last]) >= -1e-9 * scale


@settings(max_examples=50, deadline=None)
@given(v=st.floats(-3, 3), tau=st.floats(-500, 500))
def test_sliding_friction_dissipates_at_every_speed_and_load(v, tau):
    theta = np.linspace(0, np.copysign(0.1, v), 300)
    assert run(model(JOINT | {"fo": 0.0}), theta, v, tau)[-1] * v >= 0.0


@pytest.mark.parametrize("direction", [-1, 1])
def test_a_creeping_joint_keeps_its_breakaway_level(direction):
    """0.3 mrad/s: a law with tanh(v / eps) has 1.5 % of it left at eps = 0.02 rad/s."""
    theta = direction * np.arange(100_000) * 3e-7
    f = run(model(JOINT | {"fo": 0.0, "fv1": 0.0, "fv0": 0.0, "fs": 0.0}), theta, direction * 3e-4, 20.0)
    assert direction * f[-1] == pytest.approx(6.0 + 0.07 * 20, rel=1e-4)


def test_a_velocity_of_the_rotor_moves_the_elements_and_a_deflection_does_not():
    """A push turns the link by 1 mrad while the rotor stands; a creeping rotor moves before its link shows it."""
    joint = JOINT | {"fo": 0.0, "rotor_time": 600.0}
    pushed = run(model(joint), np.linspace(0.0, 1e-3, 501))
    assert np.abs(pushed).max() < 1e-2 * np.abs(
        run(model(joint | {"rotor_time": 0.0}), np.linspace(0.0, 1e-3, 501))[-1]
    )
    v = np.full((501, 1), 2e-3)
    crept = run(model(joint | {"fs": 0.0}), np.zeros(501), v)  # 1 mrad within 0.5 s
    shown = run(model(joint | {"fs": 0.0, "rotor_time": 0.0}), np.arange(501) * 2e-6, v)
    np.testing.assert_allclose(crept, shown, atol=5e-3)


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
        off.append((before + v[k] * dt - (q[k] - q[k - 1])) * T / (T + dt))
        theta.append(theta[-1] + q[k] - q[k - 1] + off[-1] - before)
    assert np.abs(off).max() < 1.01 * bias * T and (np.abs(v) > 0.02).any() == (amplitude > 0.02)
    found = run(model(JOINT | {"rotor_time": T}), q, v[:, None])
    np.testing.assert_allclose(found, expected(JOINT, np.array(theta), v, np.zeros(N)), atol=1e-9)


def test_a_file_without_the_later_parameters_is_what_it_was():
    theta, v = np.linspace(0, 0.01, 100), np.full((100, 1), 0.3)
    old = {name: [JOINT[name]] for name in JOINT if name not in ("fs", "eps", "rotor_time")}
    np.testing.assert_array_equal(
        run(presliding_core(old, law(), 1e9), theta, v), run(model(JOINT | {"fs": 0.0}), theta, v)
    )


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


# ---- in a robot file and in the stage


def robot(*joints, **changes):
    chosen = [JOINT] * 6 if not joints else [*joints, *[NONE] * (6 - len(joints))]
    block = {name: [joint[name] for joint in chosen] for name in JOINT} | changes
    return load_robot("ur5e").with_updates(
        {
            "friction": {"model": "madsen", "parameters": LAW, "source": "fit_test", "reference_temperature": 25.0},
            "hysteresis": {"model": "presliding", "parameters": block, "source": "fit_test"},
        },
        {"fit_test": "numbers of this test"},
    )


def strokes(N=3000, amplitude=0.03):
    t = np.arange(N) * 2e-3
    q = amplitude * np.sin(2.2 * t)[:, None] * np.linspace(0.001, 1, 6)
    log = Log(
        load_robot("ur5e").joint_names, np.arange(N) * 2 * MS + 10**15, {"q": q, "qd": np.gradient(q, 2e-3, axis=0)}
    )
    log.model_torque = 20 * np.cos(q)
    return log


def staged(*joints):
    stage = FrictionStage()
    stage.configure(robot(*joints))
    return stage


def test_the_written_file_reads_back_as_the_same_model(tmp_path):
    save_robot(robot(), tmp_path / "arm.yaml")
    again, log = load_robot(tmp_path / "arm.yaml"), strokes()
    columns = (log.stamp_ns, log.q, log.qd, log.model_torque)
    found, codes = hysteresis_from_robot(again).run(*columns)
    other, same = hysteresis_from_robot(robot()).run(*columns)
    np.testing.assert_array_equal(found, other)
    np.testing.assert_array_equal(codes, same)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"span": [[1e-3, 1e-4, 1e-2]] * 6}, "span"),
        ({"level": [[-1.0, 0, 0]] * 6}, "level"),
        ({"load": [[0.0, -0.1, 0]] * 6}, "load"),
        ({"load_power": 1.5}, "load_power"),
        ({"sliding_ratio": 1.2}, "sliding_ratio"),
        ({"stribeck_velocity": 0.0}, "stribeck_velocity"),
        ({"fv1": -1.0}, "fv1|viscous"),
        ({"fs": -1.0}, "fs"),
        ({"eps": 0.0}, "eps"),
        ({"rotor_time": -1.0}, "rotor_time"),
    ],
)
def test_values_outside_their_bounds_are_refused_by_name(changes, named):
    with pytest.raises(ConfigError, match=named):
        hysteresis_from_robot(robot(**changes))


def test_steps_of_the_stage_are_its_run_bit_for_bit():
    log, contact = strokes(800), np.random.default_rng(2).normal(0, 20, (800, 6))
    log.contact_load = contact
    log.q[300] = np.nan
    log.stamp_ns[500:] += 10**9
    whole, single, sample = log[:], staged(JOINT, JOINT), Sample(log.joint_names)
    codes = staged(JOINT, JOINT).run(whole)
    for row in range(len(log)):
        sample.clear()
        log.read(row, sample)
        assert int(single.step(sample)) == codes[row]
        np.testing.assert_array_equal(sample.friction_torque, whole.friction_torque[row])
        np.testing.assert_array_equal(sample.friction_std, whole.friction_std[row])


def test_elements_of_unknown_past_widen_the_deviation_until_they_have_slipped():
    """Uniform within the level of what has not slipped; beyond twice the largest span two pasts agree bit for bit."""
    theta = np.concatenate([np.linspace(-0.2, 0.0, 200, endpoint=False), np.linspace(0, 0.03, 301)])
    q = np.repeat(theta[:, None], 6, axis=1)
    longer = Log(load_robot("ur5e").joint_names, np.arange(len(q)) * 2 * MS, {"q": q, "qd": np.zeros_like(q)})
    fresh = longer[200:]
    staged().run(longer), staged().run(fresh)
    known, std, level = longer.friction_std[200:], fresh.friction_std, np.array(JOINT["level"])
    unknown = np.array([level[x <= 2 * np.array(SPANS)].sum() for x in theta[200:]])
    assert unknown[0] == 6.0 and unknown[-1] == 0.0
    assert (std**2 >= unknown[:, None] ** 2 / 3 - 1e-9).all()
    assert (std[unknown > 0] > known[unknown > 0]).all()
    np.testing.assert_array_equal(std[unknown == 0], known[unknown == 0])
    np.testing.assert_allclose(
        fresh.friction_torque[unknown == 0], longer.friction_torque[200:][unknown == 0], atol=1e-12
    )


def test_a_gap_makes_the_past_unknown_again():
    core = model(max_gap=0.1)
    one = lambda x: np.array([x])  # noqa: E731
    out = np.zeros(1)
    codes = [core.step(k * MS, one(theta), one(0.0), one(0.0), None, out) for k, theta in enumerate((0.0, 0.015, 0.03))]
    assert codes == [Status.warming_up, Status.warming_up, Status.ok] and core.valid == [True]
    assert core.step(10**9, one(0.03), one(0.0), one(0.0), None, out) == Status.reset
    assert core.valid == [False] and out[0] == JOINT["fo"]
