"""A payload that the robot file does not name, or a push: before it is known, during a push, and after it."""

import numpy as np
import pytest
from force_bench import COM, ORIENTATIONS, UR5E, carrying, during, estimated, measured, moving, push, still, through
from test_rest_bias import REST, ROBOT

from robot_dynamics_ros.estimators.pipeline import Pipeline

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
    push(log, pushed[:, None] * np.array([15.0, 20.0, 15.0, 0, 0, 0]))
    Pipeline(HIDING).run(log)
    assert log.contact[pushed, -1].mean() > 0.6 and not log.contact[since > 1.2 + 0.3].any()


EXACT, GOOD = (ROBOT.with_updates({"residuals.moving": s * REST, "residuals.rest": s * REST}) for s in (0.02, 0.3))


def test_a_weight_that_a_push_made_small_in_the_first_motion_is_no_contact_after_it():
    """The torques are not significant, but those of a payload that is sure: the arm is not free."""
    log = measured(moving(10.0), during(0.3, 3.5, 10.0, [0, 0, 6, 0, 0, 0]), (1.0, COM, (0.0,) * 6), noise=0.05)
    robot = ROBOT.with_updates({"residuals.moving": 0.7 * REST, "residuals.rest": 0.7 * REST})
    pipeline, _ = estimated(log, robot, friction_drift=0.0)
    force = np.linalg.norm(log.external_wrench[log.time > 9.0, :3], axis=1)
    assert pipeline.stage("force").core.payload_held and force.mean() < 2.0
    assert log.contact[:, -1].mean() < 0.01


def test_a_held_payload_stays_what_it_is_when_most_evidence_is_of_a_push():
    motion = through([ORIENTATIONS[k] for k in (2, 3, 0, 1)], rest=1.0, travel=3.0)
    since = np.arange(len(motion[0])) / 500 - 2.8
    pushed = (since > 0.0) & (since < 4.0)
    log = measured(motion, pushed[:, None] * np.array([-12, -8, -14, 0, 0, 0]), (1.0, COM, (0.0,) * 6), noise=0.02)
    Pipeline(GOOD, {"force": {"friction_drift": 0.0}}).run(log)
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


def test_a_payload_that_errors_hid_in_one_piece_of_the_motion_is_held_nevertheless():
    """Friction balanced it once; a push that begins later is seldom seen for six pieces."""
    motion = moving(8.0)
    empty, log = (measured(motion, payload=(mass, COM, (0.0,) * 6), noise=0.02) for mass in (0.0, 1.0))
    log.effort[log.time < 0.8] = empty.effort[log.time < 0.8]
    pipeline, _ = estimated(log, GOOD)
    assert "kg" in pipeline.stage("force").payload_message()
    assert np.abs(log.external_wrench[log.time > 6.0, :3]).max() < 1.0


def test_a_payload_is_recognised_although_the_arm_is_pushed_half_of_the_time():
    """Pushes of 200 N in changing directions: the orientations without one decide."""
    robot = UR5E.with_updates({"payload.mass": 2.0, "payload.com": list(COM)}, {"test": "test"})
    log, rng = carrying(4.0), np.random.default_rng(3)
    wrench = np.zeros((len(log), 6))
    for begin in np.arange(4.0, log.time[-1] - 4.0, 4.0):
        direction = rng.normal(size=3)
        wrench[(log.time >= begin) & (log.time < begin + 2.0), :3] = 200.0 * direction / np.linalg.norm(direction)
    push(log, wrench)
    pipeline, _ = estimated(log, robot)
    assert pipeline.stage("force").core.payload_held
    assert pipeline.stage("force").core.payload_error[0] == pytest.approx(2.0, abs=0.4)


def test_a_payload_that_is_not_sure_is_named_but_not_taken_off():
    """A pull of 45 N with tugs every 1.2 s: its mass is two deviations from zero, and four are asked."""
    motion, tugs = moving(6.0, 0.6), 45.0 * np.random.default_rng(3).normal(size=(5, 3))
    wrench = np.hstack([np.repeat(tugs + [0.0, 0.0, -45.0], 600, axis=0), np.zeros((3000, 3))])
    pipeline, _ = estimated(measured(motion, wrench))
    force = pipeline.stage("force")
    assert 1.5 < force.core.payload_error[0] / force.core.payload_mass_std < 3.0
    assert not force.core.payload_held and "looks like a payload" in force.payload_message()


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
