"""The gate of live samples: what motion shows, what stands until samples show the contrary, what is no finding."""

import numpy as np
import pytest
from force_bench import POSE, RATE, UR5E, measured, moving, push, still, through
from stepwise import gated
from synthetic import with_signals

from robot_dynamics_ros.effort.live_gate import ROWS, SECONDS, LiveGate
from robot_dynamics_ros.signals import Sample


def live(log):
    return gated(UR5E, log).why


@pytest.mark.parametrize("joint", [None, 1, 5])
def test_an_effort_that_is_reversed_later_is_seen_in_motion(joint):
    """At rest it may be a contact: 316 N were published beside a note of a bias."""
    log = measured(moving(62.0, amplitude=1.0), noise=0.2)
    rows = (log.time > 10.0) & (log.time < 40.0)
    push(log, np.outer(15.0 * (rows & (np.sin(2 * log.time) > 0)), [0.6, 0.0, -0.8, 0.0, 0.0, 0.0]))
    if joint is not None:
        log.effort[log.time > 10.0, joint] *= -1
    names = "" if joint is None else f"effort of {UR5E.joint_names[joint]} is reversed"
    gate = gated(UR5E, log[log.time < 35.0])
    assert gate.why == ""  # of which one piece of 20 s is not whole
    gated(UR5E, log[log.time >= 35.0], gate)
    assert names in gate.why and bool(gate.why) == bool(names)


def test_what_friction_alone_shows_has_to_show_twice():
    """A base joint that moves slowly: neither gravity nor inertia."""
    time = np.arange(62 * RATE)[:, None] / RATE
    angle = 0.15 * np.array([0.9, 1.3, 1.7, 2.1, 2.5, 2.9]) * time
    q = POSE + 0.15 * (1 - np.cos(angle))
    qd, qdd = np.gradient(q, 1 / RATE, axis=0), np.zeros_like(q)
    log = measured((q, qd, qdd), noise=0.2)
    log.effort[log.time > 10.0, 0] *= -1
    gate = gated(UR5E, log[log.time < 55.0])
    assert gate.why == ""
    assert "effort of shoulder_pan_joint is reversed" in gated(UR5E, log[log.time >= 55.0], gate).why


def test_absolute_efforts_are_seen_live_in_motion_that_turns_slower_than_a_batch_lasts():
    """128 N were published for good: within a second hardly two joints turn both ways."""
    there = POSE + np.array([0.8, 0, 0, 0, 0, 0.8])
    log = measured(through([POSE, there, POSE, there, POSE], rest=1.5, travel=2.0), noise=0.2)
    assert "no effort is below zero" in live(with_signals(log, effort=np.abs(log.effort)))


def test_what_one_joint_contradicts_stands_while_only_others_move():
    """Of a joint whose velocity had the wrong sign estimates came back whenever it stood: 90 N."""
    log = measured(moving(8.0, amplitude=1.5), noise=0.2)
    stands = (np.arange(6) == 2) & (log.time > 4.0)[:, None]
    q, qd = np.where(stands, log.q[log.time <= 4.0][-1], log.q), np.where(stands, 0.0, log.qd)
    bad = with_signals(log, q=q, qd=qd * [1, 1, -1, 1, 1, 1])
    assert "velocity of elbow_joint does not fit" in live(bad)


def test_of_stamps_that_stand_still_nothing_is_kept():
    log = measured(still(), noise=0.2)
    log.stamp_ns[:] = log.stamp_ns[0]
    gate = gated(UR5E, log)
    for _ in range(20):
        gate._judge()
    assert not gate._piece


def test_a_missing_effort_is_named_live_and_the_estimates_come_back_with_it():
    log = measured(moving(), noise=0.2)
    assert "effort is absent" in live(with_signals(log, effort=None))
    gate, sample = LiveGate(UR5E), Sample(UR5E.joint_names)
    for k in range(len(log)):
        sample.stamp_ns, sample.q, sample.qd = int(log.stamp_ns[k]), log.q[k], log.qd[k]
        sample.effort = log.effort[k] if k > len(log) // 2 else 0.0
        gate.on_sample(sample)
        assert k != len(log) // 2 or "never changes" in gate.why
    assert gate.why == ""


@pytest.mark.parametrize("name", ["effort", "qd"])
def test_single_bad_rows_withhold_and_hide_nothing_live(name):
    """A NaN in one number of every 50th row of the mean."""
    log = measured(moving(8.0, amplitude=1.5), noise=0.2)
    log.get(name)[np.random.default_rng(0).random(len(log)) < 0.02, 1] = np.nan
    assert live(log) == ""
    assert "velocity of elbow_joint does not fit" in live(with_signals(log, qd=log.qd * [1, 1, -1, 1, 1, 1]))


def test_a_batch_that_is_full_within_a_second_is_judged():
    log = measured(still(seconds=5.0))
    log = with_signals(log, log.stamp_ns[0] + np.arange(len(log)) * 10**5, effort=np.zeros_like(log.effort))
    assert len(log) > ROWS and np.ptp(log.time) < SECONDS
    assert "power is off" in live(log)


def test_a_topic_of_less_than_one_sample_in_a_second_is_judged():
    """Batches of two samples ended in a ValueError."""
    gate = LiveGate(UR5E)
    for k in range(6):
        sample = Sample(UR5E.joint_names, round(1.1e9 * SECONDS * k))
        sample.q, sample.qd, sample.effort = POSE + 0.1 * k, 0.1, 1.0 + k
        gate.on_sample(sample)
    assert "samples per second: at least 10 are needed" in gate.why
