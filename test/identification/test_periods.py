"""Averaging over the periods of a motion: detection, refusal, noise, weights."""

import numpy as np
import pytest
from prepared import ROBOT, TRUTH, steps
from synthetic import excitation, torque

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.motion import filtered
from robot_dynamics_ros.identification.dataset.periods import averaged, difference, find_periods, relative_weight
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


@pytest.mark.parametrize("count", [1.0, 1.7])
def test_motion_without_two_periods_is_refused(count):
    rec = recording(periodic_log(period=10.0, count=count), "a")
    with pytest.raises(DataError, match="the motion is not periodic"):
        averaged(rec)


def test_similar_but_different_periods_are_refused():
    t, q, qd, qdd = excitation(6, 8.0, RATE, 1, amplitude=0.7, period=4.0)
    q = q + 0.1 * q.std(0) * (t > 4.0)[:, None] * np.sin(t)[:, None]
    with pytest.raises(DataError, match="alike within 2%"):
        averaged(recording(log_of(t, q, torque(ROBOT, TRUTH, q, qd, qdd)), "a"))


def test_commanded_motion_decides_where_it_is_recorded():
    rough = periodic_log()
    q = rough.q + 0.05 * rough.q.std(0) * np.random.default_rng(2).standard_normal(rough.q.shape)
    assert find_periods(recording(log_of(rough.time, q, rough.effort), "a").pieces[0]) is None
    with_command = log_of(rough.time, q, rough.effort, q_d=rough.q)
    assert find_periods(recording(with_command, "a").pieces[0]).count == 5


def test_noise_of_the_effort_falls_with_the_root_of_the_periods():
    rec = averaged(recording(periodic_log(count=9), "a"))
    motion = filtered(rec, 8.0)
    left = motion.effort - torque(ROBOT, TRUTH, motion.q, motion.qd, motion.qdd)
    moving = np.abs(motion.qd) > 0.3
    assert left[moving].std() == pytest.approx(0.3 / 3, rel=0.2)
    assert rec.duration == pytest.approx(4.0 + 2.0, abs=0.1)
    assert any("9 periods of 4 s averaged" in note for note in rec.notes)


def test_weights_are_inverse_variances():
    motion = filtered(averaged(recording(periodic_log(count=12, uneven=1.0), "a")), 8.0)
    phase = (motion.t - motion.t[0]) % 4.0
    quiet = motion.weight[np.isclose(motion.weight, motion.weight.max(0), rtol=0.5)].mean()
    loud = motion.weight[np.isclose(motion.weight, motion.weight.min(0), rtol=0.5)].mean()
    assert quiet / loud == pytest.approx(4.0, rel=0.3)  # twice the deviation
    assert len(phase) == len(motion.weight)


def test_few_periods_pool_their_scatter():
    rng = np.random.default_rng(3)
    few = rng.standard_normal((3, 500, 2)).var(0, ddof=1)
    assert relative_weight(few, 3).std() < 0.3 * (few.mean() / few).std()
    np.testing.assert_allclose(np.median(relative_weight(few, 3), axis=0), 1.0, rtol=0.05)


def test_difference_is_the_mean_square_of_the_shifted_motion():
    x = np.random.default_rng(4).normal(size=(101, 3))
    found = difference(x)
    for lag in (1, 7, 50):
        assert found[lag] == pytest.approx(((x[lag:] - x[:-lag]) ** 2).mean())


def test_identify_averages_and_gets_nearer_to_the_truth():
    """Against the same recording's first period alone; both judged by the parameters the log was made from."""
    long = periodic_log(period=8.0, count=8, noise=2.0)
    errors = {}
    for name, log, average in (("average", long, True), ("one", long[: round(8.0 * RATE)], False)):
        found = steps([recording(log, name)], until="fit_parameters", average_periods=average, prior=1e-3)
        base = found.rigid.base
        sole = found.solution.separable[: base.size]
        gap = (found.solution.x[: base.size] - base.from_standard(TRUTH.phi))[sole]
        errors[name] = np.sqrt(np.mean(gap**2))
    assert errors["average"] < 0.7 * errors["one"]
    with pytest.raises(DataError, match="not periodic"):
        steps([recording(log, "one")], until="recognise_effort", average_periods=True)
