"""The polishing task: reachable, with the wall where the path says, and a true force near the asked one."""

import numpy as np
import pytest

from bench.polishing import polishing
from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.simulation.tool_path import cartesian, circling
from robot_dynamics_ros.trajectories.motions import times

Q = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])


def test_desired_path_keeps_the_tool_upright_on_its_circles():
    robot = load_robot("ur5e")
    task = polishing(robot, Q, radius=0.04)
    T = _core.RigidBody(robot.chain()).fk(task.motion[0])[:, -1]
    np.testing.assert_allclose(T[:, :3, :3], np.broadcast_to(T[0, :3, :3], (len(T), 3, 3)), 0, 1e-6)
    assert np.ptp(T[:, 0, 3]) == pytest.approx(0.08, rel=0.05)
    below = task.wall["point"][2] - T[:, 2, 3]
    assert task.wall["stiffness"] * np.clip(below, 0, None) == pytest.approx(task.force, abs=0.05)


def test_simulated_tool_presses_with_about_the_asked_force_and_only_then():
    robot = SimulatedRobot("ur5e")
    task = polishing(robot.robot, Q, force=30.0)
    task.start(robot)
    _, truth = robot.run(*task.motion)
    normal = truth["external_wrench"][:, 2]
    assert normal[task.force > 29.9].mean() == pytest.approx(30.0, rel=0.25)
    assert normal[:1800].max() == 0.0 and normal[-50:].max() == 0.0
    moving = (task.force > 29.9) & (np.linalg.norm(np.gradient(truth["tcp_position"], 0.002, axis=0), axis=1) > 0.02)
    sideways = np.linalg.norm(truth["external_wrench"][moving, :2], axis=1)
    assert sideways / normal[moving] == pytest.approx(0.15, rel=0.05)


def test_seven_joints_and_unreachable_paths():
    stand = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
    task = polishing(load_robot("fr3"), stand, rate=1000.0, duration=6.0, phases=((3.0, 5.0),))
    assert task.motion[0].shape == (6000, 7)
    with pytest.raises(ValueError, match="reach"):
        cartesian(load_robot("ur5e"), Q, np.linspace(0, 1, 500)[:, None] * [2.0, 0, 0])


def test_it_stands_in_its_rests_and_moves_on():
    rate, rests = 250.0, [(3.0, 5.0), (9.0, 12.0)]
    path = circling(times(14.0, rate), rate, 0.04, 4.0, rests)
    q, qd, qdd = cartesian(load_robot("ur5e"), Q, path, rate)
    t, speed = np.arange(len(q)) / rate, np.abs(qd).max(axis=1)
    for begin, end in rests:
        assert speed[(t > begin + 0.65) & (t < end - 0.65)].max() < 1e-6
        assert speed[(t > begin - 0.5) & (t < begin)].min() > 0.01
        assert speed[(t > end + 0.1) & (t < end + 0.5)].min() > 0.01
    assert np.abs(np.gradient(q, 1 / rate, axis=0) - qd)[5:-5].max() < 5e-3
    assert np.abs(qdd).max() < 3.0
