"""Base of all nodes of the package: declared parameters, lifecycle with one-line errors, diagnostics."""

from __future__ import annotations

import math
import os
import socket
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import NodeNameNonExistentError
from rclpy.parameter import Parameter as RosParameter

from robot_dynamics_ros.errors import ConfigError, RobotDynamicsError, first_line
from robot_dynamics_ros.nodes.claims import claim
from robot_dynamics_ros.parameters import Parameter

MAX_FLOAT = 1.7976931348623157e308


def descriptor(p: Parameter) -> ParameterDescriptor:
    """ROS descriptor of a declared parameter: text with unit and choices, range, read-only."""
    text = p.text + (f" [{p.unit}]" if p.unit else "") + (f", one of: {', '.join(p.choices)}" if p.choices else "")
    result = ParameterDescriptor(name=p.name, description=text, read_only=p.read_only)
    bounded = p.low is not None or p.high is not None
    if bounded and isinstance(p.default, float):
        low, high = (-MAX_FLOAT if p.low is None else float(p.low)), (MAX_FLOAT if p.high is None else float(p.high))
        result.floating_point_range = [FloatingPointRange(from_value=low, to_value=high)]
    elif bounded and isinstance(p.default, int) and not isinstance(p.default, bool):
        low = -(2**63) if p.low is None else math.ceil(p.low)
        high = 2**63 - 1 if p.high is None else math.floor(p.high)
        result.integer_range = [IntegerRange(from_value=low, to_value=high, step=1)]
    return result


class LifecycleBase(LifecycleNode):
    """A lifecycle node with the parameters of a table; its errors are one line in the log.

    Subclasses implement build() (configure), start() (activate), stop() (deactivate), drop() (cleanup), and
    diagnose() for the diagnostics. They raise RobotDynamicsError for what a user can cause.
    """

    def __init__(self, name: str, table: Iterable[Parameter], **options: Any) -> None:
        super().__init__(name, **options)
        self.failure = ""
        self._claims: list[socket.socket] = []
        self._table: dict[str, Parameter] = {}
        self.declare(table)
        self.add_pre_set_parameters_callback(self._with_floats)
        self.add_on_set_parameters_callback(self._check)
        self.add_post_set_parameters_callback(self._changed)
        self._diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        steady = Clock(clock_type=ClockType.STEADY_TIME)  # also while simulated time stands still
        self.create_timer(1.0, self._publish_diagnostics, clock=steady)

    # -- parameters ---------------------------------------------------------------------------------------------------
    def declare(self, table: Iterable[Parameter], prefix: str = "") -> None:
        """Declare parameters once; raises ConfigError for a value given from outside that is out of range."""
        for p in table:
            name = prefix + p.name
            if self.has_parameter(name):
                continue
            self._table[name] = replace(p, name=name)
            try:
                value: Any = self.declare_parameter(name, p.default, descriptor(p)).value
            except Exception as error:  # rclpy has one exception per kind of error
                advice = ": write it with a point, as 40.0" if isinstance(p.default, float) else ""
                raise ConfigError(self.get_name(), name, first_line(error) + advice) from error
            self._table[name].checked(value, self.get_name())

    def value(self, name: str) -> Any:
        """Present value of a parameter."""
        return self.get_parameter(name).value

    def values(self, prefix: str) -> dict[str, Any]:
        """Present values of the parameters below a prefix, without it."""
        return {name[len(prefix) :]: self.value(name) for name in self._table if name.startswith(prefix)}

    def _with_floats(self, parameters: list[Any]) -> list[Any]:
        """40 for a parameter that is a float is 40.0."""
        floats = {name for name, p in self._table.items() if isinstance(p.default, float)}
        return [
            RosParameter(p.name, value=float(p.value)) if p.name in floats and type(p.value) is int else p
            for p in parameters
        ]

    def _check(self, parameters: list[Any]) -> SetParametersResult:
        """All or nothing: one bad value and no parameter changes."""
        try:
            proposed = {}
            for parameter in parameters:
                if parameter.name in self._table:
                    proposed[parameter.name] = self._table[parameter.name].checked(parameter.value, self.get_name())
            self.accept(proposed)
        except RobotDynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _changed(self, parameters: list[Any]) -> None:
        self.apply({p.name: p.value for p in parameters if p.name in self._table})

    def accept(self, proposed: dict[str, Any]) -> None:
        """Raise RobotDynamicsError to refuse a set of values."""

    def apply(self, changed: dict[str, Any]) -> None:
        """Apply values that were accepted."""

    # -- lifecycle ----------------------------------------------------------------------------------------------------
    def build(self) -> None:
        """Load and allocate."""

    def start(self) -> None:
        """Connect."""

    def stop(self) -> None:
        """Disconnect."""

    def drop(self) -> None:
        """Remove what build() made."""

    def _guarded(self, action: Callable[[], None]) -> bool:
        try:
            action()
        except RobotDynamicsError as error:
            self.failure = str(error)
            self.get_logger().error(self.failure)
            return False
        except Exception as error:  # a defect: rclpy would swallow it silently
            self.failure = f"{type(error).__name__}: {first_line(error)}"
            self.get_logger().error(traceback.format_exc())
            raise
        self.failure = ""
        return True

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Load robot, pipeline and publishers."""
        if not self._guarded(self.build):
            self.drop()
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Connect and publish."""
        if not self._guarded(self._claim_names) or not self._guarded(self.start):
            self._leave()
            return TransitionCallbackReturn.FAILURE
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disconnect; publishing ends."""
        self._leave()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Remove what was configured."""
        self.drop()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Disconnect and remove, from any state."""
        self._leave()
        self.drop()
        return super().on_shutdown(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After an unexpected error: disconnected, unconfigured, ready to be configured again."""
        self._leave()
        self.drop()
        return super().on_error(state)

    def claims(self) -> dict[str, str]:
        """Names of this machine that one node has while it is active, and why another one is refused: its own name."""
        name = self.get_fully_qualified_name()
        why = f"a node {name} runs on this machine already: end it first, or choose another namespace"
        return {f"{os.environ.get('ROS_DOMAIN_ID', '0')}{name}": why}

    def _claim_names(self) -> None:
        if not self._claims:
            for name, why in self.claims().items():
                self._claims.append(claim(name, why))

    def _leave(self) -> None:
        self.stop()
        while self._claims:
            self._claims.pop().close()

    @property
    def path(self) -> str:
        """Namespace and name without the leading slash: unlike in a graph of several robots."""
        return str(self.get_fully_qualified_name()).lstrip("/")

    def namesakes(self) -> int:
        """Other nodes of this name that the graph shows, one killed in the last seconds included."""
        own = self.get_name(), self.get_namespace()
        return max(0, self.get_node_names_and_namespaces().count(own) - 1)

    def commanders(self, services: Iterable[str], topics: Iterable[str]) -> list[tuple[str, str]]:
        """(full name, enclave) of the other nodes with a client of one of the services or a publisher of the topics.

        Names as given to create_service and create_subscription. As the graph shows it: names are not proven (SROS 2).
        """
        wanted = {self.resolve_service_name(name) for name in services}
        heard = {self.resolve_topic_name(name) for name in topics}
        found = []
        for name, space, enclave in self.get_node_names_and_namespaces_with_enclaves():
            if (name, space) == (self.get_name(), self.get_namespace()):
                continue
            try:
                clients = {client for client, _ in self.get_client_names_and_types_by_node(name, space)}
                publishers = {topic for topic, _ in self.get_publisher_names_and_types_by_node(name, space)}
            except NodeNameNonExistentError:  # it has just ended
                continue
            if wanted & clients or heard & publishers:
                found.append((f"{space.rstrip('/')}/{name}", enclave))
        return found

    @property
    def active(self) -> bool:
        """True between activation and deactivation."""
        return self._state_machine.current_state[1] == "active"

    def bring_up(self) -> bool:
        """Configure and activate; False when either fails, with the reason in `failure`."""
        success = TransitionCallbackReturn.SUCCESS
        return self.trigger_configure() == success and self.trigger_activate() == success

    # -- diagnostics and running --------------------------------------------------------------------------------------
    def diagnose(self) -> list[DiagnosticStatus]:
        """Entries to publish."""
        return []

    def _publish_diagnostics(self) -> None:
        entries = self.diagnose()
        if entries and self.context.ok():
            message = DiagnosticArray(status=entries)
            message.header.stamp = self.get_clock().now().to_msg()
            self._diagnostics.publish(message)

    @property
    def low_latency(self) -> bool:
        """True when events must be processed between any two pieces of work."""
        return False

    @property
    def events_at_once(self) -> int:
        """Events that are processed one after the other between two pieces of work."""
        return 1

    def work(self) -> bool:
        """One piece of the node's own work, at most a few ms of waiting; False: there are only events to process."""
        return False
