"""Which simulated controller belongs to a robot, and how one is started as a process of its own."""

from __future__ import annotations

import importlib
from typing import Any

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.server.launcher import FIXED_PORTS, LaunchedController, loopback_address

MODULES = {  # manufacturer -> module with Settings and serve
    "Universal Robots": "robot_dynamics_ros.simulation.ur.process",
    "Franka Robotics": "robot_dynamics_ros.simulation.franka.controller",
    "Comau": "robot_dynamics_ros.simulation.comau.lpc",
}
PORTS = {"Universal Robots": FIXED_PORTS, "Franka Robotics": (1337,), "Comau": (5005,)}


def controller_of(robot: RobotFile) -> Any:
    """Module with Settings and serve of a robot's simulated controller. Raises ConfigError where there is none."""
    return importlib.import_module(MODULES[_known(robot)])


def _known(robot: RobotFile) -> str:
    if robot.manufacturer not in MODULES:
        raise ConfigError(robot.name, "manufacturer", f"{robot.manufacturer!r} is none of {', '.join(MODULES)}")
    return str(robot.manufacturer)


class SimulatedController(LaunchedController):
    """The simulated controller of any shipped robot, by default on a loopback address of its own."""

    def __init__(self, robot: str, timeout: float = 60.0, host: str | None = None, **options: Any) -> None:
        super().__init__(robot, host or loopback_address(PORTS[_known(load_robot(robot))]), timeout, **options)
