"""Viscous friction that differs from the robot file's is learned in free motion, and a contact is not."""

import re

import numpy as np
import pytest
from force_bench import COM, POSE, RATE, UR5E, measured, model, moving, push, still, through, with_residuals
from test_contact_load import recorded
from test_contact_load import robot as presliding

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import PayloadAnswer
from robot_dynamics_ros.estimators.force_arguments import drift_deviation
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.stage import reconfigure
from robot_dynamics_ros.models.friction import FrictionModel

NOISE = np.array([0.4, 0.4, 0.4, 0.1, 0.1, 0.1])  # Nm, residual in motion
ARM = with_residuals(NOISE, NOISE, significance=4.0).with_updates({"hysteresis": None})
PUSH = slice(20 * RATE, 24 * RATE)


def log_of(motion, change=0.0, push=None, share=0.0, payload=0.0):
    """What ARM reports; change: of viscous friction as share of what friction grows by up to 1 rad/s; share: of all
    friction; payload: kg that no file names.
    """
    q, qd, _ = motion
    wrench = np.zeros((len(q), 6))
    if push is not None:
        wrench[PUSH] = push
    log = measured(motion, wrench, (payload, COM, (0.0,) * 6), friction=False, noise=0.02)
    law = FrictionModel.from_robot(ARM)
    slow, fast = (law.torque(np.full(6, v)) for v in (0.05, 1.0))
    log.effort += (1.0 + share) * law.torque(qd) + change * (fast - slow) * qd
    return log


def estimated(log, drift=300.0, arm=ARM):
    """The log, run through all stages."""
    log = log[:]
    Pipeline(arm, {"force": {"friction_drift": drift}}).run(log)
    return log


def learned(log, arm=ARM):
    """The core of the force stage after a log."""
    pipeline = Pipeline(arm)
    pipeline.run(log)
    return pipeline.stage("force").core


def rms(log, rows):
    return np.sqrt(np.mean(log.external_joint_torque[rows] ** 2, axis=0))


@pytest.mark.parametrize(
    ("change", "share", "gain"), [(-0.35, 0, 1), (0.35, 0, 1), (0, -0.15, 1), (0, 0.15, 1), (0, 0, 1.06), (0, 0, 0.94)]
)
def test_friction_and_torque_that_have_changed_are_known_after_seconds_of_motion(change, share, gain):
    log, late = log_of(moving(24.0, 0.8), change, share=share), slice(16 * RATE, None)
    log.effort *= gain
    with_drift, without = estimated(log), estimated(log, 0.0)
    assert (rms(with_drift, late)[:3] < 0.5 * rms(without, late)[:3]).all()
    assert not with_drift.contact[late].any()


def test_what_was_learned_in_motion_holds_at_rest():
    known = with_residuals(0.3 * NOISE, NOISE).with_updates({"hysteresis": presliding().hysteresis.model_dump()})
    worn = known.with_updates({"hysteresis.parameters.level": 1.2 * known.array("hysteresis.parameters.level")})
    motion = through([POSE, POSE + 0.5, POSE] * 5, rest=1.0, travel=2.0)
    logs = [recorded(worn, np.zeros((len(motion[0]), 6)), motion, noise=0.02) for _ in range(2)]
    for log, drift in zip(logs, (300.0, 0.0), strict=True):
        Pipeline(known, {"force": {"friction_drift": drift, "rest_bias": 0.0}}).run(log)
    standing = (np.arange(len(motion[0])) > 30 * RATE) & ~motion[1].any(axis=1)
    learned, without = (rms(log, standing) for log in logs)
    assert (learned < 0.7 * without).all()
    late = standing & np.roll(standing, round(0.3 * RATE))  # the deviation at rest is that of rest alone
    learned, without = (log.external_joint_torque_std[late] for log in logs)
    np.testing.assert_allclose(learned, without, rtol=1e-3)


def test_an_error_that_lasts_for_one_motion_is_not_taken_for_exact():
    """Friction that is wrong by NOISE with another sign in every motion: a is wrong by its deviation."""
    motion, z = moving(20.0), []
    number = np.cumsum(np.diff(np.sign(motion[1]), axis=0, prepend=0.0) != 0, axis=0)  # of the motion of each joint
    for seed in range(8):
        log = log_of(motion)
        sizes = NOISE * np.random.default_rng(seed).standard_normal((number.max() + 1, 6))
        log.effort += np.take_along_axis(sizes, number, axis=0)
        value, covariance = learned(log).friction_drift
        z.append(value / np.sqrt(np.diagonal(covariance, axis1=1, axis2=2)))
    assert np.sqrt(np.mean(np.square(z))) < 1.1


@pytest.mark.parametrize("share", [-3.0, 3.0])
def test_a_constant_error_is_not_taken_for_viscosity(share):
    log = log_of(through([POSE, POSE + 0.8, POSE] * 3, travel=2.0))
    log.effort += share * NOISE
    assert (np.abs(learned(log).friction_drift[0][:, 0]) < 0.4 * drift_deviation(ARM)).all()


def test_a_push_is_not_learned():
    """Its force stays what it is, and the motion after it is as free as before."""
    motion = moving(32.0)
    free, pushed = (estimated(log_of(motion, -0.3, push)) for push in (None, [0.0, 0.0, 40.0, 0.0, 0.0, 0.0]))
    inside, after = slice(PUSH.start + RATE, PUSH.stop - RATE // 2), slice(PUSH.stop + RATE, None)
    assert abs(np.median(pushed.external_wrench[inside, 2]) - 40.0) < 6.0
    change = pushed.external_joint_torque[after] - free.external_joint_torque[after]
    assert (np.sqrt(np.mean(change**2, axis=0)) < 0.3 * NOISE).all()


def test_a_push_is_not_learned_when_its_flag_falls_because_the_deviation_grows_with_the_speed():
    arm, far = ARM.with_updates({"residuals.speed": np.full(6, 0.3)}), np.array([1.2, 0.8, -0.9, 0.5, 0.5, 0.5])
    motion = through([*[POSE, POSE + 0.5] * 2, POSE, POSE + far, POSE], travel=2.0)
    wrench, pushed = np.zeros((len(motion[0]), 6)), slice(int(15.8 * RATE), int(17.4 * RATE))
    wrench[pushed, 2] = 12.0
    log = log_of(motion)
    push(log, wrench)
    core, flag = learned(log, arm), log.contact[pushed, -1]
    assert np.diff(flag).tolist().count(-1.0) == 1 and not log.contact[pushed.stop + RATE // 5 :].any()
    assert np.abs(core.friction_drift[0][:, 0]).max() < 0.05  # Nm s/rad; 0.3 where it is learned


@pytest.mark.parametrize("payload", [0.0, 1.5])
@pytest.mark.parametrize("share", [0.5, -0.5])
def test_friction_of_all_joints_that_is_shown_as_contact_from_the_start_is_learned(share, payload):
    """As in the cold, beside a payload that no file names. Without motion that is free of contact, viscosity and shares
    of single joints are not.
    """
    motion = moving(40.0, 0.8)
    wrench, pushed = np.zeros((len(motion[0]), 6)), [slice(k * RATE, (k + 2) * RATE) for k in range(15, 38, 5)]
    for rows in pushed:
        wrench[rows] = [10.0, -15.0, 20.0, 0.0, 0.0, 0.0]
    log = log_of(motion, share=share, payload=payload)
    push(log, wrench)
    core = learned(log)
    assert (np.abs(core.friction_drift[0][:, 1] - share) < 0.1).all() and core.payload_held == (payload > 0.0)
    late = np.arange(len(wrench)) > 15 * RATE
    free = late & ~np.convolve(wrench[:, 2] != 0, np.ones(RATE // 2))[: len(wrench)].astype(bool)
    assert log.contact[: 4 * RATE, -1].mean() > 0.5 and not log.contact[free, -1].any()
    assert all(log.contact[rows, -1].mean() > 0.9 for rows in pushed)


@pytest.mark.parametrize(("kind", "payload"), [("gap", 0.0), ("stand", 0.0), ("gap", 1.5)])
@pytest.mark.parametrize(("seconds", "learned"), [(5.0, False), (700.0, True)])
def test_friction_that_motion_has_shown_to_be_usual_is_another_only_after_ten_minutes(seconds, learned, kind, payload):
    before, log = (log_of(moving(s, 0.8), share=k, payload=payload) for s, k in ((10.0, 0.0), (20.0, 0.5)))
    log.stamp_ns = log.stamp_ns + int(1e9 * (10.0 + seconds))
    pipeline = Pipeline(ARM)
    pipeline.run(before)
    if kind == "stand":  # at 20 Hz, which is no gap
        standing = measured(still(seconds=seconds, rate=20), friction=False, rate=20)
        standing.stamp_ns = standing.stamp_ns + 10 * 10**9
        pipeline.run(standing)
    pipeline.run(log)
    k = pipeline.stage("force").core.friction_drift[0][:, 1]
    assert (np.abs(k - 0.5) < 0.1).all() == learned and (np.abs(k) < 0.3).all() != learned


@pytest.mark.parametrize("joints", [np.ones(6), [1, 0, 0, 0, 0, 0]], ids=["all joints", "base"])
@pytest.mark.parametrize("force", [[20.0, 7.0], [0.0, 12.0], [0.0, 40.0], [30.0, 0.0]], ids=str)
def test_a_contact_since_the_start_is_not_taken_for_friction(force, joints):
    """A force of constant direction, and one against the motion of the TCP: polishing, dragging, pushing."""
    motion = moving(60.0, 0.8 * np.asarray(joints))
    velocity = np.einsum("kij,kj->ki", model().jacobian(motion[0])[:, :3], motion[1])
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    wrench = np.zeros((len(motion[0]), 6))
    wrench[RATE:, :3] = (force[0] * np.array([0.6, 0.0, 0.8]) - force[1] * velocity / np.maximum(speed, 0.01))[RATE:]
    log = log_of(motion)
    push(log, wrench)
    assert np.abs(learned(log).friction_drift[0][:, 1]).max() < 0.05
    error = (log.external_wrench - wrench)[10 * RATE :, :3]
    assert np.sqrt(np.mean(error**2)) < 3.0


def test_friction_beyond_the_recorded_speeds_is_taken_for_viscosity_by_half():
    """There it is known less well, and says less of how viscous it is at the recorded speeds."""
    motion, known = moving(8.0), 0.1  # rad/s
    log, error = log_of(motion), np.sign(motion[1]) * np.clip(np.abs(motion[1]) / known - 1.0, 0.0, 1.0)  # Nm
    log.effort += error
    arm = ARM.with_updates({"residuals.moving": np.full(6, 0.1), "residuals.speed": np.full(6, known)})
    as_viscosity = (motion[1] * error).sum(axis=0) / (motion[1] ** 2).sum(axis=0)
    assert (np.abs(learned(log, arm).friction_drift[0][:, 0]) < 0.6 * as_viscosity)[:3].all()


@pytest.mark.parametrize("event", [None, PayloadAnswer.refuse], ids=["a payload", "refused"])
def test_nothing_is_learned_until_it_is_known_whether_a_payload_is_carried(event):
    motion = moving(12.0)
    log = measured(motion, np.tile([0.0, 0.0, -20.0, 0.0, 0.0, 0.0], (len(motion[0]), 1)))
    pipeline, seen = Pipeline(ARM), []
    core = pipeline.stage("force").core
    if event is not None:
        core.answer_payload(event)
    for i in range(0, len(log.time), 10):
        pipeline.run(log[i : i + 10])
        seen.append((core.payload_held, np.abs(core.friction_drift[0]).max()))
    held, learned = np.array(seen).T
    assert held.any() == (event is None)
    assert (learned[held == 0.0] == 0.0).all() and (learned[-1] > 0.0) == (event is None)


@pytest.mark.parametrize("before", [300.0, 0.0])
@pytest.mark.parametrize("after", [300.0, 100.0, 0.0])
def test_a_time_that_is_changed_at_work_counts(before, after):
    """0: never. What was learned stays otherwise."""
    log, half = log_of(moving(20.0, 0.8), 0.3), 10 * RATE
    pipeline = Pipeline(ARM, {"force": {"friction_drift": before}})
    pipeline.run(log[:half])
    learned = pipeline.stage("force").core.friction_drift[0].copy()
    reconfigure(pipeline.stage("force"), ARM, {"friction_drift": after})
    kept = pipeline.stage("force").core.friction_drift[0]
    np.testing.assert_array_equal(kept, learned if before and after else np.zeros_like(learned))
    assert learned.any() == (before > 0.0)
    pipeline.run(log[half:])
    assert pipeline.stage("force").core.friction_drift[0].any() == (after > 0.0)


@pytest.mark.parametrize("pieces", [2, 11])
def test_the_pieces_that_a_payload_needs_may_be_changed_at_work(pieces):
    """Of 0.6 s each, in 4 s of motion."""
    log, pipeline = log_of(moving(4.0), payload=1.5), Pipeline(ARM, {"force": {"payload_pieces": 13 - pieces}})
    pipeline.run(log[: RATE // 2])
    reconfigure(pipeline.stage("force"), ARM, {"payload_pieces": pieces})
    pipeline.run(log[RATE // 2 :])
    assert pipeline.stage("force").core.payload_held == (pieces == 2)


def test_a_standing_robot_does_not_know_of_it():
    log = log_of(still(seconds=6.0))
    with_drift, without = estimated(log), estimated(log, 0.0)
    for name in ("external_wrench", "external_wrench_std", "contact"):
        np.testing.assert_array_equal(getattr(with_drift, name), getattr(without, name))


def test_what_begins_later_agrees_within_its_deviation():
    log, begin = log_of(moving(30.0), 0.3), 5 * RATE
    whole = estimated(log)
    part = estimated(log[begin:])
    late = slice(15 * RATE, None)
    difference = np.abs(part.external_wrench[late] - whole.external_wrench[begin:][late])
    assert (difference < 0.5 * whole.external_wrench_std[begin:][late]).all()


@pytest.mark.parametrize(
    ("viscous", "share", "gain", "stated", "off"),
    [(0, 0, 1, 0.01, False), (-0.35, 0, 1, 0.01, False), (0.8, 0, 1, 0.01, True), (0, 0.21, 1, 0.01, True)]
    + [(0, 0, 0.93, 0.01, True), (0, 0, 0.93, 0.05, False)],
)
def test_friction_health_is_what_was_learned(viscous, share, gain, stated, off):
    """viscous: more of what friction grows by up to 1 rad/s, share: more of all friction; gain: effort over torque,
    stated: deviation of that in the robot file.
    """
    constants = {"effort.unit": "A", "torque_constant": [1.0] * 6, "torque_constant_std": [stated] * 6}
    arm = ARM.with_updates({f"drives.{name}": value for name, value in constants.items()})
    log, pipeline = log_of(moving(60.0, 1.2), viscous, share=share), Pipeline(arm)
    log.effort *= gain
    assert pipeline.stage("force").friction_health() == {}
    pipeline.run(log)
    health = pipeline.stage("force").friction_health()
    true = {"Coulomb friction": share, "viscous friction": share + viscous, "torque per effort": 1 / gain - 1}
    assert any(health[name][0] for name in ARM.joint_names[:3]) == off
    for name in ARM.joint_names[:3]:
        found = re.findall(r"(\w+ \w+ ?\w*) is (\d+) \+- (\d+) % (lower|higher)", health[name][1])
        assert "viscous friction" in [what for what, *_ in found]
        for what, size, std, way in found:
            error = int(size) * (-1 if way == "lower" else 1) - 100 * true[what]
            assert abs(error) < 2 * int(std) < 30


def test_the_viscous_terms_of_presliding_may_change_where_they_are_more_than_the_static_law():
    np.testing.assert_array_equal(drift_deviation(presliding(fv1=0.0)), drift_deviation(UR5E))
    np.testing.assert_allclose(drift_deviation(presliding(fv1=200.0)), _core.VISCOUS_STD * 200.0)


@pytest.mark.parametrize("share", [0.4, -0.4])
def test_friction_of_bearings_behind_torque_sensors_may_change_more_and_is_no_contact(share):
    motion = moving(30.0, 0.8)
    log = log_of(motion, share=share)
    log.effort -= ARM.array("drives.rotor_inertia") * motion[2]
    link = ARM.with_updates({"drives.torque_side": "link"})
    behind, before = (estimated(log, drift, link) for drift in (300.0, 0.0))
    late = slice(16 * RATE, None)
    assert (rms(behind, late)[:3] < 0.5 * rms(before, late)[:3]).all()
    assert before.contact.any() and not behind.contact.any()


@pytest.mark.parametrize("side", ["motor", "link"])
def test_masses_that_are_wrong_do_not_change_the_size_of_a_push(side):
    """What is learned of the torque is taken off what model and friction expect, not off what the push adds."""
    motion, arm = moving(24.0, 0.8), ARM.with_updates({"drives.torque_side": side})
    free, pushed = (log_of(motion, push=wrench) for wrench in (None, [0.0, 0.0, 40.0, 0.0, 0.0, 0.0]))
    true = free.effort - pushed.effort
    masses = 0.05 * free.effort - (side == "link") * ARM.array("drives.rotor_inertia") * motion[2]
    for log in (free, pushed):
        log.effort += masses
    free, pushed = (estimated(log, arm=arm).external_joint_torque for log in (free, pushed))
    late = slice(PUSH.start + RATE, PUSH.stop - RATE // 2)
    np.testing.assert_allclose((pushed - free)[late, :3], true[late, :3], atol=0.02 * np.abs(true[late, :3]).max())


def test_without_residuals_nothing_is_learned():
    pipeline = Pipeline(UR5E)
    pipeline.run(log_of(moving(8.0), share=0.1))
    assert pipeline.stage("force").friction_health() == {} and np.isnan(pipeline.stage("force").viscosity()).all()
    assert not pipeline.stage("force").core.friction_drift[0].any()
