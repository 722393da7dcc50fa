"""Subscriptions to the topics of an existing driver: ages are checked, messages joined to samples by stamp."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile, ReliabilityPolicy

from robot_dynamics_ros.bags.rows import OTHER_JOINTS, moved_beside, possible_speed
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import REPEAT, NodePart, reason
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, possible_ns, topic_names
from robot_dynamics_ros.nodes.topics.sources import StampJoin
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import MAIN, TOPICS, Topic

RCLError = rclpy_implementation.RCLError
DEPTH = 100  # messages that wait while this process has no processor: 0.2 s at 500 Hz
INPUT_QOS = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
MAX_REASONS = 20  # counted by themselves
OTHER = "other reasons"


class TopicInputs(NodePart):
    """Subscriptions of an active node without a driver; whole samples go to `deliver`.

    companions: topics with the stamp of joint_states; held: slow topics whose last value is used (StampJoin).
    """

    _zero = False  # a message without a stamp was there
    _why = ""  # the last message was refused

    def __init__(
        self,
        node: LifecycleBase,
        robot: RobotFile,
        companions: Sequence[str],
        held: Sequence[str],
        deliver: Callable[[Sample], None],
    ) -> None:
        super().__init__(node)
        self._join = StampJoin(robot.joint_names, robot.joint_aliases, companions, held, deliver, possible_speed(robot))
        self._known = frozenset(robot.joint_aliases)
        self._refused: Counter[str] = Counter()
        self._ends: dict[str, tuple[float, float]] = {}  # of the travel of joints that are none of the arm's
        self._told = 0  # refused messages, as last reported
        self._seen = (0, 0)  # how often stamps went back and samples were out of order, as last reported
        self.last_refusal = ""  # why there was no usable message since the last one, which Readiness forgets then
        self.main = MAIN  # absolute name of the topic of joint states
        for name in (MAIN, *companions, *held):
            self._listen(TOPICS[name], robot.joint_names)

    def _listen(self, topic: Topic, joints: Sequence[str]) -> None:
        for joint, name in topic_names(topic, joints, self._node.value("prefix")).items():
            made = self.subscribe(MESSAGE_TYPES[topic.type], name, partial(self._message, topic.name, joint), INPUT_QOS)
            self.main = made.topic_name if topic.name == MAIN else self.main

    def _message(self, name: str, joint: int | None, message: Any) -> None:
        now = time.time_ns()
        try:
            stamp = now if self._node.value("stamps") == "receive" else self._fresh(message)
            self._join.take(name, message, stamp, now, joint)
            if name == MAIN:
                self._look_beside(message)
        except DataError as error:
            if name == MAIN and message.name and self._known.isdisjoint(message.name):  # a gripper on the same topic
                self.last_refusal = self.last_refusal or reason(error)
                self._refused[OTHER_JOINTS] += 1
            else:
                why = reason(error)
                self._refuse(why if name == MAIN or why.startswith(name) else f"{name}: {why}")
        except RCLError:
            if self._node.context.ok():  # otherwise the node is being ended in the middle of a message
                raise

    def _look_beside(self, message: Any) -> None:
        """The travel of at most MAX_REASONS joints that are none of the arm's."""
        for name, at in zip(message.name, message.position, strict=False):
            if name in self._known or not math.isfinite(at):
                continue
            if name in self._ends or len(self._ends) < MAX_REASONS:
                low, high = self._ends.get(name, (at, at))
                self._ends[name] = (min(low, at), max(high, at))

    def _refuse(self, why: str) -> None:
        """Count by reason, at most MAX_REASONS of them: names in a reason come from the message."""
        self.last_refusal = self._why = why
        known = why in self._refused or len(self._refused) < MAX_REASONS
        self._refused[why if known else OTHER] += 1
        self._node.get_logger().warning(why, throttle_duration_sec=5.0)

    def _fresh(self, message: Any) -> int:
        """Source stamp; raises DataError when it is zero, impossible, or off this node's clock by more than max_age."""
        stamp, oldest = possible_ns(message.header.stamp), self._node.value("max_age")
        first, self._zero = not self._zero, self._zero or not stamp
        if not stamp and (oldest > 0.0 or not first):  # one zero may be the start of a simulated clock
            raise DataError(
                "messages are not stamped (stamp zero): set the parameter stamps to receive, in a parameter file"
            )
        if oldest > 0.0:
            now = self._node.get_clock().now().nanoseconds
            if not now:
                raise DataError("there is no time: use_sim_time is set, and nothing publishes /clock")
            age = 1e-9 * (now - stamp)
            if not abs(age) <= oldest:
                advice = "synchronise the clocks of the machines, or set the parameter stamps to receive"
                what, slow = "stamped in the future by more", ""
                if age > 0:
                    what, slow = "older", "this machine is too slow, or "
                if self._node.count_publishers("/clock") and not self._node.value("use_sim_time"):
                    advice, slow = "/clock has a publisher: set the parameter use_sim_time to true", ""
                raise DataError(f"a message is {what} than max_age {oldest:g} s: {slow}{advice}")
        return stamp

    def counts(self) -> dict[str, Any]:
        """Counts of refused messages by reason and of incomplete samples, as diagnostic values; joints beside the arm's
        that have moved.
        """
        beside = moved_beside(self._ends)
        if beside:
            self._node.get_logger().warning(beside, once=True)
        refused = {f"refused: {reason}": n for reason, n in self._refused.items()}
        return refused | dict(self._join.counts) | ({"other joints": beside} if beside else {})

    def refused(self) -> tuple[int, str]:
        """How many messages were refused since the last call, those of other joints left out, and why the last one."""
        total = sum(n for why, n in self._refused.items() if why != OTHER_JOINTS)
        new, self._told = total - self._told, total
        several = self._node.count_publishers(self.main) if new else 0
        also = f"; {several} nodes publish on {self.main}" if several > 1 else ""
        return new, f"{new} messages refused: {self._why}{also}" if new else ""

    def disorder(self) -> tuple[bytes, str]:
        """What is wrong with the stamps since the last call."""
        back, late = (self._join.counts[name] for name in ("clock backwards", "out of order"))
        (was_back, was_late), self._seen = self._seen, (back, late)
        if back == was_back and late == was_late:
            return OK, ""
        level, text = WARN, f"{late - was_late} samples on {self.main} arrived behind newer ones and are left out"
        if back > was_back:
            level = ERROR
            text = f"stamps on {self.main} went back {back - was_back} times, estimates begin anew each time"
        several = self._node.count_publishers(self.main)
        if several > 1:
            level, text = ERROR, f"{text}: {several} nodes publish on it, end all but one"
        self._node.get_logger().warning(text, throttle_duration_sec=REPEAT)
        return level, text
