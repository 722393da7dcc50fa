"""The path of stops: services and topics that end torque and motion.

A node that runs (StopThread) serves them in a thread of their own: whatever waits for the node's thread (a flood of
trajectories, other services, a vendor client that starts) does not delay them. The names are those of the robot's node;
the entities belong to a hidden node beside it. Requests of both threads to the torque loop are made one at a time: the
interpreter's lock is held.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart
from robot_dynamics_ros.waiting import wait_until

IDLE_TIMEOUT = 0.5  # s


class Stops(NodePart):
    """In the node's own thread; wait: as Driver.wait_until."""

    def __init__(self, node: LifecycleBase, wait: Callable[[Callable[[], bool], float], bool]) -> None:
        super().__init__(node)
        self.wait = wait


class StopThread(Stops):
    """In a thread of its own, until destroy()."""

    def __init__(self, node: LifecycleBase) -> None:
        self._names = node
        self._hidden = Node(
            f"_{node.get_name()}_stops",
            namespace=node.get_namespace(),
            context=node.context,
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
            parameter_overrides=[Parameter("start_type_description_service", value=False)],
        )
        super().__init__(self._hidden, wait_until)  # type: ignore[arg-type]
        self._ended = threading.Event()
        self._executor = EventsExecutor(context=node.context)
        self._executor.add_node(self._hidden)
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        while not self._ended.is_set():
            try:
                self._executor.spin_once(timeout_sec=IDLE_TIMEOUT)
            except ExternalShutdownException:
                return
            except Exception:  # a defect is reported, and the next stop is still served
                self._names.get_logger().error(traceback.format_exc())

    def subscribe(self, kind: type, topic: str, callback: Callable[[Any], None], qos: Any, raw: bool = False) -> Any:
        """Under the name that the robot's node gives the topic."""
        return super().subscribe(kind, self._names.resolve_topic_name(topic), callback, qos, raw)

    def trigger(self, name: str, action: Callable[[], str]) -> Any:
        """Under the name that the robot's node gives the service."""
        return super().trigger(self._names.resolve_service_name(name), action)

    def destroy(self) -> None:
        """End the thread, then remove what was created."""
        self._ended.set()
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()
        super().destroy()
        self._hidden.destroy_node()
