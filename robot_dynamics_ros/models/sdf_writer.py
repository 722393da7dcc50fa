"""SDF (Gazebo) model of a robot file: links, joints, limits and friction; no geometry."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from robot_dynamics_ros.models.export_notes import notes
from robot_dynamics_ros.models.inertia import about_com
from robot_dynamics_ros.models.sliding_friction import sliding_friction
from robot_dynamics_ros.models.urdf_writer import comment, link_name, numbers_text, tcp_name
from robot_dynamics_ros.robot_file.geometry import joint_placement, rpy_of

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


def sdf_text(robot: RobotFile) -> str:
    """SDF 1.9 as text: the base is fixed to the world, each link's frame is its joint's, the TCP is a frame.

    Raises CapabilityError for unknown kinematics or links, ValueError for a massless link.
    """
    root = Element("sdf", version="1.9")
    comment(root, notes(robot, "sdf"))
    model, parent = SubElement(root, "model", name=robot.name), robot.kinematics.base_frame
    parent = "base_link" if parent == "world" else parent  # reserved
    SubElement(model, "link", name=parent)
    _joint(model, f"{parent}_to_world", "fixed", "world", parent)
    law = sliding_friction(robot)
    friction = None if law is None else law.coulomb_viscous()
    for i, ten in enumerate(robot.link_parameters):
        T, child = joint_placement(robot.kinematics.joints[i], robot.is_dh), link_name(robot, i)
        _link(model, child, parent, T, ten)
        joint = _joint(model, robot.joint_names[i], "revolute", parent, child)
        _axis(joint, robot, i, None if friction is None else friction[i])
        parent = child
    frame = SubElement(model, "frame", name=tcp_name(robot), attached_to=parent)
    tool = robot.kinematics.tool
    SubElement(frame, "pose").text = numbers_text([*tool.xyz, *tool.rpy])
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _link(model: Element, name: str, parent: str, T: np.ndarray, ten: np.ndarray) -> None:
    link, body = SubElement(model, "link", name=name), about_com(ten)
    SubElement(link, "pose", relative_to=parent).text = numbers_text([*T[:3, 3], *rpy_of(T[:3, :3])])
    inertial = SubElement(link, "inertial")
    SubElement(inertial, "pose").text = numbers_text([*body.com, 0, 0, 0])
    SubElement(inertial, "mass").text = numbers_text(body.mass)
    inertia = SubElement(inertial, "inertia")
    for tag, value in zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), body.inertia, strict=True):
        SubElement(inertia, tag).text = numbers_text(value)


def _joint(model: Element, name: str, kind: str, parent: str, child: str) -> Element:
    joint = SubElement(model, "joint", name=name, type=kind)
    SubElement(joint, "parent").text, SubElement(joint, "child").text = parent, child
    return joint


def _axis(joint: Element, robot: RobotFile, i: int, friction: np.ndarray | None) -> None:
    axis = SubElement(joint, "axis")
    SubElement(axis, "xyz").text = "0 0 1"
    limit = SubElement(axis, "limit")
    fields = ("lower", "position_lower"), ("upper", "position_upper"), ("effort", "torque"), ("velocity", "velocity")
    for tag, field in fields:
        value = robot.array_or(f"limits.{field}", np.nan)[i]
        if np.isfinite(value):
            SubElement(limit, tag).text = numbers_text(value)
    if friction is not None:
        dynamics = SubElement(axis, "dynamics")
        SubElement(dynamics, "damping").text, SubElement(dynamics, "friction").text = map(numbers_text, friction[::-1])
