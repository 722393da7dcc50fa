"""Cost of comparing many recordings: what is recorded, and the table."""

import numpy as np
import pytest
from click.testing import CliRunner

from bench.__main__ import cli
from bench.speed import compare_scale as fleet_scale
from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.robot_file import load_robot


def test_recordings_are_of_one_robot_and_every_tenth_is_worn(tmp_path):
    robot = load_robot("ur5e")
    (first, seconds), (last, _) = (fleet_scale.record(robot, k, tmp_path) for k in (0, 9))
    log, _ = load_bag(first)
    assert log.has("q") and log.has("effort") and log.time[-1] == pytest.approx(seconds, abs=0.01)
    assert not np.array_equal(log.q[:500], load_bag(last)[0].q[:500])
    assert [k for k in range(30) if fleet_scale.worn(k)] == [9, 19, 29]


@pytest.mark.parametrize("given", ["", "0", "3,2", "1,1001", "x"])
def test_numbers_of_recordings_are_checked(given):
    done = CliRunner().invoke(cli, ["compare-scale", "--recordings", given])
    assert done.exit_code != 0 and "no list of rising numbers" in str(done.exception)
