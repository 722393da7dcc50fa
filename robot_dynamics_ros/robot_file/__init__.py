"""The robot file: all parameters of one robot, validated on load and written by identification."""

from pydantic import VERSION

from robot_dynamics_ros.errors import CapabilityError

if tuple(map(int, VERSION.split(".")[:2])) < (2, 10):  # that of Ubuntu 24.04
    raise CapabilityError(f"pydantic {VERSION} is too old: pip install 'pydantic>=2.10' (docs/install.md, Workspace)")

from robot_dynamics_ros.robot_file.blocks import Payload
from robot_dynamics_ros.robot_file.capabilities import capabilities, capability_table, require_capability
from robot_dynamics_ros.robot_file.schema import RobotFile
from robot_dynamics_ros.robot_file.store import config_directories, find_robot, load_robot, save_robot, shipped_robots

__all__ = [
    "Payload",
    "RobotFile",
    "capabilities",
    "capability_table",
    "config_directories",
    "find_robot",
    "load_robot",
    "require_capability",
    "save_robot",
    "shipped_robots",
]
