"""The robot of an identification: a shipped name, a robot file, or a URDF."""

from __future__ import annotations

from robot_dynamics_ros.config import RobotFile, load_robot
from robot_dynamics_ros.models.urdf_import import robot_from_urdf

URDF_SUFFIXES = (".urdf", ".xml")


def any_robot(name_or_path: str, tip: str | None = None) -> RobotFile:
    """Robot of a name, robot file or URDF; a URDF says nothing of its drives: motor side and Nm are assumed and
    checked.

    Raises ConfigError naming the file, or listing the shipped robots.
    """
    if name_or_path.lower().endswith(URDF_SUFFIXES):
        return robot_from_urdf(name_or_path, torque_side="motor", effort_unit="Nm", tip=tip)
    return load_robot(name_or_path)
