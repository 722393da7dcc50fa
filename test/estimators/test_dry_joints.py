"""A joint of dry friction that stands says nothing about the external torque: it keeps what it showed when it slid."""

import numpy as np
import pytest
from force_bench import COM, POSE, estimated, measured, model, through, with_residuals
from presliding_joint import elements

from robot_dynamics_ros.estimators.pipeline import Pipeline

LEVEL = np.array([10.0, 10.0, 8.0, 2.0, 2.0, 2.0])  # Nm, at breakaway
PUSH = np.array([12.0, -8.0, 15.0, 0.0, 0.0, 0.0])  # N, from before the joints stop


def arm(span):
    known = with_residuals(0.02 * LEVEL, 0.06 * LEVEL, significance=4.0)
    return known.with_updates({"hysteresis": elements([span], LEVEL[:, None])})


def turned(seconds=1.0):
    """A move under a push; after it friction of the joints that stand turns round within a second, as a controller's
    integral makes it. The log, and the true external torque (N, 6).
    """
    way = np.array([1, -1, 1, 1, -1, 1])
    motion = through([POSE, POSE + 0.5 * way], rest=2.0, travel=2.0)
    wrench = np.tile(PUSH, (len(motion[0]), 1)) * (np.arange(len(motion[0])) > 1100)[:, None]
    log = measured(motion, wrench, friction=False, noise=0.01)
    after = log.time - log.time[np.abs(motion[1]).max(axis=1) > 1e-3].max()
    friction = np.where(after > 0.0, 1.0 - 1.8 * np.clip(after / seconds, 0.0, 1.0), log.time > 2.0)
    log.effort = log.effort + friction[:, None] * LEVEL * way
    return log, np.einsum("kij,ki->kj", model().jacobian(log.q), wrench)


@pytest.mark.parametrize(("span", "dry"), [(3e-5, True), (2e-3, False)], ids=["dry", "presliding"])
def test_friction_of_a_stuck_dry_joint_turns_round_and_its_external_torque_stays(span, dry):
    log, true = turned()
    Pipeline(arm(span), {"force": {"rest_bias": 0.0}}).run(log)
    error = np.abs(log.external_joint_torque[-1] - true[-1])
    assert (error < 0.1 * LEVEL).all() == dry and (error > 1.5 * LEVEL).all() == (not dry)


def test_a_stuck_dry_joint_may_hold_any_torque_within_breakaway():
    log, _ = turned()
    Pipeline(arm(3e-5)).run(log)
    late = log.external_joint_torque_std[-1] / LEVEL
    assert (late > 0.45).all() and (late < 1.1 / np.sqrt(3.0)).all()
    sliding = log.external_joint_torque_std[log.time < 3.5][-1]
    assert (sliding < 0.15 * LEVEL).all()


@pytest.mark.parametrize(("span", "least"), [(3e-5, 0.99), (2e-3, 0.0)], ids=["dry", "presliding"])
def test_small_torques_of_a_stuck_dry_joint_do_not_narrow_the_deviation_of_the_force(span, least):
    """They say nothing about a force, which its friction balances."""
    logs = [measured(through([POSE, POSE + 0.5], rest=3.0, travel=2.0), friction=False, noise=0.01) for _ in range(2)]
    for log, recent in zip(logs, (0.25, 0.0), strict=True):
        log.effort = log.effort + (log.time > 3.0)[:, None] * LEVEL
        Pipeline(arm(span), {"force": {"recent_error": recent, "rest_bias": 0.0}}).run(log)
    ratio = logs[0].external_wrench_std[-1] / logs[1].external_wrench_std[-1]
    assert (ratio >= least).all() and (least > 0 or (ratio < 0.9).all())


def moved_twice(last=0.0, payload=None):
    """Two moves under friction, whose sign the stand between them keeps; `last`: more of it as share of the level, that
    no law knows, in the last 0.3 s of the first move. The log, and when the first move ends and the second begins [s].
    """
    motion = through([POSE, POSE + 0.4, POSE + 0.8], rest=2.0, travel=2.0)
    log, fast = measured(motion, payload=payload, friction=False, noise=0.01), np.abs(motion[1]).max(axis=1) > 1e-3
    begin = log.time[fast & (log.time > 5.0)].min()
    end = log.time[fast & (log.time < begin)].max()
    known = (log.time > 2.0) + last * ((log.time > end - 0.3) & (log.time < begin))
    log.effort = log.effort + known[:, None] * LEVEL
    return log, end, begin


def test_a_dry_joint_that_has_not_slid_yet_hides_a_payload():
    """Up to its breakaway; what it shows once it slides is a payload and no push that began then. It creeps before it
    slides, which turns friction of the law round and shows nothing.
    """
    log, *_ = moved_twice(payload=(1.5, COM, (0,) * 6))
    log.q[:1000] += 1e-7 * np.arange(1000)[:, None]  # 50 µrad/s
    log.qd[:1000] += 5e-5
    log.q[1000:] += 1e-4
    pipeline, _ = estimated(log, arm(3e-5))
    first = log.time < 2.0
    assert (log.external_joint_torque_std[first] > 0.5 * LEVEL).all()
    assert not log.contact[log.time > 2.3].any() and pipeline.stage("force").core.payload_held


def test_a_stuck_dry_joint_keeps_no_more_than_its_friction_balances():
    """Its drive gives half of the level more than it slid with, and it still stands: that is external torque."""
    log, end, begin = moved_twice()
    log.effort = log.effort + 0.5 * LEVEL * np.clip(log.time - end, 0.0, 1.0)[:, None] * (log.time < begin)[:, None]
    Pipeline(arm(3e-5), {"force": {"rest_bias": 0.0}}).run(log)
    before = log.time > begin - 0.1
    np.testing.assert_allclose(log.external_joint_torque[before][0] / LEVEL, -0.5, atol=0.1)


def test_a_broken_sensor_does_not_move_what_a_stuck_dry_joint_keeps():
    log, end, begin = moved_twice()
    broken = (log.time > end + 0.5) & (log.time < begin)
    log.effort[broken, 2] = 1e4
    Pipeline(arm(3e-5), {"force": {"rest_bias": 0.0}}).run(log)
    assert np.abs(log.external_joint_torque[broken, 2]).max() < 0.1 * LEVEL[2]


@pytest.mark.parametrize(("step", "since"), [(-1.5, 0.6), (1.0, 2.1)], ids=["beyond friction", "within friction"])
def test_a_position_that_jumps_while_dry_joints_are_stuck_shows_as_contact(step, since):
    """At once where gravity changes by more than friction balances, else with the next slide, 2.06 s after the stop."""
    log, end, begin = moved_twice()
    log.q[log.time > end + 0.5, 1] += step
    Pipeline(arm(3e-5)).run(log)
    shown = log.contact.any(axis=1)
    assert not shown[log.time < end + 0.5].any() and shown[(log.time > end + since) & (log.time < begin + 0.5)].all()


def test_a_position_that_stays_while_a_dry_joint_moves_shows_as_contact():
    """The joint looks stuck, and its deviation grows; what its weight is wrong by is left to the other joints."""
    log, _, begin = moved_twice()
    broken = log.time > begin - 0.5
    log.q[broken, 1], log.qd[broken, 1] = log.q[broken, 1][0], 0.0
    Pipeline(arm(3e-5), {"force": {"friction_drift": 0.0}}).run(log)
    late = (log.time > begin + 1.0) & (log.time < begin + 1.9)
    assert log.contact[late].any(axis=1).all() and (log.external_joint_torque_std[late, 1] > 0.5 * LEVEL[1]).all()


def test_what_was_absorbed_of_a_stuck_dry_joint_ends_with_its_next_slide():
    """It was an error of what the joint kept, up to 1.4/sqrt(3) of its level. A new slide shows the torque at once, and
    its deviation.
    """
    log, end, begin = moved_twice(last=0.7)
    Pipeline(arm(3e-5), {"force": {"contact_on_ratio": 50.0}}).run(log)
    kept, absorbed, slid = ((log.time > t) & (log.time < t + 0.1) for t in (end, begin - 0.1, begin + 0.06))
    assert (np.abs(log.external_joint_torque[absorbed]) < 0.15 * LEVEL).all()
    assert (np.abs(log.external_joint_torque[kept]).mean(axis=0) > 0.2 * LEVEL).all()
    assert (np.abs(log.external_joint_torque[slid]) < 0.05 * LEVEL).all()
    assert (log.external_joint_torque_std[slid] < 0.1 * LEVEL).all()
