"""What a node publishes of a sample: its topics, the contact arrow, the robot's description, and how late that was."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_writer import urdf_text
from robot_dynamics_ros.nodes.diagnostics import LatencyMeter
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, SampleWriter
from robot_dynamics_ros.nodes.topics.markers import contact_arrow
from robot_dynamics_ros.topics import TOPICS

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
    from robot_dynamics_ros.signals import Sample

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DEPTH = 10  # of the queues of published samples
BACKWARDS_NS = 2_000_000_000  # a next time farther ahead than this belongs to a clock that was set back


class Pace:
    """Says when something that is done less often than samples come is due, by the samples' own time."""

    def __init__(self) -> None:
        self._next_ns = 0

    def due(self, stamp_ns: int, rate: float) -> bool:
        """True `rate` [Hz] times per second, and at once when the clock went backwards."""
        if 0 <= self._next_ns - stamp_ns < BACKWARDS_NS:
            return False
        self._next_ns = stamp_ns + int(1e9 / rate)
        return True


class SampleOutputs:
    """Publishers of the named topics, in this order; with `arrow` also the contact markers."""

    def __init__(self, node: RobotNode, topics: Sequence[str], arrow: bool) -> None:
        self._node, self._publishers = node, []
        joints = node.robot.joint_names
        self._fast: list[SampleWriter] = []
        self._slow: list[SampleWriter] = []
        for topic in (TOPICS[name] for name in topics):
            kind = MESSAGE_TYPES[topic.type]
            publishers = [self._publisher(kind, name, DEPTH) for name in SampleWriter.names(topic, joints)]
            writer = SampleWriter(topic, joints, node.frame_id, publishers)
            (self._slow if topic.per_joint else self._fast).append(writer)
        self._model = RobotModel(node.robot.chain(), joints) if arrow else None
        self._markers = self._publisher(MarkerArray, "contact_markers", 5) if arrow else None
        described = node.value("publish_description")
        self._description = self._publisher(String, "robot_description", LATCHED) if described else None
        self._slow_pace, self._marker_pace = Pace(), Pace()
        self._processing, self._age = LatencyMeter(), LatencyMeter()

    def _publisher(self, kind: type, name: str, qos: Any) -> Any:
        publisher = self._node.create_lifecycle_publisher(kind, name, qos)
        self._publishers.append(publisher)
        return publisher

    def destroy(self) -> None:
        """Remove the publishers."""
        for publisher in self._publishers:
            self._node.destroy_lifecycle_publisher(publisher)

    def describe(self) -> None:
        """Publish the robot as URDF, where that is asked for and the robot file can be written as one."""
        if self._description is None:
            return
        try:
            self._description.publish(String(data=urdf_text(self._node.robot)))
        except (CapabilityError, ValueError) as error:
            self._node.get_logger().warning(f"no robot_description: {error}")

    def publish(self, sample: Sample) -> None:
        """One sample; its latencies are counted."""
        for writer in self._fast:
            writer.publish(sample)
        now = time.time_ns()
        self._processing.add(1e-9 * (now - sample.receive_ns))
        self._age.add(1e-9 * (now - sample.stamp_ns))
        if self._slow and self._slow_pace.due(sample.stamp_ns, self._node.value("temperature_rate")):
            for writer in self._slow:
                writer.publish(sample)
        if self._markers is not None:
            self._mark(sample)

    def _mark(self, sample: Sample) -> None:
        rate = self._node.value("marker_rate")
        if not self._marker_pace.due(sample.stamp_ns, max(rate, 0.5)) or rate == 0.0:
            return
        if self._markers.get_subscription_count():
            position = self._model.fk(sample.q)[-1][:3, 3]
            arrow = contact_arrow(sample, position, self._node.frame_id, self._node.value("marker_scale"))
            if arrow is not None:
                self._markers.publish(arrow)

    def latencies(self) -> dict[str, str]:
        """Rate and latencies of what was published, as diagnostic values."""
        values = {"rate [Hz]": f"{self._processing.rate():.1f}"}
        return values | self._processing.summary("receive to published") | self._age.summary("stamp to published")
