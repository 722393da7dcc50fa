"""The parts of a node: what they may use of it, and the topics and services that they create and remove."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from std_srvs.srv import Trigger

from robot_dynamics_ros.errors import RobotDynamicsError, printable

LONGEST_REASON = 300  # characters
REPEAT = 30.0  # s between lines of the console that say the same


def reason(error: RobotDynamicsError) -> str:
    """Why a message was refused, at most LONGEST_REASON characters: names in it come from the message."""
    return printable(str(error), LONGEST_REASON)


class NodeContext(Protocol):
    """What a part uses of its node: parameters, log, clock, and the creation of topics and services (as in rclpy)."""

    @property
    def context(self) -> Any:
        """Context of rclpy in which the node lives."""

    @property
    def active(self) -> bool:
        """True between activation and deactivation."""

    @property
    def path(self) -> str:
        """Namespace and name without the leading slash."""

    def work(self) -> bool:
        """One piece of the node's own work; False: there is none."""

    def value(self, name: str) -> Any:
        """Present value of a parameter."""

    def values(self, prefix: str) -> dict[str, Any]:
        """Present values of the parameters below a prefix, without it."""

    def get_name(self) -> str:
        """Name of the node."""

    def get_namespace(self) -> str:
        """Namespace of the node."""

    def resolve_topic_name(self, topic: str) -> str:
        """Full name of a topic, remapped as for this node."""

    def resolve_service_name(self, service: str) -> str:
        """Full name of a service, remapped as for this node."""

    def get_logger(self) -> Any:
        """Logger of the node."""

    def get_clock(self) -> Any:
        """Clock of the node."""

    def namesakes(self) -> int:
        """Other nodes of this name in the graph."""

    def commanders(self, services: Iterable[str], topics: Iterable[str]) -> list[tuple[str, str]]:
        """(full name, enclave) of the other nodes that can call one of the services or publish one of the topics."""

    def count_publishers(self, topic_name: str) -> int:
        """Publishers of a topic in the graph."""

    def create_publisher(self, *args: Any, **kwargs: Any) -> Any: ...
    def create_lifecycle_publisher(self, *args: Any, **kwargs: Any) -> Any: ...
    def create_subscription(self, *args: Any, **kwargs: Any) -> Any: ...
    def create_service(self, *args: Any, **kwargs: Any) -> Any: ...
    def destroy_publisher(self, *args: Any, **kwargs: Any) -> Any: ...
    def destroy_lifecycle_publisher(self, *args: Any, **kwargs: Any) -> Any: ...
    def destroy_subscription(self, *args: Any, **kwargs: Any) -> Any: ...
    def destroy_service(self, *args: Any, **kwargs: Any) -> Any: ...


class NodePart:
    """Base of the parts: destroy() removes what the part has created."""

    def __init__(self, node: NodeContext) -> None:
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

    def _subscribe(self, kind: type, topic: str, callback: Callable[[Any], None], qos: Any) -> Any:
        return self._keep(self._node.destroy_subscription, self._node.create_subscription(kind, topic, callback, qos))

    def _subscribe_bytes(self, kind: type, topic: str, callback: Callable[[bytes], None], qos: Any) -> Any:
        """The messages as they came; the callback decides what is parsed."""
        subscription = self._node.create_subscription(kind, topic, callback, qos, raw=True)
        return self._keep(self._node.destroy_subscription, subscription)

    def _publish_on(self, kind: type, topic: str, qos: Any) -> Any:
        """A publisher that also publishes while the node is inactive."""
        return self._keep(self._node.destroy_publisher, self._node.create_publisher(kind, topic, qos))

    def _publish_active(self, kind: type, topic: str, qos: Any) -> Any:
        """A publisher that publishes only while the node is active."""
        publisher = self._node.create_lifecycle_publisher(kind, topic, qos)
        return self._keep(self._node.destroy_lifecycle_publisher, publisher)

    def _trigger(self, name: str, action: Callable[[], str]) -> Any:
        """Service of `action`: success with the text that it returns, failure with a RobotDynamicsError as reason."""

        def call(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            try:
                response.message = action()
                response.success = True
            except RobotDynamicsError as error:
                response.success, response.message = False, str(error)
            return response

        return self._keep(self._node.destroy_service, self._node.create_service(Trigger, name, call))
