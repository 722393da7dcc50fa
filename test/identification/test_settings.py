"""What `identify` chooses before it solves: parts of recordings, rates, velocity signal, coupled motors, cut-offs."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import moves, run, structure
from synthetic import TRUTH, UR5E, log_at, sines, synthetic_log

from robot_dynamics_ros.identification.arm.identify import _begun
from robot_dynamics_ros.identification.arm.model import motions_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.arm.tuning import Tuner
from robot_dynamics_ros.identification.dataset import motion
from robot_dynamics_ros.identification.dataset.motion import (
    Motion,
    at_lower_rate,
    filtered,
    kept_rate,
    motion_frequency,
    slow_motion,
    stack,
)
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording, recording
from robot_dynamics_ros.identification.dataset.stretches import sampled
from robot_dynamics_ros.identification.dataset.velocity import unlike, velocity_signal
from robot_dynamics_ros.signals import Log


def test_a_long_recording_is_cut_to_stretches_over_all_of_it():
    t = np.arange(0, 200, 0.002)
    x = np.zeros((len(t), 6))
    rec = Recording("long", UR5E.joint_names, [Piece(t, x, x, x)])
    parts = sampled([rec], 5000, 0.6)[0].pieces
    assert len(parts) == 12
    assert parts[0].t[0] == 0.0 and parts[-1].t[-1] == rec.pieces[0].t[-1]
    assert sum(len(p.t) for p in parts) < 0.4 * rec.samples
    assert sampled([rec], 10**6, 0.6) == [rec]


@pytest.mark.parametrize(
    "delay, gain, bias, missing", [(0.003, 1.05, 0.01, 0), (-0.003, 0.95, -0.02, 100), (0.0, 1.0, 0.0, 100)]
)
def test_delay_gain_and_bias_of_the_reported_velocity(delay, gain, bias, missing):
    """Also where single samples are missing."""
    t = np.arange(0, 30, 0.002)
    rng = np.random.default_rng(5)
    q, truth = sines(t)
    qd = sines(t - delay)[1] * [gain, 1.0, 1.0] + [bias, 0.0, 0.0]
    signals = {"q": q + 2e-5 * rng.standard_normal(q.shape), "qd": qd + 1e-3 * rng.standard_normal(q.shape)}
    log = log_at(t, signals | {"effort": q}, ("a", "b", "c"))
    kept = np.sort(rng.permutation(len(t))[missing:])
    rec, truth = recording(log[kept], "r"), truth[kept]
    found = velocity_signal([rec])
    assert found.delay == pytest.approx(delay, abs=3e-4) and found.delay_std < 1e-4
    np.testing.assert_allclose(found.gain[:2], [gain, 1.0], atol=5e-3)
    np.testing.assert_allclose(found.bias[:2], [bias, 0.0], atol=1e-3)
    assert len(found.statements(("a", "b", "c"))) == (2 if gain != 1 else 0)
    error = found.repaired(rec).pieces[0].qd - truth
    assert np.abs(error[50:-50].mean(0)).max() < 1e-3
    assert np.abs(np.gradient(truth[50:-50], axis=0)[:, :2] * error[50:-50, :2]).mean() < 1e-5


@pytest.mark.parametrize("speed", [0.993, 1.02])
def test_one_gain_of_all_velocities_is_a_clock_and_one_of_each_is_not(speed):
    """Stamps that count `speed` seconds per second of the controller."""
    t = np.arange(0, 30, 0.002)
    q, qd = sines(t)
    log = log_at(speed * t, {"q": q, "qd": qd, "effort": q}, ("a", "b", "c"))
    found, rec = velocity_signal([recording(log, "r")]), recording(log, "r")
    assert found.clock == pytest.approx(speed, abs=1e-4) and found.block() is None
    (said,) = found.statements(("a", "b", "c"))
    assert "stamps" in said
    np.testing.assert_allclose(np.diff(found.repaired(rec).pieces[0].t), 0.002, rtol=1e-4)
    log.qd[:, 0] *= 1 + 2 * (speed - 1)
    assert velocity_signal([recording(log, "r")]).clock == 1.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "gain, size, named", [(1.0, 1.0, False), (1.04, 1.0, True), (0.5, 1.0, True), (0.5, 0.0, False)]
)
def test_recordings_whose_velocities_have_different_gains_are_named_and_one_that_stands_has_none(gain, size, named):
    """One repair of both made each of them wrong."""
    t = np.arange(0, 30, 0.002)
    q, qd = sines(t)
    rows = [log_at(t, {"q": k * q, "qd": f * k * qd, "effort": q}, ("a", "b", "c")) for f, k in ((1, 1), (gain, size))]
    text = unlike([recording(log, name) for log, name in zip(rows, ("first", "second"), strict=True)])
    assert (f"1 in first, {gain:g} in second" in text) if named else text == ""


@pytest.mark.long
@pytest.mark.parametrize("seed", [11, 13])
def test_a_robot_without_coupled_wrist_gets_none(seed):
    """Rate-state friction, all laws on offer."""
    rec = recording(moves(seed, 12, pose=(0.0, -1.2, 1.2, -1.5, -1.2, 0.3)), "moves")
    structure = Tuner([rec], RigidModel(UR5E)).run()
    assert not [term for law in structure.laws for term in law.terms if term[0] == "c"]


def test_ripple_takes_no_inertia_off():
    """Torque of a pure inertia in a slow motion, which ripple shakes that the effort does not show."""
    t = np.arange(15_000) / 500.0
    slow, fast = 2 * np.pi * 0.2, 2 * np.pi * 14.0
    q = 0.5 * np.sin(slow * t) + 2e-5 * np.sin(fast * t)
    qd = 0.5 * slow * np.cos(slow * t) + 2e-5 * fast * np.cos(fast * t)
    torque = -0.5 * slow**2 * np.sin(slow * t)
    motion = filtered(Recording("shaken", ("a",), [Piece(t, q[:, None], qd[:, None], torque[:, None])]), 25.0)
    inertia = (motion.qdd * motion.effort).sum() / (motion.qdd**2).sum()
    assert inertia == pytest.approx(1.0, rel=0.01)


HIGHEST = 5 / 10.0  # Hz, harmonic of the motion


def jittered(velocity: bool):
    """Stamps that jitter by 0.3 ms at 1 kHz, and 6 % of the samples missing."""
    log = synthetic_log(UR5E, TRUTH, duration=12.0, rate=1000.0, amplitude=0.6)
    jitter = np.random.default_rng(3).uniform(0, 9e5, len(log.stamp_ns)).astype(np.int64)
    rows = np.sort(np.random.default_rng(4).choice(len(jitter), int(0.94 * len(jitter)), replace=False))
    names = ("q", "qd", "effort") if velocity else ("q", "effort")
    log = Log(log.joint_names, (log.stamp_ns + jitter)[rows], {k: log.signals[k][rows] for k in names})
    return recording(log, "jittered")


def test_late_stamps_do_not_make_the_motion_look_faster() -> None:
    assert HIGHEST < motion_frequency(jittered(False)) < 2 * HIGHEST


@pytest.mark.parametrize("velocity", [True, False])
@pytest.mark.long
def test_late_stamps_do_not_raise_the_cut_off(velocity: bool) -> None:
    """Nor let their noise pass to the acceleration."""
    structure = Tuner([jittered(velocity)], RigidModel(UR5E)).run()
    assert 4 * HIGHEST < structure.cutoff < 26 * HIGHEST


@pytest.mark.parametrize(
    "minutes, rate, kept", [(1, 500.0, 250.0), (10, 500.0, 100.0), (4, 500.0, 250.0), (60, 125.0, 125.0)]
)
def test_a_long_recording_is_decimated_further(minutes, rate, kept):
    samples = int(60 * minutes * rate)
    t, x = np.arange(samples) / rate, np.zeros((samples, 1))
    motion = Motion(t, x, x, x, x, t == 0, rate)
    assert at_lower_rate(motion, kept_rate(samples, rate)).rate == kept


def test_a_clock_that_is_slow_by_rounding_or_by_parts_in_ten_thousand_decimates_no_less():
    """1 kHz of stamps in nanoseconds was 200 or, at 999.9999999 Hz, 250 Hz."""
    t, x = np.arange(3000) * 1e-3, np.zeros((3000, 1))
    rates = [at_lower_rate(Motion(t, x, x, x, x, t == 0, rate)).rate for rate in (1000.0, 1000.0 - 1e-9, 999.8)]
    assert rates == pytest.approx([200.0] * 3, rel=1e-3)


def test_recordings_of_different_length_are_solved_at_one_rate(monkeypatch):
    """Each had a rate of its own, and all of them that of the first one, by which filters and times are counted."""
    monkeypatch.setattr(motion, "ENOUGH", 3000)
    runs = [run(seed, duration=duration, rate=500.0) for seed, duration in ((1, 12.0), (2, 40.0))]
    for own in motions_of(runs, structure()):
        assert own.rate == pytest.approx(100.0) and np.median(np.diff(own.t)) == pytest.approx(0.01)


def test_recordings_are_taken_in_the_order_of_their_time():
    """Folds and samples were others in another order, and the force by 0.01 N."""
    runs = [replace(run(seed), start_ns=10**10 * seed) for seed in (1, 2, 3)]
    for given in (runs, runs[::-1]):
        state = _begun(UR5E, given[1:], given[:1], Options())
        assert [rec.start_ns for rec in state.training] == sorted(rec.start_ns for rec in given[1:])
    assert [rec.name for rec in _begun(UR5E, [run(2), run(1)], [], Options()).training] == ["1", "2"]


def test_recordings_of_different_rates_are_solved_at_the_lowest():
    """At 125 and 250 Hz, both taken for that of the first one."""
    runs = [run(seed, rate=rate) for seed, rate in ((1, 125.0), (2, 500.0))]
    assert [own.rate for own in motions_of(runs, structure())] == pytest.approx([125.0, 125.0])
    slow = [slow_motion(rec) for rec in runs]
    assert stack(slow).rate == pytest.approx(stack(slow[::-1]).rate) == pytest.approx(312.5, rel=0.05)


def test_the_longest_piece_may_be_one_in_which_the_arm_stands():
    """To the last digit at zero: no joint had a frequency, and the largest of none was no number."""
    rec, still = jittered(False), np.zeros((20_000, 6))
    rec.pieces.append(Piece(np.arange(20_000) * 1e-3, still, None, still))
    assert 0.0 < motion_frequency(rec) < 0.2
