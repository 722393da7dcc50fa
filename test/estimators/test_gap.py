"""Samples that are missing: what the robot shows afterwards is what it would have shown with them."""

import numpy as np
import pytest
from force_bench import POSE
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwise import assert_run_is_step
from test_part_of_a_recording import FIRST, LATER, LINK, PUSHES, SECOND, TRAVEL, recorded, robot

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.pipeline import Pipeline

MOVES = (FIRST, SECOND)  # s, begin


@pytest.fixture(scope="module")
def whole():
    arm = robot(LINK)
    log = recorded(arm)
    Pipeline(arm).run(log)
    return arm, log


def without(log, begin, length):
    keep = (log.time <= begin) | (log.time >= begin + length)
    return log[keep], keep


@settings(max_examples=12)
@given(begin=st.floats(FIRST + TRAVEL + 0.3, PUSHES[0] - 0.1), length=st.sampled_from([0.03, 0.3, 1.0, 3.0]))
def test_a_gap_while_the_robot_stands_changes_the_torque_by_less_than_its_deviation(whole, begin, length):
    """Also where it hides a push that came and went; a push that is there at its end is shown at once."""
    arm, log = whole
    length = min(length, SECOND - 0.2 - begin)
    part, keep = without(log, begin, length)
    Pipeline(arm).run(part)
    after = (part.time > begin + length + 0.1) & (part.time < SECOND)
    off = np.abs(part.external_joint_torque - log.external_joint_torque[keep])[after]
    assert (off <= log.external_joint_torque_std[keep][after]).all()
    pushed = after & (part.time > max(PUSHES[0] + 0.3, begin + length + 0.8)) & (part.time < PUSHES[0] + 1.0)
    assert part.contact[pushed].any(axis=1).all()


@settings(max_examples=10)
@given(at=st.sampled_from(MOVES), begin=st.floats(0.3, 1.2), length=st.floats(0.03, 0.9))
def test_a_gap_in_a_move_leaves_the_friction_as_it_is(whole, at, begin, length):
    arm, log = whole
    part, keep = without(log, at + begin, length)
    Pipeline(arm).run(part)
    rows = part.time < at + TRAVEL + 1.0  # until the push: whether a payload is known yet decides when it is flagged
    off = np.abs(part.friction_torque - log.friction_torque[keep])[rows]
    since = part.time[rows] - (at + begin + length)
    assert (off < 0.2 * log.friction_std[keep][rows])[since >= 0].all()  # first the load lacks an acceleration
    assert off[since > 0.05].max() < 1e-3


@settings(max_examples=3)
@given(begin=st.floats(0.5, SECOND + TRAVEL + LATER - 4.0), length=st.floats(0.025, 3.0))
def test_the_live_node_and_the_replay_of_its_bag_agree_bit_for_bit(whole, begin, length):
    arm, log = whole
    _, status = assert_run_is_step(arm, without(log, begin, length)[0])
    assert (status == int(Status.reset)).sum() == 1


@pytest.mark.parametrize("noise", [0.0, 3e-4, 6e-3])
def test_closed_brakes_are_no_contact(whole, noise):
    """The effort is noise (share of the limit) while the robot stands, and that of drives which carry it afterwards."""
    arm, log = whole
    part = without(log, 0.0, -1.0)[0]
    braked = (part.time > 1.0) & (part.time < FIRST - 1.0)
    limit, rng = arm.array("limits.torque"), np.random.default_rng(0)
    part.effort[braked] = noise * limit * rng.normal(size=(braked.sum(), 6))
    status = Pipeline(arm).run(part)
    assert (status[braked] == int(Status.unavailable)).all() and np.isnan(part.external_wrench[braked]).all()
    after = (part.time >= FIRST - 1.0) & (part.time < PUSHES[0] + 0.9)
    assert np.isfinite(part.external_wrench[after]).all()
    contact = (log.contact[:, -1] > 0) & (part.time > PUSHES[0])
    np.testing.assert_array_equal(part.contact[after, -1] > 0, contact[after])
    off = np.abs(part.external_joint_torque - log.external_joint_torque)[after]
    assert (off <= log.external_joint_torque_std[after]).all()


def test_efforts_of_zero_are_none_also_while_the_robot_moves(whole):
    """A driver that fills the effort later than position and velocity."""
    arm, log = whole
    part = without(log, 0.0, -1.0)[0]
    empty = (part.time > FIRST + 0.5) & (part.time < FIRST + 2.5)
    part.effort[empty] = 0.0
    status = Pipeline(arm).run(part)
    assert (status[empty] == int(Status.unavailable)).all() and np.isnan(part.external_wrench[empty]).all()
    assert not (part.contact[part.time < PUSHES[0] - 0.1] > 0).any()
    assert (part.contact[(part.time > PUSHES[0] + 0.5) & (part.time < PUSHES[0] + 0.9), -1] > 0).all()


def test_an_arm_that_friction_of_each_joint_can_hold_may_stand_without_torque(whole):
    arm, log = whole
    part, _ = without(log, 1.0, np.inf)
    part.effort[:], part.qd[:], part.q[:] = 0.0, 0.0, [0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0]
    assert (Pipeline(arm).run(part) != int(Status.unavailable)).all()
    level = arm.array("hysteresis.parameters.level") * np.array([[100.0], *[[1.0]] * 5])
    part.q[:] = POSE  # whose shoulder the friction of the base does not hold
    stiff = arm.with_updates({"hysteresis.parameters.level": level})
    assert (Pipeline(stiff).run(part) == int(Status.unavailable)).all()
