"""Publishers of a node: the topics of a sample, the contact arrow, the robot's description, and their latencies."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from rclpy.duration import Duration
from std_msgs.msg import Bool, ColorRGBA, String
from visualization_msgs.msg import Marker, MarkerArray

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.external_force import wrench_frame
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_writer import urdf_text
from robot_dynamics_ros.nodes.diagnostics import LatencyMeter
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, SampleWriter, to_time, topic_names
from robot_dynamics_ros.nodes.topics.qos import LATCHED
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import FRAMED, TOPICS, Topic, check_prefix

CONTACT_RATE = 10.0  # Hz of the topic contact while nothing changes
DEPTH = 500  # of the queues of published samples: a reliable subscriber, as a recorder, may be 1 s late at 500 Hz
FIRST = "external_wrench"  # published before everything else


class Pace:
    """States when an action that is rarer than samples is due, by the stamps of the samples."""

    def __init__(self) -> None:
        self._next_ns = 0

    def due(self, stamp_ns: int, rate: float) -> bool:
        """True `rate` [Hz] times per second, and at once when the clock went back behind the last time."""
        period = int(1e9 / rate)
        if 0 < self._next_ns - stamp_ns <= period:
            return False
        self._next_ns = stamp_ns + period
        return True


class SampleOutputs(NodePart):
    """Publishers of the named topics, in this order; with `arrow` also the contact markers.

    frame_id: frame of external_wrench as wrench_frame takes it; everything else is in the base frame. Raises
    ConfigError for a frame without a known transform, or a prefix that ROS does not take.
    """

    def __init__(
        self, node: LifecycleBase, robot: RobotFile, topics: Sequence[str], frame_id: str, arrow: bool = False
    ) -> None:
        super().__init__(node)
        tf_prefix, prefix = node.value("tf_prefix"), check_prefix(node.value("prefix"))
        self._robot, self._base_frame = robot, tf_prefix + robot.kinematics.base_frame
        self._framed = tf_prefix + wrench_frame(robot, frame_id)[1]
        joints = robot.joint_names
        self._writers = [self._writer(TOPICS[name], prefix) for name in sorted(topics, key=lambda name: name != FIRST)]
        self._fast = [writer for writer in self._writers if not writer.topic.per_joint]
        self._slow = [writer for writer in self._writers if writer.topic.per_joint]
        self._refreshed = 0
        self._model = RobotModel(robot.chain(), joints) if arrow else None
        self._markers = self._publish_active(MarkerArray, f"{prefix}/contact_markers", 5) if arrow else None
        self._contact = self._publish_active(Bool, f"{prefix}/contact", DEPTH) if arrow else None
        self._in_contact = False
        described = node.value("publish_description")
        self._description = self._publish_active(String, "robot_description", LATCHED) if described else None
        self._slow_pace, self._marker_pace, self._contact_pace = Pace(), Pace(), Pace()
        self._wrench, self._processing, self._age = LatencyMeter(), LatencyMeter(), LatencyMeter()
        self._told = 0  # wrenches, as last reported

    def _writer(self, topic: Topic, prefix: str) -> SampleWriter:
        joints, kind = self._robot.joint_names, MESSAGE_TYPES[topic.type]
        publishers = [self._publish_active(kind, name, DEPTH) for name in topic_names(topic, joints, prefix).values()]
        return SampleWriter(topic, joints, self._framed if topic.name in FRAMED else self._base_frame, publishers)

    def describe(self) -> None:
        """Publish the robot as URDF, where the parameter requests it and the robot file can be written as one."""
        if self._description is None:
            return
        try:
            self._description.publish(String(data=urdf_text(self._robot, self._node.value("tf_prefix"))))
        except (CapabilityError, ValueError) as error:
            self._node.get_logger().warning(f"no robot_description: {error}")

    def publish(self, sample: Sample) -> None:
        """One sample on the topics that have a subscriber; its latencies are counted."""
        for k, writer in enumerate(self._fast):
            if writer.subscribed and writer.publish(sample) and k == 0 and writer.topic.name == FIRST:
                self._wrench.add(1e-9 * (time.time_ns() - sample.receive_ns))
        now = time.time_ns()
        self._processing.add(1e-9 * (now - sample.receive_ns))
        self._age.add(1e-9 * (now - sample.stamp_ns))
        if self._slow and self._slow_pace.due(sample.stamp_ns, self._node.value("temperature_rate")):
            for writer in self._slow:
                if writer.subscribed:
                    writer.publish(sample)
        if self._contact is not None:
            self._publish_contact(sample, self._contact)
        if self._model is not None:
            self._mark(sample, self._model, self._markers)
        self._refresh_next()

    def _refresh_next(self) -> None:
        """Refresh `subscribed` of the next writer: one per sample, so that every sample costs the same."""
        if self._writers:
            self._refreshed = (self._refreshed + 1) % len(self._writers)
            self._writers[self._refreshed].refresh()

    def _publish_contact(self, sample: Sample, contact: Any) -> None:
        if sample.contact[0] != sample.contact[0] and np.isnan(sample.contact).all():
            return
        touched = any(flag > 0.0 for flag in sample.contact.tolist())  # numpy takes three times as long
        if touched != self._in_contact or self._contact_pace.due(sample.stamp_ns, CONTACT_RATE):
            self._in_contact = touched
            contact.publish(Bool(data=touched))

    def _mark(self, sample: Sample, model: RobotModel, markers: Any) -> None:
        rate = self._node.value("marker_rate")
        paced = max(rate, 0.5)
        if not self._marker_pace.due(sample.stamp_ns, paced) or rate == 0.0:
            return
        if markers.get_subscription_count():
            position = model.fk(sample.q)[-1][:3, 3]
            arrow = contact_arrow(sample, position, self._base_frame, self._node.value("marker_scale"))
            if arrow is not None:
                for marker in arrow.markers:  # a force that is estimated no more is not shown on
                    marker.lifetime = Duration(seconds=max(LEAST_SHOWN, 3.0 / paced)).to_msg()
                markers.publish(arrow)

    def shared(self) -> list[str]:
        """Topics on which another node publishes too."""
        names = [publisher.topic_name for writer in (*self._fast, *self._slow) for publisher in writer.publishers]
        return [name for name in dict.fromkeys(names) if self._node.count_publishers(name) > 1]

    def latencies(self) -> dict[str, str]:
        """Rate and latencies of what was published, as diagnostic values; of the wrench while it is subscribed."""
        values = {"rate [Hz]": f"{self._processing.rate():.1f}"}
        before, self._told = self._told, self._wrench.count
        values |= self._wrench.summary("receive to wrench") if self._told > before else {}
        return values | self._processing.summary("receive to published") | self._age.summary("stamp to published")


CONTACT, FREE = ColorRGBA(r=0.9, g=0.2, b=0.1, a=1.0), ColorRGBA(r=0.2, g=0.5, b=0.9, a=0.6)
CLOUD = ColorRGBA(r=0.9, g=0.6, b=0.2, a=0.25)
SHAFT = 0.015  # m
LONGEST = 2.0  # m
LEAST_SHOWN = 1.0  # s, of an arrow that no other one follows


def contact_arrow(sample: Sample, position: np.ndarray, frame_id: str, scale: float) -> MarkerArray | None:
    """Arrow ending at the TCP `position` (3,) [m], `scale` [m/N] long per newton; None without an estimate.

    frame_id: the base frame; position and force are in its axes.
    """
    force = sample.external_wrench[:3]
    if not np.isfinite(force).all() or not np.isfinite(position).all():
        return None
    arrow = force * scale
    length = float(np.linalg.norm(arrow))
    if length > LONGEST:
        arrow = arrow * (LONGEST / length)
    tail = position - arrow
    marker = Marker(ns="contact", id=0, type=Marker.ARROW, action=Marker.ADD)
    marker.header.frame_id, marker.header.stamp = frame_id, to_time(sample.stamp_ns)
    marker.points = [Point(x=p[0], y=p[1], z=p[2]) for p in (tail.tolist(), position.tolist())]
    marker.scale.x, marker.scale.y, marker.scale.z = SHAFT, 2 * SHAFT, 3 * SHAFT
    marker.color = CONTACT if sample.contact[-1] > 0 else FREE
    marker.pose.orientation.w = 1.0
    return MarkerArray(markers=[marker, _uncertainty(marker, sample.external_wrench_std[:3], scale)])


def _uncertainty(arrow: Marker, std: np.ndarray, scale: float) -> Marker:
    """Where the arrow's tail may be: an ellipsoid of two standard deviations, deleted while they are unknown."""
    known = np.isfinite(std).all()
    cloud = Marker(ns="contact", id=1, type=Marker.SPHERE, action=Marker.ADD if known else Marker.DELETE)
    cloud.header, cloud.color = arrow.header, CLOUD
    cloud.pose.position, cloud.pose.orientation.w = arrow.points[0], 1.0
    diameters = np.minimum(4.0 * std * scale, LONGEST) if known else np.zeros(3)
    cloud.scale.x, cloud.scale.y, cloud.scale.z = diameters.tolist()
    return cloud
