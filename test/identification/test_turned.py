"""Joints that count otherwise than in the robot file: bodies of any mass explain the effort far better without that."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import steps
from synthetic import TRUTH, UR5E, carrying, excitation, synthetic_log, torque

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.turned import refuse_turned, ways
from robot_dynamics_ros.identification.dataset.motion import Motion, stack
from robot_dynamics_ros.identification.dataset.recording import recording

RIGID = RigidModel(UR5E)


def motion(seed=3, tool=0.0):
    """60 s at 25 Hz with masses 10 % from the file's, a tool [kg] beside the axis of the flange, and noise."""
    rng = np.random.default_rng(seed)
    phi = UR5E.inertial_parameters.reshape(-1, 10) * rng.normal(1.0, 0.1, (6, 1))
    t, q, qd, qdd = excitation(6, 60.0, 25.0, seed)
    truth = carrying(tool, (0.04, 0.02, 0.06), replace(TRUTH, phi=phi.ravel()))
    effort = torque(UR5E, truth, q, qd, qdd, RIGID.gravity)
    return Motion(t, q, qd, qdd, effort + rng.normal(0.0, 0.1, q.shape), t == 0, 25.0)


def counted(one, j, sign=1.0, zero=0.0):
    """What a driver reports whose joint j counts with another sign [-1 or 1], or from another zero [rad]."""
    way = np.where(np.arange(6) == j, sign, 1.0)
    q = way * (one.q - np.where(np.arange(6) == j, zero, 0.0))
    return replace(one, q=q, qd=way * one.qd, qdd=way * one.qdd, effort=way * one.effort)


@pytest.mark.parametrize(
    ("j", "sign", "zero", "tool", "text"),
    [
        (3, -1.0, 0.0, 0.0, "counting against its axis"),
        (3, 1.0, np.pi / 2, 0.0, "counting from a zero 90 deg behind its own"),
        (4, -1.0, 0.0, 1.0, "counting against its axis"),
        (4, 1.0, -np.pi / 2, 1.0, "counting from a zero 90 deg before its own"),
        (5, -1.0, 0.0, 1.0, "counting against its axis"),
    ],
)
def test_a_wrist_that_counts_otherwise_is_refused_with_its_name(j, sign, zero, tool, text):
    with pytest.raises(DataError, match=f"bag: .*{UR5E.joint_names[j]} {text}.* in the robot file, or correct"):
        refuse_turned(RIGID, counted(motion(tool=tool), j, sign, zero), "bag")


def test_the_axis_of_a_last_joint_without_a_tool_does_not_show():
    refuse_turned(RIGID, counted(motion(), 5, -1.0), "bag")


@pytest.mark.parametrize("tool", [0.0, 1.0])
def test_masses_a_tool_and_an_effort_of_another_sign_are_no_turned_joint(tool):
    one = motion(tool=tool)
    for sign in np.vstack([np.ones(6), 1.0 - 2.0 * np.eye(6)]):
        refuse_turned(RIGID, replace(one, effort=sign * one.effort), "bag")


def test_what_one_joint_alone_shows_is_no_turned_joint_before_it():
    """As friction of the last joint that repeats itself from pick to place: weight beyond a joint loads the joint."""
    one, truth, way = motion(tool=1.0), carrying(1.0, (0.04, 0.02, 0.06), TRUTH), np.where(np.arange(6) == 4, -1.0, 1.0)
    other = torque(UR5E, truth, way * one.q, way * one.qd, way * one.qdd, RIGID.gravity)
    loud = np.random.default_rng(0).normal(0.0, 3.0, one.q.shape) * [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    effort = np.c_[one.effort[:, :5], other[:, 5]] + loud  # the others hardly contradict it
    refuse_turned(RIGID, replace(one, effort=effort), "bag")


def test_work_that_repeats_itself_is_not_surer_than_a_minute_of_it():
    one = counted(motion(), 3, -1.0)
    long = stack([one] * 4)
    once, often = (ways(RIGID, m)[f"{UR5E.joint_names[3]} counting against its axis"][0] for m in (one, long))
    assert once == pytest.approx(often, rel=0.2)


def test_percentages_of_the_ratings_are_no_turned_joint():
    """They were refused as an elbow that counts from another zero."""
    log = synthetic_log(UR5E, TRUTH, 1)
    log.effort = 100 * log.effort / [150.0, 150.0, 150.0, 28.0, 28.0, 28.0]
    with pytest.raises(DataError, match="1: .*have different units .a percentage.* --effort current"):
        steps([recording(log, "1")], until="recognise_effort")
    assert steps([recording(log, "1")], until="recognise_effort", effort="current").rigid


def test_identify_refuses_a_recording_of_a_turned_wrist():
    log = synthetic_log(UR5E, TRUTH, 1, duration=30.0, rate=50.0)
    for signal in (log.q, log.qd, log.effort):
        signal[:, 3] *= -1.0
    with pytest.raises(DataError, match=f"1: .*{UR5E.joint_names[3]} counting against its axis"):
        steps([recording(log, "1")], until="recognise_effort")
    assert steps([recording(log, "1")], until="recognise_effort", contact="ignore").rigid
