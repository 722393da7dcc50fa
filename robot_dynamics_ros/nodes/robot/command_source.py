"""The only node, or enclave, that may enable torque or motion, where the parameter `command_source` names one.

Judged by the graph: by who holds clients of the enabling services and publishers of the command topics. ROS 2 does not
tell a server who called it, and without SROS 2 a node may take any name: this keeps out mistakes, SROS 2 keeps out
other nodes (docs/security.md).
"""

from __future__ import annotations

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.interfaces import COMMAND_TOPICS, ENABLING_SERVICES
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase


def _commanders(node: LifecycleBase) -> list[tuple[str, str]]:
    topics = [name.replace("<prefix>", node.value("prefix")) for name in COMMAND_TOPICS]
    topics += [name.removeprefix("<prefix>/") for name in COMMAND_TOPICS if name.startswith("<prefix>")]  # of before
    return node.commanders(ENABLING_SERVICES, topics)


def other_commanders(node: LifecycleBase) -> list[str]:
    """Full names of nodes that could command this one and are not `command_source`; none where it is not set."""
    source = node.value("command_source")
    return [name for name, enclave in _commanders(node) if source not in (name, enclave)] if source else []


def refuse_other_commanders(node: LifecycleBase) -> None:
    """Raise CapabilityError while another node than `command_source` could command, or that one is not there."""
    source = node.value("command_source")
    if not source:
        return
    if others := other_commanders(node):
        raise CapabilityError(
            f"only {source} may command this node (command_source); {', '.join(others[:5])} could too"
        )
    if not _commanders(node):
        raise CapabilityError(f"only {source} may command this node (command_source), and it is not in the graph")
