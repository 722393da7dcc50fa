"""A payload that the robot file does not name: recognised, taken off, put down, and never taken for a push."""

import numpy as np
import pytest
from force_bench import COM, ORIENTATIONS, UR5E, carrying, estimated, measured, model, moving, still, through
from test_contact_load import recorded
from test_contact_load import robot as load_friction
from test_rest_bias import REST, ROBOT

from robot_dynamics_ros._core import PayloadAnswer
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.hysteresis import friction_level
from robot_dynamics_ros.signals import Sample


def force_size(log, seconds=1.0):
    last = log.time > log.time[-1] - seconds
    return np.linalg.norm(log.external_wrench[last, :3], axis=1).mean()


@pytest.mark.parametrize("mass", [3.0, -3.0])
def test_wrong_payload_is_no_contact_and_is_taken_off(mass):
    robot = UR5E.with_updates({"payload.mass": 4.0 - mass, "payload.com": list(COM)}, {"test": "test"})
    pipeline, log = Pipeline(robot), carrying(4.0)
    pipeline.run(log)
    force = pipeline.stage("force")
    last = log.time > log.time[-1] - 1.0
    assert log.payload_or_bias[last].all() and not log.contact[last].any()
    assert force.core.payload_held and force_size(log) < 0.1 * 9.81 * abs(mass)
    assert force.core.payload_error[0] == pytest.approx(mass, abs=0.15)
    assert abs(force.core.payload_error[0] - mass) < 3 * force.core.payload_mass_std < 0.4 * abs(mass)
    assert f"{force.core.payload_error[0]:+.2f}" in force.payload_message()


def later(log, before):
    log.stamp_ns = log.stamp_ns + before.stamp_ns[-1] + 2_000_000
    return log


def test_a_payload_that_is_put_down_is_not_taken_off_any_more():
    pipeline, log = Pipeline(UR5E), carrying(3.0)
    pipeline.run(log)
    empty = later(measured(still(seconds=4)), log)
    pipeline.run(empty)
    assert force_size(empty) < 1.0 and not pipeline.stage("force").core.payload_held


def loaded(motion, mass, when):
    """A log of an arm that carries `mass` [kg] in the rows `when` (N,)."""
    log, full = (measured(motion, payload=(m, COM, (0,) * 6), noise=0.1) for m in (0.0, mass))
    log.effort = np.where(when[:, None], full.effort, log.effort)
    return log


def held_from(log, pipeline):
    """Times [s] at which a payload begins to be held, and ends."""
    sample, core, held = Sample(log.joint_names), pipeline.stage("force").core, [False]
    for row in range(len(log)):
        log.read(row, sample)
        pipeline.step(sample)
        held.append(core.payload_held)
    return log.time[np.diff(held)].tolist()


def test_a_held_payload_lasts_until_motion_without_contact_contradicts_it():
    """A push for half of the time since the start contradicts it in contact; 0.6 s without the payload end it."""
    motion = moving(12.0)
    t = np.arange(len(motion[0])) / 500
    log = loaded(motion, 2.0, t < 10.0)
    pushed = ((t > 3.0) & (t < 8.0))[:, None] * np.array([60.0, 80.0, 0, 0, 0, 0])
    log.effort = log.effort - np.einsum("kij,ki->kj", model().jacobian(log.q), pushed)
    begin, end = held_from(log, Pipeline(UR5E))
    assert begin < 2.5 and 10.5 < end < 11.8


@pytest.mark.parametrize(("force", "begins"), [((0, 0, -20.0), 1), ((0, 20.0, 0), 0)], ids=["weight", "push"])
def test_a_payload_that_was_put_down_and_taken_up_again_is_held_within_two_pieces(force, begins):
    """A torque that it explains is no contact for 10 s, as that of an unknown payload is; another one is."""
    motion = moving(16.0)
    t = np.arange(len(motion[0])) / 500
    log = loaded(motion, 2.0, t < 8.0)
    again = np.outer((t > 10.0) & (t < 13.0), [*force, 0, 0, 0])
    log.effort = log.effort - np.einsum("kij,ki->kj", model().jacobian(log.q), again)
    _, put_down, *taken_up = held_from(log, Pipeline(UR5E))
    assert 8.0 < put_down < 9.3 and len(taken_up) == 2 * begins
    if begins:
        assert 10.0 < taken_up[0] < 11.3 and 13.0 < taken_up[1] < 15.6


@pytest.mark.parametrize("end", [2.5, 2.75, 3.0, 3.25])
def test_a_payload_that_was_a_push_is_put_down_within_less_than_a_piece(end):
    """Torques that are free contradict it sooner than within 0.6 s, wherever its pieces begin."""
    wrench = np.outer(np.arange(5 * 500) < 500 * end, [0, 0, -30.0, 0, 0, 0])
    begin, put_down = held_from(measured(moving(5.0), wrench, noise=0.1), Pipeline(UR5E))
    assert begin < end < put_down < end + 0.6


def test_evidence_of_a_payload_begins_anew_after_10_s_of_contact():
    """An arm that was seen free picks up 3 kg: contact for 10 s, then a payload after 2 s of motion."""
    motion = moving(18.0)
    t = np.arange(len(motion[0])) / 500
    log = loaded(motion, 3.0, t > 4.0)
    (begin,) = held_from(log, Pipeline(ROBOT))
    assert 15.0 < begin < 17.0


@pytest.mark.parametrize("every", [2.0, 3.0])
def test_a_payload_that_was_picked_up_is_held_although_ends_of_pushes_interrupt_its_contact(every):
    """40 N for 0.6 s now and then: 10 s of contact count as before, seconds without it twice."""
    motion = moving(20.0)
    t = np.arange(len(motion[0])) / 500
    log = loaded(motion, 3.0, t > 3.0)
    pushed = np.outer((t > 4.0) & (t % every < 0.6), [0, 40.0, 0, 0, 0, 0])
    log.effort = log.effort - np.einsum("kij,ki->kj", model().jacobian(log.q), pushed)
    (begin,) = held_from(log, Pipeline(ROBOT))
    assert 14.0 < begin < 17.0


def test_the_answer_to_a_payload_lasts_until_it_is_reset():
    pipeline, log = Pipeline(UR5E), carrying(3.0)
    force = pipeline.stage("force")
    with pytest.raises(CapabilityError, match="move the arm"):
        force.answer_payload(PayloadAnswer.keep)
    force.answer_payload(PayloadAnswer.refuse)
    pipeline.run(log)
    assert force_size(log) > 0.8 * 3.0 * 9.81 and "looks like" in force.payload_message()
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


HIDING = ROBOT.with_updates({"residuals.moving": 0.5 * REST, "residuals.rest": 5.0 * REST})


def hidden_at_rest(motion):
    """A log of an arm with 1 kg, all of which friction balances while the arm stands."""
    empty, log = (measured(motion, payload=(mass, COM, (0.0,) * 6), noise=0.05) for mass in (0.0, 1.0))
    standing = np.clip(1.0 - np.abs(motion[1]).max(axis=1, keepdims=True) / 0.02, 0.0, 1.0)
    log.effort += standing * (empty.effort - log.effort)
    return log


def test_a_weight_that_a_stand_hid_is_no_contact_when_the_arm_sets_off():
    """The mean of the pieces, most of them at rest, shows it 0.1 s later."""
    log = hidden_at_rest(through(ORIENTATIONS[2:4], rest=3.0, travel=2.0))
    Pipeline(HIDING).run(log)
    assert log.payload_or_bias[-1] and not log.contact.any()


@pytest.mark.parametrize("begin", [0.3, 0.4, 0.5, 0.6])
def test_a_push_in_the_first_motion_with_a_weight_ends_with_the_push(begin):
    """A stand hid the weight, and the pieces of the push hide it, too: what is left after it decides."""
    motion = through(ORIENTATIONS[2:4], rest=3.0, travel=3.0)
    log, moves = hidden_at_rest(motion), np.abs(motion[1]).max(axis=1) > 0.01
    since = log.time - log.time[np.argmax(moves)] - begin
    pushed = (since > 0.0) & (since < 1.2)
    push = pushed[:, None] * np.array([15.0, 20.0, 15.0, 0, 0, 0])
    log.effort -= np.einsum("kij,ki->kj", model().jacobian(log.q), push)
    Pipeline(HIDING).run(log)
    assert log.contact[pushed, -1].mean() > 0.6 and not log.contact[since > 1.2 + 0.3].any()


EXACT, GOOD = (ROBOT.with_updates({"residuals.moving": s * REST, "residuals.rest": s * REST}) for s in (0.02, 0.3))


def test_a_held_payload_stays_what_it_is_when_most_evidence_is_of_a_push():
    motion = through([ORIENTATIONS[k] for k in (2, 3, 0, 1)], rest=1.0, travel=3.0)
    since = np.arange(len(motion[0])) / 500 - 2.8
    pushed = (since > 0.0) & (since < 4.0)
    log = measured(motion, pushed[:, None] * np.array([-12, -8, -14, 0, 0, 0]), (1.0, COM, (0.0,) * 6), noise=0.02)
    Pipeline(GOOD).run(log)
    force = np.linalg.norm(log.external_wrench[:, :3], axis=1)
    assert force[np.abs(since) < 1e-9].max() < 0.5 and force[since > 4.3].max() < 0.5


@pytest.mark.parametrize(
    ("force", "seconds", "poses", "travel"),
    [((15, 20, 15), 2.6, (2, 3, 2), 2.0), ((-20, 0, 10), 2.0, (2, 3, 2), 3.0), ((7, -17, -8), 2.6, (0, 3, 1), 3.0)],
)
def test_a_push_of_an_arm_that_stood_with_a_weight_only_is_seen_until_it_ends(force, seconds, poses, travel):
    """It neither begins with what looks like its end, nor is it a bias, nor does what it hid remain a contact."""
    motion = through([ORIENTATIONS[k] for k in poses], rest=3.0, travel=travel)
    since = np.arange(len(motion[0])) / 500 - 2.6
    pushed = (since > 0.0) & (since < seconds)
    log = measured(motion, pushed[:, None] * np.array([*force, 0, 0, 0]), (1.0, COM, (0.0,) * 6), noise=0.02)
    Pipeline(EXACT).run(log)
    assert log.contact[pushed, -1].mean() > 0.8
    assert not log.contact[(since < 0.0) | ((since > seconds + 0.3) & (since < 5.4)), -1].any()


def test_sensor_bias_is_flagged_as_bias():
    log = measured(through(ORIENTATIONS))
    log.effort = log.effort + np.array([30.0, -35.0, 30.0, 9.0, 9.0, -9.0])
    pipeline, _ = estimated(log)
    assert log.payload_or_bias[-1] and "bias" in pipeline.stage("force").payload_message()


def test_a_push_that_does_not_hang_is_never_called_payload():
    motion = through([pose + [1.5 * k, 0.2 * k, 0, 0, 0, 0] for k, pose in enumerate(ORIENTATIONS)])
    sideways = np.tile([60.0, 40.0, 0, 0, 0, 0], (len(motion[0]), 1))
    log = measured(motion, sideways)
    pipeline, _ = estimated(log)
    assert pipeline.stage("force").payload_message() == ""
    assert not log.payload_or_bias.any() and log.contact[-1, -1]


def test_a_push_of_an_arm_that_was_seen_free_is_no_payload():
    """9 s at a dozen orientations, mostly downwards: some of them a payload would explain."""
    wrists = np.random.default_rng(1).uniform(-2, 2, (14, 3))
    poses = [*ORIENTATIONS, *(ORIENTATIONS[0] + np.r_[0, 0, 0, wrist] for wrist in wrists)]
    motion = through(poses, rest=0.3, travel=0.7)
    t = np.arange(len(motion[0])) / 500
    pushed = (t > 6.0) & (t < 15.0)
    log = measured(motion, pushed[:, None] * np.array([30.0, -20.0, -60.0, 0, 0, 0]), noise=0.1)
    estimated(log)
    assert not log.payload_or_bias.any() and log.contact[pushed & (t > 6.3), -1].all()
    assert not log.contact[t > 15.5].any()


def test_a_payload_is_recognised_although_the_arm_is_pushed_half_of_the_time():
    """Pushes of 200 N in changing directions: the orientations without one decide."""
    robot = UR5E.with_updates({"payload.mass": 2.0, "payload.com": list(COM)}, {"test": "test"})
    log, rng = carrying(4.0), np.random.default_rng(3)
    wrench = np.zeros((len(log), 6))
    for begin in np.arange(4.0, log.time[-1] - 4.0, 4.0):
        direction = rng.normal(size=3)
        wrench[(log.time >= begin) & (log.time < begin + 2.0), :3] = 200.0 * direction / np.linalg.norm(direction)
    log.effort = log.effort - np.einsum("kij,ki->kj", model().jacobian(log.q), wrench)
    pipeline = Pipeline(robot)
    pipeline.run(log)
    assert pipeline.stage("force").core.payload_held
    assert pipeline.stage("force").core.payload_error[0] == pytest.approx(2.0, abs=0.4)


def test_a_payload_is_recognised_in_one_orientation_while_the_arm_moves():
    """Gravity turns by less than 0.3 rad in the last link's frame."""
    log = measured(moving(seconds=3.0, amplitude=0.1), payload=(3.0, COM, (0.0,) * 6))
    pipeline, _ = estimated(log)
    assert pipeline.stage("force").core.payload_held
    assert pipeline.stage("force").core.payload_error[0] == pytest.approx(3.0, abs=0.4)


def test_a_force_that_lifts_the_arm_is_no_payload():
    """It would be lighter than the last body, which has 0.2 kg. A table on which the arm presses does the same."""
    log = measured(moving(seconds=3.0), np.array([0, 0, 60.0, 0, 0, 0]), noise=0.1)
    pipeline, _ = estimated(log)
    assert not (log.payload_or_bias == 1).any() and not pipeline.stage("force").core.payload_held
    assert log.contact[log.time > 1.0, -1].all()


@pytest.mark.parametrize("stands", [14.0, 2.0])
def test_a_push_along_gravity_is_no_payload(stands):
    """10 s of a constant force on an arm that stands, or that sets off under it for the first time."""
    motion = [np.concatenate(x) for x in zip(still(seconds=stands), moving(2.0), strict=True)]
    t = np.arange(len(motion[0])) / 500
    pushed = (t > 1.0) & (t < 11.0)
    log = measured(motion, pushed[:, None] * np.array([0, 0, -90.0, 0, 0, 0]), noise=0.1)
    pipeline, _ = estimated(log)
    assert not log.payload_or_bias.any() and not pipeline.stage("force").core.payload_held
    assert log.contact[pushed & (t > 1.5), -1].all()


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
