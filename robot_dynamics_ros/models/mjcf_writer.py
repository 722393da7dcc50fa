"""MuJoCo model of a robot file: links, joints, rotors, friction and motors; no geometry."""

from __future__ import annotations

from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models.export_notes import notes, unphysical_links
from robot_dynamics_ros.models.inertia import about_com
from robot_dynamics_ros.models.sliding_friction import NEGLIGIBLE, Pieces, SlidingFriction, sliding_friction
from robot_dynamics_ros.models.urdf_writer import comment, link_name, numbers_text, tcp_name
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.geometry import joint_placement, placement

# Time constant [s] in which dry friction stops a joint: MuJoCo's 0.02 softens it up to f 0.01 / M, 0.2 rad/s in wrists.
STIFF_FRICTION = "0.002 1"
# Second number of `biasprm`: where it is minus the gain (0), MuJoCo takes a third one > 0 for a damping ratio.
TINY = "1e-30"


def mjcf_text(robot: RobotFile, friction: str = "piecewise") -> str:
    """MJCF as text: bodies with inertias, joints named as in the robot file, armature, a motor per joint.

    The motor's ctrl is the torque [Nm] of the joint. friction: "piecewise" is `frictionloss`, `damping` and one
    actuator per bend of the law, whose force -c clip(v, -v_k, v_k) needs no ctrl; "coulomb-viscous" has no bends;
    "none".
    Raises ConfigError for a link without mass or that is no physical body, CapabilityError for unknown links.
    """
    for name, margin in unphysical_links(robot).items():
        raise ConfigError(
            robot.file, f"links [{name}]", f"is no physical body: margin {margin:.2g} must be >= 0, mass > 0"
        )
    root = Element("mujoco", model=robot.name)
    comment(root, notes(robot, "mjcf"))
    SubElement(root, "compiler", angle="radian", autolimits="true")
    SubElement(root, "option", timestep="0.001", integrator="implicitfast", gravity=numbers_text(robot.gravity))
    parent, actuator = SubElement(root, "worldbody"), Element("actuator")
    law = sliding_friction(robot) if friction != "none" and robot.friction is not None else None
    pieces = _pieces(law, friction) if law is not None else []
    for i, ten in enumerate(robot.link_parameters):
        parent = _body(parent, robot, i, ten)
        joint = parent[1]
        if law is not None:
            _loss(joint, pieces[i])
            _bends(joint, actuator, pieces[i], law.offset[i])
        _motor(actuator, robot, i)
    tool = robot.kinematics.tool
    T = placement(tool.xyz, tool.rpy)
    SubElement(parent, "site", name=tcp_name(robot), pos=numbers_text(T[:3, 3]), quat=_quaternion(T[:3, :3]))
    actuator[:] = sorted(actuator, key=lambda element: element.tag != "motor")  # ctrl begins with the motors
    root.append(actuator)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _body(parent: Element, robot: RobotFile, i: int, ten: np.ndarray) -> Element:
    T = joint_placement(robot.kinematics.joints[i], robot.is_dh)
    place = {"pos": numbers_text(T[:3, 3]), "quat": _quaternion(T[:3, :3])}
    element, body = SubElement(parent, "body", {"name": link_name(robot, i)} | place), about_com(ten)
    xx, xy, xz, yy, yz, zz = body.inertia
    full = numbers_text([xx, yy, zz, xy, xz, yz])
    SubElement(element, "inertial", pos=numbers_text(body.com), mass=repr(float(body.mass)), fullinertia=full)
    rotor = robot.array_or("drives.rotor_inertia", 0.0)[i]
    joint = {"name": robot.joint_names[i], "axis": "0 0 1", "armature": numbers_text(rotor)}
    limits = _range(robot, i)
    SubElement(element, "joint", joint | ({"range": numbers_text(limits)} if limits else {"limited": "false"}))
    return element


def _range(robot: RobotFile, i: int) -> tuple[float, float] | None:
    lower, upper = (robot.array_or(f"limits.position_{side}", np.inf)[i] for side in ("lower", "upper"))
    return (lower, upper) if np.isfinite(lower) and np.isfinite(upper) and lower < upper else None


def _pieces(law: SlidingFriction, kind: str) -> list[Pieces]:
    """The law of every joint, without bends where `kind` is coulomb-viscous."""
    if kind == "coulomb-viscous":
        return [Pieces(float(dry), float(viscous), []) for dry, viscous in law.coulomb_viscous()]
    return [law.pieces(i) for i in range(law.torque.shape[1])]


def _loss(joint: Element, pieces: Pieces) -> None:
    joint.set("frictionloss", numbers_text(pieces.dry))
    joint.set("solreffriction", STIFF_FRICTION)
    joint.set("damping", numbers_text(pieces.viscous))


def _bends(joint: Element, actuator: Element, pieces: Pieces, offset: float) -> None:
    """What a joint has no attributes for, as actuators without ctrl."""
    name = joint.get("name", "")
    passive = {"joint": name, "gainprm": "0", "biastype": "affine"}
    for k, (v, c) in enumerate(pieces.bends, 1):
        if abs(c) * v > NEGLIGIBLE:
            bend = {"biasprm": f"0 {TINY} {numbers_text(-c)}", "forcerange": numbers_text([-abs(c) * v, abs(c) * v])}
            SubElement(actuator, "general", {"name": f"{name} friction {k}"} | passive | bend)
    if abs(offset) > NEGLIGIBLE:
        SubElement(
            actuator, "general", {"name": f"{name} offset"} | passive | {"biasprm": f"{numbers_text(-offset)} 0 0"}
        )


def _motor(actuator: Element, robot: RobotFile, i: int) -> None:
    """ctrl [Nm], within the torque limit where it is known."""
    limit = robot.array_or("limits.torque", np.nan)[i]
    bound = {"ctrlrange": numbers_text([-limit, limit])} if np.isfinite(limit) else {}
    SubElement(actuator, "motor", {"name": robot.joint_names[i], "joint": robot.joint_names[i], "gear": "1"} | bound)


def _quaternion(R: np.ndarray) -> str:
    """w x y z of a rotation."""
    return numbers_text(Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]])
