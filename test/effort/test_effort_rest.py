"""The meaning of an effort is recognised at rest, from gravity, in spite of friction and a slightly wrong model."""

import numpy as np
import pytest
from presliding_joint import elements
from synthetic import MODEL, UR5E

from robot_dynamics_ros.effort.evidence import REST_SAMPLES as SAMPLES
from robot_dynamics_ros.effort.meaning import WORDS, declared
from robot_dynamics_ros.effort.rest import EffortRecognition, stuck_friction
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot


def recognised(effort_of, *poses, seed=0, moving=0.0, robot=UR5E):
    rng, recognition, verdict = np.random.default_rng(seed), EffortRecognition(robot), None
    model, fc = RobotModel(robot.chain(), robot.joint_names), robot.array("friction.parameters.fc")
    for q in poses:
        torque = model.gravity(q) * rng.uniform(0.95, 1.05, 6) + 0.4 * fc * rng.uniform(-1, 1, 6)
        for _ in range(SAMPLES):
            verdict = recognition.add(q, np.full(6, moving), effort_of(torque, q) + rng.normal(0, 0.05, 6))
    return verdict


STRETCHED = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])
POSES = [STRETCHED, STRETCHED + [0, 0.3, -0.2, 0, 0, 0], STRETCHED + [0, -0.2, 0.3, 0.4, 0, 0]]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur10e", "ur16e"])
def test_torque_current_and_compensated_are_distinguished(name, seed):
    robot = load_robot(name)
    model, given = RobotModel(robot.chain(), robot.joint_names), {"robot": robot, "seed": seed}
    constant = robot.array("drives.torque_constant")
    assert str(recognised(lambda t, q: t, STRETCHED, **given).meaning) == "Nm, gravity included"
    assert str(recognised(lambda t, q: t / constant, *POSES, **given).meaning) == "A, gravity included"
    removed = recognised(lambda t, q: t - model.gravity(q), *POSES, **given).meaning
    assert removed is None or not removed.includes_gravity


def test_compensated_effort_is_recognised():
    assert str(recognised(lambda t, q: 0.3 * (t - MODEL.gravity(q)), *POSES).meaning) == "Nm, gravity already removed"


def test_nothing_is_reported_in_motion_upright_or_about_garbage():
    assert recognised(lambda t, q: t, STRETCHED, moving=0.1) is None
    upright = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
    assert recognised(lambda t, q: t, upright).meaning is None
    assert recognised(lambda t, q: 5 * t, STRETCHED).meaning is None
    assert recognised(lambda t, q: np.full(6, np.nan), STRETCHED) is None


def test_no_power_is_no_evidence():
    recognition = EffortRecognition(UR5E)
    assert all(recognition.add(STRETCHED, np.zeros(6), np.zeros(6)) is None for _ in range(2 * SAMPLES))


def test_gain_of_a_meaning_is_effort_per_torque():
    bare = UR5E.with_updates({"drives.torque_constant": None})
    assert WORDS["torque"].gain(bare) == 1.0 and WORDS["torque"].has_gain(bare)
    np.testing.assert_array_equal(WORDS["current"].gain(UR5E), 1 / UR5E.array("drives.torque_constant"))
    assert not WORDS["current"].has_gain(bare)
    with pytest.raises(CapabilityError, match="torque_constant"):
        WORDS["current"].gain(bare)


@pytest.mark.parametrize("word", WORDS)
def test_a_meaning_written_into_a_robot_file_is_read_back(word):
    assert declared(UR5E.with_updates(WORDS[word].updates)) == WORDS[word]


def test_friction_whose_level_is_in_the_presliding_block_may_hold_a_joint():
    """Identified files hold it there; with the Coulomb level of the static law, 0, slopes would be exact."""
    updates = {"friction.parameters.fc": [0.0] * 6, "hysteresis": elements([1e-4, 1e-3], [1.0, 2.0])}
    identified = UR5E.with_updates(updates, {"test": "numbers of a test"})
    np.testing.assert_allclose(stuck_friction(identified), 0.5 * 3.0)


def test_offsets_of_wrist_sensors_that_the_file_holds_are_no_reversed_signs():
    """Twice the gravity of these wrists, and of the other sign; with exact slopes the effort of both was refused."""
    offset = np.where(np.isin(np.arange(6), (3, 4)), -2.0 * MODEL.gravity(STRETCHED), 0.0)
    friction = {"friction.parameters.fc": [0.1] * 6, "friction.parameters.fo": offset}
    robot = UR5E.with_updates({"drives.torque_side": "link"} | friction, {"test": "numbers of a test"})
    assert recognised(lambda t, q: t + offset, *POSES, robot=robot).doubtful == ()
    without = robot.with_updates({"friction.parameters.fo": [0.0] * 6})
    assert recognised(lambda t, q: t + offset, *POSES, robot=without).refused
