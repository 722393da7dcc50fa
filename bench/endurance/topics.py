"""Garbage on every topic that the nodes subscribe to, over DDS: the nodes go on and hold no more than before."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.endurance.pieces import PIECE, Held
from bench.ros_probe import Probe
from robot_dynamics_ros.bringup import Graph, NodeSpec
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController
from robot_dynamics_ros.supervisor import Supervisor

NODES = {"composed_node": "/", "estimator_node": "/other"}  # a driver of ours; the topics of another; their namespaces
PERIOD = 0.01  # s between two messages
LENGTHS = (0, 1, 5, 6, 6, 7, 5000)
VALUES = {
    "string": ("", "x" * 3000, "\x1b[31m", "elbow_joint"),
    "boolean": (False, True),
    "float": (np.nan, np.inf, 0.0, 1.0),
    "double": (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 0.0, 1.0),
}
WHOLE = {"octet": (0, 255), "byte": (0, 255)}  # smallest and largest
for _bits in (8, 16, 32, 64):
    WHOLE |= {f"uint{_bits}": (0, 2**_bits - 1), f"int{_bits}": (-(2 ** (_bits - 1)), 2 ** (_bits - 1) - 1)}
OTHERS = ("/parameter_events", "/clock")  # of every ROS node, read by rclpy


@dataclass(frozen=True)
class Look:
    """After one piece: messages sent so far, topics they went to, what each node holds."""

    piece: int
    sent: int
    topics: int
    held: dict[str, Held]


def endure_garbage(pieces: int) -> Generator[Look, None, None]:
    """So many pieces of wall time, a look after each. Raises RobotDynamicsError where a node ends or is not active."""
    with ExitStack() as stack:
        ur = stack.enter_context(SimulatedController("ur5e"))
        nodes = Supervisor(say=lambda line: None)
        stack.callback(nodes.stop)
        given: dict[str, dict[str, Any]] = {
            "composed_node": {"ip": ur.host, "torque": True},
            "estimator_node": {"driver": "none"},
        }
        for name, namespace in NODES.items():
            node = NodeSpec(name, name, {"robot": "ur5e"} | given[name])
            nodes.start(name, Graph((node,), namespace.strip("/")).command(node), {})
        flood = stack.enter_context(Flood())
        for piece in range(1, pieces + 1):
            flood.run(PIECE)
            for name, process in nodes.children.items():
                if process.poll() is not None or not flood.active(name):
                    raise RobotDynamicsError(f"{name} ended or is not active after {flood.sent} messages")
            yield Look(piece, flood.sent, len(flood.publishers), {n: Held.of(p.pid) for n, p in nodes.children.items()})


class Garbage:
    """Messages with odd numbers, texts, times and lengths in them; joint names are right now and then."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names, self._random = list(names), np.random.default_rng(0)

    def message(self, kind: Any) -> Any:
        """One of a type; sequences of it have one length, as those of a joint state should."""
        message, length = kind(), int(self._random.choice(LENGTHS))
        for name, declared in kind.get_fields_and_field_types().items():
            setattr(message, name, self._field(declared, length))
        return message

    def _field(self, declared: str, length: int) -> Any:
        array = re.fullmatch(r"(.+)\[(\d+)\]", declared)
        if array:
            return self._values(array[1], int(array[2]))
        sequence = re.fullmatch(r"sequence<([^,>]+).*>", declared)
        if not sequence:
            return self._values(declared, 1)[0]
        if sequence[1] == "string" and self._random.random() < 0.7:
            return self._names
        return self._values(sequence[1], min(length, 50) if "/" in sequence[1] else length)

    def _values(self, declared: str, count: int) -> list[Any]:
        if "/" in declared:
            return [self.message(message_type(declared)) for _ in range(count)]
        if declared in VALUES:
            return list(self._random.choice(VALUES[declared], count).tolist())
        low, high = WHOLE[declared]
        return [(low, high, 0, 1)[k] for k in self._random.integers(4, size=count)]


class Flood:
    """A node that publishes garbage on every topic that the nodes under test subscribe to."""

    def __enter__(self) -> Flood:
        self._probe, self.sent = Probe("flood"), 0
        self.publishers: dict[str, tuple[Any, type]] = {}
        self._garbage = Garbage(load_robot("ur5e").joint_names)
        for name in NODES:
            self._wait(name)
        return self

    def __exit__(self, *_: object) -> None:
        self._probe.close()

    def _wait(self, name: str, timeout: float = 120.0) -> None:
        """Until a node is active; then a publisher for each of its topics."""
        end = time.monotonic() + timeout
        while not self.active(name):
            if time.monotonic() > end:
                raise RobotDynamicsError(f"{name} does not come up")
        node = self._probe.node
        for topic, kinds in node.get_subscriber_names_and_types_by_node(name, NODES[name]):
            if topic not in OTHERS:
                kind = message_type(kinds[0])
                self.publishers[topic] = node.create_publisher(kind, topic, 10), kind

    def active(self, name: str) -> bool:
        """Whether a node says that it is active."""
        from lifecycle_msgs.srv import GetState

        answer = self._probe.call(GetState, f"{NODES[name]}/{name}/get_state".replace("//", "/"))
        return answer is not None and bool(answer.current_state.label == "active")

    def run(self, seconds: float) -> None:
        """One topic after the other, a message every PERIOD."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for publisher, kind in self.publishers.values():
                publisher.publish(self._garbage.message(kind))
                self.sent += 1
                time.sleep(PERIOD)


def message_type(name: str) -> Any:
    """The class of pkg/msg/Kind, or of pkg/Kind as fields are declared."""
    package, *_, kind = name.split("/")
    return getattr(importlib.import_module(f"{package}.msg"), kind)
