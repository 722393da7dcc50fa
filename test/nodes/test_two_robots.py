"""Two robots in one graph without namespaces: everything of each is below its prefix."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Float64MultiArray
from stepped import Observed

from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.topics import INPUT_TOPICS, TOPICS

ROBOT = load_robot("ur5e")
REST = np.array([0.3, -0.9, 1.1, -0.5, 0.2, 0.0])
GRAVITY = RobotModel(ROBOT.chain(), ROBOT.joint_names).gravity(REST)
SIDES = ("left", "right")


@pytest.fixture
def observed():
    made = []
    yield lambda *graphs: made.append(Observed(*graphs)) or made[-1]
    for nodes in made:
        nodes.close()


def watched(**options):
    return describe("ur5e", "none", **options)


def told(observed, topic, answers, count):
    """States on a topic until each of the topics `answers` has been heard `count` times."""
    publisher = observed.node.create_publisher(JointState, topic, 10)
    heard = [observed.heard[name] for name in answers]
    node = observed.node
    observed.spin(lambda: all(node.count_publishers(n) and node.count_subscribers(n) for n in answers))
    while min(map(len, heard)) < count:
        observed.tell(publisher, ROBOT.joint_names, REST, GRAVITY)
    return publisher


def test_two_robots_share_a_graph_without_a_name_in_common(observed):
    both = observed(*(watched(prefix=side, joint_states=f"{side}/joint_states") for side in SIDES))
    for side in SIDES:
        both.hear(Bool, f"{side}/contact", 100)
        both.hear(JointState, f"{side}/joint_contact", 100)
        both.hear(Float64MultiArray, f"{side}/electrical_power", 100)
        told(both, f"{side}/joint_states", [f"{side}/{n}" for n in ("contact", "joint_contact", "electrical_power")], 3)
    published = [both.node.get_publisher_names_and_types_by_node(f"{side}_composed_node", "/") for side in SIDES]
    names = {name for topics in published for name, _ in topics}
    assert [node.path for node in both.nodes] == [f"{side}_composed_node" for side in SIDES]
    estimated = {*TOPICS, "contact_markers"} - {*INPUT_TOPICS}
    assert not {name for name in names if name.strip("/").split("/")[0] in estimated}, names
    assert not any("robot_description" in name for name in names)  # the existing driver's
    array = both.heard["left/electrical_power"][-1]
    assert array.layout.dim[0].label.split(",") == [*ROBOT.joint_names, "total"] and len(array.data) == 7
    assert not any(m.data for m in both.heard["right/contact"])
    assert both.heard["left/joint_contact"][-1].name[-1] == "tcp"


def test_a_second_robot_on_the_same_topics_is_an_error(observed):
    one = observed(watched(namespace="cell"))  # other tests have nodes without one
    one.hear(WrenchStamped, "cell/robot_dynamics/external_wrench", 100)
    told(one, "cell/joint_states", ["cell/robot_dynamics/external_wrench"], 3)
    (text,) = (s.message for s in one.nodes[0].diagnose() if s.name.endswith("middleware"))
    assert text == "ok"
    one.node.create_publisher(WrenchStamped, "cell/robot_dynamics/external_wrench", 1)
    one.spin(lambda: "give each robot a namespace or a prefix" in one.nodes[0].diagnose()[0].message)
