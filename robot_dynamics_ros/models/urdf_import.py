"""A robot file out of a URDF: kinematics, links and limits; fields that a URDF does not contain are null."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.inertia import is_consistent, nearest_body
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.models.robot_report import POSES
from robot_dynamics_ros.models.urdf import joined, read_urdf
from robot_dynamics_ros.models.urdf_writer import TURNED
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.blocks import NAME
from robot_dynamics_ros.robot_file.geometry import rpy_of
from robot_dynamics_ros.robot_file.numbers import LARGEST_TORQUE, LARGEST_VELOCITY
from robot_dynamics_ros.robot_file.problems import validated

MOUNT = "estimate_mount"
# sources that say what was not taken as it stands
PLACEHOLDER, REPAIRED, TIP, HELD = "torque_limits", "estimate_inertia", "estimate_tip", "held_joints"
NOTES = PLACEHOLDER, REPAIRED, TIP, HELD, TURNED


def robot_from_urdf(
    path: str | Path, *, torque_side: str, effort_unit: str, tip: str | None = None, name: str | None = None
) -> RobotFile:
    """Robot file of the chain from the root of a URDF to link `tip` (None: `last_link` of the last joint); joints turn
    about z, placements are turned so.

    torque_side: motor | link, effort_unit: Nm | A; not contained in a URDF. Raises ConfigError naming
    file and element for a URDF that is no serial chain of revolute joints, CapabilityError without Pinocchio.
    """
    path = Path(path)
    chain, joints = read_urdf(path, tip)
    if odd := next((joint for joint in joints if not re.fullmatch(NAME, joint)), ""):
        text = "its name needs letters, digits and _, a letter first: rename it; aliases of a robot file take this one"
        raise ConfigError(str(path), f"joint {odd}", text)
    tree = ElementTree.parse(path).getroot()
    behind: list[str] = []
    if tip is None:
        tip, behind = last_link(tree, joints[-1])
        chain, joints = read_urdf(path, tip)
    title = tree.get("name") or path.stem
    links, sources = _links(chain, joints)
    if behind:
        sources[TIP] = f"TCP at {tip}, at which {' and '.join(behind)} are fixed: name the one that touches with --tip"
    if chain.framed:
        turned = [name for name, R in zip(joints, chain.frames, strict=True) if not np.allclose(R, np.eye(3))]
        text = "z is their joint's axis; the flange and the centre of a payload are in that of the last link"
        sources[TURNED] = f"Link frames of {', '.join(turned)} are not those of the URDF: {text}"
    if held := _held(tree, joints):
        sources[HELD] = f"Joints beside the arm are held at zero, what they carry is part of it: {', '.join(held)}"
    raw = {
        "schema": 1,
        "name": name or re.sub(r"^[^a-z]+|[^a-z0-9_]", "", title.lower()) or "robot",
        "manufacturer": "unknown",
        "model": title,
        "sources": {
            "urdf": f"URDF of {title}, {path.name}",
            "user": "Given on the command line or still to be filled in: what the driver's effort means",
            MOUNT: "Upright mounting and standard gravity assumed; edit for a wall or a ceiling",
            **sources,
        },
        "kinematics": _kinematics(chain, joints, tree, tip, bool(behind)) | {"urdf": str(path.resolve())},
        "links": links,
        "drives": {
            "source": "user",
            "torque_side": torque_side,
            "effort": {"unit": effort_unit, "includes_gravity": True},
        },
        "limits": {"source": "urdf", **_limits(tree, joints)},
        "sensing": _sensing(torque_side),
    }
    return _without_placeholders(validated(RobotFile, raw, str(path)))


def _without_placeholders(robot: RobotFile) -> RobotFile:
    """Torque limits of which one cannot hold the arm are placeholders of the URDF: unknown."""
    try:
        limit, model = robot.array_or("limits.torque", np.inf), RobotModel(robot.chain(), robot.joint_names)
    except CapabilityError:
        return robot
    weight = np.abs(model.gravity(robot.random_poses(POSES))).max(axis=0)
    j = int(np.argmax(weight / limit))
    if weight[j] <= limit[j]:
        return robot
    held = f"{robot.joint_names[j]}: {limit[j]:g} Nm, its weight takes {weight[j]:.0f} Nm"
    text = f"Torque limits are left unknown, those of the URDF cannot hold the arm ({held})"
    return robot.with_updates(
        {"limits.torque": None, "limits.source": {"*": "urdf", "torque": PLACEHOLDER}}, {PLACEHOLDER: text}
    )


def _frame(T: np.ndarray) -> dict[str, list[float]]:
    return {"xyz": T[:3, 3].tolist(), "rpy": rpy_of(T[:3, :3]).tolist()}


def _kinematics(
    chain: _core.Chain, joints: Sequence[str], tree: ElementTree.Element, tip: str, unsure: bool
) -> dict[str, Any]:
    placed = [{"name": joint, **_frame(T)} for joint, T in zip(joints, chain.placements, strict=True)]
    children = {child.get("link") for child in tree.iterfind("joint/child")}
    root = next(link.get("name") for link in tree.iterfind("link") if link.get("name") not in children)
    return {
        "source": {"*": "urdf", "gravity": MOUNT} | ({"tool": TIP} if unsure else {}),
        "convention": "placements",
        "joints": placed,
        "tool": _frame(chain.tool),
        "base_frame": root,
        "tip_frame": tip,
    }


def last_link(tree: ElementTree.Element, joint: str) -> tuple[str, list[str]]:
    """The link at the end of what is fixed one behind the other behind a joint, and the links that are fixed to it
    where these are several.
    """
    fixed: dict[str, list[str]] = {}
    link = ""
    for row in tree.iterfind("joint"):
        parent, child = joined(row)
        if row.get("type") == "fixed":
            fixed.setdefault(parent, []).append(child)
        link = child if row.get("name") == joint else link
    while len(behind := fixed.get(link, [])) == 1:
        (link,) = behind
    return link, behind


def _held(tree: ElementTree.Element, joints: Sequence[str]) -> list[str]:
    """Joints that hang on a link of the arm and are none of it: fingers, rods of a parallel linkage."""
    above = {}
    for row in tree.iterfind("joint"):
        parent, child = joined(row)
        above[child] = (row.get("name", ""), parent, row.get("type"))
    held = []
    for name, link, kind in above.values():
        before = []
        while link in above:
            joint, link, _ = above[link]
            before.append(joint)
        if kind != "fixed" and name not in joints and set(before) & set(joints):
            held.append(name)
    return held


def _links(chain: _core.Chain, joints: Sequence[str]) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Block and its sources; inertias of no body are replaced by those of the nearest one."""
    inertia = np.array(chain.inertia)
    if not np.any(inertia[:, 9]):
        return None, {}
    wrong = [k for k, ten in enumerate(inertia) if ten[9] > 0 and not is_consistent(ten)]
    for k in wrong:
        inertia[k] = nearest_body(inertia[k])
    names = ", ".join(joints[k] for k in wrong)
    text = f"Inertias of the URDF behind {names} are those of no body: the nearest that is one, until identified"
    source = {REPAIRED: text} if wrong else {}
    return {"source": REPAIRED if wrong else "urdf", "parameters": inertia.tolist()}, source


def _limits(tree: ElementTree.Element, joints: Sequence[str]) -> dict[str, list[float | None]]:
    """Limits of every joint; a velocity or torque of zero, or beyond that of any joint, and positions that are one, are
    placeholders: unknown.
    """
    by_name = {joint.get("name"): joint for joint in tree.iterfind("joint")}
    found: dict[str, list[float | None]] = {k: [] for k in ("position_lower", "position_upper", "velocity", "torque")}
    for name in joints:
        limit, turns = by_name[name].find("limit"), by_name[name].get("type") == "continuous"
        lower, upper = (_number(limit, attribute) or 0.0 for attribute in ("lower", "upper"))  # a URDF's default
        known = lower != upper  # else a joint that does not turn
        found["position_lower"].append(-inf if turns else lower if known else None)
        found["position_upper"].append(inf if turns else upper if known else None)
        for kind, attribute, most in (("velocity", "velocity", LARGEST_VELOCITY), ("torque", "effort", LARGEST_TORQUE)):
            value = _number(limit, attribute)
            found[kind].append(value if value and value <= most else None)
    return found


def _number(limit: ElementTree.Element | None, attribute: str) -> float | None:
    text = None if limit is None else limit.get(attribute)  # of numbers alone: read_urdf has refused others
    return None if text is None else float(text)


def _sensing(torque_side: str) -> dict[str, Any]:
    return {
        "source": "user",
        "sample_rate": None,
        "temperature": False,
        "rotor_encoder": False,
        "joint_torque_sensor": torque_side == "link",
        "motor_torque": torque_side == "motor",
    }
