"""A payload that the robot file does not name: recognised, taken off, put down, taken up again."""

import re

import numpy as np
import pytest
from force_bench import (
    COM,
    ORIENTATIONS,
    POSE,
    UR5E,
    carried,
    carrying,
    estimated,
    loaded,
    measured,
    model,
    moving,
    named,
    push,
    still,
    through,
    with_residuals,
)
from test_contact_load import recorded
from test_contact_load import robot as load_friction
from test_rest_bias import REST, ROBOT

from robot_dynamics_ros._core import PayloadAnswer
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.hysteresis import friction_level


def force_size(log):
    last = log.time > log.time[-1] - 1.0
    return np.linalg.norm(log.external_wrench[last, :3], axis=1).mean()


def in_file(mass, com=COM, robot=UR5E):
    return robot.with_updates({"payload.mass": mass, "payload.com": list(com)}, {"test": "test"})


@pytest.mark.parametrize("mass", [3.0, -3.0])
@pytest.mark.parametrize("on_topic", [False, True])
def test_wrong_payload_is_no_contact_and_is_taken_off(mass, on_topic):
    pipeline, log = Pipeline(UR5E if on_topic else in_file(4.0 - mass)), carrying(4.0)
    pipeline.run(named(log, 4.0 - mass) if on_topic else log)
    force = pipeline.stage("force")
    last = log.time > log.time[-1] - 1.0
    assert log.payload_or_bias[last].all() and not log.contact[last].any()
    assert force.core.payload_held and force_size(log) < 0.1 * 9.81 * abs(mass)
    assert force.core.payload_error[0] == pytest.approx(mass, abs=0.15)
    assert abs(force.core.payload_error[0] - mass) < 3 * force.core.payload_mass_std < 0.4 * abs(mass)
    assert f"{force.core.payload_error[0]:+.2f}" in force.payload_message()


@pytest.mark.parametrize("scale", [0.97, 1.03])
def test_the_mass_that_is_said_contains_how_well_torques_are_scaled(scale):
    """Masses of the arm were identified by the same torques."""
    log, free = carrying(3.0), carrying(0.0)
    log.effort = free.effort + scale * (log.effort - free.effort)
    pipeline, _ = estimated(log, with_residuals(0.1 * REST, 0.1 * REST))
    said = re.match(r"a payload (\S+) \+- (\S+) kg", pipeline.stage("force").payload_message())
    mass, std = map(float, said.groups())
    assert mass == pytest.approx(scale * 3.0, abs=0.02) and abs(mass - 3.0) < 2 * std < 0.15


@pytest.mark.parametrize("std", [1.5, 2.0])
def test_a_small_payload_is_sure_beside_errors_of_one_deviation(std):
    """They make half of the squared torque of 0.5 kg, which was contact at 1.5 Nm; without it they are no payload."""
    std = std * np.array([1.0, 1.0, 0.65, 0.25, 0.25, 0.25])
    for mass in (0.5, 0.0):
        log = carrying(mass)
        cycles = log.time[:, None] * [0.3, 0.45, 0.6, 0.8, 1.0, 1.3]
        log.effort = log.effort + np.sqrt(2) * std * np.sin(2 * np.pi * cycles + np.arange(6))
        pipeline, _ = estimated(log, with_residuals(std, std))
        found = pipeline.stage("force").core
        assert found.payload_held == (mass > 0.0) and not log.contact.any()
        assert abs(found.payload_error[0] - mass) <= 2 * found.payload_mass_std


@pytest.mark.parametrize("on_topic", [False, True])
def test_a_payload_that_hangs_elsewhere_than_was_said_is_taken_off(on_topic):
    com, robot = (0.1, 0.0, 0.05), with_residuals([0.5] * 6, [0.4] * 6)
    pipeline, log = Pipeline(robot if on_topic else in_file(2.0, com, robot)), carrying(2.0)
    pipeline.run(named(log, 2.0, com=com) if on_topic else log)
    mass, *moment = pipeline.stage("force").core.payload_error
    assert pipeline.stage("force").core.payload_held and force_size(log) < 1.0
    np.testing.assert_allclose([mass, *moment], [0.0, -0.2, 0.0, 0.0], atol=0.02)


def test_a_payload_that_is_named_is_that_of_the_robot_file():
    inside, outside = carrying(3.0), named(carrying(3.0), 3.0)
    Pipeline(in_file(3.0)).run(inside)
    Pipeline(UR5E).run(outside)
    for name in ("model_torque", "friction_torque", "external_wrench", "external_wrench_std"):
        np.testing.assert_allclose(getattr(outside, name), getattr(inside, name), rtol=0, atol=1e-9, err_msg=name)


def test_a_negative_mass_is_a_payload_of_the_robot_file_that_is_put_down():
    log = named(carrying(0.0), -3.0)
    estimated(log, in_file(3.0))
    assert np.abs(log.external_joint_torque).max() < 0.05 and not log.contact.any()


def test_the_friction_under_a_payload_that_is_named_is_less_certain():
    arm = with_residuals([0.5] * 6, [0.4] * 6, load_friction())
    inside, outside = (recorded(arm, np.zeros((3000, 6)), payload=(5.0, COM, (0,) * 6)) for _ in range(2))
    Pipeline(in_file(5.0, robot=arm)).run(inside)
    Pipeline(arm).run(named(outside, 5.0))
    assert (outside.external_joint_torque_std > inside.external_joint_torque_std + 0.05)[500:, 1].mean() > 0.9


def test_a_payload_that_was_recognised_is_not_taken_off_twice_when_it_is_named():
    log, time = loaded(20.0, 3.0, begin=3.0)
    pipeline, after = Pipeline(UR5E), time > 15.2
    pipeline.run(named(log, 3.0, time > 15.0))
    assert log.payload_or_bias[(time > 14.0) & (time < 15.0)].all() and not log.payload_or_bias[after].any()
    assert not log.contact[after].any() and np.abs(log.external_wrench[after, :3]).max() < 5.0


def test_a_payload_is_named_in_motion_without_a_jump_of_the_momentum():
    log, time = loaded(4.0, 5.0, begin=1.5)
    Pipeline(UR5E).run(named(log, 5.0, time > 1.5))
    assert np.abs(log.external_joint_torque[(time > 1.0) & (time < 2.0)]).max() < 0.5


@pytest.mark.parametrize("known", [True, False])
def test_a_part_that_is_named_when_it_is_picked_up_and_put_down_is_no_contact(known):
    log, time = loaded(12.0, 5.0, 4.0, 8.0)
    Pipeline(UR5E).run(named(log, 5.0 * known, (time > 4.0) & (time < 8.0)))
    assert (log.contact[:, -1] + log.payload_or_bias[:, 0] > 0).any() != known


def later(log, before):
    log.stamp_ns = log.stamp_ns + before.stamp_ns[-1] + 2_000_000
    return log


def test_a_payload_that_is_put_down_is_not_taken_off_any_more():
    pipeline, _ = estimated(log := carrying(3.0))
    empty = later(measured(still(seconds=4)), log)
    pipeline.run(empty)
    assert force_size(empty) < 1.0 and not pipeline.stage("force").core.payload_held


def test_the_answer_to_a_payload_lasts_until_it_is_reset():
    pipeline, log = Pipeline(UR5E), carrying(3.0)
    force = pipeline.stage("force")
    with pytest.raises(CapabilityError, match="move the arm"):
        force.answer_payload(PayloadAnswer.keep)
    force.answer_payload(PayloadAnswer.refuse)
    pipeline.run(log)
    assert force_size(log) > 0.8 * 3.0 * 9.81 and "looks like" in force.payload_message()
    assert log.contact[log.time > log.time[-1] - 1.0, -1].all()
    force.answer_payload(PayloadAnswer.judge)
    pipeline.run(again := later(carrying(3.0), log))
    assert force_size(again) < 3.0
    force.answer_payload(PayloadAnswer.keep)
    force.reset()
    empty = later(measured(still(seconds=14)), again)
    pipeline.run(empty)
    assert force_size(empty) > 0.8 * 3.0 * 9.81


def test_contact_on_top_of_a_wrong_payload_is_still_contact():
    motion = through([*ORIENTATIONS, ORIENTATIONS[0]], rest=1.5)
    t = np.arange(len(motion[0])) / 500
    extra = np.where(t > t[-1] - 0.5, 1.0, 0.0)[:, None] * np.array([0, -120.0, 0, 0, 0, 0])
    log = measured(motion, extra, payload=(3.0, (0, 0, 0.05), (0,) * 6))
    estimated(log)
    assert not log.contact[(t > t[-1] - 1.4) & (t < t[-1] - 0.5)].any()
    assert log.payload_or_bias[-1] and log.contact[t > t[-1] - 0.2, -1].all()
    size = -log.external_wrench[t > t[-1] - 0.1, 1].mean()
    assert size == pytest.approx(120.0, rel=0.1)  # the push without the payload


def test_sensor_bias_is_flagged_as_bias():
    log = measured(through(ORIENTATIONS))
    log.effort = log.effort + np.array([30.0, -35.0, 30.0, 9.0, 9.0, -9.0])
    pipeline, _ = estimated(log)
    message = pipeline.stage("force").payload_message()
    assert log.payload_or_bias[-1] and "bias" in message and "tare" in message and "identify again" in message


BIAS = np.array([3.0, -4.0, 3.0, 1.5, 1.5, -1.5])


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_a_sensor_bias_of_a_few_deviations_is_no_contact(share):
    log = measured(moving(30.0), noise=0.1)
    log.effort = log.effort + share * BIAS
    pipeline, _ = estimated(log, ROBOT)
    late = log.time > 8.0
    assert log.payload_or_bias[late].all() and not log.contact[late].any()
    assert "_joint " in pipeline.stage("force").payload_message()  # that is farthest off is named


def test_a_bias_is_named_by_joint_and_a_tare_takes_it_off_twice():
    log = measured(moving(30.0), noise=0.1)
    log.effort[:, 0] += 3.0
    pipeline, _ = estimated(log, ROBOT)
    force = pipeline.stage("force")
    assert "(shoulder_pan_joint +3 Nm)" in force.payload_message() and "tare" in force.payload_message()
    for _ in range(2):  # a later one is judged by what the earlier one has left
        assert force.tare()[0]
        np.testing.assert_allclose(force.core.bias, [-3.0, 0, 0, 0, 0, 0], atol=0.05)
        pipeline.run(log := later(log, log))
    assert force.payload_message() == "" and not log.contact.any()


def test_a_bias_beside_a_constant_of_the_friction_law_is_named_too():
    """As of joint torque sensors, whose law has little else: no other friction is many times that of the file."""
    law = {"fc": [0.0] * 6, "fv": [0.0] * 6, "fo": [0.05] * 6, "eps": [0.002] * 6}
    friction = {"source": "test", "model": "viscous_coulomb", "parameters": law, "reference_temperature": None}
    log = measured(moving(30.0), friction=False, noise=0.1)
    log.effort = log.effort + 0.05 + [3.0, 0, 0, 0, 0, 0]
    pipeline, _ = estimated(log, ROBOT.with_updates({"friction": friction, "hysteresis": None}, {"test": "test"}))
    assert "(shoulder_pan_joint +3 Nm)" in pipeline.stage("force").payload_message()


def test_a_bias_is_known_with_a_named_part_and_without_it():
    """Parts of 2 kg, each named while it is carried: none of them is contact once motion has shown the bias."""
    log, _ = carried(30.0, 2.0, lambda t: (t > 8.0) & (t % 6.0 > 3.0))
    named(log, 2.0, (log.time > 8.0) & (log.time % 6.0 > 3.0))
    log.effort[:, 0] += 3.0
    Pipeline(ROBOT).run(log)
    late = log.time > 8.0
    assert log.payload_or_bias[late].mean() > 0.95 and log.contact[late, -1].mean() < 0.02


def test_a_payload_that_the_user_keeps_is_not_taken_off_a_named_part_beside_a_bias():
    """Kept in the first 10 s and put down; the same mass is named from 30 s on."""
    log, t = carried(36.0, 2.0, lambda t: (t < 10.0) | (t > 30.0))
    named(log, 2.0, t > 30.0)
    log.effort[:, 0] += np.where(t > 10.0, 3.0, 0.0)
    pipeline = Pipeline(ROBOT)
    pipeline.run(log[t < 10.0])
    pipeline.stage("force").answer_payload(PayloadAnswer.keep)
    pipeline.run(rest := log[t >= 10.0])
    at_last = rest.time > rest.time[-1] - 1.0
    assert np.abs(rest.external_wrench[at_last, 2]).max() < 10.0


def test_more_friction_of_a_joint_is_not_called_a_bias_that_a_tare_takes_off():
    log = measured(moving(30.0), noise=0.1)
    log.effort[:, 0] += 3.0 * np.tanh(log.qd[:, 0] / 0.02)
    pipeline, said = Pipeline(ROBOT), set()
    for second in range(30):
        pipeline.run(log[(log.time >= second) & (log.time < second + 1)])
        said.add(pipeline.stage("force").payload_message())
    assert any("other friction" in text for text in said) and not any("tare" in text for text in said)


def test_a_sensor_bias_between_pushes_is_a_bias_and_no_contact():
    """60 N in two fifths of the time, whose torques are far larger; the force in them has the bias as error."""
    log = measured(moving(30.0), noise=0.1)
    log.effort = log.effort + BIAS
    pushed = (log.time > 3.0) & (log.time % 4.0 < 1.6)
    turned = np.where(log.time % 8.0 < 4.0, 60.0, -60.0) * pushed
    push(log, wrench := np.outer(turned, [0, 1.0, 0.5, 0, 0, 0]))
    Pipeline(ROBOT).run(log)
    late, free = log.time > 8.0, (log.time % 4.0 > 2.0) & (log.time > 8.0)
    assert log.payload_or_bias[free].mean() > 0.95 and log.contact[free, -1].mean() < 0.02
    assert log.contact[late & pushed, -1].mean() > 0.9
    error = np.abs(log.external_wrench - wrench)[late & pushed, :3]
    assert (error < 2 * log.external_wrench_std[late & pushed, :3]).mean() > 0.9


def test_a_push_that_lasts_from_the_start_between_two_poses_is_contact():
    """A constant torque explains nine tenths of most of its pieces, but what it leaves of 40 N shows."""
    poses = [POSE, POSE + [0.16, -0.28, -0.55, -0.58, 0.38, 0.5]]
    motion = through(poses * 7, rest=0.8, travel=1.2)
    log = measured(motion, [-32.0, 8.0, 22.0, 0, 0, 0], noise=0.1)
    Pipeline(ROBOT).run(log)
    assert log.contact[log.time > 2.0, -1].mean() > 0.95


def test_a_payload_is_recognised_in_one_orientation_while_the_arm_moves():
    """Gravity turns by less than 0.3 rad in the last link's frame."""
    log = measured(moving(seconds=3.0, amplitude=0.1), payload=(3.0, COM, (0.0,) * 6))
    pipeline, _ = estimated(log)
    assert pipeline.stage("force").core.payload_held
    assert pipeline.stage("force").core.payload_error[0] == pytest.approx(3.0, abs=0.4)


@pytest.fixture(scope="module")
def loaded_gears():
    """3 kg on an arm whose friction rises with the load by 15 %, identified without error; the log from 6 s on."""
    residuals = {"source": "test", "moving": 0.3 * REST, "rest": REST}
    arm, payload = load_friction().with_updates({"residuals": residuals}), (3.0, COM, (0.0,) * 6)
    log = recorded(arm, np.zeros((5000, 6)), moving(10.0), payload=payload)
    Pipeline(arm).run(log)
    log = log[3000:]
    weight = [model(p).rnea(log.q, log.qd, np.zeros_like(log.q)) for p in (payload, None)]
    return arm, log, weight[0] - weight[1]


def test_friction_is_that_of_the_load_with_the_held_payload(loaded_gears):
    _, log, weight = loaded_gears
    np.testing.assert_allclose(log.contact_load, weight, atol=0.04 * np.abs(weight).max())
    assert not log.contact.any() and np.abs(log.external_wrench[:, :3]).max() < 0.05 * 3.0 * 9.81


def test_the_deviation_has_the_error_of_the_friction_that_a_payload_adds(loaded_gears):
    arm, log, weight = loaded_gears
    added = log.friction_std * np.abs(log.contact_load) / friction_level(arm)
    assert (log.external_joint_torque_std > added).all() and (added > 1.3 * log.friction_std).any(axis=0)[1:5].all()
