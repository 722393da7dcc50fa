"""The parts of a node, and the topics and services that they create and remove."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from std_srvs.srv import Trigger

from robot_dynamics_ros.errors import RobotDynamicsError, printable
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase

LONGEST_REASON = 300  # characters
REPEAT = 30.0  # s between lines of the console that say the same


def reason(error: RobotDynamicsError) -> str:
    """Why a message was refused, at most LONGEST_REASON characters: names in it come from the message."""
    return printable(str(error), LONGEST_REASON)


class NodePart:
    """Base of the parts: destroy() removes what the part has created."""

    def __init__(self, node: LifecycleBase) -> None:
        self._node = node
        self._entities: list[tuple[Callable[[Any], Any], Any]] = []

    def destroy(self) -> None:
        """Remove the topics and services of this part."""
        for destroy, entity in self._entities:
            destroy(entity)
        self._entities.clear()

    def _keep(self, destroy: Callable[[Any], Any], entity: Any) -> Any:
        self._entities.append((destroy, entity))
        return entity

    def subscribe(self, kind: type, topic: str, callback: Callable[[Any], None], qos: Any, raw: bool = False) -> Any:
        """raw: the messages are bytes, as they came; the callback decides what is parsed."""
        subscription = self._node.create_subscription(kind, topic, callback, qos, raw=raw)
        return self._keep(self._node.destroy_subscription, subscription)

    def _publish_on(self, kind: type, topic: str, qos: Any) -> Any:
        """A publisher that also publishes while the node is inactive."""
        return self._keep(self._node.destroy_publisher, self._node.create_publisher(kind, topic, qos))

    def _publish_active(self, kind: type, topic: str, qos: Any) -> Any:
        """A publisher that publishes only while the node is active."""
        publisher: Any = self._node.create_lifecycle_publisher(kind, topic, qos)
        return self._keep(self._node.destroy_lifecycle_publisher, publisher)

    def trigger(self, name: str, action: Callable[[], str]) -> Any:
        """Service of `action`: success with the text that it returns, failure with a RobotDynamicsError as reason."""

        def call(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            try:
                response.message = action()
                response.success = True
            except RobotDynamicsError as error:
                response.success, response.message = False, str(error)
            return response

        return self._keep(self._node.destroy_service, self._node.create_service(Trigger, name, call))
