"""A node's parts on a robot that the test steps."""

import pytest


@pytest.fixture
def make(monkeypatch):
    """make(**parameters): parts of a node without ROS traffic, and the driver of an unloaded UR5e that they step."""
    from stepped import NodeDouble, SteppedDriver

    from robot_dynamics_ros.nodes.robot import motion_interface
    from robot_dynamics_ros.robot_file import load_robot

    monkeypatch.setattr(motion_interface, "action_type", lambda: None)  # an action needs a node of rclpy
    robot = load_robot("ur5e").with_updates({"payload.mass": 0.0, "payload.com": [0.0, 0.0, 0.0]})

    def made(**given):
        driver = SteppedDriver(robot)
        return NodeDouble(driver, **given), driver

    return made


@pytest.fixture
def stand(make):
    return make()
