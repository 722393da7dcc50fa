"""A listener for terminals and reports: the newest message of each topic, decoded only when it is read."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.srv import GetState
from numpy.typing import NDArray
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.serialization import deserialize_message
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.topics.encoding import six, trajectory
from robot_dynamics_ros.nodes.topics.qos import LATCHED, NEWEST
from robot_dynamics_ros.topics import PREFIX, below
from robot_dynamics_ros.waiting import wait_until

REQUEST_TIMEOUT = 0.5  # s until an unanswered request is repeated
LATCHED_TIMEOUT = 2.0  # s until the state of the last motion must have arrived, where there was one
WATCHED: dict[str, type] = {
    "external_wrench_base": WrenchStamped,
    "external_wrench_base_std": WrenchStamped,
    "contact": Bool,
}


@dataclass
class View:
    """Newest values of the graph; NaN and None where nothing has arrived yet."""

    wrench: NDArray[np.float64] = field(default_factory=lambda: np.full(6, np.nan))
    std: NDArray[np.float64] = field(default_factory=lambda: np.full(6, np.nan))
    contact: bool | None = None
    diagnostics: dict[str, Mapping[str, str]] = field(default_factory=dict)
    level: int = 3
    motion: str = ""


class Monitor:
    """Context manager: a node of its own, spun in a thread. `robot_node`: name of the node that moves the robot."""

    def __init__(self, robot_node: str = "composed_node", namespace: str = "") -> None:
        self.robot_node, self.namespace = robot_node, namespace
        self._raw: dict[str, bytes] = {}
        self._diagnostics: dict[str, tuple[int, Mapping[str, str]]] = {}
        self._motion, self._ended, self._changed = "", threading.Event(), threading.Condition()

    def __enter__(self) -> Monitor:
        self._context = rclpy.Context()
        self._context.init()
        self._node = rclpy.create_node("monitor", context=self._context, namespace=self.namespace)
        self._looked_at = rclpy.create_node("monitor_topics", context=self._context, namespace=self.namespace)
        self._watched = {
            name: self._looked_at.create_subscription(kind, below(PREFIX, name), lambda _: None, NEWEST, raw=True)
            for name, kind in WATCHED.items()
        }  # of no executor: a thread that wakes for each of 2000 messages per second takes a tenth of a core
        self._node.create_subscription(DiagnosticArray, "/diagnostics", self._diagnose, 10)
        self._node.create_subscription(String, f"{self.robot_node}/motion", self._moves, LATCHED)
        self._trajectory = self._node.create_publisher(JointTrajectory, f"{self.robot_node}/play_trajectory", 1)
        self._stop: Any = self._node.create_client(Trigger, f"{self.robot_node}/stop")
        self._question: Any = self._node.create_client(GetState, f"{self.robot_node}/get_state")  # the last one made
        self._executor = EventsExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(5.0)
        self._node.destroy_node()
        self._looked_at.destroy_node()
        self._context.try_shutdown()

    def _spin(self) -> None:
        try:
            while not self._ended.is_set() and self._context.ok():
                self._executor.spin_once(timeout_sec=0.1)
        except (KeyboardInterrupt, ExternalShutdownException):
            self._ended.set()

    def _diagnose(self, message: DiagnosticArray) -> None:
        for status in message.status:
            level = int.from_bytes(status.level, "little")
            self._diagnostics[status.name] = (level, {v.key: v.value for v in status.values})

    def _moves(self, message: String) -> None:
        with self._changed:
            self._motion = message.data
            self._changed.notify_all()

    def wait_for_node(self, timeout: float) -> bool:
        """Block until the robot node takes trajectories and can be asked to stop; False after `timeout` s."""
        return wait_until(self._answers, timeout, lambda: time.sleep(0.05))

    def _answers(self) -> bool:
        """Whether the node answers a question of the client that was made last.

        The node learns of publishers and clients in the order in which they were made: it then hears the others too.
        """
        if not (self.present and self._stop.service_is_ready()):
            return False
        return self._call(self._question, GetState.Request(), REQUEST_TIMEOUT)

    @property
    def present(self) -> bool:
        """Whether the graph shows the robot node: one that was killed for some seconds more."""
        return self._trajectory.get_subscription_count() > 0

    def stop_robot(self, timeout: float) -> bool:
        """Ask the robot node to bring the robot to rest; False when it has not answered after `timeout` s."""
        return self._call(self._stop, Trigger.Request(), timeout)

    @staticmethod
    def _call(client: Any, request: Any, timeout: float) -> bool:
        answered = threading.Event()
        client.call_async(request).add_done_callback(lambda _: answered.set())
        return answered.wait(timeout)

    def wait_for_motion(self, word: str | tuple[str, ...], timeout: float) -> bool:
        """Block until the robot node reports a motion state that begins with `word` or one of them; False after
        `timeout` s.
        """
        with self._changed:
            return self._changed.wait_for(lambda: self._motion.startswith(word), timeout)

    def newest(self, name: str) -> Any:
        """Newest message of a topic of WATCHED, None before the first."""
        watched = self._watched[name]
        with watched.handle:
            while (taken := watched.handle.take_message(watched.msg_type, True)) is not None:
                self._raw[name] = taken[0]
        raw = self._raw.get(name)
        return None if raw is None else deserialize_message(raw, WATCHED[name])

    def snapshot(self) -> View:
        """The newest of everything."""
        view = View(motion=self._motion)
        if (wrench := self.newest("external_wrench_base")) is not None:
            view.wrench[:] = six(wrench)
        if (std := self.newest("external_wrench_base_std")) is not None:
            view.std[:] = six(std)
        if (contact := self.newest("contact")) is not None:
            view.contact = bool(contact.data)
        diagnostics = dict(self._diagnostics)
        view.diagnostics = {name: values for name, (_, values) in diagnostics.items()}
        view.level = max((level for level, _ in diagnostics.values()), default=3)
        return view

    def play(self, joint_names: Sequence[str], time_s: Any, q: Any, qd: Any = None) -> None:
        """Ask the robot node to move along (N,) seconds, (N, n) positions and, where given, velocities."""
        with self._changed:
            self._changed.wait_for(lambda: self._motion, LATCHED_TIMEOUT)  # the last one's, which may still arrive
            self._motion = ""  # the next state belongs to this motion
        self._trajectory.publish(trajectory(joint_names, time_s, q, qd))
