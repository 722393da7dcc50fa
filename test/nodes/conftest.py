"""Tests of nodes are skipped without rclpy; a node's parts on a robot that the test steps."""

from importlib.util import find_spec

import pytest

WITHOUT_ROS = ("test_metrics.py", "test_node_docs.py", "test_policies.py")
if ros := find_spec("rclpy"):
    import ros_graph  # noqa: F401 - sets the middleware before a test initialises rclpy


class Skipped(pytest.Module):
    """A file that cannot be imported."""

    def collect(self):
        pytest.skip("rclpy is not installed", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    if ros is None and module_path.name not in WITHOUT_ROS:
        return Skipped.from_parent(parent, path=module_path)
    return None


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


@pytest.fixture(scope="module")
def rig():
    """A node around a UR5e that the test steps and that can all that robots can; its states and motion are heard."""
    from sensor_msgs.msg import JointState
    from std_msgs.msg import String
    from stepped import Stepped, SteppedDriver

    from robot_dynamics_ros.drivers.franka.driver import FrankaDriver
    from robot_dynamics_ros.drivers.ur.driver import UrDriver

    able = UrDriver.capabilities | FrankaDriver.capabilities - {"vendor_force", "rotor"}
    made = Stepped(SteppedDriver("ur5e", able))
    made.hear(String, "composed_node/motion", 100)
    made.hear(JointState, "joint_states", 500)
    made.seconds(0.2)
    yield made
    made.close()
