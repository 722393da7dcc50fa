"""The stiffness stage on joints whose spring is known: sides, skew, contact, bad samples, wear."""

import re

import numpy as np
import pytest
from spring_bench import A, bang_coast_bang, deflection, spring

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.stage import reconfigure
from robot_dynamics_ros.estimators.stiffness import StiffnessStage
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log, Sample

MS = 1_000_000


def robot(sensor=False, baseline=None, **blocks):
    r = load_robot("ur5e")
    changes = {"sensing.rotor_encoder": True, "sensing.joint_torque_sensor": sensor, "hysteresis": None}
    if sensor:
        changes |= {"drives.torque_side": "link"}
    stiffness = {"source": "estimate_test", "model": "odd_polynomial", "reference_temperature": 30.0}
    changes["stiffness"] = None if baseline is None else stiffness | {"parameters": {"a": [list(baseline)] * 6}}
    return r.with_updates(changes | blocks, {"estimate_test": "numbers of this test"})


def stage(robot_file=None, **parameters):
    return StiffnessStage.of(robot_file or robot(), {"skew": 0.0} | parameters)


def log(seconds=10.0, a=A, skew=0.0, noise=0.0, seed=0, dt=1e-3):
    """Joints alike, half of them the other way: link moves, spring carries inertia torque, friction and motor torque
    known.
    """
    qd, tau = bang_coast_bang(seconds, dt, seed)
    N, t = len(qd), np.arange(len(qd)) * dt
    phi, q = deflection(tau, a), np.cumsum(qd) * dt
    omega = qd + np.gradient(phi, t)
    theta = q + phi + omega * skew
    friction = 6.0 * np.tanh(qd / 0.01) + 8 * qd
    names = load_robot("ur5e").joint_names
    B = load_robot("ur5e").array("drives.rotor_inertia")
    wide = lambda x: x[:, None] * np.array([1, -1] * 3)  # noqa: E731
    record = Log(names, np.round(t * 1e9).astype(np.int64) + 10**15)
    record.q, record.theta, record.omega, record.qd = wide(q), wide(theta), wide(omega), wide(qd)
    rng = np.random.default_rng(seed + 1)
    record.friction_torque = wide(friction)
    record.drive_torque = wide(tau + friction) + B * wide(np.gradient(omega, t)) + rng.normal(0, noise, (N, 6))
    record.qdd = wide(np.gradient(qd, t))
    record.model_torque = wide(tau) + B * record.qdd
    record.contact = np.zeros((N, 7))
    return record


def is_right(s, tolerance=0.08):
    """The learned curve lies within `tolerance` of the truth over the deflections that occurred."""
    grid = np.linspace(2e-4, 1.2e-3, 20)
    error = s.curve(grid)[0] / spring(grid, A)[:, None] - 1
    return abs(error).max() < tolerance


@pytest.mark.parametrize("side", ["motor", "link", "fused"])
def test_each_side_finds_the_spring(side):
    s, record = stage(side=side), log(noise=1.0)
    if side == "motor":
        record.omega[:] = np.nan  # it is the difference of theta
    codes = s.run(record)
    assert is_right(s)
    known = ~np.isnan(record.stiffness)
    assert known[-3000:].any() and not known[:20].any()
    late = known & (np.arange(len(record)) > 5000)[:, None]
    assert (record.stiffness_std[late] < 0.25 * record.stiffness[late]).all()
    assert codes[0] == int(Status.warming_up) and (codes == int(Status.ok)).any()


def test_a_joint_torque_sensor_is_preferred():
    s, record = stage(robot(sensor=True)), log()
    record.drive_torque = record.model_torque - load_robot("ur5e").array("drives.rotor_inertia") * record.qdd
    record.motor_torque = None
    s.run(record)
    assert s.side == "sensor" and is_right(s)


def test_fusing_a_good_and_a_bad_side_beats_the_bad_one():
    errors = {}
    for side in ("motor", "fused"):
        s, record = stage(side=side, motor_std=5.0, link_std=0.1), log(noise=20.0)
        s.run(record)
        grid = np.linspace(2e-4, 1.2e-3, 20)
        errors[side] = abs(s.curve(grid)[0] / spring(grid)[:, None] - 1).max()
    assert errors["fused"] < 0.5 * errors["motor"]


def test_skew_has_an_effect_and_its_removal_too():
    wrong, right = stage(), stage(skew=2e-3)
    for each in (wrong, right):
        each.run(log(skew=2e-3))
    assert is_right(right) and not is_right(wrong, tolerance=0.3)


def test_a_robot_without_rotor_encoder_is_refused():
    with pytest.raises(CapabilityError, match="rotor_encoder"):
        StiffnessStage().configure(load_robot("ur5e"))
    with pytest.raises(CapabilityError, match="sensor is not measured"):
        stage(side="sensor")


def test_deflection_that_is_only_skew_is_not_published():
    record = log(skew=-4e-3)  # as on real robots: the apparent spring is negative or meaningless
    stage().run(record)
    assert np.isnan(record.stiffness).mean() > 0.95


@pytest.mark.parametrize("wrong", [lambda x: -x, lambda x: 101 * x, lambda x: 1.2 * x, lambda x: x + 1.0])
def test_a_rotor_angle_that_does_not_follow_the_joint_gives_no_stiffness_and_says_why(wrong):
    record = log()
    record.theta, record.omega = wrong(record.theta), np.full_like(record.theta, np.nan)
    record.drive_torque += 20 * record.q  # gravity, which a reversed angle takes for a soft spring
    s = stage()
    s.run(record)
    assert np.isnan(record.stiffness).all()
    warnings = s.wear_health()
    assert len(warnings) == 6 and all("divided by the gear ratio" in text for _, text in warnings.values())


def test_no_excitation_for_an_hour_moves_nothing():
    """Fault 21: idle noise would wind the covariance up."""
    s = stage()
    s.run(log())
    before = s.core.coefficients.copy(), np.array([s.core.covariance(i) for i in range(6)])
    dt, N, rng = 0.02, 180_000, np.random.default_rng(4)
    idle = Log(load_robot("ur5e").joint_names, 2 * 10**15 + np.arange(N) * 20 * MS)
    q = rng.normal(0, 1e-6, (N, 6))
    idle.q, idle.theta, idle.omega = q, q + rng.normal(8e-4, 1e-6, (N, 6)), rng.normal(0, 1e-4, (N, 6))
    idle.drive_torque, idle.friction_torque = rng.normal(15, 0.3, (N, 6)), np.zeros((N, 6))
    s.run(idle)
    assert N * dt == 3600
    np.testing.assert_array_equal(s.core.coefficients, before[0])
    np.testing.assert_array_equal([s.core.covariance(i) for i in range(6)], before[1])


def test_link_side_is_not_used_in_contact():
    """Fault 22."""
    record = log()
    record.contact[:, 6] = 1.0
    s = stage(side="link")
    codes = s.run(record)
    assert (codes == int(Status.unavailable)).all() and not s.core.coefficients.any()


def test_bad_samples_do_not_enter():
    """Faults 5-8: duplicates, NaN, a jump of dt; a clock that runs backwards forgets."""
    s = stage()
    record = log(3.0)
    s.run(record)
    a = s.core.coefficients.copy()
    sample = Sample(record.joint_names)
    record.read(len(record) - 1, sample)
    assert s.step(sample) == Status.dropped
    sample.stamp_ns += 1 * MS
    sample.theta[2] = np.nan
    assert s.step(sample) == Status.dropped
    record.read(len(record) - 1, sample)
    sample.stamp_ns += 50 * MS
    sample.drive_torque = 1e6
    s.step(sample)
    np.testing.assert_array_equal(s.core.coefficients, a)
    sample.stamp_ns = 0
    assert s.step(sample) == Status.reset
    assert not s.core.coefficients.any()
    sample.theta = np.nan
    assert s.step(sample) == Status.unavailable


@pytest.mark.parametrize(("share", "level"), [(1.0, "ok"), (0.75, "warn"), (0.5, "error")])
def test_wear_compares_with_the_baseline(share, level):
    # [Madsen2020 appA step 570, claims 9, 17]
    s, record = stage(robot(baseline=A), wear_hold=0.5), log(a=share * A, noise=0.5)
    record.temperature_estimate = np.tile([60.0, *[33.0] * 5], (len(record), 1))  # the first is not comparable
    s.run(record)
    found, change = s.wear_health(), 100 * (share - 1)
    assert list(found) == list(record.joint_names[1:]) and {wear.name for wear, _ in found.values()} == {level}
    said = [re.match(r"stiffness (.*) % against the robot file's \(confidence (.*)\)", t) for _, t in found.values()]
    assert all(abs(float(m[1]) - change) < 7 and 0 < float(m[2]) <= 1 for m in said)


def test_wear_waits_for_equal_temperature_and_holds():
    for temperature, hold in ((60.0, 0.5), (30.0, 1e4)):
        s, record = stage(robot(baseline=A), wear_hold=hold), log(a=0.5 * A)
        record.temperature_estimate = np.full((len(record), 6), temperature)
        s.run(record)
        assert s.wear_health() == {}
    assert "no baseline" in stage().notes[0]


def test_what_was_learned_outlasts_a_change_of_the_parameters():
    file, record = robot(baseline=A), log(a=0.5 * A)
    s = stage(file, wear_hold=0.5)
    s.run(record)
    before, wear, k = s.core, s.wear_health(), s.core.coefficients
    reconfigure(s, file, {"skew": 0.0, "wear_hold": 60.0, "motor_std": 2.0})
    assert s.core is not before and s.wear_health() == wear and len(wear) == 6
    np.testing.assert_array_equal(s.core.coefficients, k)


def test_a_change_of_the_parameters_does_not_trust_a_rotor_angle_that_is_none():
    file, record = robot(), log()
    record.theta[:, 3] += 1.0
    s = stage(file)
    s.run(record)
    reconfigure(s, file, {"skew": 0.0, "motor_std": 2.0})
    assert s.core.foreign == [joint == 3 for joint in range(6)] and list(s.wear_health()) == [record.joint_names[3]]


def test_a_warning_of_more_wear_than_an_error_is_refused():
    with pytest.raises(ConfigError, match="wear_warn"):
        stage(robot(baseline=A), wear_warn=0.5)
