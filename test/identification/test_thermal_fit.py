"""Thermal identification from duty cycles: parameters come back, the warm-up is explained, poor runs are refused."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord
from robot_dynamics_ros.identification.joint.fits import thermal_fit
from robot_dynamics_ros.identification.joint.thermal import ThermalRun, fit_thermal
from robot_dynamics_ros.models.friction import FrictionModel, law_named
from robot_dynamics_ros.robot_file import load_robot

T0, AIR = 25.0, 22.0
LAW = {"c0": 6.0, "c1": 9.0, "c2": -1.0, "c3": 0.2, "c4": 2.5, "h": 12.0}
HEAT = {"alpha": -0.012, "beta": 0.97, "gamma": 0.008, "delta": 1.05}
ONE = np.array([500.0, 0.7, 0.0, 0.0])
TWO = np.array([350.0, 0.9, 2500.0, 0.6])


def cold():
    return FrictionModel("simoni", LAW, 1, T0)


def run(duty, heat=ONE, minutes=60, dt=0.25, sigma=0.15, seed=0, reported=False):
    """A duty cycle: bursts of motion at changing speed, both directions; truth by the core at full rate."""
    N = int(minutes * 60 / dt)
    t = np.arange(N) * dt
    on = np.mod(t, 40) < 40 * duty
    v = on * np.sign(np.sin(2 * np.pi * t / 7 + 0.1)) * (0.1 + 1.4 * np.abs(np.sin(2 * np.pi * t / 61)))
    stamps = np.round(t * 1e9).astype(np.int64)
    warm = FrictionModel("simoni", LAW | HEAT, 1, T0)
    T, Th = AIR, AIR
    temperature, step, neutral = np.empty((N, 2)), np.array([0, int(dt * 1e9)]), np.array([T0, 0, 1, 0, 1.0])
    for k in range(N):  # the coupled truth, one step at a time
        temperature[k] = T, Th
        f = warm.torque(v[k : k + 1, None], None, np.array([[T]]))[0, 0]
        power = np.array([max(v[k] * f, 0.0)] * 2)
        T, Th = _core.heat_balance(heat, step, power, np.zeros(2), neutral, np.full(2, AIR), T, Th)[1]
    friction = warm.torque(v[:, None], None, temperature[:, :1])[:, 0]
    rng = np.random.default_rng(seed)
    noisy = friction + rng.normal(0, sigma, N)
    housing = temperature[:, 1] + rng.normal(0, 0.1, N) if reported else None
    return ThermalRun(stamps, v, noisy, AIR, None, housing)


@pytest.fixture(scope="module")
def cycles():
    return [run(duty, seed=int(100 * duty)) for duty in (0.25, 0.6, 1.0)]


@pytest.fixture(scope="module")
def reported_cycles():
    return [run(duty, TWO, seed=int(100 * duty), reported=True) for duty in (0.3, 1.0)]


def test_parameters_come_back_when_the_capacity_is_known(cycles):
    fit = fit_thermal(cycles, cold(), fixed={"heat_capacity": 500.0})
    assert fit.model == "simoni"
    for name, true in (HEAT | {"heat_transfer": 0.7}).items():
        assert abs(fit.parameters[name] - true) < max(3 * fit.std[name], 0.02 * abs(true)), name
    assert fit.nrmse > fit.nrmse_without + 5 and fit.nrmse > 95
    assert fit.temperature_span > 10


def test_a_gap_in_a_warm_run_changes_no_result():
    """Behind 0.6 s without samples the joint was taken for a cold one in air as warm as it is."""
    warm = run(1.0, TWO, minutes=90, reported=True)
    lost = (warm.stamp_ns > 40 * 60e9) & (warm.stamp_ns < (40 * 60 + 0.8) * 1e9)
    columns = (warm.stamp_ns, np.zeros(len(lost)), warm.v, warm.friction, np.zeros(len(lost)))
    record = JointRecord("j", *(x[~lost] for x in columns), temperature=warm.housing[~lost])
    robot = load_robot("ur5e")
    friction = {p.name: [LAW.get(p.name, p.default)] * 6 for p in law_named("simoni").parameters}
    block = {"source": "datasheet", "model": "simoni", "parameters": friction, "reference_temperature": T0}
    fit = thermal_fit(record, robot.with_updates({"friction": block}, {"datasheet": "a test"}), 0)
    assert fit.numbers["runs"] == 1
    for name, true in (("heat_transfer", TWO[1]), ("housing_transfer", TWO[3])):
        assert abs(fit.parameters[name] - true) < 0.1 * true, name


def test_a_reported_housing_gives_every_parameter(reported_cycles):
    fit = fit_thermal(reported_cycles, cold())
    assert fit.model == "two_node"
    truth = dict(zip(("heat_capacity", "heat_transfer", "housing_capacity", "housing_transfer"), TWO, strict=True))
    for name, true in (HEAT | truth).items():
        assert abs(fit.parameters[name] - true) < max(3 * fit.std[name], 0.05 * abs(true)), name


def test_an_unreported_housing_is_found_from_friction_when_both_capacities_are_known():
    runs = [run(duty, TWO, seed=int(100 * duty), sigma=0.05) for duty in (0.3, 1.0)]
    one = fit_thermal(runs, cold(), fixed={"heat_capacity": TWO[0]})
    two = fit_thermal(runs, cold(), fixed={"heat_capacity": TWO[0], "housing_capacity": TWO[2]})
    assert two.model == "two_node" and one.model == "simoni"
    for name, true in (HEAT | {"heat_transfer": TWO[1], "housing_transfer": TWO[3]}).items():
        assert abs(two.parameters[name] - true) < max(4 * two.std[name], 0.05 * abs(true)), (name, two.parameters)
    # the one node bends the scale of temperature to follow two time constants
    off = [abs(fit.parameters["alpha"] - HEAT["alpha"]) for fit in (one, two)]
    assert off[0] > 3 * off[1]


def test_neutral_factors_can_be_held(cycles):
    fit = fit_thermal(cycles, cold(), fixed={"heat_capacity": 500.0, "beta": 1.0, "delta": 1.0, "gamma": 0.0})
    assert fit.parameters["beta"] == fit.parameters["delta"] == 1.0 and fit.parameters["gamma"] == 0.0
    assert set(fit.std) == {"alpha", "heat_transfer"}


def test_without_any_temperature_the_capacity_is_asked_for(cycles):
    with pytest.raises(DataError, match="alpha C.*give the heat capacity"):
        fit_thermal(cycles, cold())


@pytest.mark.parametrize("reported", [False, True])
def test_runs_that_do_not_warm_the_joint_are_refused(reported):
    short = run(0.5, TWO if reported else ONE, minutes=0.7, dt=0.05, sigma=0.02, reported=reported)
    with pytest.raises(DataError, match="start cold and run until friction has settled"):
        fit_thermal([short], cold(), fixed={"heat_capacity": 500.0})


def test_standstill_and_broken_columns_are_refused(cycles):
    first = cycles[0]
    for broken, reason in (
        (ThermalRun(first.stamp_ns, 0 * first.v, first.friction, AIR), "moving samples"),
        (ThermalRun(first.stamp_ns, first.v[1:], first.friction, AIR), "differ in length"),
        (ThermalRun(first.stamp_ns[::-1], first.v, first.friction, AIR), "do not increase"),
    ):
        with pytest.raises(DataError, match=reason):
            fit_thermal([broken], cold(), fixed={"heat_capacity": 500.0})


@pytest.mark.parametrize(
    ("fixed", "ambient", "text"),
    [
        ({"heat": 300.0}, AIR, "fixed heat 300.0 must be one of alpha"),
        ({"heat_capacity": -300.0}, AIR, r"fixed heat_capacity -300.0 must be within 1\.\.100000"),
        ({"heat_capacity": 300.0}, np.nan, r"ambient nan must be within -60\.\.200 deg C"),
        ({"heat_capacity": 300.0}, 295.0, "ambient 295.0 must be"),
    ],
)
def test_numbers_that_no_joint_has_are_named(cycles, fixed, ambient, text):
    with pytest.raises(DataError, match=text):
        fit_thermal([replace(cycles[0], ambient=ambient)], cold(), fixed=fixed)
