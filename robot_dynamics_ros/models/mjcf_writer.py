"""MuJoCo model of a robot file: links, joints, rotors, friction and motors; no geometry."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

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
NO_WINDING = "1e-6"  # Nm/A: MuJoCo takes no 0
FRICTION = ("piecewise", "lugre", "coulomb-viscous", "none")
MICRO_DAMPING = 0.2  # of the critical damping of rotor and bristle


def mjcf_text(robot: RobotFile, friction: str | LuGre = "piecewise") -> str:
    """MJCF as text: bodies with inertias, joints named as in the robot file, armature, a motor per joint.

    The motor's ctrl is the torque [Nm] of the joint. friction, one of FRICTION: piecewise is `frictionloss`, `damping`
    and one actuator per bend of the law, whose force -c clip(v, -v_k, v_k) needs no ctrl; lugre, where the file has
    presliding, is the same with a bristle for `frictionloss` (MuJoCo 3.7). Or numbers of a LuGre law.
    Raises ConfigError for a link without mass or that is no physical body, CapabilityError for unknown links.
    """
    for name, margin in unphysical_links(robot).items():
        raise ConfigError(
            robot.file, f"links [{name}]", f"is no physical body: margin {margin:.2g} must be >= 0, mass > 0"
        )
    root = Element("mujoco", model=robot.name)
    comment(root, notes(robot, "mjcf-lugre" if friction == "lugre" else "mjcf"))
    SubElement(root, "compiler", angle="radian", autolimits="true")
    SubElement(root, "option", timestep="0.001", integrator="implicitfast", gravity=numbers_text(robot.gravity))
    parent, actuator = SubElement(root, "worldbody"), Element("actuator")
    law = sliding_friction(robot) if friction in FRICTION[:-1] else None
    pieces = _pieces(law, str(friction)) if law is not None else []
    bristles = friction if isinstance(friction, LuGre) else _bristles(robot, pieces) if friction == "lugre" else None
    for i, ten in enumerate(robot.link_parameters):
        parent = _body(parent, robot, i, ten)
        joint = parent[1]
        if bristles is not None:
            _lugre(joint, actuator, bristles, i)
        elif law is not None:
            _loss(joint, pieces[i])
        if law is not None:
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
    joint = {"name": robot.joint_names[i], "axis": "0 0 1", "armature": numbers_text(_rotor(robot)[i])}
    limits = _range(robot, i)
    SubElement(element, "joint", joint | ({"range": numbers_text(limits)} if limits else {"limited": "false"}))
    return element


def _rotor(robot: RobotFile) -> np.ndarray:
    return robot.array_or("drives.rotor_inertia", 0.0)


def _range(robot: RobotFile, i: int) -> tuple[float, float] | None:
    lower, upper = (robot.array_or(f"limits.position_{side}", np.inf)[i] for side in ("lower", "upper"))
    return (lower, upper) if np.isfinite(lower) and np.isfinite(upper) and lower < upper else None


def _pieces(law: SlidingFriction, kind: str) -> list[Pieces]:
    """The law of every joint, without bends where `kind` is coulomb-viscous."""
    if kind == "coulomb-viscous":
        return [Pieces(float(dry), float(viscous), []) for dry, viscous in law.coulomb_viscous()]
    return [law.pieces(i) for i in range(law.torque.shape[1])]


def _bristles(robot: RobotFile, pieces: list[Pieces]) -> LuGre | None:
    """The level at v -> 0 as a bristle; its fall with velocity is left to the bends. None without presliding."""
    per_level = bristle_stiffness(robot)
    if per_level is None:
        return None
    dry, viscous = (np.array([getattr(p, name) for p in pieces]) for name in ("dry", "viscous"))
    stiffness = dry * per_level
    return LuGre(stiffness, micro_damping(stiffness, _rotor(robot)), dry, dry, np.ones_like(dry), viscous)


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


def _lugre(joint: Element, actuator: Element, law: LuGre, i: int) -> None:
    """A motor without windings that carries the bristle: its voltage, a ctrl, is 0."""
    name, numbers = joint.get("name", ""), (law.stiffness, law.damping, law.coulomb, law.static, law.stribeck)
    joint.set("damping", numbers_text(law.viscous[i]))
    bristle = {"lugre": numbers_text([x[i] for x in numbers]), "motorconst": NO_WINDING, "resistance": "1"}
    SubElement(actuator, "dcmotor", {"name": f"{name} friction", "joint": name} | bristle)


def _motor(actuator: Element, robot: RobotFile, i: int) -> None:
    """ctrl [Nm], within the torque limit where it is known."""
    limit = robot.array_or("limits.torque", np.nan)[i]
    bound = {"ctrlrange": numbers_text([-limit, limit])} if np.isfinite(limit) else {}
    SubElement(actuator, "motor", {"name": robot.joint_names[i], "joint": robot.joint_names[i], "gear": "1"} | bound)


def _quaternion(R: np.ndarray) -> str:
    """w x y z of a rotation, by its largest component."""
    (a, b, c), (d, e, f), (g, h, i) = R
    square = np.array([1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i])  # 4 w2, 4 x2, 4 y2, 4 z2
    rows = (
        (square[0], h - f, c - g, d - b),
        (h - f, square[1], b + d, c + g),
        (c - g, b + d, square[2], f + h),
        (d - b, c + g, f + h, square[3]),
    )
    q = np.array(rows[int(square.argmax())])
    return numbers_text(q / np.linalg.norm(q))


@dataclass(frozen=True)
class LuGre:
    """F = stiffness z + damping z' + viscous v, z' = v - stiffness |v|/g z.

    g = coulomb + (static - coulomb) exp(-(v/stribeck)^2). Arrays (n,) [Nm/rad, Nm s/rad, Nm, Nm, rad/s, Nm s/rad].
    """

    stiffness: np.ndarray
    damping: np.ndarray
    coulomb: np.ndarray
    static: np.ndarray
    stribeck: np.ndarray
    viscous: np.ndarray


def micro_damping(stiffness: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Damping (n,) [Nm s/rad] of the bristle that lets a rotor on it ring no longer than a few periods."""
    return 2.0 * MICRO_DAMPING * np.sqrt(stiffness * inertia)


def bristle_stiffness(robot: RobotFile) -> np.ndarray | None:
    """Stiffness (n,) per level [1/rad] of the bristle that breaks away with the work of the file's presliding.

    Elements of level s_i, span_i: int (S - F) dx = sum s_i span_i/2; a bristle: S^2/stiffness. None without any.
    """
    block = robot.presliding
    if block is None:
        return None
    span, level = (np.array(block.parameters[name], dtype=float) for name in ("span", "level"))
    work = 0.5 * (level * span).sum(axis=1)
    total = level.sum(axis=1)
    return np.divide(total, work, out=np.zeros_like(work), where=work > 0)
