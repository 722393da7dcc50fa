"""Long rests in a recording: static friction does not turn into masses."""

import numpy as np

from robot_dynamics_ros.identification.arm.solvers.rest_weights import (
    MAX_WEIGHT_RATIO,
    STAND,
    recording_weights,
    slow_stretches,
    slow_weights,
)
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.signals.speeds import SLOW

RATE = 100.0


class NoTorque:
    """A model that predicts nothing: the effort is its residual."""

    def predict(self, motion: Motion) -> np.ndarray:
        return np.zeros_like(motion.q)


def stop_and_go(seconds: float) -> Motion:
    """One joint that moves for 2 s, stands for `seconds` and moves again for 2 s; another that never stands."""
    moves, stands = np.ones(round(2 * RATE)), np.zeros(round(seconds * RATE))
    qd = np.column_stack([np.concatenate([moves, stands, moves]), np.ones(len(moves) * 2 + len(stands))])
    start = np.arange(len(qd)) == 0
    effort = np.where(qd < SLOW, 2.0, 1.0)
    return Motion(np.arange(len(qd)) / RATE, np.cumsum(qd, 0) / RATE, qd, 0 * qd, effort, start, RATE)


def test_a_stand_counts_the_same_however_long_it_is():
    totals = []
    for seconds in (1.0, 10.0):
        motion = stop_and_go(seconds)
        weight = slow_weights(motion.effort, motion, slow_stretches(motion))
        moving = motion.qd[:, 0] > SLOW
        assert (weight[:, 1] == 1).all() and (weight[moving, 0] == 1).all()
        totals.append(weight[~moving, 0].sum())
    # four times the variance of the samples in motion
    np.testing.assert_allclose(totals, STAND * RATE / 4)


def test_a_reversal_is_no_stand():
    assert slow_stretches(stop_and_go(0.5 * STAND)) == [[], []]


def test_a_recording_weighs_by_what_stays_unexplained_in_it_for_long():
    """Errors that last for seconds beside white noise: 1.5 times, the same and 10 times in the second recording."""
    zero, t = np.zeros((2000, 3)), np.arange(2000) / RATE
    lasting = np.where(t // 4 % 2, 0.1, -0.1)[:, None] * np.where(t[:, None] < 10, 1.0, [1.5, 1.0, 10.0])
    effort = lasting + 0.05 * np.random.default_rng(2).standard_normal(zero.shape)
    motion = Motion(t, zero, zero, zero, effort, np.arange(2000) % 1000 == 0, RATE)
    weight = recording_weights(NoTorque(), motion, [0, 1000, 2000])
    np.testing.assert_allclose(weight[:1000], 1.0, rtol=0.05)
    np.testing.assert_allclose(weight[1000:] - [1 / 1.5**2, 1.0, 1 / MAX_WEIGHT_RATIO], 0.0, atol=0.05)
    assert (recording_weights(NoTorque(), motion, [0, 2000]) == 1.0).all()
