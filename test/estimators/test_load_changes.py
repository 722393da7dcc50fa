"""A payload that is put down, or taken up again; parts that come and go."""

import numpy as np
import pytest
from force_bench import UR5E, carried, loaded, measured, moving, named, push
from test_rest_bias import ROBOT

from robot_dynamics_ros._core import PayloadAnswer
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.signals import Sample


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
    log, t = loaded(12.0, 2.0, end=10.0)
    push(log, np.outer((t > 3.0) & (t < 8.0), [60.0, 80.0, 0, 0, 0, 0]))
    begin, end = held_from(log, Pipeline(UR5E))
    assert begin < 2.5 and 10.5 < end < 11.8


@pytest.mark.parametrize(("force", "begins"), [((0, 0, -20.0), 1), ((0, 20.0, 0), 0)], ids=["weight", "push"])
def test_a_payload_that_was_put_down_and_taken_up_again_is_held_within_two_pieces(force, begins):
    """A torque that it explains is no contact for 10 s, as that of an unknown payload is; another one is."""
    log, t = loaded(16.0, 2.0, end=8.0)
    push(log, np.outer((t > 10.0) & (t < 13.0), [*force, 0, 0, 0]))
    _, put_down, *taken_up = held_from(log, Pipeline(UR5E))
    assert 8.0 < put_down < 9.3 and len(taken_up) == 2 * begins
    if begins:
        assert 10.0 < taken_up[0] < 11.3 and 13.0 < taken_up[1] < 15.6


def carried_in_turn(t):
    """Whether a part is carried at times t (N,) [s]: 3 s of every 6."""
    return (t > 1.0) & (t % 6.0 > 3.0)


def parts():
    """A log of 30 s in which parts of 2 kg are carried in turn."""
    return carried(30.0, 2.0, carried_in_turn)[0]


def test_parts_that_come_and_go_are_held_from_the_fourth_on():
    """Of unknown parts that are carried for less than 10 s each was a contact."""
    changes = held_from(parts(), Pipeline(ROBOT))
    assert changes == pytest.approx([21.0, 24.0, 27.0], abs=0.4) and changes == sorted(changes)


def named_too_heavy():
    """The same parts, each named 1 kg too heavy; where they are carried."""
    log = parts()
    carries = carried_in_turn(log.time)
    return named(log, 3.0, carries), carries


def test_parts_that_are_named_wrongly_are_no_contact_once_two_of_them_were_carried():
    log, carries = named_too_heavy()
    Pipeline(ROBOT).run(log)
    after = log.time > 16.0
    assert not log.contact[after].any() and np.abs(log.external_wrench[after, :3]).max() < 3.0
    np.testing.assert_array_equal(log.payload_or_bias[after, 0], carries[after])


@pytest.mark.parametrize("make", [parts, lambda: named_too_heavy()[0]], ids=["unknown", "named"])
def test_after_a_reset_the_estimates_are_those_of_a_new_pipeline(make):
    pipeline, first, again = Pipeline(ROBOT), make(), make()
    pipeline.run(first)
    pipeline.reset()
    pipeline.run(again)
    for signal in ("external_wrench", "external_wrench_std", "contact", "payload_or_bias"):
        np.testing.assert_array_equal(again.signals[signal], first.signals[signal])


@pytest.mark.parametrize("answer", [PayloadAnswer.refuse, PayloadAnswer.judge])
def test_an_answer_holds_with_named_parts_and_without_them(answer):
    log, carries = named_too_heavy()
    pipeline, last = Pipeline(ROBOT), log.time > 24.0
    for each in (PayloadAnswer.refuse, answer):
        pipeline.stage("force").answer_payload(each)
    pipeline.run(log)
    refused = answer == PayloadAnswer.refuse
    assert (log.contact[last & carries, -1].mean() > 0.5) == refused and not log.contact[last & ~carries].any()


@pytest.mark.parametrize("seed", range(4))
def test_pushes_that_come_and_go_are_no_parts(seed):
    """Their directions differ."""
    log, rng = measured(moving(30.0), noise=0.1), np.random.default_rng(seed)
    directions = rng.normal(size=(5, 3))
    forces = 20.0 * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    wrench = np.hstack([forces, np.zeros((5, 3))])[(log.time // 6.0).astype(int)]
    push(log, wrench * carried_in_turn(log.time)[:, None])
    assert held_from(log, Pipeline(ROBOT)) == []


def test_parts_that_come_and_go_are_contact_where_the_user_refuses_payloads():
    pipeline = Pipeline(ROBOT)
    pipeline.stage("force").answer_payload(PayloadAnswer.refuse)
    assert held_from(parts(), pipeline) == []


@pytest.mark.parametrize("end", [2.5, 2.75, 3.0, 3.25])
def test_a_payload_that_was_a_push_is_put_down_within_less_than_a_piece(end):
    """Torques that are free contradict it sooner than within 0.6 s, wherever its pieces begin."""
    wrench = np.outer(np.arange(5 * 500) < 500 * end, [0, 0, -30.0, 0, 0, 0])
    begin, put_down = held_from(measured(moving(5.0), wrench, noise=0.1), Pipeline(UR5E))
    assert begin < end < put_down < end + 0.6


def test_evidence_of_a_payload_begins_anew_after_10_s_of_contact():
    """An arm that was seen free picks up 3 kg: contact for 10 s, then a payload after 2 s of motion."""
    (begin,) = held_from(loaded(18.0, 3.0, begin=4.0)[0], Pipeline(ROBOT))
    assert 15.0 < begin < 17.0


@pytest.mark.parametrize("every", [2.0, 3.0])
def test_a_payload_that_was_picked_up_is_held_although_ends_of_pushes_interrupt_its_contact(every):
    """40 N for 0.6 s now and then: 10 s of contact count as before, seconds without it twice."""
    log, t = loaded(20.0, 3.0, begin=3.0)
    push(log, np.outer((t > 4.0) & (t % every < 0.6), [0, 40.0, 0, 0, 0, 0]))
    (begin,) = held_from(log, Pipeline(ROBOT))
    assert 14.0 < begin < 17.0
