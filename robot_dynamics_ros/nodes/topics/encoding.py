"""Signals of a sample as ROS messages: one serialised message per topic, its numbers overwritten for each sample.

Serialising a JointState object field by field costs ten times as much as writing numbers over a message that is
serialised already; at 500 Hz and a dozen topics this is the difference between 10 % and 1 % of a core.
Messages are read into samples by joint name: other orders and aliases are mapped, errors name topic and joint.
"""

from __future__ import annotations

import importlib
import struct
import time
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from rclpy.duration import Duration
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState, Temperature
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.bags.layout import blank, parse
from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.signals import Sample, entries, joint_columns
from robot_dynamics_ros.topics import (
    ARRAY,
    INERTIA,
    JOINT_STATE,
    TEMPERATURE,
    TRAJECTORY,
    WRENCH,
    Topic,
    below,
    of_joint,
)

MESSAGE_TYPES: dict[str, type] = {
    JOINT_STATE: JointState,
    TRAJECTORY: JointTrajectory,
    WRENCH: WrenchStamped,
    TEMPERATURE: Temperature,
    INERTIA: InertiaStamped,
    ARRAY: Float64MultiArray,
}


FUTURE_NS = 86_400 * 1_000_000_000  # a stamp later than this after now is a mistake, whatever clock gave it


def to_time(stamp_ns: int) -> Time:
    """Nanoseconds as a ROS time."""
    return Time(sec=stamp_ns // 1_000_000_000, nanosec=stamp_ns % 1_000_000_000)


def to_ns(stamp: Any) -> int:
    """A ROS time (sec, nanosec) in nanoseconds."""
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def possible_ns(stamp: Any) -> int:
    """to_ns() of a stamp from outside. Raises DataError where no clock can have given it: negative, or after today."""
    ns = to_ns(stamp)
    if not (0 <= ns <= time.time_ns() + FUTURE_NS and 0 <= stamp.nanosec < 1_000_000_000):
        raise DataError("a message is stamped with an impossible time")
    return ns


def trajectory(joints: Sequence[str], times: Any, q: Any, qd: Any = None) -> JointTrajectory:
    """Message of times (N,) [s], positions and, where given, velocities (N, n) [rad, rad/s]."""
    velocities = [[]] * len(q) if qd is None else np.asarray(qd).tolist()
    rows = zip(map(float, times), np.asarray(q).tolist(), velocities, strict=True)
    points = [
        JointTrajectoryPoint(positions=a, velocities=b, time_from_start=Duration(seconds=t).to_msg())
        for t, a, b in rows
    ]
    return JointTrajectory(joint_names=list(joints), points=points)


class Frame:
    """A serialised message of one topic whose stamp and numbers can be replaced."""

    def __init__(self, topic: Topic, message: Any) -> None:
        raw = serialize_message(message)
        layout = parse(raw, topic.type, ros2=True)
        self._bytes = bytearray(raw)
        self._stamp = layout.numbers["sec"][1] if "sec" in layout.numbers else None
        self.fields: dict[str, np.ndarray] = {}
        for field in topic.fields:
            kind, start, count = layout.numbers[field]
            self.fields[field] = np.ndarray((count,), dtype=kind, buffer=self._bytes, offset=start)
        if self._stamp is not None:
            self._prove(message)

    def _prove(self, message: Any) -> None:
        """The layout is right when a written stamp comes back; raises RobotDynamicsError otherwise."""
        if to_ns(deserialize_message(self.stamped(123_000_000_456), type(message)).header.stamp) != 123_000_000_456:
            raise RobotDynamicsError(f"{type(message).__name__} is serialised in a form this package does not know")

    def stamped(self, stamp_ns: int) -> bytes:
        """The bytes to publish; without the stamp where the message has none."""
        if self._stamp is None:
            return bytes(self._bytes)
        struct.pack_into("<iI", self._bytes, self._stamp, stamp_ns // 1_000_000_000, stamp_ns % 1_000_000_000)
        return bytes(self._bytes)


def frame(topic: Topic, joints: Sequence[str], frame_id: str) -> Frame:
    """A message of `topic` for these joints, all its numbers zero."""
    message = blank(topic, joints, frame_id, topic.fields, message_class, lambda count: array("d", [0.0] * count))
    return Frame(topic, message)


def message_class(type_name: str) -> type:
    """Class of `package/msg/Type`. Raises ImportError, AttributeError or ValueError."""
    package, kind, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


class SampleWriter:
    """Publishes the signals of samples on one topic; what is absent (NaN throughout) is not published.

    subscribed: a topic has a subscriber, as of the last refresh(); true at first, so that no first message is lost.
    """

    def __init__(self, topic: Topic, joints: Sequence[str], frame_id: str, publishers: Sequence[Any]) -> None:
        self.topic, self.publishers = topic, list(publishers)
        self._frame = frame(topic, joints, frame_id)
        self._fields = [(self._frame.fields[f], signal) for f, signal in topic.fields.items()]
        self._main = self._fields[0][1]
        self.subscribed = True

    def refresh(self) -> None:
        """Set `subscribed`: whether one of the topics has a subscriber."""
        self.subscribed = any(publisher.get_subscription_count() for publisher in self.publishers)

    def publish(self, sample: Sample) -> bool:
        """Publish one sample; True when there was something to publish."""
        main = getattr(sample, self._main)
        if main[0] != main[0] and np.isnan(main).all():
            return False
        if self.topic.per_joint:
            self._publish_joints(sample)
            return True
        for target, signal in self._fields:
            target[...] = getattr(sample, signal)
        self.publishers[0].publish(self._frame.stamped(sample.stamp_ns))
        return True

    def _publish_joints(self, sample: Sample) -> None:
        for joint, publisher in enumerate(self.publishers):
            for target, signal in self._fields:
                target[:] = getattr(sample, signal)[joint]
            publisher.publish(self._frame.stamped(sample.stamp_ns))


def topic_names(topic: Topic, joints: Sequence[str], prefix: str) -> dict[int | None, str]:
    """Index of a joint -> name to publish on or to listen to; None -> the one name of a topic that is not per joint.

    prefix: above what is not measured.
    """
    name = below(prefix, topic.name)
    if not topic.per_joint:
        return {None: name}
    return {k: of_joint(name, joint) for k, joint in enumerate(joints)}


def six(message: Any) -> tuple[float, ...]:
    """Force [N] and moment [Nm] of a WrenchStamped, x, y, z of each."""
    f, m = message.wrench.force, message.wrench.torque
    return f.x, f.y, f.z, m.x, m.y, m.z


def carried(message: InertiaStamped) -> np.ndarray:
    """Mass [kg] and centre [m] of a payload (4,)."""
    found = message.inertia
    return np.array([found.m, found.com.x, found.com.y, found.com.z])


class MessageReader:
    """Writes the messages of one topic into samples of one robot.

    Joints are found by name or alias, extra ones ignored; a missing or repeated joint, or an array of another length
    than the names, raises DataError. An empty array leaves its signal absent: it is never taken as zero.
    """

    def __init__(self, topic: Topic, joints: Sequence[str], aliases: Mapping[str, str] | None = None) -> None:
        self.topic, self._joints, self._aliases = topic, tuple(joints), dict(aliases or {})
        self._columns: dict[tuple[str, ...], list[int]] = {}

    def read(self, message: Any, sample: Sample, joint: int | None = None) -> None:
        """Copy the message's numbers into the sample; `joint` says which one a per-joint topic belongs to."""
        if self.topic.type == WRENCH:
            getattr(sample, next(iter(self.topic.fields.values())))[:] = six(message)
        elif self.topic.type == INERTIA:
            sample.payload[:] = carried(message)
        elif self.topic.type == TEMPERATURE:
            for field, signal in self.topic.fields.items():
                getattr(sample, signal)[joint] = getattr(message, field)
        else:
            self._read_joints(message, sample)

    def _read_joints(self, message: Any, sample: Sample) -> None:
        names, body = self._parts(message)
        found: list[tuple[str, Any]] = []  # written together: of a message that is refused nothing stays
        for field, signal in self.topic.fields.items():
            values = np.asarray(getattr(body, field), dtype=np.float64)
            if len(values) not in (0, len(names)):
                raise DataError(f"{self.topic.name}: {len(values)} numbers in {field} for {len(names)} joints")
            found.append((signal, values[self._columns_of(tuple(names), signal)] if len(values) else np.nan))
        for signal, values in found:
            getattr(sample, signal)[:] = values

    def _parts(self, message: Any) -> tuple[Sequence[str], Any]:
        if self.topic.type == JOINT_STATE:
            return message.name, message
        if self.topic.type == TRAJECTORY and len(message.points) == 1:
            return message.joint_names, message.points[0]
        if self.topic.type == ARRAY:
            return message.layout.dim[0].label.split(",") if message.layout.dim else (), message
        raise DataError(f"{self.topic.name}: expected exactly one point, got {len(message.points)}")

    def _columns_of(self, names: tuple[str, ...], signal: str) -> list[int]:
        if names not in self._columns:
            if len(self._columns) > 16:  # a publisher that changes its names all the time
                self._columns.clear()
            self._columns[names] = joint_columns(names, entries(signal, self._joints), self._aliases)
        return self._columns[names]
