"""Presliding friction in a robot file and in the friction stage: bounds, live and replayed steps, unknown past."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from presliding_joint import JOINT, MS, SPANS, model, robot

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLOW

MESHING, KEPT = 1.3, 0.75  # of friction_stage.hpp


def strokes(N=3000):
    t = np.arange(N) * 2e-3
    q = 0.03 * np.sin(2.2 * t)[:, None] * np.linspace(0.001, 1, 6)
    signals = {"q": q, "qd": np.gradient(q, 2e-3, axis=0), "model_torque": 20 * np.cos(q)}
    return Log(load_robot("ur5e").joint_names, np.arange(N) * 2 * MS + 10**15, signals)


def test_the_written_file_reads_back_as_the_same_model(tmp_path):
    save_robot(robot(), tmp_path / "arm.yaml")
    again, log = load_robot(tmp_path / "arm.yaml"), strokes()
    columns = (log.stamp_ns, log.q, log.qd, log.model_torque)
    found, codes = hysteresis_from_robot(again).run(*columns)
    other, same = hysteresis_from_robot(robot()).run(*columns)
    np.testing.assert_array_equal(found, other)
    np.testing.assert_array_equal(codes, same)


WRONG = {"span": [[1e-3, 1e-4, 1e-2]] * 6, "level": [[-1.0, 0, 0]] * 6, "load": [[0.0, -0.1, 0]] * 6}
WRONG |= {"load_power": 1.5, "sliding_ratio": 1.2, "stribeck_velocity": 0.0, "fs": -1.0, "eps": 0.0, "rotor_time": -1.0}


@pytest.mark.parametrize(("name", "value"), [*WRONG.items(), ("fv1", -1.0)])
def test_values_outside_their_bounds_are_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=name):
        hysteresis_from_robot(robot(**{name: value}))


def test_elements_of_unknown_past_widen_the_deviation_until_they_have_slipped():
    """Uniform within the level of what has not slipped; beyond twice the largest span two pasts agree bit for bit."""
    theta = np.concatenate([np.linspace(-0.2, 0.0, 200, endpoint=False), np.linspace(0, 0.03, 301)])
    q = np.repeat(theta[:, None], 6, axis=1)
    longer = Log(load_robot("ur5e").joint_names, np.arange(len(q)) * 2 * MS, {"q": q, "qd": np.zeros_like(q)})
    fresh = longer[200:]
    for log in (longer, fresh):
        FrictionStage.of(robot()).run(log)
    known, std, level = longer.friction_std[200:], fresh.friction_std, np.array(JOINT["level"])
    unknown = np.array([level[x <= 2 * np.array(SPANS)].sum() for x in theta[200:]])
    assert unknown[0] == 6.0 and unknown[-1] == 0.0
    assert (std**2 >= unknown[:, None] ** 2 / 3 - 1e-9).all()
    assert (std[unknown > 0] > known[unknown > 0]).all()
    np.testing.assert_array_equal(std[unknown == 0], known[unknown == 0])
    torque, same = (x[unknown == 0] for x in (fresh.friction_torque, longer.friction_torque[200:]))
    np.testing.assert_allclose(torque, same, atol=1e-12)


@pytest.mark.parametrize("known", [True, False])
def test_a_joint_with_a_static_law_beside_one_with_memory_has_its_own_residuals(known):
    """Not 1 % of its friction: the deviation that it has in a file without memory, also where residuals are unknown."""
    residuals = {"moving": [0.3] * 6, "rest": [0.5] * 6, "speed": None, "significance": None, "source": "fit_test"}
    arm, found = robot(JOINT).with_updates({"residuals": residuals if known else None}), {}
    for choice in ("auto", "static"):
        found[choice] = strokes()
        FrictionStage.of(arm, {"model": choice}).run(found[choice])
    std, alone = found["auto"].friction_std, found["static"].friction_std
    np.testing.assert_array_equal(std[:, 1:], alone[:, 1:])
    assert (not known or (std >= 0.3).all()) and not (std[:, 0] == alone[:, 0]).any()


def after_gap(t, theta, begin, end, **changes):
    """Friction at the end of theta(t) without the samples between, and whether its past is known after each sample."""
    core, out, known = model(JOINT | changes, max_gap=0.1), np.zeros(1), []
    v = np.gradient(theta, t)
    for k in np.flatnonzero((t <= begin) | (t >= end)):
        core.step(round(1e9 * t[k]), theta[k : k + 1], v[k : k + 1], np.zeros(1), None, out)
        known.append(core.valid[0])
    return out[0], known


@settings(max_examples=30)
@given(
    begin=st.floats(0.6, 1.6),
    length=st.floats(0.03, 0.48),
    sign=st.sampled_from([-1.0, 1.0]),
    speed=st.floats(0.0, 0.1),
)
@pytest.mark.parametrize("changes", [{}, {"dahl_step": 1e-4}, {"rotor_time": 600.0}], ids=["slip", "dahl", "rotor"])
def test_a_gap_in_which_a_joint_goes_one_way_is_none(changes, begin, length, sign, speed):
    """To and fro first, so that the elements have slipped and stand anywhere; then on, at any speed or not at all."""
    t = np.arange(1500) * 2e-3
    theta = np.where(t < 0.5, 0.03 * np.sin(8 * t), 0.03 * np.sin(4.0) + sign * speed * np.maximum(t - 0.5, 0) ** 2)
    friction, known = after_gap(t, theta, begin, begin + length, **changes)
    without, always = after_gap(t, theta, 9.0, 9.0, **changes)
    drift = 2e-3 if "rotor_time" in changes else 1e-9  # the velocity of a sample is not exactly the displacement
    assert friction == pytest.approx(without, abs=drift) and known[-1] and always[-1]


@pytest.mark.parametrize(
    ("begin", "end", "known"),
    [(1.9, 2.1, True), (1.3, 1.7, False), (1.9, 2.45, False), (3.2, 3.6, True), (3.2, 3.9, False)],
    ids=["one way", "around the turn", "too long", "at rest", "at rest, too long"],
)
def test_after_a_gap_in_which_a_joint_may_have_turned_round_its_past_is_unknown(begin, end, known):
    t = np.arange(2000) * 2e-3
    theta = np.where(t < 3.0, 0.03 * np.sin(np.pi * t), 0.0)
    until = t <= end + 1e-9
    states = after_gap(t[until], theta[until], begin, end)[1]
    assert states[-2] and states[-1] is known


@pytest.mark.parametrize("changes", [{"fv1": [None] + [1.0] * 5}, {"level": [[None, *JOINT["level"][1:]]] * 6}])
def test_an_unknown_number_is_named(changes):
    with pytest.raises(CapabilityError, match=rf"{next(iter(changes))} of shoulder_pan_joint.* is unknown"):
        hysteresis_from_robot(robot(**changes))


@pytest.mark.parametrize(("pushed", "share"), [(0.0, 1.0), (2.0, KEPT)])
def test_spans_that_differ_from_place_to_place_are_in_the_deviation_until_the_elements_slip(pushed, share):
    """To and fro, back by less than a span, a rest, and on."""
    t, rest = np.arange(1500) * 2e-3, 0.05
    q = np.where(t < 2.0, 0.03 * np.sin(np.pi * t), -3e-4 * np.minimum(t - 2.0, 0.5)) - 0.2 * np.maximum(t - 2.8, 0)
    q, v = (np.repeat(x[:, None], 6, axis=1) for x in (q, np.gradient(q, 2e-3)))
    residuals = {"moving": [rest] * 6, "rest": [rest] * 6, "source": "fit_test"}
    stage = FrictionStage.of(robot().with_updates({"residuals": residuals}))
    tight = {"span": [[x / MESHING for x in SPANS]] * 6}
    load, std = np.full_like(q, pushed), np.empty_like(q)
    stamps, found = (1e9 * t).round().astype(np.int64), np.empty_like(q)
    rows = stage.core.rows(len(t), q, None, v, 0 * q, load, 25.0 + 0 * q, 0 * q, None, found, std)
    _core.run_in_turn(stamps, [rows])
    other = hysteresis_from_robot(robot(**tight)).run(stamps, q, v, load)[0]
    wide = np.abs(other - found) * share
    k = 1200  # it creeps at 0.3 mrad/s
    assert wide[k, 0] > 3 * rest
    creeps = rest * np.sqrt(1.0 - np.exp(-((v[k] / SLOW) ** 2)))
    np.testing.assert_allclose(std[k], np.hypot(np.hypot(wide[k], creeps), 0.01 * found[k]))
    np.testing.assert_allclose(std[-1], np.hypot(rest, 0.01 * found[-1]), rtol=1e-6)
