"""Reference pages of the nodes: parameters in one table with a column per node, topics, services."""

from __future__ import annotations

from robot_dynamics_ros.estimators.pipeline import STAGES
from robot_dynamics_ros.nodes.interfaces import EXTRA_TOPICS, SERVICES
from robot_dynamics_ros.nodes.robot.stages import OF_NODE
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.signals import SIGNALS
from robot_dynamics_ros.topics import INPUT_TOPICS, TOPICS, Topic, below

HEAD = ("| parameter | default | range | unit |", "|---|---|---|---|")
SHORT = {node: node.removesuffix("_node") for node in NODES}
TEXT = (
    "What a user can set: in a ROS parameter file (`up --params`), or while the node runs unless it is fixed. Those "
    "of stages belong to the estimator node and of the composed node; `replay --set` takes them too."
)


def _range(p: Parameter) -> str:
    if p.choices:
        return ", ".join(f"`{c}`" for c in p.choices)
    low, high = ("" if bound is None else f"{bound:g}" for bound in (p.low, p.high))
    return f"{low} .. {high}" if low or high else ""


def _cells(p: Parameter, prefix: str = "") -> tuple[str, str]:
    default = f"`{p.default}`" if p.default != "" else ""
    fixed = "; fixed after configuring" if p.read_only else ""
    return f"| `{prefix}{p.name}` | {default} | {_range(p)} | {p.unit} |", f"{p.text}{fixed} |"


def parameters() -> str:
    """Every parameter once, with the nodes that have it; then those of the stages."""
    lines = ["# Parameters", "", TEXT, "", "## Nodes", "", HEAD[0] + " nodes | meaning |", HEAD[1] + "---|---|"]
    first = {p.name: p for table in reversed(NODES.values()) for p in table}
    for p in sorted(first.values(), key=lambda p: p.name):
        having = [SHORT[node] for node, table in NODES.items() if p.name in {q.name for q in table}]
        head, text = _cells(p)
        lines.append(f"{head} {', '.join(having) if len(having) < len(NODES) else 'all'} | {text}")
    for name, make in STAGES.items():
        stage = make()
        uses = f"; uses {', '.join(stage.optional)}" if stage.optional else ""
        reads, writes = (", ".join(signals) for signals in (stage.reads, stage.writes))
        lines += ["", f"## Stage {name}", "", f"Reads {reads}{uses}; writes {writes}.", ""]
        own = [p for p in stage.parameters if p.name not in OF_NODE]
        if own:
            lines += [HEAD[0] + " meaning |", HEAD[1] + "---|", *(" ".join(_cells(p, f"{name}.")) for p in own)]
    return "\n".join(lines) + "\n"


def _topic(topic: Topic) -> str:
    name = below("<prefix>", topic.name) + ("/<joint>" if topic.per_joint else "")
    fields = "; ".join(f"{field}: {SIGNALS[s].meaning} [{SIGNALS[s].unit}]" for field, s in topic.fields.items())
    return f"| `{name}` | {topic.type} | {fields} |"


def _by_node(tables: dict[str, tuple[tuple[str, str, str], ...]]) -> list[str]:
    """One row per name, with the nodes that have it."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for node, table in tables.items():
        for row in table:
            rows.setdefault(row, []).append(SHORT[node])
    return [f"| `{name}` | {kind} | {', '.join(nodes)} | {text} |" for (name, kind, text), nodes in rows.items()]


def topics() -> str:
    """Topics and services of all nodes."""
    head = ["| topic | type | fields |", "|---|---|---|"]
    nodes = ["| {} | type | nodes | |", "|---|---|---|---|"]
    return "\n".join([
        "# Topics and services", "", "Names are explained in [live](../live.md#names).", "",
        "## Measured (hardware node, composed node)", "", *head, *(_topic(TOPICS[name]) for name in INPUT_TOPICS), "",
        "## Estimated (estimator node, composed node)", "", *head,
        *(_topic(t) for name, t in TOPICS.items() if name not in INPUT_TOPICS), "",
        "## Other topics and actions", "", nodes[0].format("topic"), nodes[1], *_by_node(EXTRA_TOPICS), "",
        "## Services", "", nodes[0].format("service"), nodes[1], *_by_node(SERVICES), "",
    ])  # fmt: skip
