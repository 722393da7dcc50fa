"""Without a driver of ours: another joint order, effort in ampere, old and malformed messages; recording."""

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_graph import Listener, Process  # isort: skip  (sets the domain before rclpy is initialised)

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from robot_dynamics_ros.bags.live_writer import recover
from robot_dynamics_ros.bags.storage import read_topics
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.topics.encoding import to_ns, to_time
from robot_dynamics_ros.robot_file import load_robot

pytestmark = pytest.mark.realtime

ROBOT = load_robot("ur5e")
MODEL = RobotModel(ROBOT.chain(), ROBOT.joint_names)
ORDER = [2, 1, 0, 3, 4, 5]  # as the vendor's driver publishes them
REST = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])


class Foreign:
    """A driver of somebody else: 500 Hz by its own stamps, effort as given."""

    def __init__(self, listener, effort):
        self.node = listener.node
        self.publisher = self.node.create_publisher(JointState, "vendor/joint_states", 10)
        self.effort, self.timer = effort, self.node.create_timer(0.004, self.tick)
        self.rng = np.random.default_rng(3)

    def stop(self):
        """Publish no more. The timer stays: the executor may hold a call of it that it has not made yet."""
        self.timer.cancel()
        self.node.destroy_publisher(self.publisher)
        self.publisher = None

    def tick(self):
        if self.publisher is None:
            return
        message = JointState(name=[ROBOT.joint_names[i] for i in ORDER])
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.position = REST[ORDER].tolist()
        message.velocity = [0.0] * 6
        message.effort = (self.effort + self.rng.normal(0, 0.02, 6))[ORDER].tolist()
        self.publisher.publish(message)


@pytest.fixture(scope="module")
def listener():
    made = Listener("foreign")
    made.hear(WrenchStamped, "robot_dynamics/external_wrench")
    made.hear(DiagnosticArray, "/diagnostics")
    yield made
    made.close()


@pytest.fixture
def observed(listener):
    current = MODEL.gravity(REST) / ROBOT.array("drives.torque_constant")
    foreign = Foreign(listener, current)
    up = ("robot_dynamics_ros.cli.main", "up", "--robot", "ur5e", "--driver", "none")
    node = Process(*up, "--joint-states", "vendor/joint_states")
    listener.heard["robot_dynamics/external_wrench"].clear()
    yield foreign
    foreign.stop()
    status, output = node.end()
    assert status == 0 and "Traceback" not in output, output


def statuses(listener):
    return {v.value for m in listener.heard["/diagnostics"] for s in m.status for v in s.values if v.key == "effort"}


def test_current_in_another_joint_order_is_recognised_and_gives_no_false_force(listener, observed):
    listener.spin(lambda: "effort recognised at rest: A, gravity included" in statuses(listener))
    listener.heard["robot_dynamics/external_wrench"].clear()
    listener.spin(lambda: len(listener.heard["robot_dynamics/external_wrench"]) > 300)
    force = listener.heard["robot_dynamics/external_wrench"][-1].wrench.force
    assert np.linalg.norm([force.x, force.y, force.z]) < 15.0


def test_old_malformed_and_incomplete_messages_are_refused_and_reported(listener, observed):
    listener.spin(lambda: len(listener.heard["robot_dynamics/external_wrench"]) > 10)
    bad = listener.node.create_publisher(JointState, "vendor/joint_states", 10)
    now = listener.node.get_clock().now().nanoseconds

    def refused():
        return {v.key for m in listener.heard["/diagnostics"] for s in m.status for v in s.values if "refused" in v.key}

    def publish():
        for names, stamp in ((ROBOT.joint_names[:5], now), (ROBOT.joint_names, now - 60_000_000_000)):
            message = JointState(name=names, position=[0.0] * len(names))
            message.header.stamp = to_time(listener.node.get_clock().now().nanoseconds if stamp == now else stamp)
            bad.publish(message)
        return any("missing" in key for key in refused()) and any("max_age" in key for key in refused())

    listener.spin(publish)
    listener.node.destroy_publisher(bad)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_recording_keeps_its_data_however_it_ends(listener, tmp_path, how):
    foreign = Foreign(listener, np.zeros(6))
    bag = tmp_path / "bag"
    recorder = Process("robot_dynamics_ros.cli.main", "record", "--out", str(bag), "--topics", "vendor/*")
    listener.spin(lambda: foreign.publisher.get_subscription_count() > 0)
    file = bag / "bag.mcap"
    listener.spin(lambda: file.exists() and file.stat().st_size > 50_000)
    status, output = recorder.end(how)
    foreign.stop()
    if how == signal.SIGKILL:
        counts = recover(bag, tmp_path / "whole")
        bag = tmp_path / "whole"
        assert counts == {"/vendor/joint_states": counts["/vendor/joint_states"]}
    else:
        assert status == 0 and "messages on 1 topics" in output, output
    topic = read_topics(bag, ["sensor_msgs/msg/JointState"])["/vendor/joint_states"]
    assert len(topic.raws) > 100 and (np.diff(topic.stamps()) >= 0).all()
    assert to_ns(Listener.decode(topic.raws[0], JointState).header.stamp) > 0
