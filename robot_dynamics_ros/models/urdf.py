"""A serial chain out of a URDF, through Pinocchio: fixed joints lumped, axes of any direction."""

from __future__ import annotations

import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.inertia import inertia_matrix
from robot_dynamics_ros.models.right_angles import snap_urdf

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
XACRO = "is a xacro file, expected a URDF; convert it: xacro FILE > arm.urdf"
BEFORE = "(in Python tip=...) ends the arm at a link before it"
MAX_DEPTH = 200  # links one behind the other; the readers of URDFs descend into them one call in another
LARGEST_ANGLE = 7.0  # rad of an origin, a little more than a turn
FARTHEST = 20.0  # m from one joint to the next, as in a robot file
LARGEST = 1e9  # m, kg, kg m2: larger numbers are refused: their products overflow
# numbers of a URDF that the dynamics use: element -> attribute -> how many
NUMBERS = {
    "mass": {"value": 1},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1),
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
}
# Pinocchio's order m mx my mz Ixx Ixy Iyy Ixz Iyz Izz -> XX XY XZ YY YZ ZZ mX mY mZ m
FROM_PINOCCHIO = [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]


def read_urdf(path: Path, tip: str | None = None) -> tuple[_core.Chain, tuple[str, ...]]:
    """Chain and joint names from the root of a URDF to link `tip`; rounded right angles of joints are made exact.

    Raises ConfigError naming file and element.
    """
    robot = _parsed(path)
    _check_links(path, robot)
    _check_numbers(path, robot)
    _check_limits(path, robot)
    text = ElementTree.tostring(robot, encoding="unicode") if snap_urdf(robot) else None
    model = _pinocchio_model(path, text)
    frame = None if tip is None else _tip_frame(path, model, tip)
    joints = _serial_joints(path, model) if frame is None else list(model.supports[frame.parentJoint])[1:]
    names = tuple(model.names[i] for i in joints)
    _check_joints(path, robot, names)
    if len(joints) < model.njoints - 1:
        import pinocchio

        others = [i for i in range(1, model.njoints) if i not in joints]
        model = pinocchio.buildReducedModel(model, others, pinocchio.neutral(model))
        frame = _tip_frame(path, model, str(tip))
    return _chain(model, frame), names


def _parsed(path: Path) -> ElementTree.Element:
    if not path.is_file():
        raise ConfigError(str(path), "", "no such file")
    try:
        robot = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # odd encodings raise the latter
        if b"<xacro:" in path.read_bytes():
            raise ConfigError(str(path), "", XACRO) from None
        raise ConfigError(str(path), "", f"is not XML ({error})") from None
    if any(
        "xacro" in element.tag or any("${" in v or "$(" in v for v in element.attrib.values())
        for element in robot.iter()
    ):
        raise ConfigError(str(path), "", XACRO)
    if robot.tag != "robot":
        raise ConfigError(str(path), "", f"is not a URDF: the root element is <{robot.tag}>, expected <robot>")
    return robot


def _check_links(path: Path, robot: ElementTree.Element) -> None:
    """Every joint joins two links that exist, no link hangs on two joints, and no name is given twice."""
    links = {link.get("name") for link in robot.findall("link")}
    if not links:
        raise ConfigError(str(path), "", "has no links")
    for named in [*robot.findall("link"), *robot.findall("joint")]:
        if not named.get("name"):
            raise ConfigError(str(path), "", f"a {named.tag} has no name")
    for kind in ("link", "joint"):
        names = [element.get("name") for element in robot.findall(kind)]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise ConfigError(str(path), f"{kind} {twice}", f"this name is given to {names.count(twice)} {kind}s")
    held_by: dict[str, str] = {}
    for joint in robot.findall("joint"):
        name = f"joint {joint.get('name')}"
        if joint.get("type") not in JOINT_TYPES:
            raise ConfigError(str(path), name, f"type {joint.get('type')!r} is none of {', '.join(JOINT_TYPES)}")
        for end in ("parent", "child"):
            element = joint.find(end)
            link = element.get("link") if element is not None else None
            if link not in links:
                raise ConfigError(str(path), name, f"{end} link {link!r} does not exist")
        _, child = joined(joint)
        if child in held_by:
            raise ConfigError(str(path), name, f"closes a loop: link {child!r} already hangs on {held_by[child]}")
        held_by[child] = name
    roots = sorted(links - set(held_by))  # type: ignore[type-var]
    if not roots:
        raise ConfigError(str(path), "", "closes a loop: no link is the root")
    if len(roots) > 1:
        free = ", ".join(map(str, roots))
        raise ConfigError(str(path), "", f"no joint holds {free}: one of them is the root, a fixed joint holds others")
    _check_depth(path, robot)


def _check_depth(path: Path, robot: ElementTree.Element) -> None:
    """No link is farther than MAX_DEPTH joints from a root, and every one has a root."""
    above = {child: parent for parent, child in map(joined, robot.findall("joint"))}
    for link in above:
        at = link
        for _ in range(MAX_DEPTH + 1):
            at = above.get(at, "")
        if at:
            raise ConfigError(str(path), f"link {link}", f"is over {MAX_DEPTH} joints from the root, or in a loop")


def joined(joint: ElementTree.Element) -> tuple[str, str]:
    """Names of the parent and the child link of a joint, "" where it names none."""
    parent, child = (end.get("link", "") if (end := joint.find(k)) is not None else "" for k in ("parent", "child"))
    return parent, child


def _check_numbers(path: Path, robot: ElementTree.Element) -> None:
    """The numbers of inertials, origins and axes are finite; the URDF parser itself would skip a bad inertial, and one
    without mass or inertia.
    """
    for owner in [*robot.findall("link"), *robot.findall("joint")]:
        place = owner.find("inertial") if owner.tag == "link" else owner
        for element in place.iter() if place is not None else ():
            for attribute, count in NUMBERS.get(element.tag, {}).items():
                text = element.get(attribute)
                if text is not None and not _numeric(text, count):
                    what = f"{count} finite numbers" if count > 1 else "a finite number"
                    message = f"{element.tag} {attribute} = {text[:80]!r} is not {what} up to {LARGEST:g}"
                    raise ConfigError(str(path), f"{owner.tag} {owner.get('name')}", message)
                if attribute == "rpy" and text and max(abs(float(word)) for word in text.split()) > LARGEST_ANGLE:
                    message = f"origin rpy = {text!r} is more than a turn: degrees? A URDF has rad"
                    raise ConfigError(str(path), f"{owner.tag} {owner.get('name')}", message)
                if element.tag == "mass" and text is not None and float(text) < 0:
                    raise ConfigError(str(path), f"link {owner.get('name')}", f"mass {text} kg is negative")
    for link in robot.findall("link"):
        inertial = link.find("inertial")
        if inertial is not None and (inertial.find("mass") is None or inertial.find("inertia") is None):
            text = "its <inertial> needs a <mass> and an <inertia>; without <inertial> `identify` finds them"
            raise ConfigError(str(path), f"link {link.get('name')}", text)


def _check_limits(path: Path, robot: ElementTree.Element) -> None:
    """Joints have the limits without which the URDF parser prints lines of its own and fails."""
    for joint in robot.findall("joint"):
        limit = joint.find("limit")
        if limit is None and joint.get("type") not in ("revolute", "prismatic"):
            continue
        given = {} if limit is None else {"lower": "0", "upper": "0", **limit.attrib}
        ends = (given.get(name, "") for name in ("lower", "upper", "effort", "velocity"))
        numbers = all(_numeric(text, 1, sys.float_info.max) for text in ends)
        if not numbers or min(float(given["effort"]), float(given["velocity"])) < 0:
            text = "needs a <limit> with lower, upper, effort and velocity: finite numbers, the last two at least 0"
            raise ConfigError(str(path), f"joint {joint.get('name')}", text)


def _numeric(text: str, count: int, most: float = LARGEST) -> bool:
    """Whether a text is so many numbers; Python takes 1_0 for one, too."""
    try:
        return [abs(float(word)) <= most for word in text.split()] == [True] * count and "_" not in text
    except ValueError:
        return False


def rounded_joints(path: Path) -> list[str]:
    """Joints of a URDF whose right angles are rounded. Raises ConfigError naming file and element."""
    robot = _parsed(path)
    _check_numbers(path, robot)
    return snap_urdf(robot)


def _pinocchio_model(path: Path, text: str | None) -> Any:
    try:
        import pinocchio
    except ImportError:
        raise CapabilityError("reading a URDF needs Pinocchio: pip install pin") from None
    try:
        return pinocchio.buildModelFromUrdf(str(path)) if text is None else pinocchio.buildModelFromXML(text)
    except (ValueError, RuntimeError) as error:
        raise ConfigError(str(path), "", f"is not a URDF Pinocchio can read ({error})") from None


def _tip_frame(path: Path, model: Any, tip: str) -> Any:
    import pinocchio

    if not model.existFrame(tip, pinocchio.BODY):
        links = ", ".join(frame.name for frame in model.frames if frame.type == pinocchio.BODY)
        raise ConfigError(str(path), f"--tip {tip}", f"this link does not exist; the links are {links}")
    return model.frames[model.getFrameId(tip, pinocchio.BODY)]


def _serial_joints(path: Path, model: Any) -> list[int]:
    """All moving joints, which must follow one another."""
    for i in range(2, model.njoints):
        parent = model.parents[i]
        if parent != i - 1:
            siblings = " and ".join(model.names[k] for k in range(1, model.njoints) if model.parents[k] == parent)
            where = "the root" if parent == 0 else f"joint {model.names[parent]}"
            name = "name the last link of the arm (--tip LINK, in Python tip=...)"
            ends = [_links_at(model, k)[-1] for k in range(1, model.njoints) if k not in list(model.parents)]
            links = f"; {where} moves {', '.join(_links_at(model, parent))}" if parent else f": {', '.join(ends)}"
            raise ConfigError(str(path), "", f"branches after {where} into {siblings}; {name}{links}")
    return list(range(1, model.njoints))


def _links_at(model: Any, joint: int) -> list[str]:
    """Links that a joint carries without another moving joint between."""
    import pinocchio

    return [frame.name for frame in model.frames if frame.type == pinocchio.BODY and frame.parentJoint == joint]


def _check_joints(path: Path, robot: ElementTree.Element, names: tuple[str, ...]) -> None:
    by_name = {joint.get("name"): joint for joint in robot.findall("joint")}
    for name in names:
        joint = by_name[name]
        if joint.get("type") not in ("revolute", "continuous"):
            kind = f"is {joint.get('type')}: only revolute and continuous joints are supported"
            fixed = 'type="fixed" in the URDF holds it, as a rail or where all axes are parallel to it (SCARA)'
            ends = "" if name == names[0] else f"; or --tip LINK {BEFORE}"
            raise ConfigError(str(path), f"joint {name}", f"{kind}; {fixed}{ends}")
        origin = joint.find("origin")
        far = max((abs(float(x)) for x in origin.get("xyz", "").split()), default=0.0) if origin is not None else 0.0
        if far > FARTHEST:
            message = f"lies {far:g} m from the joint before it, at most {FARTHEST:g} are possible: mm? A URDF has m"
            raise ConfigError(str(path), f"joint {name}", message)
        axis = joint.find("axis")
        words = [float(word) for word in axis.get("xyz", "1 0 0").split()] if axis is not None else [1.0, 0.0, 0.0]
        if not math.hypot(*words) > 1e-9:
            raise ConfigError(str(path), f"joint {name}", "axis must be three numbers of which one is not zero")
        if joint.find("mimic") is not None:
            text = f"mimics another joint; only independent joints are supported: --tip LINK {BEFORE}"
            raise ConfigError(str(path), f"joint {name}", text)
    if not 1 <= len(names) <= 16:
        raise ConfigError(str(path), "", f"has {len(names)} moving joints on the chain, expected 1..16")


def _chain(model: Any, tip: Any) -> _core.Chain:
    """Joint frames turned so that z is the axis; the URDF's own frames remain the ones reported."""
    n = model.njoints - 1
    frames = np.array([_axis_rotation(axis) for axis in _axes(model)])
    placements = np.tile(np.eye(4), (n, 1, 1))
    inertia = np.empty((n, 10))
    for i in range(n):
        before = frames[i - 1] if i else np.eye(3)
        placement = model.jointPlacements[i + 1]
        placements[i, :3, :3] = before.T @ placement.rotation @ frames[i]
        placements[i, :3, 3] = before.T @ placement.translation
        phi = model.inertias[i + 1].toDynamicParameters()[FROM_PINOCCHIO]
        inertia[i] = _turned(frames[i].T, phi)
    tool = np.eye(4)
    if tip is not None:
        tool[:3, :3], tool[:3, 3] = frames[-1].T @ tip.placement.rotation, frames[-1].T @ tip.placement.translation
    else:
        tool[:3, :3] = frames[-1].T
    if not all(np.isfinite(a).all() for a in (placements, inertia, tool)):
        raise ConfigError("URDF", "", "its placements or inertias are not finite numbers")
    turned = None if np.array_equal(frames, np.tile(np.eye(3), (n, 1, 1))) else frames
    return _core.Chain(placements, inertia, tool, np.array(model.gravity.linear), turned)


def _axes(model: Any) -> list[np.ndarray]:
    """Unit axis of every joint in its own frame: the angular part of its motion subspace."""
    import pinocchio

    data, q = model.createData(), pinocchio.neutral(model)
    axes = []
    for i in range(1, model.njoints):
        jacobian = np.reshape(pinocchio.computeJointJacobian(model, data, q, i), (6, model.nv))
        axis = jacobian[3:, model.joints[i].idx_v]
        axes.append(axis / np.linalg.norm(axis))
    return axes


def _axis_rotation(axis: np.ndarray) -> np.ndarray:
    """A rotation that takes z to `axis` (the identity for z), URDF frame <- turned frame."""
    z = np.array([0.0, 0.0, 1.0])
    if axis @ z < 0:  # stay away from the antipode
        return _axis_rotation(-axis) @ np.diag([1.0, -1.0, -1.0])
    v = np.cross(z, axis)
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + K + K @ K / (1 + axis @ z)


def _turned(R: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """Ten link parameters in a frame turned about the same origin: I' = R I R', (m c)' = R m c."""
    inertia = R @ inertia_matrix(phi[:6]) @ R.T
    return np.concatenate([inertia[np.triu_indices(3)], R @ phi[6:9], phi[9:]])
