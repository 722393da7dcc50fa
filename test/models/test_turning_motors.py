"""Presliding friction of motors that turn with two joints: elements written in numpy, deviations, files, bounds."""

import numpy as np
import pytest
from force_bench import measured, moving
from stepwise import assert_run_is_step

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.models.robot_report import refuse_implausible
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import Log

NAMES = load_robot("ur5e").joint_names
SPANS, LEVELS, N, DT = [2e-4, 2e-3, 1e-2], [0.5, 0.8, 0.4], 4000, 2e-3
FV, FS, EPS, RATIO, VS = 0.6, 0.3, 5e-3, 0.8, 0.1
LAW = {"fv1": FV, "fs": FS, "eps": EPS, "sliding_ratio": RATIO, "stribeck_velocity": VS, "rotor_time": 0.0}
LAW |= {"load_limit": 0.0, "load_power": 1.0, "fv2": 0.0, "fv0": 0.0, "v0": 0.3, "fo": 0.0}
LAW |= {"span": SPANS, "level": LEVELS, "load": [0.0] * 3}
OWN = {name: [value] * 6 for name, value in LAW.items()} | {"level": [[1.0, 2.0, 0.0]] * 6}


def robot(*motors, **changes):
    """Presliding joints; motors: (joint, other joint, sign) from 0."""
    places = [{"joint": NAMES[j], "turns_with": NAMES[k], "sign": s} for j, k, s in motors]
    block = {"model": "presliding", "source": "test", "parameters": OWN}
    law = {"model": "viscous_coulomb", "parameters": {"fc": 3.0, "fv": 1.0}, "source": "test"}
    motor = [place | {"parameters": LAW} | changes for place in places]
    blocks = {"friction": law, "hysteresis": block | {"motors": motor}}
    return load_robot("ur5e").with_updates(blocks, {"test": "numbers of this test"})


def motion():
    """The last two joints turn with and against each other, stand and reverse."""
    t = np.arange(N) * DT
    stand = np.clip(1.4 * np.sin(0.9 * t), -1, 1)
    q = np.zeros((N, 6))
    q[:, 4], q[:, 5] = 0.02 * np.sin(2.0 * t) * stand, 0.015 * np.sin(3.1 * t + 1) * stand
    qd = np.gradient(q, DT, axis=0)
    return Log(NAMES, np.arange(N) * int(1e9 * DT), {"q": q, "qd": qd, "model_torque": np.full((N, 6), 5.0)})


def run(arm, log=None):
    log = log or motion()
    FrictionStage.of(arm).run(log)
    return log


def expected(q, v):
    """Elastoplastic elements of the motor's angle in plain numpy: d <- clip(d + dq), sum of level d / span."""
    d, level = np.zeros(3), np.zeros(len(q))
    for k in range(1, len(q)):
        d = np.clip(d + q[k] - q[k - 1], -np.array(SPANS), SPANS)
        level[k] = np.sum(LEVELS * d / SPANS)
    g = 1 / (1 + (v / VS) ** 2)
    return (RATIO + (1 - RATIO) * g) * level + FS * g * v / (np.abs(v) + EPS) + FV * v


@pytest.mark.parametrize(("j", "k", "sign"), [(4, 5, 1), (4, 5, -1), (5, 4, -1)])
def test_a_motor_loads_both_joints_with_the_friction_of_its_angle(j, k, sign):
    log = motion()
    found = run(robot((j, k, sign))).friction_torque - run(robot()).friction_torque
    f = expected(log.q[:, j] + sign * log.q[:, k], log.qd[:, j] + sign * log.qd[:, k])
    assert 1.0 < np.abs(f).max() < 2.5
    np.testing.assert_allclose(found[:, j], f, atol=1e-9)
    np.testing.assert_allclose(found[:, k], sign * f, atol=1e-9)
    assert not np.delete(found, [j, k], axis=1).any()


def test_two_motors_of_a_wrist_add_up():
    both = run(robot((4, 5, 1), (3, 4, -1))).friction_torque
    one, other, none = (run(robot(*m)).friction_torque for m in ([(4, 5, 1)], [(3, 4, -1)], []))
    np.testing.assert_allclose(both, one + other - none, atol=1e-12)


def test_without_positions_nothing_is_known_of_a_motor():
    blind, plain = motion(), motion()
    blind.q = np.full_like(blind.q, np.nan)
    plain.q = np.full_like(plain.q, np.nan)
    np.testing.assert_array_equal(run(robot((4, 5, 1)), blind).friction_torque, run(robot(), plain).friction_torque)


def test_deviations_of_both_joints_contain_what_has_not_slipped_yet():
    """All elements of the motor at first; those within half of the range that it has covered no more."""
    log = run(robot((4, 5, 1)))
    angle, own = log.q[:, 4] + log.q[:, 5], run(robot()).friction_std
    covered = np.maximum.accumulate(angle) - np.minimum.accumulate(angle)
    unknown = np.array([np.sum(LEVELS, where=c <= 2 * np.array(SPANS)) for c in covered])
    assert unknown[0] == pytest.approx(1.7) and unknown[-1] == 0.0
    for j in (4, 5):
        extra = log.friction_std[:, j] ** 2 - own[:, j] ** 2
        assert (extra >= unknown**2 / 3 - 1e-9).all()
        assert extra[-1] < 0.3
    np.testing.assert_array_equal(log.friction_std[:, :4], own[:, :4])


def external(arm, inertia):
    """External torque (N, 6) and error of the model torque (N, 6) [Nm] of a free arm without friction whose effort is
    M qdd + C qd + g + B qdd + J qdd, J (6, 6) [kg m2] full.
    """
    motion = moving(4.0)
    log = measured(motion, friction=False)
    log.effort = log.effort + motion[2] @ inertia
    log.friction_torque = log.friction_std = np.zeros_like(log.q)
    MotionStage.of(arm).run(log)
    ForceStage.of(arm).run(log)
    return [x[500:] for x in (log.external_joint_torque, log.drive_torque - log.model_torque)]


@pytest.mark.parametrize(("j", "k", "sign"), [(4, 5, 1), (5, 4, -1), (2, 4, 1)])
def test_the_rotor_of_a_motor_is_no_external_torque(j, k, sign):
    J = np.zeros((6, 6))
    J[j, k] = J[k, j] = sign * 0.4
    arm = robot((j, k, sign), rotor_inertia=0.4)
    np.testing.assert_array_equal(arm.coupled_inertia, J)
    none = external(robot(), np.zeros((6, 6)))
    with_it, without = external(arm, J), external(robot((j, k, sign)), J)
    for right, wrong, usual in zip(with_it, without, none, strict=True):
        assert np.abs(right).max() < 1.5 * np.abs(usual).max() < 0.1
        assert (np.abs(wrong[:, [j, k]]).max(axis=0) > 0.2).all()
        np.testing.assert_array_equal(np.delete(wrong, [j, k], axis=1), np.delete(usual, [j, k], axis=1))


def test_an_effort_without_the_rotors_torque_has_no_torque_of_coupled_ones():
    arm = robot((4, 5, 1), rotor_inertia=0.4)
    for changes in ({"drives.torque_side": "link"}, {"drives.effort.includes_rotor_inertia": False}):
        assert not arm.with_updates(changes).coupled_inertia.any()
    assert not robot((4, 5, 1)).coupled_inertia.any() and not load_robot("ur5e").coupled_inertia.any()


def test_the_pipeline_runs_as_it_steps():
    log = measured(moving(1.2))
    log.q[300] = np.nan
    log.stamp_ns[400:] += 10**9
    assert_run_is_step(robot((4, 5, 1), rotor_inertia=0.4), log)


def test_files_keep_the_motors(tmp_path):
    arm = robot((4, 5, 1), rotor_inertia=0.4)
    save_robot(arm, tmp_path / "arm.yaml")
    again = load_robot(tmp_path / "arm.yaml")
    assert again.hysteresis.motors == arm.hysteresis.motors
    np.testing.assert_array_equal(run(again).friction_torque, run(arm).friction_torque)
    np.testing.assert_array_equal(again.coupled_inertia, arm.coupled_inertia)
    text = core_text(arm)
    assert "motors.turns 4 5 1" in text and text.count("coupled_inertia" + 29 * " 0" + " 0.4") == 2


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"turns_with": "elbow"}, "'elbow' is no joint of this robot"),
        ({"turns_with": NAMES[4]}, "must be another joint"),
        ({"sign": 0}, "sign"),
        ({"rotor_inertia": -0.1}, "rotor_inertia"),
        ({"parameters": LAW | {"fv1": -1.0}}, "fv1"),
        ({"parameters": LAW | {"fv1": [1.0, 1.0]}}, "fv1"),
        ({"parameters": LAW | {"fv1": None}}, "fv1: must be known"),
        ({"parameters": LAW | {"level": [0.5, -0.8, 0.4]}}, r"parameters.level\[1\]: -0.8 must be >= 0.0 Nm"),
        ({"parameters": LAW | {"level": [0.5, 0.8]}}, "equally many entries"),
        ({"parameters": {k: v for k, v in LAW.items() if k != "span"}}, "span"),
        ({"parameters": LAW | {"stiffness": 1.0}}, "unknown parameter"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, named):
    with pytest.raises(ConfigError, match=named):
        robot((4, 5, 1), **changes)


def test_a_motor_that_is_there_already_is_refused():
    with pytest.raises(ConfigError, match=r"motors\[1\]: is the motor of hysteresis.motors\[0\]"):
        robot((4, 5, 1), (5, 4, 1))


def test_a_number_that_one_motor_lacks_has_its_default_there():
    lacking = {name: value for name, value in LAW.items() if name != "fs"}
    arm = robot((4, 5, 1), (3, 4, -1))
    motors = arm.raw()["hysteresis"]["motors"]
    for first, second in ((LAW, lacking), (lacking, LAW)):
        own = [motor | {"parameters": p} for motor, p in zip(motors, (first, second), strict=True)]
        same = [motor | {"parameters": {"fs": 0.0} | p} for motor, p in zip(motors, (first, second), strict=True)]
        found, stated = (run(arm.with_updates({"hysteresis.motors": m})).friction_torque for m in (own, same))
        np.testing.assert_array_equal(found, stated)


def test_motors_need_spans_that_rise():
    with pytest.raises(ConfigError, match="hysteresis.motors.*span"):
        run(robot((4, 5, 1), parameters=LAW | {"span": SPANS[::-1]}))
    with pytest.raises(ConfigError, match="hysteresis.motors: motor 1: span"):
        refuse_implausible(robot((4, 5, 1), parameters=LAW | {"span": SPANS[::-1]}))
    refuse_implausible(robot((4, 5, 1)))
