"""Two robots in one graph without namespaces: everything of each is below its prefix."""

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_graph import Listener, Process  # isort: skip  (sets the domain before rclpy is initialised)

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.topics import INPUT_TOPICS, TOPICS

pytestmark = pytest.mark.realtime

ROBOT = load_robot("ur5e")
REST = np.array([0.3, -0.9, 1.1, -0.5, 0.2, 0.0])
GRAVITY = RobotModel(ROBOT.chain(), ROBOT.joint_names).gravity(REST)
SIDES = ("left", "right")


def drive(listener, topic):
    """A driver of somebody else at 100 Hz: a robot at rest, effort in Nm with gravity."""
    publisher = listener.node.create_publisher(JointState, topic, 10)

    def tick():
        message = JointState(
            name=ROBOT.joint_names, position=REST.tolist(), velocity=[0.0] * 6, effort=GRAVITY.tolist()
        )
        message.header.stamp = listener.node.get_clock().now().to_msg()
        publisher.publish(message)

    listener.node.create_timer(0.01, tick)
    return publisher


@pytest.fixture
def listener():
    made = Listener("beside")
    yield made
    made.close()


def observe(*arguments):
    return Process("robot_dynamics_ros.cli.main", "up", "--robot", "ur5e", "--driver", "none", *arguments)


def test_two_robots_share_a_graph_without_a_name_in_common(listener):
    nodes = []
    for side in SIDES:
        drive(listener, f"{side}/joint_states")
        listener.hear(Bool, f"{side}/contact")
        listener.hear(JointState, f"{side}/joint_contact")
        listener.hear(Float64MultiArray, f"{side}/electrical_power")
        nodes.append(observe("--prefix", side, "--joint-states", f"{side}/joint_states"))
    try:
        listener.spin(lambda: len(listener.heard) == 6 and all(len(m) > 5 for m in listener.heard.values()), 60.0)
        names = {name for name, _ in listener.node.get_topic_names_and_types()}
        diagnosed = [f"/{side}_composed_node" for side in SIDES]
        assert set(diagnosed) <= {f"/{name}" for name in listener.node.get_node_names()}
    finally:
        outputs = [node.end() for node in nodes]
    assert all(status == 0 and "Traceback" not in output for status, output in outputs), outputs
    estimated = {*TOPICS, "contact_markers"} - {*INPUT_TOPICS}
    assert not {name for name in names if name.strip("/").split("/")[0] in estimated}, names
    assert not any("robot_description" in name for name in names)  # the existing driver's
    array = listener.heard["left/electrical_power"][-1]
    assert array.layout.dim[0].label.split(",") == [*ROBOT.joint_names, "total"] and len(array.data) == 7
    assert not any(m.data for m in listener.heard["right/contact"])
    assert listener.heard["left/joint_contact"][-1].name[-1] == "tcp"


def test_a_second_robot_on_the_same_topics_is_an_error(listener):
    drive(listener, "joint_states")
    listener.hear(DiagnosticArray, "/diagnostics")
    listener.hear(WrenchStamped, "robot_dynamics/external_wrench")
    node = observe()
    try:
        listener.spin(lambda: len(listener.heard["robot_dynamics/external_wrench"]) > 5, 60.0)
        rival = listener.node.create_publisher(WrenchStamped, "robot_dynamics/external_wrench", 1)

        def messages():
            return [
                s.message for m in listener.heard["/diagnostics"] for s in m.status if s.name.endswith("middleware")
            ]

        listener.spin(lambda: any("give each robot a namespace or a prefix" in text for text in messages()))
        listener.node.destroy_publisher(rival)
    finally:
        status, output = node.end()
    assert status == 0 and "Traceback" not in output, output
