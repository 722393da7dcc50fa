"""Viewer node: the graph's topics in rerun, in a process of its own so that drawing never slows the pipeline."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.clock import Clock, ClockType
from rclpy.serialization import deserialize_message

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.interfaces import VIEWED
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.run import run
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, MessageReader, to_ns, topic_names
from robot_dynamics_ros.nodes.topics.qos import NEWEST
from robot_dynamics_ros.outputs import refuse_existing
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import TOPICS
from robot_dynamics_ros.viewer.scene import TEXT_EVERY, Health, Scene
from robot_dynamics_ros.viewer.stream import WebViewer, finish, open_stream
from robot_dynamics_ros.viewer.views import force_views

SIGNAL_TIMEOUT_NS = 1_000_000_000  # a signal that did not arrive for this long is absent
HEALTH_TIMEOUT = 5.0  # s, of entries that come once a second


class ViewerNode(LifecycleBase):
    """Newest message of each topic -> rerun, `rate` times a second; messages between two pictures are never decoded."""

    def __init__(self, **options: Any) -> None:
        super().__init__("viewer_node", NODES["viewer_node"], **options)
        self._web: WebViewer | None = None
        self._stream: Any = None
        self._clear()

    def _clear(self) -> None:
        self._raw: dict[tuple[str, int | None], bytes] = {}
        self._health: dict[str, tuple[Health, float]] = {}  # and when it came, steady time
        self._inputs: list[Any] = []
        self._timer: Any = None
        self._pictures, self._heard = 0, 0.0  # heard: when joint states came last, steady time; 0: never
        self._tared = ""
        self._arrived: dict[tuple[str, int | None], int] = {}

    def build(self) -> None:
        """Robot, web viewer, file, subscriptions."""
        self._clear()
        robot = load_robot(self.value("robot"))
        file = Path(self.value("file")) if self.value("file") else None
        if file is not None:
            refuse_existing("file", file)
        if self.value("web"):
            self._web = WebViewer(self.value("web_port"), self.value("data_port"))
        self._stream = open_stream(file, self._web.target if self._web else "")
        self._scene, self._sample = Scene(self._stream, robot), Sample(robot.joint_names)
        self._stream.send_blueprint(force_views(robot.name, self._scene.reach))
        aliases = robot.joint_aliases
        self._readers = {name: MessageReader(TOPICS[name], robot.joint_names, aliases) for name in VIEWED}
        for name in VIEWED:
            kind = MESSAGE_TYPES[TOPICS[name].type]
            for joint, topic in topic_names(TOPICS[name], robot.joint_names, self.value("prefix")).items():
                keep = self._keep((name, joint))
                self._inputs.append(self.create_subscription(kind, topic, keep, NEWEST, raw=True))
        self._inputs.append(self.create_subscription(DiagnosticArray, "/diagnostics", self._diagnosed, 10))
        if self._web is not None:
            self.get_logger().info(f"viewer: {self._web.url}")

    def start(self) -> None:
        """Pictures from now on."""
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(1.0 / self.value("rate"), self._draw, clock=steady)

    def stop(self) -> None:
        """No more pictures."""
        if self._timer is not None:
            self.destroy_timer(self._timer)
            self._timer = None

    def drop(self) -> None:
        """End the web viewer, complete the file."""
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        if self._stream is not None:
            finish(self._stream, self._web)
        elif self._web is not None:
            self._web.close()
        self._web = self._stream = None
        self._clear()

    def _keep(self, key: tuple[str, int | None]) -> Any:
        def take(message: bytes) -> None:
            self._raw[key] = message

        return take

    def _diagnosed(self, message: DiagnosticArray) -> None:
        own = self.get_namespace().strip("/")
        for entry in message.status:
            space = entry.name.partition(":")[0].rpartition("/")[0]
            if space not in ("", own):  # of another robot in the graph
                continue
            level = int.from_bytes(entry.level, "little")
            self._health[entry.name] = Health(entry.name, level, entry.message), time.monotonic()
            self._tared = next(
                (pair.value for pair in entry.values if pair.key == "tare" and space == own), self._tared
            )

    def _draw(self) -> None:
        """One picture of what arrived since the last one. Of a robot that is silent no force is shown, and the checks
        say why: they go on.
        """
        waiting, self._raw, now = self._raw, {}, time.monotonic()
        heard = ("joint_states", None) in waiting
        if not heard and (not self._heard or now - self._heard < 1e-9 * SIGNAL_TIMEOUT_NS):
            return
        for key, raw in waiting.items():
            self._decode(key, raw)
        if heard:
            self._heard = now
            self._age()
        else:
            self._sample.clear_estimates()
            self._sample.stamp_ns += 1  # behind the last points, which stay
        self._pictures += 1
        text = self._pictures % TEXT_EVERY == 1
        if heard or text:
            self._scene.show(self._sample)
        if text:
            self._scene.log_status(self._sample, self._checks())
            self._scene.set_state("tare", self._tared)

    def _checks(self) -> list[Health]:
        """The entries; one that comes no more, of a node that has ended or is not active, says nothing about now."""
        latest = time.monotonic() - HEALTH_TIMEOUT
        return [
            found if came > latest else found._replace(level=3, message="comes no more")
            for found, came in self._health.values()
        ]

    def _decode(self, key: tuple[str, int | None], raw: bytes) -> None:
        name, joint = key
        try:
            message: Any = deserialize_message(raw, MESSAGE_TYPES[TOPICS[name].type])
            self._readers[name].read(message, self._sample, joint)
        except (DataError, RuntimeError):  # rclpy's RMWError: bytes that are no message
            return
        self._arrived[key] = to_ns(message.header.stamp)
        if name == "joint_states":
            self._sample.stamp_ns = self._arrived[key]

    def _age(self) -> None:
        """Signals that stopped arriving become NaN."""
        for (name, joint), stamp in self._arrived.items():
            if abs(self._sample.stamp_ns - stamp) > SIGNAL_TIMEOUT_NS:
                for signal in TOPICS[name].fields.values():
                    values = getattr(self._sample, signal)
                    values[slice(None) if joint is None else joint] = np.nan


def main(_: str) -> None:
    """Run the viewer node; the process exits with its status."""
    os.environ.setdefault("RUST_LOG", "error,re_grpc_client=off,re_sdk=off")  # the web viewer ends before this process
    sys.exit(run(ViewerNode))
