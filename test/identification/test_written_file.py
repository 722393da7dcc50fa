"""What the written robot file keeps of the validated fit: coupled wrists, and efforts without the rotors' torque."""

from copy import copy

import numpy as np
import pytest
from prepared import COUPLED, ROBOT, TRUTH, laws, r2, sliding, steps, structure
from synthetic import coupled_wrist, excitation, synthetic_log

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import Log


def without_rotors(log: Log, seed: int) -> Log:
    """A controller that takes twice the rotors' torque off: less than the links' own inertia is left."""
    qdd = excitation(6, 12.0, 125.0, seed)[3]
    signals = {**log.signals, "effort": log.effort - 2 * TRUTH.rotor * qdd}
    return Log(log.joint_names, log.stamp_ns, signals, log.receive_ns)


def identified(change, chosen):
    made = [synthetic_log(ROBOT, TRUTH, seed, duration=12.0) for seed in (1, 2)]
    runs = [recording(change(log, seed), str(seed)) for seed, log in enumerate(made, 1)]
    return steps(runs[:1], runs[1:], chosen=structure(chosen), until="fit_together")


@pytest.fixture(scope="module")
def wrist():
    return identified(lambda log, seed: coupled_wrist(log), COUPLED)


@pytest.fixture(scope="module")
def lacking():
    return identified(without_rotors, laws())


def test_a_sample_rate_that_was_unknown_is_that_of_the_recording(wrist):
    assert identified_robot(wrist).sensing.sample_rate == ROBOT.sensing.sample_rate
    new = copy(wrist)
    new.robot = ROBOT.with_updates({"sensing.sample_rate": None})
    assert identified_robot(new).sensing.sample_rate == 125


def test_coupled_wrist_is_in_the_written_file(wrist, tmp_path):
    save_robot(identified_robot(wrist), tmp_path / "arm.yaml")
    (motor,) = load_robot(tmp_path / "arm.yaml").hysteresis.motors
    assert (motor.joint, motor.turns_with, motor.sign) == ("wrist_2_joint", "wrist_3_joint", 1)
    v = np.array([0.2, 0.4, 0.8])
    np.testing.assert_allclose(sliding(motor, v), 1.2 + 1.0 * v, rtol=0.1)
    assert np.all(r2(wrist, wrist.live.predict) > r2(wrist) - 0.003)


def test_effort_without_the_rotors_keeps_what_is_beside_the_links(lacking, tmp_path):
    assert not lacking.rotor_included
    save_robot(identified_robot(lacking), tmp_path / "arm.yaml")
    robot = load_robot(tmp_path / "arm.yaml")
    assert not robot.drives.effort.includes_rotor_inertia
    np.testing.assert_allclose(robot.effort_inertia, lacking.rotor)
    np.testing.assert_allclose(robot.effort_inertia[2:], -TRUTH.rotor[2:], atol=0.03)
    assert np.all(r2(lacking, lacking.live.predict) > r2(lacking) - 0.003)
    Pipeline(robot).run(synthetic_log(ROBOT, TRUTH, 5, duration=1.0))  # every stage takes it


def test_residual_inertia_of_the_wrong_length_is_refused():
    with pytest.raises(ConfigError, match="residual_inertia"):
        ROBOT.with_updates({"drives.effort.residual_inertia": [0.1, 0.2]})
