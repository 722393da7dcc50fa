"""Parameters of the demo for each robot: working pose, excitation around it, contact scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile, load_robot, save_robot
from robot_dynamics_ros.simulation.plant.assumed import assumed_file


class DemoRobot(NamedTuple):
    """A pose with the tool down [rad]; excitation around it [rad, rad/s, rad/s2]; scenario; extra node parameters.

    radius, turn: of the circle it follows [m, s].
    """

    pose: tuple[float, ...]
    reach: float = 0.9
    velocity: float = 1.0
    acceleration: float = 3.0
    scenario: str = "polishing"
    parameters: dict[str, Any] = {}
    radius: float = 0.04
    turn: float = 4.0


_UR = DemoRobot(tuple(np.deg2rad([-90.0, -80.0, 110.0, -120.0, -90.0, 0.0]).tolist()))
_FRANKA = DemoRobot((0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4), reach=0.6)
_COMAU = DemoRobot(
    (0.0, 0.309, -2.275, 0.0, 0.557, 0.0), 0.45, 0.9, 2.2, "grinding", {"enable_commands": True}, 0.12, 2.0
)
ROBOTS = {"Universal Robots": _UR, "Franka Robotics": _FRANKA, "Comau": _COMAU}


def demo_robot(name: str) -> DemoRobot:
    """Entry of a robot by its manufacturer. Raises ConfigError where there is none."""
    robot = load_robot(name)
    if robot.manufacturer not in ROBOTS:
        raise ConfigError(robot.name, "manufacturer", f"no demo for {robot.manufacturer!r}")
    return ROBOTS[robot.manufacturer]


def working_pose(robot: RobotFile) -> np.ndarray:
    """Joint positions (n,) [rad] where a simulated robot starts: its demo's pose, else the middle of its limits."""
    demo = ROBOTS.get(robot.manufacturer)
    if demo is not None and len(demo.pose) == robot.n_joints:
        return np.array(demo.pose)
    middle = 0.5 * (robot.array("limits.position_lower") + robot.array("limits.position_upper"))
    return np.where(np.isfinite(middle), middle, 0.0)


def base_file(name: str, out: Path) -> str:
    """The shipped robot file, or, where it knows no masses, one with the simulated plant's assumed numbers in `out`."""
    if load_robot(name).links is not None:
        return name
    path = out / f"{load_robot(name).name}_assumed.yaml"
    save_robot(assumed_file(name), path, command="robot-dynamics demo", changed=["links", "drives", "limits"])
    return str(path)


def parameter_file(name: str, out: Path) -> str:
    """ROS parameter file for the composed node, empty name where the defaults do."""
    parameters = demo_robot(name).parameters
    if not parameters:
        return ""
    path = out / "nodes.yaml"
    write_atomically(path, yaml.safe_dump({"composed_node": {"ros__parameters": parameters}}))
    return str(path)
