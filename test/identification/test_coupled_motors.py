"""Presliding friction and rotor of a wrist's coupled motor: written where they predict better, and less live error."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import COUPLED, moves, sliding, steps, structure
from synthetic import UR5E, with_signals

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm import written_law
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.model import motor_inertia, rotors_left_out
from robot_dynamics_ros.identification.arm.written_file import file_friction
from robot_dynamics_ros.identification.dataset.motion import low_pass
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.robot_file import load_robot, save_robot

SPANS, LEVELS, VISCOUS = np.array([3e-4, 2e-3, 8e-3]), np.array([1.0, 1.0, 0.6]), 0.8
ROTOR = 0.6  # kg m2
ARM = UR5E.with_updates({"drives.rotor_inertia": None})  # those of its file know nothing of this motor
RATE, SPEEDS = 500.0, np.array([0.2, 0.4, 0.8])


@pytest.fixture(scope="module")
def logs():
    """Moves of the simulated robot with rests between them, no contact: one to identify from, one to judge on."""
    return [moves(seed, count, pause=0.6, keep=2) for seed, count in ((11, 12), (21, 10))]


def elements(angle):
    """Friction (N,) of elastoplastic elements: d <- clip(d + dq), sum of level d / span."""
    d, out = np.zeros(3), np.zeros(len(angle))
    for k in range(1, len(angle)):
        d = np.clip(d + angle[k] - angle[k - 1], -SPANS, SPANS)
        out[k] = np.sum(LEVELS * d / SPANS)
    return out


def coupled(log):
    """The log of a wrist whose last motor turns with the sum of the last two joints and loads both."""
    v = log.qd[:, 4] + log.qd[:, 5]
    acceleration = np.gradient(low_pass(v, 20.0, np.diff(log.time).mean(), order=2), log.time)
    f = elements(log.q[:, 4] + log.q[:, 5]) + VISCOUS * v + ROTOR * acceleration
    extra = np.outer(f, [0, 0, 0, 0, 1, 1])
    return with_signals(log, effort=log.effort + extra)


def identified(logs):
    first, second = (recording(coupled(log), str(k)) for k, log in enumerate(logs))
    return steps([first], [second], ARM, structure(COUPLED, 10.0), "fit_together", search=True)


@pytest.fixture(scope="module")
def found(logs):
    return identified(logs)


def wrist_error(robot, log):
    """RMS (2,) [Nm] of what friction and model leave of the last two joints' effort: moving, at rest."""
    log = log[:]
    Pipeline(robot, stages=["motion", "friction"]).run(log)
    left = (log.drive_torque - log.model_torque - log.friction_torque)[:, 4:]
    known, still = np.isfinite(left).all(axis=1) & (log.time > 2.0), np.abs(log.qd).max(axis=1) < 0.01
    return [float(np.sqrt((left[known & rows] ** 2).mean())) for rows in (~still, still)]


def test_the_motor_s_presliding_is_found_and_written(found, tmp_path):
    save_robot(identified_robot(found), tmp_path / "arm.yaml")
    (motor,) = load_robot(tmp_path / "arm.yaml").hysteresis.motors
    assert (motor.joint, motor.turns_with, motor.sign) == ("wrist_2_joint", "wrist_3_joint", 1)
    assert motor.rotor_inertia == pytest.approx(ROTOR, rel=0.25)
    assert sum(motor.values["level"]) == pytest.approx(LEVELS.sum(), rel=0.15)
    np.testing.assert_allclose(sliding(motor, SPEEDS), LEVELS.sum() + VISCOUS * SPEEDS, rtol=0.1)


def test_the_error_falls_against_laws_of_the_joints_alone(found, logs, monkeypatch):
    """On held-out motion, both identified from the same recording: by more than half, at rest and moving."""
    monkeypatch.setattr(written_law, "MOTOR_GAIN", 1.0)
    before, judged = identified(logs), coupled(logs[1])
    assert not before.live.motors
    ours, theirs = (wrist_error(identified_robot(x), judged) for x in (found, before))
    assert ours[0] < 0.6 * theirs[0] and ours[1] < 0.3 * theirs[1]


def test_a_rotor_that_turns_with_two_joints_is_named_where_it_is_not_written(found):
    """And its torque exceeds what is left: that of the last motor, which the fifth joint has as a term of the sixth."""
    moving, none = np.full(6, 0.2), np.zeros((6, 6))
    assert not rotors_left_out(found.fit, found.motion, moving, found.live.coupled)
    text = rotors_left_out(found.fit, found.motion, moving, none)
    assert "wrist_2_joint (0." in text and "of wrist_3_joint here" in text
    assert not rotors_left_out(found.fit, found.motion, moving * 1e3, none)


def test_the_rotor_lowers_the_live_error_of_both_joints(found, logs):
    robot, judged = identified_robot(found), coupled(logs[1])
    (motor,) = robot.raw()["hysteresis"]["motors"]
    without = robot.with_updates({"hysteresis.motors": [motor | {"rotor_inertia": 0.0}]})
    assert wrist_error(robot, judged)[0] < 0.8 * wrist_error(without, judged)[0]


def with_terms(found, own, others, std=0.05):
    """The fit with these coefficients of the other joint's acceleration in the laws of the last two joints."""
    at = [found.fit.structure.places(f"ca@{k}", found.fit.rigid.base.size)[j] for j, k in ((4, 5), (5, 4))]
    x, covariance = found.solution.x.copy(), found.solution.covariance.copy()
    x[at], covariance[at, at] = (own, others), std**2
    return replace(found.fit, solution=replace(found.solution, x=x, covariance=covariance))


@pytest.mark.parametrize(
    ("own", "others", "sign", "inertia"),
    [
        (0.4, 0.2, 1, 0.3),
        (-0.4, -0.2, -1, 0.3),
        (0.4, 0.2, -1, 0.0),  # contradicts the sign
        (0.1, 0.05, 1, 0.0),  # 2.1 deviations
        (0.6, -0.2, 1, 0.0),  # one of both is 4 deviations below zero
        (1.2, 1.2, 1, np.sqrt(0.5 * 0.8)),  # the inertia of both rotors would not be positive
    ],
)
def test_a_rotor_is_written_where_it_is_sure_and_physical(found, own, others, sign, inertia):
    rotor = np.array([2.0, 2.0, 1.0, 1.0, 0.5, 0.8])
    fit = with_terms(found, own, others)
    assert motor_inertia(fit, rotor, [(4, 5, sign)]) == pytest.approx([inertia])
    assert not motor_inertia(fit, np.zeros(6), [(4, 5, sign)]).any()  # the effort holds none
    assert not motor_inertia(fit, rotor, []).size


@pytest.mark.long
def test_no_motor_is_written_where_the_wrist_is_not_coupled(logs):
    runs = [recording(log, str(k)) for k, log in enumerate(logs)]
    found = steps(runs[:1], runs[1:], chosen=structure(COUPLED, 10.0), until="fit_together", search=True)
    assert not found.live.motors and not any(t[0] == "c" for law in found.structure.laws for t in law.terms)


def test_what_is_judged_is_what_the_live_stage_evaluates(found):
    part = found.filtered(found.validation[0]).take(np.arange(1500))
    load = found.live.rigid.torque(found.live.phi, part.q, part.qd, part.qdd)
    judged = found.live.friction_torque(part, load)
    np.testing.assert_array_equal(identified_robot(found).coupled_inertia, found.live.coupled)
    np.testing.assert_array_equal(file_friction(identified_robot(found), part, load), judged)


def test_learning_takes_it_off_as_the_live_stage_does(found):
    robot, part = identified_robot(found), found.filtered(found.validation[0]).take(np.arange(1500))
    bare = robot.with_updates({"hysteresis.motors": [], "hysteresis.parameters.bearing": [0.0] * 6})
    known = file_friction(robot, part, np.zeros((1500, 6))) - file_friction(bare, part, np.zeros((1500, 6)))
    known += part.qdd @ robot.coupled_inertia
    assert np.abs(known[:, 4:]).max() > 1.0 and known.any(axis=0).all()
    np.testing.assert_allclose(Columns(robot).known_torque(part), known, atol=1e-9)
