"""Composed node: driver (or topics), all stages and all publishers in one process, for the lowest latency."""

from __future__ import annotations

import sys

from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
from robot_dynamics_ros.nodes.run import run
from robot_dynamics_ros.nodes.tables import NODES


class ComposedNode(RobotNode):
    """Driver or joint_states -> everything."""

    TABLE = NODES["composed_node"]

    def __init__(self, name: str = "composed_node", **options: object) -> None:
        super().__init__(name, **options)


def main() -> None:
    """Executable of the node."""
    sys.exit(run(ComposedNode))


if __name__ == "__main__":
    main()
