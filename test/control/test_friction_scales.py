"""Friction scales for a UR controller: what a hand feels on the simulated controller, and that the arm stays put."""

import json

import numpy as np
import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.control.friction_scales import SHARE, FrictionScales, friction_scales
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot

UR5E = load_robot("ur5e")
POSE = np.array([0.0, -1.4, 1.4, -1.5, -1.5, 0.0])
NONE = FrictionScales(np.zeros(6), np.zeros(6))
STIFF = np.array([40.0, 40.0, 40.0, 8.0, 8.0, 8.0])  # integral gain of the hand [Nm/rad]


def machine(temperature=35.0):
    """The robot inside the simulated controller, which has a friction model of its own."""
    simulated = SimulatedRobot(UR5E, rate=500.0, q=POSE)
    simulated.set_temperatures(temperature)
    return simulated


LEVELS = {"fc": "coulomb", "fs": "stribeck"}


@pytest.fixture(scope="module")
def identified():
    """A robot file with the friction of the simulated machine: a perfect identification."""
    true = machine().machine.true
    law = {k: true[f"friction.{name}"] + true["transmission.bearing_friction"] for k, name in LEVELS.items()}
    law |= {"vs": true["friction.stribeck_velocity"], "fv1": true["friction.viscous"], "mu": 2.0}
    law |= dict.fromkeys(("fv2", "fv3", "fl", "ft2", "ft3"), 0.0)
    block = {"source": "found", "model": "madsen", "parameters": law, "reference_temperature": 35.0}
    return UR5E.with_updates({"friction": block, "hysteresis": None}, {"found": "the simulated machine"})


def keeping_force(scales, joint):
    """Torque [Nm] with which a hand keeps one joint at 0.1 rad/s (mean of the last second of three)."""
    simulated, torque, given = machine(), np.zeros(6), []
    integral = 0.0
    for k in range(1500):
        error = 0.1 - simulated.record().qd[joint]
        integral += STIFF[joint] * error / 500.0
        torque[joint] = integral + 1.5 * STIFF[joint] * error
        simulated.step_torque(torque, scales.viscous, scales.coulomb)
        given += [torque[joint]] if k >= 1000 else []
    return np.mean(given)


def breakaway(scales, joint):
    """Torque [Nm] of a slowly stronger push from rest when the joint has gone 0.01 rad."""
    simulated, torque = machine(), np.zeros(6)
    for _ in range(10_000):
        torque[joint] += 0.1 * STIFF[joint] / 500.0
        if simulated.step_torque(torque, scales.viscous, scales.coulomb).q[joint] - POSE[joint] > 0.01:
            return torque[joint]
    raise AssertionError(f"joint {joint} stays at rest under {torque[joint]:.1f} Nm")


@pytest.mark.parametrize("force", [keeping_force, breakaway])
def test_a_hand_needs_half_the_force_to_move_or_start_each_joint(identified, force):
    scales = friction_scales(identified)
    for joint in range(6):
        assert force(scales, joint) < 0.5 * force(NONE, joint)


def test_a_push_below_the_start_leaves_the_arm_at_rest(identified):
    scales = friction_scales(identified)
    for joint in range(6):
        simulated, torque = machine(), np.zeros(6)
        torque[joint] = 0.5 * breakaway(scales, joint)
        q = [simulated.step_torque(torque * (k < 500), scales.viscous, scales.coulomb).q.copy() for k in range(3000)]
        assert np.abs(q[-1] - q[1000]).max() < 1e-4


@pytest.mark.parametrize("temperature", [25.0, 35.0, 50.0])
def test_the_arm_does_not_move_by_itself(identified, temperature):
    scales, simulated = friction_scales(identified), machine(temperature)
    q = np.array([simulated.step_torque(np.zeros(6), scales.viscous, scales.coulomb).q.copy() for _ in range(2500)])
    assert np.abs(q[500:] - q[500]).max() < 1e-4  # rad in 4 s; the encoder's step is 2.4e-5


def test_an_arm_that_was_guided_comes_to_rest(identified):
    scales = friction_scales(identified)
    for joint in range(6):
        simulated, torque = machine(), np.zeros(6)
        for _ in range(400):
            torque[joint] = 2.0 * STIFF[joint] * (0.3 - simulated.record().qd[joint])
            simulated.step_torque(torque, scales.viscous, scales.coulomb)
        q = [simulated.step_torque(np.zeros(6), scales.viscous, scales.coulomb).q.copy() for _ in range(1500)]
        assert np.abs(q[-1] - q[-500]).max() < 1e-4


def test_full_compensation_of_the_controllers_model_is_too_much_for_this_robot(identified):
    """What the scales guard against: with UR's defaults of 0.9 and 0.8 a wrist that was pushed goes on by itself."""
    simulated, q = machine(), []
    for k in range(2500):
        torque = 3.0 * (k < 300) * np.eye(6)[5]
        q.append(simulated.step_torque(torque, np.full(6, 0.9), np.full(6, 0.8)).q[5])
    assert q[-1] - q[1500] > 0.1


def test_scales_follow_their_equation_and_stay_in_range(identified):
    plain = UR5E.with_updates({"friction.parameters": {"fc": 2.5, "fv": 2.2}, "hysteresis": None})
    scales = friction_scales(plain)
    np.testing.assert_allclose(scales.coulomb, SHARE * 2.5 / UR5E.array("friction.parameters.fc"), rtol=1e-6)
    np.testing.assert_allclose(scales.viscous, np.minimum(SHARE * 2.2 / UR5E.array("friction.parameters.fv"), 1.0))
    strong = UR5E.with_updates({"friction.parameters": {"fc": 400.0, "fv": 200.0}, "hysteresis": None})
    assert (friction_scales(strong).coulomb == 1.0).all() and (friction_scales(strong).viscous == 1.0).all()


def test_what_has_no_scales_is_refused(identified):
    with pytest.raises(ConfigError, match="only UR"):
        friction_scales(load_robot("fr3"))
    with pytest.raises(CapabilityError, match="friction is null"):
        friction_scales(identified.with_updates({"friction": None}))


def test_the_command_writes_scales_and_the_service_call(identified, tmp_path):
    save_robot(identified, tmp_path / "mine.yaml")
    arguments = [str(tmp_path / "mine.yaml"), "--format", "ur-friction-scales", "--out", str(tmp_path / "scales.json")]
    done = robot_dynamics("export", *arguments, catch_exceptions=False)
    written = json.loads((tmp_path / "scales.json").read_text())
    assert done.exit_code == 0 and written["service_call"] in done.output and "estimate" not in done.output
    np.testing.assert_allclose(written["coulomb_scale"], friction_scales(identified).coulomb, atol=5e-4)
    arguments = ["ur5e", "--format", "ur-friction-scales", "--out", str(tmp_path / "other.json")]
    assert "is an estimate, not identified" in robot_dynamics("export", *arguments, catch_exceptions=False).output
