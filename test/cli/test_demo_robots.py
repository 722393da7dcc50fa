"""What the demo and the reproductions assume about each robot holds: poses, limits, sources of assumed numbers."""

from pathlib import Path

import numpy as np
import pytest

from bench.papers.labs.thermal import SUBJECTS
from bench.papers.simoni import TASKS
from robot_dynamics_ros.cli.demo_robots import PERIOD, RESTS, base_file, circles, demo_robot, excitation, parameter_file
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.assumed import KEY, assumed_file
from robot_dynamics_ros.simulation.server.scenario import SCENARIOS
from robot_dynamics_ros.simulation.tool_path import STOP

ROBOTS = ("ur5e", "fr3", "comau_ns16")


@pytest.mark.parametrize("name", ROBOTS)
def test_the_tool_points_down_and_the_circle_is_within_reach_and_limits(name):
    robot, demo = assumed_file(name), demo_robot(name)
    pose = np.array(demo.pose)
    down = RobotModel(robot.chain(), robot.joint_names).fk(pose)[-1][:3, 2]
    assert down[2] < -0.95 and demo.scenario in SCENARIOS
    path = circles(robot, demo, 10.0, 100.0)[0]
    lower, upper = robot.array("limits.position_lower"), robot.array("limits.position_upper")
    assert ((lower <= path) & (path <= upper)).all()


@pytest.mark.parametrize("name", ROBOTS)
def test_the_excitation_stays_inside_the_limits(name):
    robot = assumed_file(name)
    q, qd, _ = excitation(robot, demo_robot(name), 11)
    lower, upper = robot.array("limits.position_lower"), robot.array("limits.position_upper")
    assert ((lower <= q) & (q <= upper)).all()
    assert np.all(np.abs(qd).max(axis=0) <= robot.array("limits.velocity"))


def test_assumed_numbers_say_that_they_are():
    shipped, assumed = load_robot("comau_ns16"), assumed_file("comau_ns16")
    assert shipped.links is None and assumed.links.source == {"*": KEY}
    assert assumed.drives.source["torque_constant"] == KEY and assumed.drives.source["gear_ratio"] != KEY
    assert "not of any real arm" in assumed.sources[KEY]
    assert assumed.drives.gear_ratio == shipped.drives.gear_ratio


@pytest.mark.parametrize("name", ["ur5e", "fr3"])
def test_a_robot_that_knows_its_masses_is_taken_as_shipped(name, tmp_path):
    assert assumed_file(name) == load_robot(name)
    assert base_file(name, tmp_path) == name
    assert "follow_host_clock: false" in Path(parameter_file(name, tmp_path)).read_text()


def test_the_comau_demo_writes_its_assumptions_down(tmp_path):
    path = base_file("comau_ns16", tmp_path)
    assert load_robot(path).drives.torque_constant == assumed_file("comau_ns16").drives.torque_constant
    assert "enable_commands: true" in Path(parameter_file("comau_ns16", tmp_path)).read_text()


def test_protocols_know_the_same_robots():
    assert set(TASKS) == set(SUBJECTS) == {"ur5e", "comau_ns16"}


def test_a_robot_of_another_maker_has_no_demo():
    with pytest.raises(ConfigError, match="no demo|not found|template"):
        demo_robot("template")


@pytest.mark.parametrize("name", ROBOTS)
def test_one_push_comes_while_the_tool_stands(name):
    schedule = SCENARIOS[demo_robot(name).scenario]
    assert schedule.period == PERIOD
    still = [(begin + STOP, end - STOP) for begin, end in RESTS]
    inside = [c for c in schedule.contacts if any(a <= c.begin and c.begin + c.duration <= b for a, b in still)]
    assert len(inside) == 1 and inside[0].direction == (1.0, 0.0, 0.0)
