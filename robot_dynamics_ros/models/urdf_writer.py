"""URDF of a robot file, for other tools (Pinocchio, robot_state_publisher)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from robot_dynamics_ros.models.inertia import about_com
from robot_dynamics_ros.models.sliding_friction import sliding_friction
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.geometry import joint_placement, rpy_of

THICKNESS, SHORTEST = 0.045, 1e-3  # m, radius of the first drawn link, and the shortest way that is drawn
TURNED = "turned_frames"  # source that says which link frames are not those of the URDF that a robot file is of
LIMITS = ("position_lower", "position_upper", "torque", "velocity")


def drawn_radius(i: int, n: int) -> float:
    """Radius [m] of link i of n as it is drawn without meshes: later ones are thinner."""
    return THICKNESS * (1.0 - 0.5 * i / n)


def write_urdf(robot: RobotFile, path: str | Path) -> None:
    """Write kinematics, inertias, limits and viscous/Coulomb friction of `robot` as URDF, atomically.

    Raises CapabilityError for a robot whose kinematics or links are unknown, ValueError for a massless link.
    """
    write_atomically(Path(path), urdf_text(robot))


def urdf_text(robot: RobotFile, prefix: str = "", drawn: bool = False, notes: Sequence[str] = ()) -> str:
    """URDF as text; link i is named after joint i, the TCP is a fixed frame named tip_frame.

    prefix: in front of the names of links; drawn: for rviz, links are cylinders from joint to joint, without inertia;
    notes: lines of a comment.
    """
    root = ElementTree.Element("robot", name=robot.name)
    comment(root, notes)
    parent = prefix + robot.kinematics.base_frame
    ElementTree.SubElement(root, "link", name=parent)
    robot.kinematic_chain()  # raises where the kinematics are unknown
    inertias = [None] * robot.n_joints if drawn else list(robot.link_parameters)
    for i, (ten, friction) in enumerate(zip(inertias, _friction(robot), strict=True)):
        child = prefix + link_name(robot, i)
        _joint(root, robot, i, parent, child, friction)
        _link(root, child, ten)
        parent = child
    _tip(root, robot, parent, prefix)
    if drawn:
        _draw(root)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def link_name(robot: RobotFile, i: int) -> str:
    """Name of link i: its joint's name with `link` for `joint`, and `_` behind it where another has that name."""
    taken = {robot.kinematics.base_frame}
    for joint in robot.joint_names[: i + 1]:
        name = joint.replace("joint", "link").replace("Joint", "Link") if "joint" in joint.lower() else f"{joint}_link"
        while name in taken:
            name += "_"
        taken.add(name)
    return name


def tcp_name(robot: RobotFile) -> str:
    """Name of the TCP's frame: tip_frame, or with `_tcp` where a link or the base has that name."""
    tip, links = robot.kinematics.tip_frame, {link_name(robot, i) for i in range(robot.n_joints)}
    return f"{tip}_tcp" if tip in links | {robot.kinematics.base_frame} else tip


def comment(root: ElementTree.Element, lines: Sequence[str]) -> None:
    """A comment at the end of an element with these lines."""
    if lines:
        text = re.sub("-(?=-)", "- ", "\n".join(lines))
        root.append(ElementTree.Comment(f"\n{text}\n"))


def numbers_text(values: object) -> str:
    """Numbers with all their digits, separated by spaces."""
    return " ".join(repr(float(v)) for v in np.ravel(np.asarray(values)))


def _joint(
    root: ElementTree.Element, robot: RobotFile, i: int, parent: str, child: str, friction: dict[str, str]
) -> None:
    limits = _limits(robot, i)
    kind = "revolute" if "lower" in limits else "continuous"
    joint = ElementTree.SubElement(root, "joint", name=robot.joint_names[i], type=kind)
    T = joint_placement(robot.kinematics.joints[i], robot.is_dh)
    ElementTree.SubElement(joint, "origin", xyz=numbers_text(T[:3, 3]), rpy=numbers_text(rpy_of(T[:3, :3])))
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    ElementTree.SubElement(joint, "axis", xyz="0 0 1")
    if limits:
        ElementTree.SubElement(joint, "limit", limits)
    if friction:
        ElementTree.SubElement(joint, "dynamics", friction)


def _limits(robot: RobotFile, i: int) -> dict[str, str]:
    """Torque and velocity, and positions where both are finite, or none: URDF cannot express unknown limits."""
    values = [robot.array_or(f"limits.{name}", np.nan)[i] for name in LIMITS]
    if not np.isfinite(values[2:]).all():
        return {}
    found = dict(zip(("lower", "upper", "effort", "velocity"), map(numbers_text, values), strict=True))
    return found if np.isfinite(values).all() else {name: found[name] for name in ("effort", "velocity")}


def _friction(robot: RobotFile) -> list[dict[str, str]]:
    """The Coulomb and viscous friction closest to the law of each joint."""
    if robot.links is None or robot.friction is None:
        return [{}] * robot.n_joints
    lines = sliding_friction(robot).coulomb_viscous()
    return [{"damping": numbers_text(d), "friction": numbers_text(c)} for c, d in lines]


def _link(root: ElementTree.Element, name: str, ten: np.ndarray | None) -> None:
    link = ElementTree.SubElement(root, "link", name=name)
    if ten is None:
        return
    body, inertial = about_com(ten), ElementTree.SubElement(link, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=numbers_text(body.com), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=numbers_text(body.mass))
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    ElementTree.SubElement(inertial, "inertia", {k: numbers_text(v) for k, v in zip(names, body.inertia, strict=True)})


def _tip(root: ElementTree.Element, robot: RobotFile, parent: str, prefix: str) -> None:
    tool, tip = robot.kinematics.tool, prefix + tcp_name(robot)
    ElementTree.SubElement(root, "link", name=tip)
    joint = ElementTree.SubElement(root, "joint", name=f"{tip}_fixed", type="fixed")
    ElementTree.SubElement(joint, "origin", xyz=numbers_text(tool.xyz), rpy=numbers_text(tool.rpy))
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=tip)


def _draw(root: ElementTree.Element) -> None:
    """A cylinder in each link along the way to the next joint, thinner towards the tip."""
    links = {link.get("name"): link for link in root.iterfind("link")}
    joints = root.findall("joint")
    for i, joint in enumerate(joints):
        parent, origin = joint.find("parent"), joint.find("origin")
        if parent is None or origin is None:
            continue
        end = np.array([float(x) for x in str(origin.get("xyz")).split()])
        length = float(np.linalg.norm(end))
        if length < SHORTEST:
            continue
        visual = ElementTree.SubElement(links[parent.get("link")], "visual")
        x, y, z = end / length
        rpy = (0.0, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x))  # turns z onto the way
        ElementTree.SubElement(visual, "origin", xyz=numbers_text(end / 2), rpy=numbers_text(rpy))
        geometry = ElementTree.SubElement(visual, "geometry")
        radius = numbers_text(drawn_radius(i, len(joints)))
        ElementTree.SubElement(geometry, "cylinder", length=numbers_text(length), radius=radius)
