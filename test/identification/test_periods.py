"""Periods of a motion: found to a fraction of a sample, and only where it repeats."""

import numpy as np
import pytest
from prepared import ROBOT, TRUTH
from synthetic import excitation, torque

from robot_dynamics_ros.identification.dataset.periods import difference, find_periods
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.signals import Log

RATE = 125.0


def log_of(t, q, effort, **more):
    stamp = 1_700_000_000_000_000_000 + np.round(t * 1e9).astype(np.int64)
    return Log(ROBOT.joint_names, stamp, {"q": q, "effort": effort, **more}, stamp)


def periodic_log(period=4.0, count=5, noise=0.3, seed=1, rest=0.0, uneven=0.0):
    """Periods of an excitation, effort with noise [Nm]; `rest` [s] of standstill before, `uneven` more noise in one
    half of each period.
    """
    rng = np.random.default_rng(seed)
    t, q, qd, qdd = excitation(6, count * period, RATE, seed, amplitude=0.7, period=period)
    tau = torque(ROBOT, TRUTH, q, qd, qdd)
    still = round(rest * RATE)
    q, tau = (np.vstack([np.repeat(x[:1], still, axis=0), x]) for x in (q, tau))
    t = np.arange(len(q)) / RATE
    size = noise * (1 + uneven * ((t - rest) % period > period / 2))
    return log_of(t, q + 2e-5 * rng.standard_normal(q.shape), tau + size[:, None] * rng.standard_normal(q.shape))


@pytest.mark.parametrize("period", [4.0, 3.7, 3.1234, 10.0 / 3])
def test_period_is_found_to_a_fraction_of_a_sample(period):
    found = find_periods(recording(periodic_log(period), "a").pieces[0])
    assert found.period == pytest.approx(period, abs=0.05 / RATE)
    assert found.count == 5


def test_rest_before_the_motion_is_left_out():
    found = find_periods(recording(periodic_log(rest=3.0), "a").pieces[0])
    assert found.period == pytest.approx(4.0, abs=1e-3)
    assert found.start > 2.5 and found.count >= 4


def test_motions_that_do_not_repeat_have_no_period():
    t, q, qd, qdd = excitation(6, 8.0, RATE, 1, amplitude=0.7, period=4.0)
    q = q + 0.1 * q.std(0) * (t > 4.0)[:, None] * np.sin(t)[:, None]  # two periods that differ
    once = periodic_log(period=10.0, count=1.7)
    for log in (log_of(t, q, torque(ROBOT, TRUTH, q, qd, qdd)), once):
        assert find_periods(recording(log, "a").pieces[0]) is None


def test_commanded_motion_decides_where_it_is_recorded():
    rough = periodic_log()
    q = rough.q + 0.05 * rough.q.std(0) * np.random.default_rng(2).standard_normal(rough.q.shape)
    assert find_periods(recording(log_of(rough.time, q, rough.effort), "a").pieces[0]) is None
    with_command = log_of(rough.time, q, rough.effort, q_d=rough.q)
    assert find_periods(recording(with_command, "a").pieces[0]).count == 5


def test_difference_is_the_mean_square_of_the_shifted_motion():
    x = np.random.default_rng(4).normal(size=(101, 3))
    found = difference(x)
    for lag in (1, 7, 50):
        assert found[lag] == pytest.approx(((x[lag:] - x[:-lag]) ** 2).mean())
