"""Weights of joints [Madsen2020 ch5 19-20] [Liu2020 23], rests and recordings in least squares, against numpy."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from prepared import NO_TORQUE

from robot_dynamics_ros.identification.arm.solvers.consistency import eliminate
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, bounded, solve
from robot_dynamics_ros.identification.arm.solvers.rest_weights import (
    MAX_WEIGHT_RATIO,
    STAND,
    recording_weights,
    slow_stretches,
    slow_weights,
)
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import LONG_STAND, with_short_stands
from robot_dynamics_ros.signals.speeds import SLOW


def three_joints():
    """Rows of joints that share parameters, each with noise of its own size; returns rows and the true parameters."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=6)
    rows = []
    for first, sigma in enumerate((0.01, 0.5, 2.0)):
        index = np.arange(first, first + 4)
        A = rng.normal(size=(400, 4)) * 10.0**first
        rows.append(JointRows(A, index, A @ x[index] + sigma * rng.standard_normal(400)))
    return rows, x


def stacked(rows, size, weights):
    """The same by one big weighted least squares."""
    A = np.zeros((sum(len(r.y) for r in rows), size))
    y, start = np.concatenate([r.y / w for r, w in zip(rows, weights, strict=True)]), 0
    for r, w in zip(rows, weights, strict=True):
        A[start : start + len(r.y), r.index] = r.A / w
        start += len(r.y)
    return np.linalg.lstsq(A, y, rcond=None)[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_solution_is_that_of_the_stacked_problem(weighted):
    rows, x = three_joints()
    size = [np.sqrt(np.mean(r.y**2)) if weighted else 1.0 for r in rows]
    weights = [np.full(len(r.y), 1 / s**2) for r, s in zip(rows, size, strict=True)]
    found = solve(rows, len(x), iterations=0, row_weights=weights)
    np.testing.assert_allclose(found.x, stacked(rows, len(x), size), rtol=1e-9, atol=1e-12)


def test_known_parameters_are_those_of_a_smaller_problem():
    rows, x = three_joints()
    known = {1: 0.7, len(x) - 1: -2.0}
    found = solve(rows, len(x), iterations=0, known=known)
    offset = np.array([known.get(k, 0.0) for k in range(len(x))])
    free = [JointRows(r.A * ~np.isin(r.index, list(known)), r.index, r.y - r.A @ offset[r.index]) for r in rows]
    expected = offset + stacked(free, len(x), np.ones(len(rows)))  # least norm: 0 where a column is 0
    np.testing.assert_allclose(found.x, expected, rtol=1e-3)


def test_relative_deviation_is_percent_of_the_value():
    rows, x = three_joints()
    found = solve(rows, len(x))
    np.testing.assert_allclose(found.relative_std, 100 * found.std / abs(found.x))  # [Madsen2020 ch5, Table 4]


@pytest.mark.parametrize("seed", range(5))
def test_limited_coefficients_meet_the_conditions_of_the_minimum(seed):
    """g = R'(R x - z): 0 where x is free or above 0, >= 0 where x is 0 [Karush, Kuhn, Tucker]."""
    rng = np.random.default_rng(seed)
    R, z, limited = rng.normal(size=(40, 12)), rng.normal(size=40), np.arange(12) % 3 > 0
    R[:, 3] = R[:, 0]  # free columns that only their sum determines
    x = bounded(R, z, limited)
    gradient = R.T @ (R @ x - z)
    inside = ~limited | (x > 0)
    np.testing.assert_allclose(gradient[inside], 0.0, atol=1e-9)
    assert 0 < inside[limited].sum() < limited.sum() and gradient[~inside].min() > 0


def test_a_column_of_zeros_takes_no_information_from_the_others():
    """Held rotors and coefficients at 0 have none in the triangle."""
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    A[:, [1, 2]] = 0.0
    R = np.linalg.qr(np.column_stack([A, y]), mode="r")
    found = SimpleNamespace(R=R[:6, :6], rhs=R[:6, 6])
    rest, T, z = eliminate(found, np.array([4, 5]))
    used = [0, 3, 4, 5]
    expected = np.linalg.lstsq(A[:, used], y, rcond=None)[0]
    assert rest.tolist() == [0, 3]
    np.testing.assert_allclose(np.linalg.solve(T[2:, 2:], z[2:]), expected[2:], rtol=1e-9)


RATE = 100.0


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


def test_a_long_stand_of_the_arm_counts_as_a_shorter_one():
    """In all fits: what friction leaves of a minute at rest is one observation. A joint that stands alone is no stand
    of the arm.
    """
    for seconds, weight in ((0.8 * LONG_STAND, 1.0), (12 * LONG_STAND, 1 / 12)):
        motion = stop_and_go(seconds)
        assert with_short_stands(motion) is motion
        motion = replace(motion, qd=motion.qd[:, [0, 0]])
        stands = motion.qd[:, 0] < SLOW
        weights = with_short_stands(motion).weights
        np.testing.assert_allclose(weights[stands], weight)
        assert (weights[~stands] == 1).all()


def test_a_reversal_is_no_stand():
    assert slow_stretches(stop_and_go(0.5 * STAND)) == [[], []]


def test_a_recording_weighs_by_what_stays_unexplained_in_it_for_long():
    """Errors that last for seconds beside white noise: 1.5 times, the same and 10 times in the second recording."""
    zero, t = np.zeros((2000, 3)), np.arange(2000) / RATE
    lasting = np.where(t // 4 % 2, 0.1, -0.1)[:, None] * np.where(t[:, None] < 10, 1.0, [1.5, 1.0, 10.0])
    effort = lasting + 0.05 * np.random.default_rng(2).standard_normal(zero.shape)
    motion = Motion(t, zero, zero, zero, effort, np.arange(2000) % 1000 == 0, RATE)
    weight = recording_weights(NO_TORQUE, motion, [0, 1000, 2000])
    np.testing.assert_allclose(weight[:1000], 1.0, rtol=0.05)
    np.testing.assert_allclose(weight[1000:] - [1 / 1.5**2, 1.0, 1 / MAX_WEIGHT_RATIO], 0.0, atol=0.05)
    assert (recording_weights(NO_TORQUE, motion, [0, 2000]) == 1.0).all()
