"""What a file of another tool cannot hold of a robot file, in sentences that are printed and written into it."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.models.inertia import consistency_margin
from robot_dynamics_ros.models.sliding_friction import POSES
from robot_dynamics_ros.models.urdf_writer import LIMITS
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import identified

TOLERANCE = 1e-9
LOADED = ("luo_load", "clochiatti", "madsen")


def unphysical_links(robot: RobotFile) -> dict[str, float]:
    """Joints whose link is no body of non-negative density and positive mass, each with its consistency_margin."""
    links = dict(zip(robot.joint_names, robot.link_parameters, strict=True))
    margins = {name: consistency_margin(ten) for name, ten in links.items()}
    return {name: m for name, m in margins.items() if m < -TOLERANCE or not links[name][9] > 0}


def notes(robot: RobotFile, target: str) -> list[str]:
    """Sentences on what `target` (urdf, mjcf) leaves out or simplifies."""
    found = [f"Link of {name} is no physical body (margin {m:.2g})." for name, m in unphysical_links(robot).items()]
    found += _friction(robot, target)
    if target == "urdf" and robot.has("drives.rotor_inertia") and np.any(robot.array("drives.rotor_inertia")):
        inertia = ", ".join(f"{x:.4g}" for x in robot.array("drives.rotor_inertia"))
        found.append(f"Rotor inertia [{inertia}] kg m2 has no place here; an accelerating joint needs that much more.")
    elif not robot.has("drives.rotor_inertia") and robot.drives.torque_side == "motor":
        found.append("Rotor inertia is unknown and left out.")
    if robot.payload.mass > 0:
        found.append(f"The payload of {robot.payload.mass:g} kg is not part of the links.")
    if target == "urdf" and not np.allclose(robot.gravity, [0.0, 0.0, -9.80665], atol=0.05):
        found.append(f"Gravity {robot.gravity.tolist()} m/s2 in the base frame has no place in a URDF.")
    known = np.isfinite([robot.array_or(f"limits.{name}", np.nan) for name in LIMITS])
    written = known[2:].all(axis=0) & (known[0] == known[1])
    if target == "urdf" and (lost := known.any(axis=0) & ~written).any():
        names = ", ".join(np.array(robot.joint_names)[lost])
        found.append(f"Limits of {names} are left out: a URDF has them only where all of a joint are known.")
    if robot.stiffness is not None:
        found.append("Elasticity of the transmissions is left out: joints are rigid.")
    return found


def _friction(robot: RobotFile, target: str) -> list[str]:
    if robot.friction is None:
        return ["Friction is unknown (null in the robot file) and left out."]
    held = "a piecewise linear law of velocity" if target != "urdf" else "its closest Coulomb and viscous friction"
    found = [f"Friction ({robot.friction.model}) is written as {held}, at the reference temperature."]
    if not identified(robot.friction):
        found.append("Friction is an estimate, not identified.")
    block = robot.hysteresis
    if block is not None:
        found.append(f"Presliding ({block.model}) is left out: at rest friction has no memory of position.")
    if robot.friction.model in LOADED or block is not None:
        found.append(f"Friction that grows with load is that of the mean load over {POSES} poses.")
    if robot.thermal is not None:
        found.append("Temperature dependence is left out.")
    if block is not None and block.motors:
        found.append("Friction of motors that turn with two joints acts on its own joint only.")
    return found
