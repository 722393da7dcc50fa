"""Samples from the topics of an existing driver: subscriptions, ages, and the join by stamp behind them."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile, ReliabilityPolicy

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, SampleWriter, to_ns
from robot_dynamics_ros.nodes.topics.sources import StampJoin
from robot_dynamics_ros.topics import MAIN, TOPICS, Topic

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
    from robot_dynamics_ros.nodes.robot.stages import Selection
    from robot_dynamics_ros.signals import Sample

RCLError = rclpy_implementation.RCLError
INPUT_QOS = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)


class TopicInputs:
    """Subscribed while a node without a driver is active; whole samples go to `deliver`."""

    def __init__(self, node: RobotNode, selection: Selection, deliver: Callable[[Sample], None]) -> None:
        self._node, robot = node, node.robot
        companions, held = selection.companions, selection.held
        self._join = StampJoin(robot.joint_names, robot.joint_aliases, companions, held, deliver)
        self._refused: Counter[str] = Counter()
        self._subscriptions: list[Any] = []
        for name in (MAIN, *companions, *held):
            self._listen(TOPICS[name])

    def _listen(self, topic: Topic) -> None:
        joints = self._node.robot.joint_names
        places: Sequence[Any] = range(len(joints)) if topic.per_joint else [None]
        for joint, name in zip(places, SampleWriter.names(topic, joints), strict=True):
            call = self._callback(topic.name, joint)
            subscription = self._node.create_subscription(MESSAGE_TYPES[topic.type], name, call, INPUT_QOS)
            self._subscriptions.append(subscription)

    def destroy(self) -> None:
        """Unsubscribe."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _callback(self, name: str, joint: int | None) -> Callable[[Any], None]:
        return lambda message: self._message(name, message, joint)

    def _message(self, name: str, message: Any, joint: int | None) -> None:
        now = time.time_ns()
        try:
            stamp = now if self._node.value("stamps") == "receive" else self._fresh(message)
            self._join.take(name, message, stamp, now, joint)
        except DataError as error:
            self._refused[str(error)] += 1
            self._node.get_logger().warning(str(error), throttle_duration_sec=5.0)
        except RCLError:
            if self._node.context.ok():  # otherwise the node is being ended in the middle of a message
                raise

    def _fresh(self, message: Any) -> int:
        """Source stamp; raises DataError when it is older than max_age by this node's clock."""
        stamp, oldest = to_ns(message.header.stamp), self._node.value("max_age")
        if oldest > 0.0:
            age = 1e-9 * (self._node.get_clock().now().nanoseconds - stamp)
            if not age <= oldest:
                raise DataError(f"a message is older than max_age {oldest:g} s")
        return stamp

    def counts(self) -> dict[str, int]:
        """What was refused and what was incomplete, as diagnostic values."""
        return {f"refused: {reason}": n for reason, n in self._refused.items()} | dict(self._join.counts)
