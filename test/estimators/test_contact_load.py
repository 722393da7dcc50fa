"""contact_load: a contact adds to the load of the gears, which the friction of the next sample reads."""

import numpy as np
import pytest
from force_bench import POSE, UR5E, model, moving
from presliding_joint import elements

from robot_dynamics_ros import _core
from robot_dynamics_ros.estimators.force_arguments import torque_scale
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot
from robot_dynamics_ros.signals import Log

HELD = 0.02  # s
BLIND = {"force": {"contact_on_ratio": 100.0}}  # the same estimates without any contact
PUSH = np.array([20.0, -30.0, -90.0, 0, 0, 0])
SPAN, LEVEL = [1e-4, 1e-3, 5e-3], np.array([[1.0, 1.0, 2.0]] * 3 + [[0.4, 0.4, 0.4]] * 3)
LAW = {"load": [0.0, 0.05, 0.1], "load_limit": 200.0, "sliding_ratio": 0.8, "stribeck_velocity": 0.05, "fv1": 5.0}


def robot(**changes):
    updates = {"hysteresis": elements(SPAN, LEVEL, **LAW | changes), "friction.source": "test"}
    return UR5E.with_updates(updates, {"test": "numbers of this test"})


def push(n, begin=1000, end=2000):
    on = (np.arange(n) >= begin) & (np.arange(n) < end)
    return on[:, None] * PUSH


def recorded(arm, wrench, motion=None, noise=0.0, payload=None):
    """Effort of an arm whose friction rises with the whole load of its gears, contact and payload included."""
    q, qd, qdd = motion or moving(seconds=6.0)
    stamp, rigid = 10**18 + np.arange(len(q)) * 2_000_000, model(payload)
    contact = -np.einsum("kij,ki->kj", rigid.jacobian(q), wrench)
    load = rigid.rnea(q, qd, qdd)
    friction = hysteresis_from_robot(arm).run(stamp, q, qd, load + contact)[0]
    effort = load + arm.array("drives.rotor_inertia") * qdd + friction + contact
    effort += noise * np.random.default_rng(1).normal(size=q.shape)
    return Log(arm.joint_names, stamp, {"q": q, "qd": qd, "effort": effort})


@pytest.fixture(scope="module")
def pushed():
    arm = robot()
    log = recorded(arm, push(3000))
    blind = log[:]
    Pipeline(arm).run(log)
    Pipeline(arm, BLIND).run(blind)
    return log, blind


def test_without_contact_it_is_zero_to_the_bit_and_changes_nothing():
    arm = robot()
    log = recorded(arm, np.zeros((3000, 6)))
    blind = log[:]
    Pipeline(arm).run(log)
    Pipeline(arm, BLIND).run(blind)
    assert not log.contact.any()
    assert (log.contact_load.view(np.int64) == 0).all()
    np.testing.assert_array_equal(log.friction_torque, blind.friction_torque)
    np.testing.assert_array_equal(log.external_wrench, blind.external_wrench)


def test_it_is_the_torque_of_the_contact_held_for_20_ms(pushed):
    log, _ = pushed
    touched = log.contact.any(axis=1)
    assert touched[1100:1950].all() and (log.contact_load[~touched].view(np.int64) == 0).all()
    inside = slice(1100, 1950)
    changes = np.flatnonzero(np.abs(np.diff(log.contact_load[inside], axis=0)).max(axis=1))
    taken = 1100 + changes + 1
    slots = log.stamp_ns[taken] // round(1e9 * HELD)
    assert (np.diff(slots) == 1).all() and (log.stamp_ns[taken] % round(1e9 * HELD) < 2_000_000).all()
    np.testing.assert_array_equal(log.contact_load[taken], -log.external_joint_torque[taken])


def documented(q, qd, load, contact):
    """Friction (N, 6) whose elements keep theirs, up to their level, when a contact changes the load of the gears."""
    d, span, per_load = np.zeros((6, 3)), np.array(SPAN), np.array(LAW["load"])
    friction, last = np.empty_like(q), np.zeros(6)
    for k in range(len(q)):
        before, now = (LEVEL + per_load * np.abs(load[k] + c)[:, None] for c in (last, contact[k]))
        d = np.clip(d * before / now, -span, span)
        d = np.clip(d + (q[k] - q[max(k - 1, 0)])[:, None], -span, span)
        fall = 1 / (1 + (qd[k] / LAW["stribeck_velocity"]) ** 2)
        level = LAW["sliding_ratio"] + (1 - LAW["sliding_ratio"]) * fall
        friction[k], last = level * (now * d / span).sum(axis=1) + LAW["fv1"] * qd[k], contact[k]
    return friction


def test_friction_of_the_next_sample_is_that_of_the_whole_load(pushed):
    log, blind = pushed
    before = np.vstack([np.zeros((1, 6)), log.contact_load[:-1]])
    np.testing.assert_allclose(log.friction_torque, documented(log.q, log.qd, log.model_torque, before), atol=1e-9)
    raised = np.abs(log.model_torque + before) > np.abs(log.model_torque) + 1.0
    no_start, spans = np.zeros(len(log), dtype=bool), np.array(SPAN)
    H = [_core.presliding_elements(np.ascontiguousarray(q), spans, no_start) for q in log.q.T]
    slides = (np.abs(H).min(axis=2).T > 0.999) & (log.friction_torque * log.qd > 0)
    assert (np.abs(log.friction_torque) > np.abs(blind.friction_torque))[raised & slides].all()
    assert (raised & slides).sum() > 500


def test_a_joint_that_stands_keeps_its_friction_when_a_contact_loads_it():
    """It slides with the friction of the whole load; when the contact ends, what its level no longer holds is gone."""
    stage, n = FrictionStage.of(robot()), 400
    q = np.interp(np.arange(n), [0, 100, 200, 300], [0.0, 0.02, 0.02, 0.04])[:, None] * np.ones(6)
    contact = np.where((np.arange(n) >= 150) & (np.arange(n) < 350), 60.0, 0.0)[:, None] * np.ones(6)
    still, friction = np.zeros((n, 6)), []
    for load in (contact, still):
        stage.reset()
        signals = {"q": q, "qd": still, "model_torque": still, "contact_load": load}
        stage.run(log := Log(UR5E.joint_names, np.arange(n) * 2_000_000, signals))
        friction.append(log.friction_torque)
    f, none = friction
    np.testing.assert_array_equal(f[:200], none[:200])
    np.testing.assert_allclose(f[300:350] - none[300:350], 60.0 * sum(LAW["load"]), atol=1e-9)
    np.testing.assert_allclose(f[350:], none[350:], atol=1e-9)


def test_a_record_that_is_dropped_does_not_change_the_load_of_the_elements():
    """A stamp comes twice, the second time without the contact, while a joint slides under it."""
    stage, n = FrictionStage.of(robot()), 300
    q, stamp = np.linspace(0.0, 0.03, n)[:, None] * np.ones(6), np.arange(n) * 2_000_000
    stamp[200] = stamp[199]
    contact = np.where(np.arange(n) == 200, 0.0, 60.0)[:, None] * np.ones(6)
    given = {"q": q, "qd": 0 * q + 0.05, "model_torque": 0 * q, "contact_load": contact}
    once, twice = Log(UR5E.joint_names, stamp, given)[np.arange(n) != 200], Log(UR5E.joint_names, stamp, given)
    for log in (once, twice):
        stage.reset()
        stage.run(log)
    np.testing.assert_array_equal(twice.friction_torque[201:], once.friction_torque[200:])


def test_the_force_is_better_than_with_a_load_that_ignores_contact(pushed):
    """Friction that rises with the load by 15 %, identified without error: what remains is the observer's delay."""
    errors = [np.sqrt(np.mean((log.external_wrench - push(3000))[1200:1950, :3] ** 2)) for log in pushed]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("lost", ["onset", "inside", "beginning"])
def test_a_replay_that_lacks_samples_comes_back_to_the_same_bits_within_the_contact(lost):
    """The recorder lost samples, or began later. The observer forgets to the last bit in 37/25 s."""
    arm, begin, end = robot(), 1500, 4000
    live = recorded(arm, push(5000, begin, end), moving(seconds=10.0), 0.2)
    Pipeline(arm).run(live)
    onset = int(live.contact.any(axis=1).argmax())
    rows = {"onset": [onset], "inside": [onset + 100, onset + 103], "beginning": range(400)}[lost]
    kept = np.delete(np.arange(5000), rows)
    replayed = live[kept]
    Pipeline(arm).run(replayed)
    late = kept > max(rows) + 1000
    assert live.contact[onset:end].any(axis=1).all() and late[kept < end].sum() > 1000
    for name in ("contact_load", "friction_torque", "external_wrench", "external_wrench_std", "contact"):
        np.testing.assert_array_equal(getattr(replayed, name)[late], getattr(live, name)[kept][late], name)


@pytest.mark.parametrize("power", [1.0, 2.0])
@pytest.mark.parametrize("limit", [50.0, 1e5])
def test_friction_that_rises_faster_than_its_load_does_not_run_away(power, limit):
    """A gain of 5 in the feedback: bounded by load_limit and by three times the torque limit, over with the contact."""
    arm = robot(load=[0.0, 2.0, 3.0], load_power=power, load_limit=limit)
    log = recorded(robot(), push(2500, 600, 1500), moving(seconds=5.0))
    Pipeline(arm).run(log)
    bound = 3 * torque_scale(arm)
    assert np.isfinite(log.external_wrench).all() and (np.abs(log.contact_load) <= bound).all()
    load = np.minimum(np.abs(log.model_torque) + bound, limit) ** power
    level = LEVEL.sum(axis=1) + 5.0 * load
    assert (np.abs(log.friction_torque) <= level + 5.0 * np.abs(log.qd) + 1e-9).all()


def test_at_rest_a_push_settles(pushed):
    """Standing still, a constant push: the feedback converges to one load."""
    still = np.tile(POSE, (2000, 1)), np.zeros((2000, 6)), np.zeros((2000, 6))
    arm = robot()
    log = recorded(arm, push(2000, 500, 2000), still)
    Pipeline(arm).run(log)
    assert log.contact[1000:, -1].all()
    assert np.abs(np.diff(log.contact_load[1500:], axis=0)).max() < 0.05
