"""Temperature observer: closed forms, energy balance, the housing, faults, gaps."""

import numpy as np
import pytest
from presliding_joint import robot as with_memory
from synthetic import log_at, with_signals
from thermal_bench import AIR, HOUSING, C, K, begin, friction, hot, log, robot, stage

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.stage import reconfigure
from robot_dynamics_ros.estimators.temperature import TemperatureStage
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample


@pytest.mark.parametrize("dt", [0.002, 0.05, 0.4])
def test_one_node_warms_up_as_the_closed_form(dt):
    """Friction linear in T: dT/dt = (p0 + p1 (T - T0) - K (T - T_air)) / C has an exponential solution."""
    record = log(900, dt)
    stage().run(record)
    v = record.qd[0, 0]
    p0, p1 = (friction(np.full(6, abs(v)), np.full(6, T))[0] * abs(v) for T in (30.0, 31.0))
    p1 -= p0
    rate, settled = (K - p1) / C, (p0 - 30 * p1 + K * AIR) / (K - p1)
    t = record.time[:, None]
    expected = settled + (AIR - settled) * np.exp(-rate * t)
    np.testing.assert_allclose(record.temperature_estimate, np.tile(expected, 6), atol=0.02 + 0.02 * dt / 0.05)


def test_the_variance_goes_to_that_of_the_model_twice_as_fast_as_the_temperature():
    record, found = log(200, 0.05, contact=1.0), []
    for variance in (100.0, 1.0):
        begin(s := stage(), AIR, variance)
        s.run(record)
        found.append(record.temperature_variance.copy())
    fading = 99.0 * np.exp(-2 * K * record.time / C)[:, None] * np.ones(6)
    np.testing.assert_allclose(found[0] - found[1], fading, rtol=1e-6)


def balance(heat, stamps, power, air, T, Th):
    """The heat balance with power (N,) that does not depend on temperature."""
    heat, zero = np.asarray(heat, float), np.zeros(len(stamps))
    return _core.heat_balance(heat, stamps, power, zero, np.array([30.0, 0, 1, 0, 1]), zero + air, T, Th)


def test_two_nodes_conserve_energy_and_settle_as_in_closed_form():
    heat = np.array([300.0, 0.9, 2000.0, 0.5])
    P, N, dt = 20.0, 200_000, 0.5
    power = np.full(N, P)
    T = balance(heat, np.arange(N) * int(dt * 1e9), power, AIR, AIR, AIR)
    assert T[-1, 1] == pytest.approx(AIR + P / 0.5, abs=1e-6)
    assert T[-1, 0] == pytest.approx(AIR + P / 0.5 + P / 0.9, abs=1e-6)
    stored = heat[0] * (T[:, 0] - AIR) + heat[2] * (T[:, 1] - AIR)
    middle = 0.5 * (T[1:, 1] + T[:-1, 1])
    lost = np.concatenate([[0], np.cumsum(0.5 * (middle - AIR) * dt)])
    np.testing.assert_allclose(stored + lost, P * dt * np.arange(N), rtol=1e-6, atol=1e-6)


def test_two_nodes_do_not_depend_on_the_step():
    heat = np.array([300.0, 0.9, 2000.0, 0.5])
    ends = []
    for N in (100, 1000, 100_000):
        stamps = (np.arange(N + 1) * (600e9 / N)).astype(np.int64)
        ends.append(balance(heat, stamps, np.full(N + 1, 20.0), 20, 20, 20)[-1])
    np.testing.assert_allclose(ends, [ends[-1]] * 3, rtol=1e-3)


def warmed(seconds, dt, T0=AIR, Th0=AIR):
    """A log with the temperature of the housing, and lubricant and housing (N, 2) by the two-node model."""
    record = log(seconds, dt)
    power = np.abs(record.qd[:, 0]) * 15.0
    heat = [HOUSING[k] for k in ("heat_capacity", "heat_transfer", "housing_capacity", "housing_transfer")]
    truth = balance(heat, record.stamp_ns, power, AIR, T0, Th0)
    record.temperature = np.tile(truth[:, 1:], 6)
    return record, truth


def test_measured_housing_corrects_the_lubricant():
    record, truth = warmed(1200, 0.05, 50.0, 45.0)
    record.temperature = np.round(record.temperature * 2) / 2
    stage(heat=HOUSING).run(record)
    error = abs(record.temperature_estimate[-1] - truth[-1, 0]).max()
    blind = log(1200, 0.05)
    codes = stage(heat=HOUSING).run(blind)
    assert error < 6.0 < abs(blind.temperature_estimate[-1] - truth[-1, 0]).max() - 8.0
    assert (codes[1:] == int(Status.degraded)).all()  # no housing temperature
    assert record.temperature_variance[-1, 0] < blind.temperature_variance[-1, 0]


@pytest.mark.parametrize("place", ["housing", "motor"])
def test_the_temperature_of_a_winding_is_not_that_of_the_housing(place):
    """20 K warmer than its housing it made the lubricant 13 K too warm, at a stated 4 K, though the file said so."""
    record, truth = warmed(1800, 0.1)
    winding = 20.0 * (1.0 - np.exp(-record.time / 60.0)) * (place == "motor")
    record.temperature += winding[:, None]
    file = robot(**HOUSING).with_updates({"sensing.temperature_place": place})
    TemperatureStage.of(file, {"ambient": AIR}).run(record)
    error = np.abs(record.temperature_estimate - truth[:, :1])
    assert (error[-1] < 2.0 * np.sqrt(record.temperature_variance[-1])).all()


def test_friction_does_not_change_the_temperature_of_a_joint_whose_housing_is_measured():
    """15 % more friction is wear or an error of the model, which the correction read as 12 K colder."""
    worn, truth = warmed(300, 0.05)
    usual = worn[:]
    worn.drive_torque = 1.15 * friction(worn.qd, np.tile(truth[:, :1], 6))
    codes = stage(heat=HOUSING).run(worn)
    stage(heat=HOUSING).run(usual)
    np.testing.assert_array_equal(worn.temperature_estimate, usual.temperature_estimate)
    assert (codes[2:] == int(Status.ok)).all()


def test_a_robot_without_a_sensor_warms_its_housing_with_the_lubricant():
    """A joint warmer than estimated has been warm for long: the estimate must not fall back to a cold housing."""
    record = hot(600, 45.0, 0.05)
    record.contact = np.where(record.time[:, None] < 120.0, 0.0, 1.0) * np.ones(record.shape("contact"))
    blind = robot(**HOUSING).with_updates({"sensing.temperature": False})
    s = TemperatureStage.of(blind, {"ambient": 45.0})  # no heat leaves by itself
    begin(s, 25.0)
    codes = s.run(record)
    at = np.searchsorted(record.time, 119.0)
    assert abs(record.temperature_estimate[at] - 45.0).max() < 3.0
    assert np.array(s.core.housing).min() > 40.0  # nothing measured it
    assert (np.diff(record.temperature_estimate[at:, 0]) > -0.01).all()  # and it does not pull the lubricant down
    assert (record.temperature_variance[-1] < 0.3 * record.temperature_variance[0]).all()  # nor as unsure
    assert not (codes[1:] == int(Status.degraded)).any()  # its silence is no fault


@pytest.mark.parametrize("fault", [np.nan, -273.0, 200.0, "stuck"])
def test_implausible_housing_falls_back_and_inflates_the_variance(fault):
    """Fault 17."""
    record, truth = warmed(3000, 0.1)
    good = with_signals(record, temperature=record.temperature.copy())
    stage(heat=HOUSING).run(good)
    record.temperature[2000:] = record.temperature[2000] if fault == "stuck" else fault
    codes = stage(heat=HOUSING).run(record)
    assert np.isfinite(record.temperature_estimate).all()
    assert codes[-1] == int(Status.degraded)
    assert (record.temperature_variance[-1] > 1.5 * good.temperature_variance[-1]).all()
    assert abs(record.temperature_estimate[-1] - truth[-1, 0]).max() < 12.0


def test_zeros_of_a_sensor_that_is_not_ready_are_no_readings():
    """As first readings they were taken: 42 to 47 K wrong for minutes, at a stated 3 to 8 K."""
    record, _ = warmed(20, 0.05, 50.0, 45.0)
    good = with_signals(record, temperature=record.temperature.copy())
    record.temperature[:20] = 0.0
    for one in (record, good):
        stage(heat=HOUSING).run(one)
    np.testing.assert_allclose(record.temperature_estimate[-1], good.temperature_estimate[-1], atol=0.2)


@pytest.mark.parametrize("transfer", [0.3, 1000.0])
def test_the_variance_stays_bounded_without_a_sensor(transfer):
    """However closely lubricant and housing are coupled: `identify` may find 1000 W/K where one follows the other."""
    heat = {"heat_capacity": 120.0, "heat_transfer": transfer, "housing_capacity": 200.0, "housing_transfer": 0.1}
    record = log(6000, 0.1)
    stage(heat=heat).run(record)
    deviation = np.sqrt(record.temperature_variance)
    assert 3.0 < deviation.min() and deviation.max() < 12.0


def test_a_heat_balance_does_not_change_the_force_under_a_presliding_law():
    """Its change with temperature is learned from free motion; a block of heat made the force no better, only wider."""
    arm = with_memory()
    friction = {k: v for k, v in arm.friction.parameters.items() if k != "alpha"}
    arm = arm.with_updates({"friction.parameters": friction})
    heat = {"alpha": -0.02, "beta": 1.2, "heat_capacity": 35.0, "heat_transfer": 0.4}
    block = {"model": "simoni", "parameters": heat, "source": "fit_test"}
    t = np.arange(1500)[:, None] * 2e-3
    q = np.array([0.0, -1.2, 1.6, -1.97, -1.57, 0.0]) + 0.3 * np.sin(2.0 * t + np.arange(6))
    qd = 0.6 * np.cos(2.0 * t + np.arange(6))
    signals = {"q": q, "qd": qd, "effort": 20.0 * np.tanh(qd / 0.1), "temperature": np.full(q.shape, 40.0)}
    record = log_at(t[:, 0], signals, arm.joint_names)
    warm = record[:]
    Pipeline(arm).run(record)
    Pipeline(arm.with_updates({"thermal": block})).run(warm)
    for name in ("friction_torque", "friction_std", "external_wrench", "external_wrench_std"):
        np.testing.assert_array_equal(getattr(warm, name), getattr(record, name))
    assert abs(warm.temperature_estimate - record.temperature_estimate).max() > 1.0


def test_bad_samples_do_not_enter():
    """Faults 5, 6, 8: duplicates and NaN are dropped, a clock that runs backwards resets."""
    s = stage()
    sample = Sample(load_robot("ur5e").joint_names)
    sample.qd, sample.contact = 1.0, 0.0
    for k in range(50):
        sample.stamp_ns = k * 100_000_000
        s.step(sample)
    before = sample.temperature_estimate.copy()
    assert s.step(sample) == Status.dropped
    sample.stamp_ns += 100_000_000
    sample.qd[2] = np.inf
    assert s.step(sample) == Status.dropped
    np.testing.assert_array_equal(sample.temperature_estimate, before)
    assert before[0] > AIR
    sample.qd, sample.stamp_ns = 1.0, 0
    assert s.step(sample) == Status.reset
    np.testing.assert_allclose(sample.temperature_estimate, AIR)
    sample.qd = np.nan
    assert s.step(sample) == Status.unavailable


def test_a_gap_cools_and_a_jump_of_dt_does_not_adapt():
    """Fault 7, and a pause longer than max_gap."""
    s = stage()
    sample = Sample(load_robot("ur5e").joint_names)
    sample.qd, sample.contact, sample.model_torque = 0.0, 0.0, 0.0
    begin(s, 60.0, 1.0)
    sample.stamp_ns = 0
    s.step(sample)
    sample.stamp_ns = 500_000_000_000
    assert s.step(sample) == Status.reset
    np.testing.assert_allclose(sample.temperature_estimate, AIR + (60 - AIR) * np.exp(-1), rtol=1e-9)
    slow = hot(20, 70.0)
    slow.stamp_ns = slow.stamp_ns + np.where(np.arange(len(slow)) >= 1000, 90_000_000, 0)
    stage().run(slow)
    jump = np.diff(slow.temperature_estimate, axis=0)[999, 0]
    assert jump < 0.05 < 0.1 * 1.0  # the 100 ms step carries heat, no correction (which would run at 1 K/s)


def test_without_a_thermal_model_the_measured_temperature_is_passed_on():
    s = stage(thermal=False)
    record = log(1, temperature=38.0)
    assert (s.run(record) == int(Status.ok)).all()
    np.testing.assert_array_equal(record.temperature_estimate, 38.0)
    assert (record.temperature_variance == 100.0).all()
    for none in (log(1), log(1, temperature=0.0)):
        assert (s.run(none) == int(Status.unavailable)).all()


def test_what_was_learned_outlasts_a_change_of_the_parameters():
    file = robot(**HOUSING)
    s, record = stage(heat=HOUSING), hot(60, 50.0)
    s.run(record)
    reconfigure(s, file, {"ambient": AIR, "observe_time": 0.0})
    assert not any(s.core.armed)
    after = log(0.02)
    s.run(after)
    np.testing.assert_allclose(after.temperature_estimate[0], record.temperature_estimate[-1], atol=1e-9)
    np.testing.assert_allclose(after.temperature_variance[0], record.temperature_variance[-1], rtol=1e-9)
