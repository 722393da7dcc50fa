"""Estimator node: stages over the topics of a driver, ours or anybody else's."""

from __future__ import annotations

import sys

from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
from robot_dynamics_ros.nodes.run import run
from robot_dynamics_ros.nodes.tables import NODES


class EstimatorNode(RobotNode):
    """joint_states and its companions -> the outputs of one or more stages."""

    TABLE = NODES["estimator_node"]

    def __init__(self, name: str = "estimator_node", **options: object) -> None:
        super().__init__(name, **options)


def main() -> None:
    """Executable of the node."""
    sys.exit(run(EstimatorNode))


if __name__ == "__main__":
    main()
