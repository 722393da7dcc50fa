"""Shipped robot files load, say where every number comes from, and survive a save/load round trip."""

import numpy as np
import pytest

from robot_dynamics_ros.config import load_robot, save_robot, shipped_robots


@pytest.mark.parametrize("name", shipped_robots())
def test_shipped_file_survives_a_round_trip(name, tmp_path):
    robot = load_robot(name)
    saved = save_robot(robot, tmp_path / "copy.yaml", command="test")
    assert load_robot(tmp_path / "copy.yaml") == saved
    assert saved.model_copy(update={"provenance": robot.provenance}) == robot


def test_updates_are_validated_and_leave_the_original_alone():
    robot = load_robot("ur5e")
    fc = np.arange(6.0)
    assert np.array_equal(robot.with_updates({"friction.parameters.fc": fc}).array("friction.parameters.fc"), fc)
    assert not np.array_equal(robot.array("friction.parameters.fc"), fc)
