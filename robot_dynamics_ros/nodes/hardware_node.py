"""Hardware node: what the robot measures, as topics; trajectories from a topic; no estimates."""

from __future__ import annotations

import sys

from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
from robot_dynamics_ros.nodes.run import run
from robot_dynamics_ros.nodes.tables import NODES


class HardwareNode(RobotNode):
    """Driver -> joint_states, motor_currents, joint_temperatures, desired_state."""

    TABLE = NODES["hardware_node"]

    def __init__(self, name: str = "hardware_node", **options: object) -> None:
        super().__init__(name, **options)


def main() -> None:
    """Executable of the node."""
    sys.exit(run(HardwareNode))


if __name__ == "__main__":
    main()
