"""Recorder: subscribes to topics as they appear and hands their serialised messages to a writer."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Sequence
from functools import partial

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from robot_dynamics_ros.bags.live_writer import LiveWriter
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.run import Ending
from robot_dynamics_ros.nodes.topics.encoding import message_class

DISCOVERY_PERIOD = 0.25  # s between two queries of the existing topics
NOT_RECORDED = ("*/parameter_events", "*/rosout", "*/transition_event")
DEPTH = 1000  # messages that a busy disk may hold up


def wanted(topic: str, patterns: Sequence[str]) -> bool:
    """Whether a topic is recorded; a hidden one (of an action: a part of its name begins with _) only where it is named
    so.
    """
    if not patterns:
        return "/_" not in topic and not any(fnmatch.fnmatch(topic, pattern) for pattern in NOT_RECORDED)
    shown = [p for p in patterns if "/_" in p or "/_" not in topic]
    return any(fnmatch.fnmatch(topic, p) or fnmatch.fnmatch(topic, "*/" + p.lstrip("/")) for p in shown)


class Recorder(Node):
    """Subscribes raw to every topic that matches a pattern, with the publishers' reliability and durability."""

    def __init__(self, writer: LiveWriter, patterns: Sequence[str]) -> None:
        super().__init__("recorder")
        self._writer, self._patterns = writer, tuple(patterns)
        self._seen: set[str] = set()
        self.skipped: dict[str, str] = {}
        self.failure: DataError | None = None  # why nothing more can be written
        self.create_timer(DISCOVERY_PERIOD, self.discover)
        self.discover()

    def discover(self) -> None:
        """Subscribe to what is new."""
        found = self.get_topic_names_and_types()
        for topic, types in found:
            if topic not in self._seen and wanted(topic, self._patterns):
                self._seen.add(topic)
                self._subscribe(topic, types[0])

    def _subscribe(self, topic: str, type_name: str) -> None:
        try:
            kind = message_class(type_name)
        except (ImportError, AttributeError, ValueError):
            self.skipped[topic] = f"{type_name} is not installed"
            return
        if not self._writer.add(topic, type_name):
            self.skipped[topic] = f"{type_name} is not known to the bag format"
            return
        self.create_subscription(kind, topic, partial(self._write, topic), self._qos(topic), raw=True)

    def _write(self, topic: str, raw: bytes) -> None:
        """An error is kept for record(): raised here, the middleware would print a traceback of its own."""
        if self.failure is None:
            try:
                self._writer.write(topic, time.time_ns(), raw)
            except DataError as error:
                self.failure = error

    def _qos(self, topic: str) -> QoSProfile:
        """Reliable and latched only where every publisher is: another requirement would receive nothing."""
        offered = [info.qos_profile for info in self.get_publishers_info_by_topic(topic)]
        reliable = bool(offered) and all(q.reliability == ReliabilityPolicy.RELIABLE for q in offered)
        latched = bool(offered) and all(q.durability == DurabilityPolicy.TRANSIENT_LOCAL for q in offered)
        return QoSProfile(
            depth=DEPTH,
            reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        )


def record(
    writer: LiveWriter, patterns: Sequence[str], duration: float | None, report: Callable[[dict[str, int]], None]
) -> dict[str, str]:
    """Record until one of the signals ends() or `duration` [s]; `report` gets the counts at 2 Hz.

    Returns skipped topics. Raises DataError when the disk is full.
    """
    ending = Ending()  # an interrupt inside the middleware would be reported as its failure
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = Recorder(writer, patterns)
    executor = EventsExecutor()
    executor.add_node(node)
    end = float("inf") if duration is None else time.monotonic() + duration
    reported = 0.0
    try:
        while rclpy.ok() and not ending.requested and node.failure is None and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
            if time.monotonic() - reported > 0.5:
                reported = time.monotonic()
                report(writer.counts)
    except (ExternalShutdownException, rclpy_implementation.RCLError):
        report(writer.counts)
    skipped, failure = dict(node.skipped), node.failure
    try:
        node.destroy_node()
    except rclpy_implementation.RCLError:
        report(writer.counts)
    rclpy.try_shutdown()
    if failure is not None:
        raise failure
    return skipped
