"""Electric and mechanical power of the drives against the equations of the equivalent motor."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.power import PowerStage
from robot_dynamics_ros.models.energy import EnergyModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

UR5E = load_robot("ur5e")
MODEL = EnergyModel.from_robot(UR5E)


def motion(seed=0, count=400, rate=500.0):
    draw = np.random.default_rng(seed)
    stamps = (1_000_000_000 + np.arange(count) * 1e9 / rate).astype(np.int64)
    t = np.arange(count)[:, None] / rate
    phase = draw.uniform(0, 6, 6)
    torque = 80 * np.cos(7 * t + 2 * phase) * draw.uniform(0.1, 1, 6)
    return Log(UR5E.joint_names, stamps, {"qd": 2 * np.sin(9 * t + phase), "drive_torque": torque})


def test_power_is_voltage_times_current():
    log = motion()
    K = UR5E.array("drives.torque_constant")
    current = log.drive_torque / K
    k_t = K / np.abs(MODEL.gear_ratio)  # V = R i + k_b w_m [Clochiatti2024, eq. 19]
    volts = (k_t / MODEL.motor_constant) ** 2 * current + K / MODEL.back_emf_ratio * log.qd
    electrical, mechanical = volts * current, log.qd * log.drive_torque
    PowerStage.of(UR5E).run(log)
    np.testing.assert_allclose(log.electrical_power[:, :6], electrical, rtol=1e-12)
    np.testing.assert_allclose(log.electrical_power[:, 6], electrical.sum(1), rtol=1e-12)
    np.testing.assert_allclose(log.mechanical_power[:, 6], mechanical.sum(1), rtol=1e-12, atol=1e-9)


def test_energies_are_the_integrals_and_both_ways_of_regeneration_are_reported():
    log = motion()
    PowerStage.of(UR5E).run(log)
    for power, energy in ((log.electrical_power, log.electrical_energy), (log.mechanical_power, log.mechanical_energy)):
        np.testing.assert_allclose(energy[-1], trapezoid(power, log.time, axis=0), rtol=1e-9, atol=1e-9)
    clamped = trapezoid(np.maximum(log.electrical_power, 0), log.time, axis=0)
    np.testing.assert_allclose(log.electrical_energy_clamped[-1], clamped, rtol=1e-9)
    spent = log.electrical_energy[-1] > 0
    share = log.mechanical_energy[-1] / log.electrical_energy[-1]
    np.testing.assert_allclose(log.efficiency[-1][spent], share[spent])
    totals = MODEL.energy(log.stamp_ns, log.drive_torque, log.qd)
    np.testing.assert_array_equal(totals["electrical"], log.electrical_energy[-1])
    np.testing.assert_allclose(totals["regenerated"], (clamped - log.electrical_energy[-1]), atol=1e-9)


def test_gaps_are_not_counted_and_clocks_that_go_back_start_again():
    stage, log = PowerStage.of(UR5E), motion(count=200)
    log.stamp_ns[100:] += 5_000_000_000
    status = stage.run(log)
    assert status[100] == int(Status.degraded)
    np.testing.assert_array_equal(log.electrical_energy[100], log.electrical_energy[99])
    log.stamp_ns[100:] -= 50_000_000_000
    stage.reset()
    status = stage.run(log)
    assert status[100] == int(Status.reset)
    assert (log.electrical_energy[100] == 0).all()


def test_bad_samples_change_nothing():
    stage, log = PowerStage.of(UR5E), motion(count=50)
    log.drive_torque[20, 2] = np.nan
    log.qd[25] = np.nan
    log.drive_torque[30, 0] = 1e300
    status = stage.run(log)
    assert [Status(int(status[k])).name for k in (20, 25, 30, 31)] == ["dropped", "unavailable", "dropped", "ok"]
    assert np.isfinite(log.electrical_energy[31:]).all()


@settings(max_examples=50)
@given(st.floats(-200, 200), st.floats(-3, 3))
def test_a_motor_gives_never_more_than_it_draws_unless_driven(torque, velocity):
    """Heat of the winding and back-EMF losses: P_elec >= P_mech while it drives."""
    constant = {"qd": np.full((2, 6), velocity), "drive_torque": np.full((2, 6), torque)}
    log = Log(UR5E.joint_names, [0, 2_000_000], constant)
    PowerStage.of(UR5E).run(log)
    electrical, mechanical = log.electrical_power, log.mechanical_power
    assert np.isfinite(mechanical).all() and (electrical[mechanical >= 0] >= mechanical[mechanical >= 0]).all()


def test_constants_are_checked_by_name():
    good = {k: np.ascontiguousarray(v) for k, v in vars(MODEL).items()}
    with pytest.raises(ValueError, match=r"motor_constant\[2\]"):
        bad = good["motor_constant"].copy()
        bad[2] = np.nan
        _core.PowerMeter(6, **(good | {"motor_constant": bad}))
    with pytest.raises(TypeError, match="wrong"):
        _core.PowerMeter(6, wrong=1)


def test_robots_without_motor_constants_or_motor_torque_are_refused_and_left_out():
    for name, why in (("ur3e", "motor_constant"), ("ur3", "rotors"), ("fr3", "behind the gear")):
        with pytest.raises(CapabilityError, match=why):
            PowerStage().configure(load_robot(name))
    pipeline = Pipeline(load_robot("ur3"))
    assert "power" not in [stage.name for stage in pipeline.stages]
    assert any("no power" in note for note in pipeline.notes)


def test_a_stage_without_parameters_says_so():
    with pytest.raises(ConfigError, match="regeneration: unknown parameter; known: none"):
        PowerStage().configure(UR5E, {"regeneration": "clamped"})


@pytest.mark.parametrize("many", [2, 3])
def test_the_period_of_samples_that_arrive_together_is_learned_within_seconds(many):
    """At 100 Hz, 0.1 ms apart: what seems late meanwhile counts for five periods alone."""
    rows = np.arange(1000)
    stamps = 1_000_000_000 + rows // many * many * 10_000_000 + rows % many * 100_000
    log = Log(UR5E.joint_names, stamps, {"qd": np.ones((1000, 6)), "drive_torque": np.ones((1000, 6))})
    PowerStage.of(UR5E).run(log)
    assert log.mechanical_energy[-1, 0] > 0.7 * log.time[-1]
