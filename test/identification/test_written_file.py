"""What the written robot file keeps of the validated fit where the effort lacks the rotors' torque."""

from copy import copy

import numpy as np
import pytest
from prepared import TRUTH, UR5E, laws, r2, steps, structure
from synthetic import excitation, synthetic_log, with_signals

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.signals import Log


def without_rotors(log: Log, seed: int) -> Log:
    """A controller that takes twice the rotors' torque off: less than the links' own inertia is left."""
    qdd = excitation(6, 12.0, 125.0, seed)[3]
    return with_signals(log, effort=log.effort - 2 * TRUTH.rotor * qdd)


@pytest.fixture(scope="module")
def lacking():
    made = [without_rotors(synthetic_log(UR5E, TRUTH, seed, duration=12.0), seed) for seed in (1, 2)]
    runs = [recording(log, str(k)) for k, log in enumerate(made)]
    return steps(runs[:1], runs[1:], chosen=structure(laws()), until="fit_together")


def test_a_sample_rate_that_was_unknown_is_that_of_the_recording(lacking):
    assert identified_robot(lacking).sensing.sample_rate == UR5E.sensing.sample_rate
    new = copy(lacking)
    new.robot = UR5E.with_updates({"sensing.sample_rate": None})
    assert identified_robot(new).sensing.sample_rate == 125


def test_effort_without_the_rotors_keeps_what_is_beside_the_links(lacking, tmp_path):
    assert not lacking.rotor_included
    save_robot(identified_robot(lacking), tmp_path / "arm.yaml")
    robot = load_robot(tmp_path / "arm.yaml")
    assert not robot.drives.effort.includes_rotor_inertia
    np.testing.assert_allclose(robot.effort_inertia, lacking.rotor)
    np.testing.assert_allclose(robot.effort_inertia[2:], -TRUTH.rotor[2:], atol=0.03)
    assert np.all(r2(lacking, lacking.live.predict) > r2(lacking) - 0.003)
    Pipeline(robot).run(synthetic_log(UR5E, TRUTH, 5, duration=1.0))  # every stage takes it


def test_residual_inertia_of_the_wrong_length_is_refused():
    with pytest.raises(ConfigError, match="residual_inertia"):
        UR5E.with_updates({"drives.effort.residual_inertia": [0.1, 0.2]})
