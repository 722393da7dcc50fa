"""A node of this process beside those that are looked at, with a ROS context and an executor of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from robot_dynamics_ros.waiting import wait_until


class Probe:
    """`node` subscribes and publishes; messages are taken in `spin`. timeout [s]: of spin() and call()."""

    def __init__(self, name: str, timeout: float = 10.0) -> None:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        import rclpy
        from rclpy.experimental import EventsExecutor

        self.timeout = timeout
        self.context = rclpy.Context()
        rclpy.init(args=[], context=self.context)
        self.node = rclpy.create_node(name, context=self.context)
        self.executor = EventsExecutor(context=self.context)
        self.executor.add_node(self.node)

    def spin(self, condition: Callable[[], Any], timeout: float | None = None, step: float = 0.05) -> bool:
        """Until the condition holds; False when it does not in time. step [s]: longest wait between two looks."""
        seconds = self.timeout if timeout is None else timeout
        return wait_until(condition, seconds, lambda: self.executor.spin_once(timeout_sec=step))

    def call(self, kind: Any, name: str, request: Any = None, timeout: float | None = None) -> Any:
        """Response of a service, None where it does not come in time."""
        client: Any = self.node.create_client(kind, name)
        try:
            if not self.spin(client.service_is_ready, timeout):
                return None
            future: Any = client.call_async(request or kind.Request())
            return future.result() if self.spin(future.done, timeout) else None
        finally:
            self.node.destroy_client(client)

    def close(self) -> None:
        """Leave the domain."""
        import rclpy

        self.executor.shutdown()  # it holds the nodes, which would stay in the graph
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
