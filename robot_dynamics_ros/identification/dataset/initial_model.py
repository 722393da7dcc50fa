"""The robot of an identification: a shipped name, a robot file, or a URDF."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models.right_angles import rounded_sentence, snap_robot
from robot_dynamics_ros.models.urdf import joined, rounded_joints
from robot_dynamics_ros.models.urdf_import import robot_from_urdf
from robot_dynamics_ros.robot_file import RobotFile, load_robot

URDF_SUFFIXES = (".urdf", ".xml")


def any_robot(name_or_path: str, bags: Sequence[str | Path] = ()) -> RobotFile:
    """Robot of a name, robot file or URDF; a URDF says nothing of its drives: motor side and Nm are assumed and
    checked.

    A URDF that branches (a gripper, a second arm) is followed along the joints that the first bag names. Rounded right
    angles are made exact (`rounded_angles` says which). Raises ConfigError naming the file, or listing the shipped
    robots.
    """
    if not name_or_path.lower().endswith(URDF_SUFFIXES):
        return snap_robot(load_robot(name_or_path))[0]
    try:
        return robot_from_urdf(name_or_path, torque_side="motor", effort_unit="Nm")
    except ConfigError:
        tip = _last_link(Path(name_or_path), bags)
        if tip is None:
            raise
        return robot_from_urdf(name_or_path, torque_side="motor", effort_unit="Nm", tip=tip)


def rounded_angles(name_or_path: str) -> str:
    """A sentence about joints whose right angles are rounded in the file; empty where there are none."""
    if name_or_path.lower().endswith(URDF_SUFFIXES):
        return rounded_sentence(rounded_joints(Path(name_or_path)))
    return rounded_sentence(snap_robot(load_robot(name_or_path))[1])


def _last_link(path: Path, bags: Sequence[str | Path]) -> str | None:
    """Child link of the outermost turning joint that the first bag names; None where that says nothing."""
    if not bags or not path.is_file():
        return None
    try:
        tree = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return None
    recorded = set(load_bag(bags[0])[0].joint_names)
    parents: dict[str, str] = {}
    ends: list[str] = []
    for joint in tree.iterfind("joint"):
        parent, child = joined(joint)
        parents[child] = parent
        if joint.get("name") in recorded and joint.get("type") in ("revolute", "continuous"):
            ends.append(child)
    return max(ends, key=lambda link: _depth(link, parents), default=None)


def _depth(link: str, parents: dict[str, str]) -> int:
    depth = 0
    while link in parents and depth <= len(parents):
        link, depth = parents[link], depth + 1
    return depth
