"""A push beside the TCP loads other joints than one at the TCP does."""

import numpy as np
import pytest

from robot_dynamics_ros.estimators.contact_place import beside_tcp
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

ROWS, FREE = 20, 5  # samples of a contact, and between two


def pushed(robot, points, moment, count=40, pressed=None):
    """Contacts of 100 N, each in a pose and direction of its own, at points (n + 1, 3 of poses) -> point of a push;
    pressed: of that many N along the axis of the last joint.
    """
    rng, model, n = np.random.default_rng(3), RobotModel(robot.chain()), robot.n_joints
    q, tau, step = rng.uniform(-1.5, 1.5, (count, n)), np.zeros((count, n)), 1e-6
    for k in range(count):
        ends = model.fk(q[k] + step * np.vstack([np.eye(n), -np.eye(n)]))[:, :, :3, 3]
        force = model.jacobian(q[k])[3:, -1] if pressed else rng.normal(size=3)
        force *= (pressed or 100.0) / np.linalg.norm(force)
        at = points(ends)
        tau[k] = (at[:n] - at[n:]) / (2 * step) @ force
        tau[k] += model.jacobian(q[k])[3:].T @ rng.normal(0.0, moment, 3)
    std = np.linspace(1.5, 0.3, n)
    tau += std * rng.normal(size=tau.shape)
    flags = np.tile(np.repeat([1.0, 0.0], [ROWS, FREE]), count)
    rows = {"q": q, "external_joint_torque": tau, "external_joint_torque_std": np.tile(std, (count, 1))}
    signals = {name: np.repeat(values, ROWS + FREE, axis=0) for name, values in rows.items()}
    signals["contact"] = np.repeat(flags[:, None], n + 1, axis=1)
    return Log(robot.joint_names, 10_000_000 * np.arange(len(flags)), signals)


def forearm(ends):
    return (ends[:, 2] + ends[:, 3]) / 2


@pytest.mark.parametrize("name", ["ur5e", "fr3"])
def test_a_push_on_the_forearm_is_told_from_one_at_the_tcp(name):
    robot = load_robot(name)
    assert beside_tcp(pushed(robot, lambda ends: ends[:, -1], 1.0), robot).mean() < 0.05
    log = pushed(robot, forearm, 0.0)
    beside = beside_tcp(log, robot)
    assert len(beside) == 40 and beside.mean() > 0.8
    log.stamp_ns //= 4
    assert not beside_tcp(log, robot).any()  # of contacts of 0.05 s nothing is said


def test_a_tool_that_presses_hardly_loads_the_wrist_and_is_at_the_tcp():
    robot = load_robot("ur5e")
    assert not beside_tcp(pushed(robot, lambda ends: ends[:, -1], 0.0, pressed=10.0), robot).any()


def test_without_a_contact_there_is_nothing_to_judge():
    robot = load_robot("ur5e")
    log = pushed(robot, lambda ends: ends[:, -1], 0.0, count=1)
    log.contact = np.zeros_like(log.contact)
    assert beside_tcp(log, robot).shape == (0,)
