"""Usable segments are found in the motion itself, whatever else a recording holds."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import UR5E
from synthetic import with_signals

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import (
    JointRecord,
    constant_velocity,
    duty_runs,
    joint_records,
    reversals,
    turning_points,
)
from robot_dynamics_ros.identification.joint.fits import friction_fit
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.trajectories import motions

RATE = 500.0


def record(q, v, friction=None, rate=RATE, noise=0.0, gravity=0.0):
    """One joint that follows its set-point, with friction 5 sgn v + 3 v unless given, and a gravity error."""
    draw = np.random.default_rng(0)
    stamps = (np.arange(len(q)) / rate * 1e9).astype(np.int64)
    torque = 5 * np.sign(v) + 3 * v if friction is None else friction
    torque = torque + gravity * np.cos(q) + noise * draw.normal(size=len(q))
    return JointRecord("j", stamps, q, v + 1e-3 * draw.normal(size=len(q)), torque, 20 * np.sin(q))


def steps(speeds):
    """q, v of one joint to 1 rad and back at each speed."""
    ways = [(np.full(1, a), np.full(1, 1.0 - a), s) for s in speeds for a in (0.0, 1.0)]
    q, v, _ = motions.join(*(motions.trapezoid(a, b, RATE, s, 4.0) for a, b, s in ways))
    return q[:, 0], v[:, 0]


def test_every_step_gives_one_stretch_at_its_speed():
    speeds = [0.05, 0.2, 0.8]
    r = record(*steps(speeds))
    found = constant_velocity(r)
    assert np.allclose([np.mean(r.v[s]) for s in found], [s * k for s in speeds for k in (1, -1)], rtol=1e-2)
    assert all(np.ptp(np.sign(r.v[s])) == 0 for s in found)


@pytest.mark.parametrize("samples", [2, 60, 99])
def test_a_record_shorter_than_what_is_smoothed_has_no_stretch(samples):
    """It was a ValueError about shapes: the window is 101 samples."""
    r = record(0.001 * np.arange(samples), np.full(samples, 0.5))
    assert constant_velocity(r) == [] and reversals(r) == []


def test_what_all_samples_show_is_not_looked_for_again_in_every_stretch(monkeypatch):
    """16 minutes of strokes took 45 times as long as 2: times, and a median of steps, of all samples for each."""
    looks = []

    def counted(name, own):
        return property(lambda self: looks.append(name) or own.fget(self))

    for name in ("time", "period"):
        monkeypatch.setattr(JointRecord, name, counted(name, getattr(JointRecord, name)))
    measured_sliding(record(*steps([0.5])))
    once = len(looks)
    measured_sliding(record(*steps([0.5] * 8)))
    assert once > 0 and len(looks) == 2 * once


def test_temperatures_that_pause_are_filled_and_impossible_ones_are_none(log):
    """One bin without a temperature, and none of the recording was used; 300 K were fitted as deg C."""
    heat = np.full_like(log.q, 30.0)
    heat[100:200, 0], heat[:, 1] = np.nan, 300.0
    records = joint_records(with_signals(log, temperature=heat), UR5E)
    assert np.array_equal(records[0].temperature, heat[200:201, 0].repeat(len(log)))
    assert np.isnan(records[1].temperature).all() and joint_records(log[:], UR5E)[0].temperature is None


@pytest.mark.parametrize(("held", "reference"), [(None, 40.0), (25.0, 25.0)])
def test_friction_of_all_joints_has_one_reference_temperature(log, held, reference):
    """Each was fitted about its own, and the mean was written: joints 10 K apart had 5 K of their slope too much or too
    little; a joint of its own moved that of the others.
    """
    heat = np.full_like(log.q, 35.0) + np.array([0.0, 10.0, 0.0, 10.0, 0.0, 10.0])
    robot = UR5E.with_updates({"friction.reference_temperature": held})
    found = joint_records(with_signals(log, temperature=heat), robot)
    assert [r.reference for r in found] == [reference] * 6
    one = replace(record(*steps([0.05, 0.1, 0.2, 0.4, 0.8])), reference=found[0].reference)
    assert friction_fit(replace(one, temperature=np.full(len(one), 45.0)), robot, 0).reference_temperature == reference


def test_acceleration_rest_and_oscillation_are_no_constant_velocity():
    t = np.arange(0, 10, 1 / RATE)
    assert not constant_velocity(record(np.sin(2 * t), 2 * np.cos(2 * t)))
    assert not constant_velocity(record(np.zeros(5000), np.zeros(5000)))
    ramp = 0.5 * t
    assert not constant_velocity(record(0.25 * t**2, ramp))


def test_a_gap_splits_a_stretch():
    q, v = steps([0.1])
    r = record(q, v)
    keep = np.ones(len(q), bool)
    keep[2000:3000] = False
    whole, cut = constant_velocity(r), constant_velocity(r.take(keep))
    assert len(cut) == len(whole) + 1
    back = replace(r, stamp_ns=r.stamp_ns - (np.arange(len(q)) > 2500) * 3_000_000_000)
    assert len(constant_velocity(back)) == len(whole) + 1  # what friction remembers is unknown, too


def test_pairs_cancel_what_the_gravity_model_gets_wrong():
    s = measured_sliding(record(*steps([0.05, 0.1, 0.4]), noise=0.2, gravity=4.0))
    true = 5 * np.sign(s.data.v) + 3 * s.data.v
    assert s.paired == len(s.data) and np.abs(s.data.torque - true).max() < 0.15
    q, missing = s.common.T
    assert np.allclose(missing, 4 * np.cos(q), atol=0.1)


def test_one_direction_leaves_values_without_partner():
    q, v = steps([0.3])
    half = slice(None, len(q) // 2)
    s = measured_sliding(record(q[half], v[half]))
    assert s.paired == 0 and len(s.data) and np.all(s.data.v > 0)


@pytest.mark.parametrize("count", [20, 100, 101, 5000])
def test_no_constant_velocity_is_refused_with_what_to_record(count):
    t = np.arange(count) / RATE
    with pytest.raises(DataError, match="velocity-steps"):
        measured_sliding(record(np.sin(2 * t), 2 * np.cos(2 * t)))


def test_turning_points_ignore_jitter():
    x = np.sin(np.linspace(0, 6 * np.pi, 600)) + 0.01 * np.random.default_rng(1).normal(size=600)
    turns = turning_points(x, 0.2)
    assert len(turns) == 6
    assert np.abs(np.abs(x[turns]) - 1).max() < 0.05


def test_slow_reversals_are_found_between_fast_motion():
    slow = motions.reversals(np.zeros(1), 0, count=8, advance=0.05, a=0.05)
    fast = motions.trapezoid(slow[0][-1], slow[0][-1] + 2.0, RATE, 1.5, 4.0)
    q, v, _ = motions.join(slow, fast)
    found = reversals(record(q[:, 0], v[:, 0]))
    assert len(found) == 1 and found[0].stop <= len(slow[0]) + 1
    assert len(turning_points(q[found[0], 0], 2e-3)) >= 10


def test_too_few_or_too_fast_reversals_do_not_count():
    q, v, _ = motions.reversals(np.zeros(1), 0, count=3, advance=0.05, a=0.05)
    assert not reversals(record(q[:, 0], v[:, 0]))
    t = np.arange(0, 20, 1 / RATE)
    assert not reversals(record(np.sin(3 * t), 3 * np.cos(3 * t)))


@pytest.mark.parametrize("duty", [0.25, 1.0])
def test_duty_cycles_are_measured(duty):
    q, v, _ = motions.duty_cycle(np.zeros(1), np.ones(1), 4.0, duty, 240.0, rate=50.0)
    (run,) = duty_runs(record(q[:, 0], v[:, 0], rate=50.0))
    assert run.duty == pytest.approx(duty, abs=0.06) and run.duration == pytest.approx(240, abs=1)


@pytest.mark.parametrize(
    ("pause", "behind", "runs"),
    [(0.6, 40.0, 1), (600.0, 31.0, 1), (0.6, 24.0, 2), (-500.0, 40.0, 2), (1e9, 40.0, 2), (0.6, None, 2)],
)
def test_behind_a_gap_a_joint_goes_on_warm_or_begins_cold(pause, behind, runs):
    """Air at 22 deg C, 40 deg C before the gap. Tables whose clocks start again are parts a second apart."""
    t = np.arange(0, 600.0, 0.1)
    whole = record(np.sin(t), np.cos(t), rate=10.0)
    heat = None if behind is None else np.r_[np.linspace(22.0, 40.0, 3000), np.linspace(behind, 45.0, 3000)]
    stamps = whole.stamp_ns + (np.arange(len(t)) >= 3000) * int(pause * 1e9)
    found = duty_runs(replace(whole, stamp_ns=stamps, temperature=heat))
    assert [run.rows.start for run in found] == [0, 3000][:runs]
