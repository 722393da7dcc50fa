"""The experiment command against the simulated controller over real sockets: the robot moves, the bag holds it."""

import numpy as np
import pytest
from click.testing import CliRunner

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.main import cli
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController

pytestmark = [pytest.mark.long, pytest.mark.realtime]


def test_experiment_over_the_driver_records_currents_and_desired_motion(tmp_path):
    robot = load_robot("ur5e")
    with SimulatedController("ur5e", host="127.9.47.1") as simulated, simulated.client():
        arguments = ["experiment", "reversals", "-r", "ur5e", "--ip", simulated.host, "--joint", "1", "--yes"]
        arguments += ["--count", "2", "--travel", "0.4", "--out", str(tmp_path / "bag")]
        done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    log, _ = load_bag(tmp_path / "bag", robot)
    assert len(log) > 500 and log.has("current") and log.has("temperature") and log.has("q_d")
    assert np.ptp(log.q[:, 0]) > 0.15 and np.ptp(log.q[:, 1:], axis=0).max() < 0.01
