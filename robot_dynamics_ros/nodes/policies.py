"""SROS 2 policies of the graph, generated from the tables of topics and services: `python -m ...nodes.policies`.

Three enclaves: `robot` runs the nodes, `observe` may read every topic, `command` may besides call the services and
publish the commands. Permissions of SROS 2 belong to the enclave, whatever a node in it is called.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from xml.etree import ElementTree

from robot_dynamics_ros.estimators.pipeline import STAGES
from robot_dynamics_ros.nodes.interfaces import EXTRA_TOPICS, SERVICES
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.topics import PREFIX, TOPICS, node_name

ROOT = "/robot_dynamics"  # above the enclaves
LIFECYCLE = ("change_state", "get_state", "get_available_states", "get_available_transitions", "get_transition_graph")
PARAMETERS = (
    "describe_parameters",
    "get_parameter_types",
    "get_parameters",
    "list_parameters",
    "set_parameters",
    "set_parameters_atomically",
    "get_type_description",
)
READING = ("get_state", "describe_parameters", "get_parameter_types", "get_parameters", "list_parameters")
EVERY_NODE = ("/rosout", "/parameter_events")  # published by every ROS node
HEARD = ("/clock", "/parameter_events")


@dataclass
class Enclave:
    """Names that an enclave may use, absolute, `*` for any characters."""

    publish: set[str] = field(default_factory=set)
    subscribe: set[str] = field(default_factory=set)
    reply: set[str] = field(default_factory=set)
    request: set[str] = field(default_factory=set)
    execute: set[str] = field(default_factory=set)  # actions
    call: set[str] = field(default_factory=set)

    def element(self, path: str) -> ElementTree.Element:
        """As it stands in a policy file."""
        enclave = ElementTree.Element("enclave", path=path)
        profile = ElementTree.SubElement(
            ElementTree.SubElement(enclave, "profiles"), "profile", ns="/", node=path.rsplit("/", 1)[1]
        )
        kinds = {"topic": ("subscribe", "publish"), "service": ("request", "reply"), "action": ("call", "execute")}
        for kind, permissions in kinds.items():
            for permission in permissions:
                names = sorted(getattr(self, permission))
                if names:
                    block = ElementTree.SubElement(profile, f"{kind}s", {permission: "ALLOW"})
                    for name in names:
                        ElementTree.SubElement(block, kind).text = name
        return enclave


def node_names(prefix: str = PREFIX) -> dict[str, str]:
    """Name of each node that bringup starts -> the executable whose tables hold for it."""
    names = {name: name for name in NODES} | {f"{stage}_node": "estimator_node" for stage in STAGES}
    return {node_name(name, prefix): executable for name, executable in names.items()}


def absolute(name: str, node: str, namespace: str, prefix: str = PREFIX) -> list[str]:
    """Absolute names of a topic or service of the tables. One that is relative may be below the prefix, too."""
    space = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    text = name.replace("<prefix>", prefix).replace("<joint>", "*")
    if text.startswith("/"):
        return [text]
    if text.startswith("~/"):
        return [f"{space}/{node}/{text[2:]}"]
    below = f"{space}/{prefix.replace('~', node)}/{text}"
    return [f"{space}/{text}"] + ([] if text.startswith(f"{prefix}/") else [below])


def enclaves(namespace: str = "", prefix: str = PREFIX) -> dict[str, Enclave]:
    """robot, observe, command for the nodes of a namespace."""
    robot, observe, command = Enclave(), Enclave(), Enclave()

    def names(node: str, *relative: str) -> set[str]:
        return {found for name in relative for found in absolute(name, node, namespace, prefix)}

    published = [f"{topic.name}/<joint>" if topic.per_joint else topic.name for topic in TOPICS.values()]
    for node, executable in node_names(prefix).items():
        robot.publish |= names(node, *published, "robot_description")
        for name, _, text in EXTRA_TOPICS[executable]:
            kind = text.split()[0].strip(",:")
            if kind == "action":
                robot.execute |= names(node, name)
            elif kind == "published":
                robot.publish |= names(node, name)
            elif executable != "viewer_node":  # the viewer subscribes to what the others publish
                command.publish |= names(node, name)
        own = [f"~/{name}" for name in (*LIFECYCLE, *PARAMETERS)]
        robot.reply |= names(node, *(name for name, _, _ in SERVICES[executable]), *own)
        robot.publish |= names(node, "~/transition_event")
        observe.request |= names(node, *(f"~/{name}" for name in READING))
    observe.subscribe = robot.publish | set(HEARD) | set(EVERY_NODE)
    robot.subscribe = robot.publish | command.publish | set(HEARD)  # nodes subscribe to each other
    command.subscribe, command.request, command.call = set(observe.subscribe), set(robot.reply), set(robot.execute)
    for enclave in (robot, observe, command):
        enclave.publish |= set(EVERY_NODE)
    return {"robot": robot, "observe": observe, "command": command}


def policies(namespace: str = "", prefix: str = PREFIX) -> str:
    """The policy file, for `ros2 security create_enclave` and `create_permission`."""
    policy = ElementTree.Element("policy", version="0.2.0")
    block = ElementTree.SubElement(policy, "enclaves")
    for name, enclave in enclaves(namespace, prefix).items():
        block.append(enclave.element(f"{ROOT}/{name}"))
    ElementTree.indent(policy)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(policy, encoding="unicode") + "\n"


def main() -> None:
    """Print the policies of a namespace."""
    parser = argparse.ArgumentParser(prog="python -m robot_dynamics_ros.nodes.policies", description=main.__doc__)
    parser.add_argument("--namespace", default="", help="ROS namespace of the nodes")
    parser.add_argument("--prefix", default=PREFIX, help="name above the topics of estimates and commands")
    given = parser.parse_args()
    print(policies(given.namespace, given.prefix), end="")


if __name__ == "__main__":
    main()
