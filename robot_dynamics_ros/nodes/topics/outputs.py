"""Publishers of a node: the topics of a sample, the contact arrow, the robot's description, and their latencies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from visualization_msgs.msg import MarkerArray

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.external_force import wrench_frame
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_writer import urdf_text
from robot_dynamics_ros.nodes.diagnostics import LatencyMeter
from robot_dynamics_ros.nodes.part import NodeContext, NodePart
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, SampleWriter
from robot_dynamics_ros.nodes.topics.markers import contact_arrow
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import FRAMED, TOPICS

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
DEPTH = 10  # of the queues of published samples
BACKWARDS_NS = 2_000_000_000  # a next time farther ahead than this belongs to a clock that was set back


class Pace:
    """States when an action that is rarer than samples is due, by the stamps of the samples."""

    def __init__(self) -> None:
        self._next_ns = 0

    def due(self, stamp_ns: int, rate: float) -> bool:
        """True `rate` [Hz] times per second, and at once when the clock went backwards."""
        if 0 <= self._next_ns - stamp_ns < BACKWARDS_NS:
            return False
        self._next_ns = stamp_ns + int(1e9 / rate)
        return True


class SampleOutputs(NodePart):
    """Publishers of the named topics, in this order; with `arrow` also the contact markers.

    frame_id: frame of external_wrench as wrench_frame takes it; everything else is in the base frame. Raises
    ConfigError for a frame without a known transform.
    """

    def __init__(
        self, node: NodeContext, robot: RobotFile, topics: Sequence[str], frame_id: str, arrow: bool = False
    ) -> None:
        super().__init__(node)
        prefix = node.value("tf_prefix")
        self._robot, self._base_frame = robot, prefix + robot.kinematics.base_frame
        framed = prefix + wrench_frame(robot, frame_id)[1]
        joints = robot.joint_names
        self._fast: list[SampleWriter] = []
        self._slow: list[SampleWriter] = []
        for topic in (TOPICS[name] for name in topics):
            kind = MESSAGE_TYPES[topic.type]
            publishers = [self._publish_active(kind, name, DEPTH) for name in SampleWriter.names(topic, joints)]
            writer = SampleWriter(topic, joints, framed if topic.name in FRAMED else self._base_frame, publishers)
            (self._slow if topic.per_joint else self._fast).append(writer)
        self._model = RobotModel(robot.chain(), joints) if arrow else None
        self._markers = self._publish_active(MarkerArray, "contact_markers", 5) if arrow else None
        described = node.value("publish_description")
        self._description = self._publish_active(String, "robot_description", LATCHED) if described else None
        self._slow_pace, self._marker_pace = Pace(), Pace()
        self._processing, self._age = LatencyMeter(), LatencyMeter()

    def describe(self) -> None:
        """Publish the robot as URDF, where the parameter requests it and the robot file can be written as one."""
        if self._description is None:
            return
        try:
            self._description.publish(String(data=urdf_text(self._robot)))
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
        if self._markers is not None and self._model is not None:
            self._mark(sample, self._markers, self._model)

    def _mark(self, sample: Sample, markers: Any, model: RobotModel) -> None:
        rate = self._node.value("marker_rate")
        if not self._marker_pace.due(sample.stamp_ns, max(rate, 0.5)) or rate == 0.0:
            return
        if markers.get_subscription_count():
            position = model.fk(sample.q)[-1][:3, 3]
            arrow = contact_arrow(sample, position, self._base_frame, self._node.value("marker_scale"))
            if arrow is not None:
                markers.publish(arrow)

    def latencies(self) -> dict[str, str]:
        """Rate and latencies of what was published, as diagnostic values."""
        values = {"rate [Hz]": f"{self._processing.rate():.1f}"}
        return values | self._processing.summary("receive to published") | self._age.summary("stamp to published")
