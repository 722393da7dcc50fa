"""MuJoCo's model of an arm: links and friction of an individual or of an MJCF, a tool at its TCP, a box beside it."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import SubElement

import numpy as np

from robot_dynamics_ros._core import Chain
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.mjcf_writer import mjcf_text
from robot_dynamics_ros.models.urdf_writer import numbers_text
from robot_dynamics_ros.robot_file import RobotFile

BOX = (0.5, 0.5, 0.05)  # m, half sides
TOOLS = {
    "ball": ("SPHERE", (0.01, 0, 0), 0.0),
    "plate": ("BOX", (0.03, 0.03, 0.005), 0.005),
    "peg": ("CYLINDER", (0.01, 0.05, 0), 0.05),
}  # type, size [m], how far along the tool axis its centre lies [m]
DRY = 1e-5  # rad of travel below which a joint counts as dry
SOLIMP = 0.5  # share d of the contact in the acceleration
MICRO_DAMPING = 0.2  # of the critical damping of rotor and bristle
NO_WINDING = "1e-6"  # Nm/A: MuJoCo takes no 0
AWAY = (0.0, 0.0, -1e3)  # m, of the box while there is none


def spec_of(mj: Any, robot: RobotFile, chain: Chain, true: Mapping[str, Any], mjcf: str) -> Any:
    """The arm of a file; without one, links of the chain, rotors and friction of the true numbers.

    Friction is LuGre's, or dry (`frictionloss`) where a joint has no travel to speak of before it breaks away.
    """
    if mjcf:
        return mj.MjSpec.from_file(mjcf)
    links = {"source": "true", "parameters": chain.inertial_parameters.reshape(robot.n_joints, 10)}
    known = robot.with_updates(
        {"links": links, "drives.rotor_inertia": true["drive.rotor_inertia"], "limits.torque": None},
        {"true": "the simulated individual"},
    )
    if (true["friction.presliding"] > DRY).all():
        return mj.MjSpec.from_string(with_bristles(mjcf_text(known, "none"), true))
    levels = {"fc": true["friction.coulomb"].tolist(), "fv": true["friction.viscous"].tolist()}
    dry = {"source": "true", "model": "viscous_coulomb", "parameters": levels}
    sliding = known.with_updates({"friction": dry, "hysteresis": None, "residuals": None})
    return mj.MjSpec.from_string(mjcf_text(sliding, "coulomb-viscous"))


def with_bristles(text: str, true: Mapping[str, Any]) -> str:
    """An MJCF without friction with LuGre's, each bristle in a motor without windings, whose voltage is 0.

    F = k z + d z' + viscous v, z' = v - k |v|/g z, g = coulomb + (stribeck - coulomb) exp(-(v/stribeck_velocity)^2).
    """
    law = {name: true[f"friction.{name}"] for name in ("coulomb", "stribeck", "stribeck_velocity", "viscous")}
    stiffness = law["coulomb"] / true["friction.presliding"]
    damping = 2.0 * MICRO_DAMPING * np.sqrt(stiffness * true["drive.rotor_inertia"])
    numbers = np.column_stack([stiffness, damping, law["coulomb"], law["stribeck"], law["stribeck_velocity"]])
    root = ElementTree.fromstring(text)
    for joint, viscous, one in zip(root.findall("worldbody//joint"), law["viscous"], numbers, strict=True):
        joint.set("damping", numbers_text(viscous))
        name, bristle = joint.get("name", ""), {"lugre": numbers_text(one), "motorconst": NO_WINDING, "resistance": "1"}
        SubElement(root.findall("actuator")[0], "dcmotor", {"name": f"{name} friction", "joint": name} | bristle)
    return ElementTree.tostring(root, encoding="unicode")


def with_contact(mj: Any, spec: Any, robot: RobotFile, file: str, tool: str) -> Any:
    """An arm, compiled, with motors of torque as its last actuators, a tool at its TCP and a box that can be placed.

    Raises ValueError for an arm of other joints or without a site.
    """
    names = [joint.name for joint in spec.joints]
    if names != list(robot.joint_names) or not spec.sites:
        wanted = f"must be {', '.join(robot.joint_names)}, and one site or more"
        raise ValueError(f"{file}: joints {', '.join(names) or 'none'}, {len(spec.sites)} sites: {wanted}")
    driving = [a for a in spec.actuators if a.gainprm[0] and a.biastype != mj.mjtBias.mjBIAS_DCMOTOR]
    for element in (*driving, *spec.keys):
        spec.delete(element)
    for name in names:
        spec.add_actuator(target=name, trntype=mj.mjtTrn.mjTRN_JOINT).set_to_motor()
    spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    (kind, size, ahead), site, centre = TOOLS[tool], spec.sites[-1], np.zeros(3)
    mj.mju_rotVecQuat(centre, np.array([0, 0, ahead]), site.quat)
    kind = getattr(mj.mjtGeom, f"mjGEOM_{kind}")
    site.parent.add_geom(type=kind, size=size, pos=site.pos + centre, quat=site.quat, mass=0)
    box = spec.worldbody.add_body(mocap=True, pos=AWAY)
    box.add_geom(type=mj.mjtGeom.mjGEOM_BOX, size=BOX, priority=1, solimp=[SOLIMP, SOLIMP, 1, 0.5, 2])
    return spec.compile()


def mujoco() -> ModuleType:
    """The library. Raises CapabilityError without version 3.7 or later."""
    try:
        import mujoco
    except ImportError:
        raise CapabilityError("this plant needs MuJoCo: pip install 'mujoco>=3.7'") from None
    if not hasattr(mujoco.mjtBias, "mjBIAS_DCMOTOR"):
        raise CapabilityError(f"MuJoCo {mujoco.__version__} has no dcmotor: pip install 'mujoco>=3.7'")
    return mujoco
