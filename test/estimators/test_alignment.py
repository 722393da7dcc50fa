"""Signals with delays of their own, taken at one instant by the pipeline: against the same robot without delays."""

import numpy as np
import pytest
from force_bench import UR5E, measured, moving
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwise import assert_run_is_step
from synthetic import with_signals

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.signals import Log

SOURCE = {"found": "numbers of this test"}
STAGES = ("motion", "friction", "force")


def at(log, name, delay):
    """Signal (N, n) as it was `delay` s before."""
    return np.column_stack([np.interp(log.time - delay, log.time, x) for x in log.signals[name].T])


def late(log, velocity=0.0, effort=0.0, gain=1.0, bias=0.0):
    """The log as a robot with these delays reports it."""
    qd, tau = gain * at(log, "qd", velocity) + bias, at(log, "effort", effort)
    return with_signals(log, qd=qd, effort=tau)


def declared(velocity=0.0, effort=0.0, gain=1.0, bias=0.0, window=0.0):
    block = {"delay": velocity, "gain": gain, "bias": [bias] * 6, "window": window}
    drives = {"drives.effort.delay": effort, "drives.velocity": block, "drives.source": "found"}
    return UR5E.with_updates(drives, SOURCE)


def residual(robot, log):
    """Drive torque without model torque and friction after a second (N, n) [Nm]."""
    Pipeline(robot, stages=STAGES).run(log)
    return (log.drive_torque - log.model_torque - log.friction_torque)[log.time > 1.0]


def test_a_reset_forgets_the_steps_that_velocities_come_in():
    log, pipeline = measured(moving(3.0)), Pipeline(UR5E, stages=STAGES)
    pipeline.run(log[:])
    pipeline.reset()
    log.qd = np.round(log.qd / 0.01) * 0.01
    again, fresh = log[:], log[:]
    pipeline.run(again)
    Pipeline(UR5E, stages=STAGES).run(fresh)
    np.testing.assert_array_equal(again.qdd, fresh.qdd)


def test_coarse_velocities_are_put_right_before_they_are_aligned():
    """Between two samples none is a multiple of the step; the slowest joint shows it after 3 s."""
    log, step = measured(moving(4.0)), 0.024
    log.qd = np.round(log.qd / step) * step
    own = with_signals(log, qd=_core.within_steps(log.time, log.q, log.qd)[1])
    found, expected = (residual(declared(velocity=0.003), x) for x in (log, own))
    np.testing.assert_allclose(found[1000:], expected[1000:], atol=0.01)


DELAYS = [(0.003, 0.0), (0.0, 0.003), (-0.004, 0.0), (0.0, -0.008), (0.005, -0.0033), (0.0, 0.011)]


@pytest.mark.parametrize(("velocity", "effort"), DELAYS)
def test_a_declared_delay_is_taken_out(velocity, effort):
    """The residual is that of the robot without delays, but for the interpolation between samples."""
    log = measured(moving(4.0))
    latency = max(0.0, velocity, effort)
    expected = residual(UR5E, late(log))
    wrong = {"velocity": velocity, "effort": effort, "gain": 1.05, "bias": 0.02}
    seen, robot = late(log, **wrong), declared(**wrong)
    found, ignored = residual(robot, late(log, **wrong)), residual(UR5E, seen)
    same = slice(round(500 * latency) + 2, None)
    error = np.sqrt(((found[same] - expected[: len(found[same])]) ** 2).mean(0))
    assert Pipeline(robot).alignment.latency == pytest.approx(latency)
    assert (np.sqrt((found**2).mean(0)) < 1.05 * np.sqrt((expected**2).mean(0)) + 0.02).all(), error
    assert np.sqrt((ignored**2).mean()) > 1.2 * np.sqrt((found**2).mean())


def test_measured_signals_stay_as_they_were():
    log = late(measured(moving(1.0)), velocity=0.003, gain=1.05)
    before = {k: v.copy() for k, v in log.signals.items()}
    Pipeline(declared(velocity=0.003, gain=1.05), stages=STAGES).run(log)
    for name, values in before.items():
        np.testing.assert_array_equal(log.signals[name], values)


@settings(max_examples=25)
@given(
    velocity=st.floats(-0.02, 0.02),
    effort=st.floats(-0.02, 0.02),
    steps=st.lists(st.sampled_from([0, 1, 2, 3, 400, -5]), min_size=80, max_size=120),
    absent=st.lists(st.tuples(st.integers(0, 79), st.sampled_from(["q", "qd", "effort"])), max_size=6),
    window=st.sampled_from([0.0, 0.006]),
)
def test_step_and_run_give_the_same_bits(velocity, effort, steps, absent, window):
    log = measured(moving(1.0), noise=0.1)[: len(steps)]
    log.stamp_ns = 10**9 + np.cumsum(steps) * 2_000_000
    for row, name in absent:
        log.signals[name][row] = np.nan
    robot = declared(velocity, effort, 1.02, 0.01, window)
    assert_run_is_step(robot, log, stages=STAGES)


@pytest.mark.parametrize("reported", [True, False])
def test_a_position_that_begins_again_after_a_turn_is_no_motion(reported):
    log, wrapped = (measured(moving(2.0)) for _ in range(2))
    wrapped.q = np.where(log.q > log.q.mean(axis=0), log.q - 2 * np.pi, log.q)
    for one in (log, wrapped):
        one.qd = one.qd if reported else None
        Pipeline(UR5E).run(one)
    np.testing.assert_allclose(wrapped.qd, log.qd, atol=1e-9)
    np.testing.assert_allclose(wrapped.external_joint_torque, log.external_joint_torque, atol=1e-6)


@pytest.mark.parametrize("window", [0.0, 0.004])
@pytest.mark.parametrize("reported", [True, False])
def test_a_position_that_jumps_for_two_samples_is_no_motion(window, reported):
    """Though it jumps by more than half a turn, which looks like one."""
    log, jumping = (measured(moving(2.0)) for _ in range(2))
    for row, joint, size in ((300, 1, 4.0), (500, 2, -0.3), (700, 0, 9.0)):
        jumping.q[row : row + 2, joint] += size
    error = []
    for one in (log, jumping):
        one.qd = one.qd if reported else None
        error.append(residual(declared(window=window), one))
    assert np.abs(error[1] - error[0]).max() < 4.0


def test_linear_signals_are_interpolated_exactly():
    core = _core.SignalAlignment(1, velocity_delay=0.0, effort_delay=0.0031)
    stamps = np.cumsum([2, 3, 2, 2, 1, 4, 2, 2]) * 1_000_000
    t = 1e-9 * stamps[:, None]
    q, qd, effort = 0.3 * t, 5.0 * t, 7.0 * (t - 0.0031)
    _core.run_in_turn(stamps, [core.rows(len(t), q, None, qd, effort, None, np.zeros_like(t))])
    after = stamps - stamps[0] > 3_100_000
    np.testing.assert_allclose(q[after], 0.3 * (t - 0.0031)[after], atol=1e-12)
    np.testing.assert_allclose(qd[after], 5.0 * (t - 0.0031)[after], atol=1e-12)
    np.testing.assert_array_equal(effort, 7.0 * (t - 0.0031))


def test_the_slope_of_the_positions_is_the_velocity_whatever_the_stamps_and_the_reported_one():
    core = _core.SignalAlignment(1, velocity_delay=0.02, velocity_window=0.005)
    stamps = np.cumsum([2, 3, 2, 2, 1, 4, 2, 2, 3, 2]) * 1_000_000
    t = 1e-9 * stamps[:, None]
    q, qd, effort = 3.0 * t, np.full_like(t, np.nan), 7.0 * t
    _core.run_in_turn(stamps, [core.rows(len(t), q, None, qd, effort, None, np.zeros_like(t))])
    after = stamps - stamps[0] > 5_000_000
    assert core.latency == 0.005 and qd[0] == 0.0
    np.testing.assert_allclose(qd[1:], 3.0, atol=1e-9)
    np.testing.assert_allclose(effort[after], 7.0 * (t - 0.005)[after], atol=1e-12)


@pytest.mark.parametrize("steps", [[10] * 8, [8, 7, 9, 20, 8, 9, 7, 30]])
def test_the_slope_is_that_of_two_positions_where_they_come_less_often_than_its_window(steps):
    core, stamps = _core.SignalAlignment(1, velocity_window=0.004), np.cumsum(steps) * 1_000_000
    q = 0.3 * 1e-9 * stamps[:, None]
    qd, effort = np.zeros_like(q), np.zeros_like(q)
    _core.run_in_turn(stamps, [core.rows(len(q), q, None, qd, effort, None, np.zeros_like(q))])
    np.testing.assert_allclose(qd[1:], 0.3, atol=1e-9)


@pytest.mark.parametrize("window", [0.0, 0.004])
def test_jitter_of_the_stamps_is_no_torque(window):
    """Where velocities are those of positions: reported ones are absent, or the slope of a window is taken."""
    rng, clean = np.random.default_rng(4), measured(moving(4.0))
    signals = {name: clean.signals[name] for name in ("q", "effort", *(("qd",) if window else ()))}
    stamps = clean.stamp_ns + np.round(rng.normal(0.0, 3e5, len(clean))).astype(np.int64)
    expected, found = (Log(clean.joint_names, x, dict(signals)) for x in (clean.stamp_ns, stamps))
    error = residual(declared(window=window), found) - residual(declared(window=window), expected)
    assert np.sqrt((error[250:] ** 2).mean()) < 0.1
    np.testing.assert_array_equal(found.stamp_ns, stamps)


def test_bounds_are_named():
    with pytest.raises(ConfigError, match="drives.velocity.gain"):
        UR5E.with_updates({"drives.velocity": {"gain": [1.0] * 5}, "drives.source": "found"}, SOURCE)
    with pytest.raises(ConfigError, match=r"drives.effort.delay.*0\.05"):
        declared(effort=0.2)
    with pytest.raises(ValueError, match="velocity_delay = 0.06 is outside"):
        _core.SignalAlignment(6, velocity_delay=0.06)
