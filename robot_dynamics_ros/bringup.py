"""The graph of nodes and parameters for a robot, read by the launch files and by `robot-dynamics up`."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from robot_dynamics_ros.drivers.factory import MANUFACTURERS, driver_of
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.pipeline import STAGES, Pipeline
from robot_dynamics_ros.models.robot_report import refuse_implausible
from robot_dynamics_ros.nodes.robot.stages import OF_NODE, select
from robot_dynamics_ros.nodes.tables import DRIVER, NODES
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.robot_file.problems import short
from robot_dynamics_ros.robot_file.store import config_directories
from robot_dynamics_ros.robot_file.yaml_text import read_yaml
from robot_dynamics_ros.topics import PREFIX, check_prefix, node_name

LOCAL = "127.0.0.1"  # address of a controller on this machine
DRIVERS = next(p.choices for p in DRIVER if p.name == "driver")
ROS_NAME = re.compile(r"(/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/?)?")
YIELDING = ("effort_semantics", "publish_description")  # a parameter file may say otherwise
BUILT_IN = ("use_sim_time",)  # parameters every ROS node has


@dataclass(frozen=True)
class NodeSpec:
    """One process: executable of this package, name of the node, parameters, remappings."""

    executable: str
    name: str
    parameters: dict[str, Any]
    remappings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Graph:
    """The processes to start: nodes in order, in a namespace, with a common environment."""

    nodes: tuple[NodeSpec, ...]
    namespace: str = ""
    params_file: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what was asked for and is left out, as sentences

    def command(self, node: NodeSpec) -> list[str]:
        """Command line that starts one node in this Python."""
        return [sys.executable, "-m", "robot_dynamics_ros.nodes.executables", node.executable, *self.arguments(node)]

    def arguments(self, node: NodeSpec) -> list[str]:
        """ROS arguments of one node."""
        out = ["--ros-args", "-r", f"__node:={node.name}"]
        if self.namespace:
            out += ["-r", f"__ns:=/{self.namespace.strip('/')}"]
        for source, target in node.remappings:
            out += ["-r", f"{source}:={target}"]
        return [*out, *self.values(node)]

    def values(self, node: NodeSpec) -> list[str]:
        """Of the ROS arguments those that set parameters; of two that set the same the later one holds."""
        given = {name: ["-p", f"{name}:={json.dumps(value)}"] for name, value in node.parameters.items()}
        first = [word for name in YIELDING for word in given.pop(name, [])]
        file = ["--params-file", self.params_file] if self.params_file else []
        return [*first, *file, *(word for words in given.values() for word in words)]


def describe(
    robot: str,
    driver: str = "auto",
    ip: str = LOCAL,
    *,
    composed: bool = True,
    namespace: str = "",
    params_file: str = "",
    use_sim_time: bool = False,
    tf_prefix: str = "",
    prefix: str = PREFIX,
    joint_states: str = "joint_states",
    view: bool = False,
    view_file: str = "",
) -> Graph:
    """The graph for a robot. Raises ConfigError for an unknown robot, driver, a robot file
    that `check` refuses, or a parameter file that does not fit.

    composed: driver, stages and publishers in one process; otherwise the driver and each stage in their own.
    driver `auto`: that of the robot's manufacturer, `none` where this package has none and no ip is given; `none`: an
    existing driver publishes `joint_states` (remapped from the given topic). prefix: above the topics of estimates and
    commands; one of your own also begins the names of the nodes. view: also the viewer, in a browser; view_file: an
    .rrd file for it; without rerun the viewer is left out and noted.
    """
    check_names({"namespace": namespace, "tf_prefix": tf_prefix, "joint_states": joint_states})
    loaded = load_robot(robot)
    refuse_implausible(loaded)
    if driver == "auto":
        without = ip == LOCAL and loaded.manufacturer not in MANUFACTURERS
        driver = "none" if without else driver_of(loaded)
    if driver not in DRIVERS:
        raise ConfigError("driver", "", f"{driver!r} is none of {', '.join((*DRIVERS, 'auto'))}")
    if prefix == "~" and not composed:
        raise ConfigError("prefix", "", "~ is for one node per robot: the stages of several nodes need a common prefix")
    common: dict[str, Any] = {"robot": robot, "prefix": check_prefix(prefix)}
    clock = {"use_sim_time": True} if use_sim_time else {}  # where it is not given, a parameter file may say it
    common |= clock | ({"tf_prefix": tf_prefix} if tf_prefix else {})
    ours: dict[str, Any] = {"driver": driver, "ip": ip}
    if driver == "none":  # the existing driver describes its robot
        ours = {"driver": "none", "publish_description": False}
    reads: dict[str, Any] = {"effort_semantics": "recognise"} if driver == "none" else {}
    remap = (("joint_states", joint_states),) if joint_states != "joint_states" else ()
    if composed:
        nodes = [NodeSpec("composed_node", "composed_node", common | ours | reads, remap)]
    else:
        nodes = [NodeSpec("hardware_node", "hardware_node", common | ours)] if driver != "none" else []
        nodes += [
            NodeSpec("estimator_node", f"{stage.name}_node", common | reads | {"stages": stage.name}, remap)
            for stage in Pipeline(loaded).stages
        ]
    missing = _viewer_missing() if view or view_file else ""
    if (view or view_file) and not missing:
        shown = {"robot": robot, "prefix": prefix.replace("~", "composed_node"), "web": view} | clock
        shown |= {"file": str(view_file)} if view_file else {}
        nodes.append(NodeSpec("viewer_node", "viewer_node", shown, remap))
    nodes = [replace(node, name=node_name(node.name, prefix)) for node in nodes]
    notes = (f"no viewer: {missing}",) if missing else ()
    graph = Graph(tuple(nodes), namespace.strip("/"), str(params_file or ""), environment(), notes)
    if params_file:
        check_parameter_file(Path(params_file), graph)
    return graph


def check_names(names: Mapping[str, str]) -> None:
    """Raise ConfigError for an option (key) whose value is no ROS name."""
    for option, name in names.items():
        unnamed = option in ("joint_states", "node") and (not name or name.endswith("/"))
        if unnamed or not ROS_NAME.fullmatch(name):
            raise ConfigError(option, "", f"{short(name)} is no ROS name: letters, digits, _ and single /")


def _viewer_missing() -> str:
    """Empty when the viewer can run, else what to install."""
    from robot_dynamics_ros.viewer.stream import require_rerun

    try:
        require_rerun()
    except CapabilityError as error:
        return str(error)
    return ""


def environment() -> dict[str, str]:
    """Middleware settings that the user has not set: this machine only (sockets on 127.0.0.1), quick discovery, queues
    that give their memory back.

    Where the user has set another discovery range, the profile leaves the network interfaces as they are.
    """
    reach = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    wanted = {"ROS_AUTOMATIC_DISCOVERY_RANGE": reach}
    profile = find_config("fastdds_loopback.xml" if reach == "LOCALHOST" else "fastdds.xml")
    if profile is not None and _profile_variable() not in os.environ:
        wanted |= {_profile_variable(): str(profile), "RMW_FASTRTPS_USE_QOS_FROM_XML": "1"}
    return {name: value for name, value in wanted.items() if name not in os.environ}


def _profile_variable() -> str:
    """Variable of the Fast DDS profile; Fast DDS 3 (rclpy 8 and later) renamed it and warns about the old name."""
    try:
        new = int(metadata.version("rclpy").split(".")[0]) >= 8
    except (metadata.PackageNotFoundError, ValueError):
        new = False
    return "FASTDDS_DEFAULT_PROFILES_FILE" if new else "FASTRTPS_DEFAULT_PROFILES_FILE"


def find_config(name: str) -> Path | None:
    """A file of config/, in the source tree or where the package is installed."""
    return next((d / name for d in config_directories() if (d / name).is_file()), None)


def declared(executable: str, stages: str = "all") -> dict[str, Parameter]:
    """All parameters of a node, those of its stages included."""
    table = {p.name: p for p in NODES[executable]}
    return table | _of_stages(select(stages).tables) if "stages" in table else table


def _of_stages(tables: Mapping[str, Sequence[Parameter]]) -> dict[str, Parameter]:
    """Parameters of stages by the names that a node gives them."""
    named = ((f"{stage}.{p.name}", p) for stage, parameters in tables.items() for p in parameters)
    return {name: replace(p, name=name) for name, p in named}


def check_parameter_file(path: Path, graph: Graph) -> None:
    """Raises ConfigError naming file, parameter, value and bound for what ROS would ignore or refuse later.

    Blocks of nodes in other namespaces are those of other robots, and not judged.
    """
    space = f"/{graph.namespace}" if graph.namespace else ""
    names, found = {f"{space}/{node.name}": node for node in graph.nodes}, False
    for pattern, block in _blocks(read_yaml(path), str(path)):
        nodes = [node for name, node in names.items() if re.fullmatch(_matching(pattern), name)]
        if not nodes and pattern.rpartition("/")[0] in ("", space):
            raise ConfigError(str(path), pattern, f"no node of this graph; there are {', '.join(names)}")
        if not nodes:
            continue
        found, known = True, dict[str, Parameter]()
        for executable, stages in {(node.executable, node.parameters.get("stages", "all")) for node in nodes}:
            known |= declared(executable, stages)
        for name, value in _flat(block):
            _check(path, name, value, known)
            _refuse_overridden(path, name, value, nodes)
    if not found:
        raise ConfigError(str(path), "", f"no block is for a node of this graph; there are {', '.join(names)}")


def _matching(pattern: str) -> str:
    """Regular expression of the full names of nodes that a block of a parameter file is for: * one part, ** any."""
    parts = {"": "", "**": "(/[^/]+)*", "*": "/[^/]+"}
    return "".join(parts.get(part, "/" + re.escape(part)) for part in pattern.split("/"))


def _refuse_overridden(path: Path, name: str, value: Any, nodes: Sequence[NodeSpec]) -> None:
    """Raises ConfigError for a value that the options of the command replace by another."""
    for ours in (node.parameters.get(name, value) for node in nodes if name not in YIELDING):
        if ours != value:
            raise ConfigError(str(path), name, f"{value!r} has no effect: the command sets {ours!r}; use its option")


def stage_parameters(path: Path) -> dict[str, dict[str, Any]]:
    """Stage -> parameter -> value of a ROS parameter file; what nodes alone declare is left out.

    Raises ConfigError naming file, parameter, value and bound.
    """
    found: dict[str, dict[str, Any]] = {}
    known = _of_stages({stage: make().parameters for stage, make in STAGES.items()})
    for _, block in _blocks(read_yaml(path), str(path)):
        for name, value in _flat(block):
            name = f"force.{name}" if name in OF_NODE else name
            stage, _, parameter = name.partition(".")
            if stage in STAGES and parameter:
                _check(path, name, value, known)
                found.setdefault(stage, {})[parameter] = value
    return found


def _check(path: Path, name: str, value: Any, known: Mapping[str, Parameter]) -> None:
    if name in BUILT_IN:
        if not isinstance(value, bool):
            raise ConfigError(str(path), name, f"{value!r} must be true or false")
        return
    if name not in known:
        close = difflib.get_close_matches(name, known, n=1)
        raise ConfigError(str(path), name, "unknown parameter" + (f"; did you mean {close[0]}?" if close else ""))
    if isinstance(known[name].default, float) and isinstance(value, int) and not isinstance(value, bool):
        raise ConfigError(
            str(path),
            name,
            f"{value!r} must be written {float(value)!r}: a ROS parameter is either an integer or a float",
        )
    known[name].checked(value, str(path))


def _blocks(tree: Any, path: str, above: str = "") -> list[tuple[str, Mapping[str, Any]]]:
    """(full name or pattern, parameters) of `[/ns/]node: ros__parameters: ...`, also below keys of namespaces."""
    if not isinstance(tree, Mapping):
        raise ConfigError(path, above.lstrip("/"), "expected `node: {ros__parameters: {...}}`")
    found = []
    for key, body in tree.items():
        name = f"{above}/{str(key).strip('/')}"
        inside = isinstance(body, Mapping) and body and all(isinstance(block, Mapping) for block in body.values())
        if inside and "ros__parameters" not in body:
            found += _blocks(body, path, name)
        elif isinstance(body, Mapping) and isinstance(body.get("ros__parameters"), Mapping):
            found.append((name, body["ros__parameters"]))
        else:
            raise ConfigError(path, str(key), "expected `ros__parameters:` below a node's name")
    return found


def _flat(block: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    out: list[tuple[str, Any]] = []
    for key, value in block.items():
        name = f"{prefix}{key}"
        out += _flat(value, name + ".") if isinstance(value, Mapping) else [(name, value)]
    return out
