"""The robot file: all parameters of one robot, validated on load and written by identification."""

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
