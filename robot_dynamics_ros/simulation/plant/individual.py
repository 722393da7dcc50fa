"""One simulated individual: how it deviates from its robot file, drawn once, and the model of its controller."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.models.inertia import about_com
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin
from robot_dynamics_ros.simulation.plant.plant_file import JointType, PlantFile

_SCATTERED = (  # differ from joint to joint of one type, by one factor per group
    ("friction.coulomb", "friction.stribeck"),
    ("friction.viscous",),
    ("friction.load",),
    ("friction.presliding",),
    ("transmission.stiffness", "transmission.hardening"),
    ("transmission.backlash",),
    ("transmission.error_amplitude",),
    ("thermal.inner_conductance", "thermal.outer_conductance"),
)


def nominal_links(robot: RobotFile, file: PlantFile) -> np.ndarray:
    """Link parameters (n, 10) in the controller: those of the robot file, or of the plant file where that has none."""
    if robot.links is None and file.links is not None and file.links.values is not None:
        return np.array([inertia_about_origin(v.mass, v.com, v.inertia) for v in file.links.values])
    return robot.link_parameters


def perturbed_links(links: np.ndarray, file: PlantFile, draw: _core.PlantRandom) -> np.ndarray:
    """Link parameters (n, 10) of an individual: mass, centre of mass and inertia about it perturbed, still consistent.

    m' = m (1 + e_m), c' = c + e_c, I_c' = (1 + e_I) I_c (I_c scaled keeps the triangle inequality).
    """
    d, result = file.deviation, np.array(links)
    for row in result:
        e_m, e_i = draw.normal(2).clip(-3, 3)
        e_c = draw.normal(3).clip(-3, 3) * d.com
        if row[9] > 0:
            body = about_com(row)
            row[:] = inertia_about_origin(
                body.mass * (1 + d.mass * e_m), body.com + e_c, body.inertia * (1 + d.inertia * e_i)
            )
    return result


def true_numbers(robot: RobotFile, file: PlantFile, draw: _core.PlantRandom) -> dict[str, np.ndarray]:
    """Every number of the core's plant except the controller's beliefs: the file's types, scattered."""
    joints = [file.types[name] for name in file.joints]
    n, d = len(joints), file.deviation
    true = {name: _row(joints, name) for name in _names(joints[0])}
    true["sensing.pole_pairs"] = true.pop("drive.pole_pairs")
    for names in _SCATTERED:
        factor = 1 + d.joint * draw.normal(n).clip(-2.5, 2.5)
        for name in names:
            true[name] = true[name] * factor.reshape((n,) + (1,) * (true[name].ndim - 1))
    for name in ("drive.ripple_phase", "transmission.error_phase"):
        width = _core.Plant.parameter_widths()[name]
        true[name] = np.pi * (2 * draw.uniform(n * width) - 1).reshape(n, width)
    true["transmission.backlash_phase"] = np.pi * (2 * draw.uniform(n) - 1)
    true["sensing.current_offset"] = true["sensing.current_offset"] * (2 * draw.uniform(n) - 1)
    true["transmission.gear_ratio"] = robot.array_or("drives.gear_ratio", true["transmission.gear_ratio"])
    for name, spread in (("torque_constant", d.torque_constant), ("rotor_inertia", d.inertia)):
        stated = robot.array_or(f"drives.{name}", true[f"drive.{name}"])
        true[f"drive.{name}"] = stated * (1 + spread * draw.normal(n).clip(-2.5, 2.5))
    return {k: np.ascontiguousarray(v, dtype=float) for k, v in true.items()}


def _names(joint: JointType) -> list[str]:
    blocks = type(joint).model_fields
    return [f"{b}.{f}" for b in blocks for f in type(getattr(joint, b)).model_fields if f != "source"]


def _row(joints: Sequence[JointType], name: str) -> np.ndarray:
    block, field = name.split(".")
    return np.array([getattr(getattr(j, block), field) for j in joints], dtype=float)


def controller_numbers(robot: RobotFile, file: PlantFile) -> dict[str, np.ndarray]:
    """What the controller takes for true: drives and friction of the robot file it uses, the types' where unknown."""
    joints = [file.types[name] for name in file.joints]
    return {
        "control.torque_constant": robot.array_or("drives.torque_constant", _row(joints, "drive.torque_constant")),
        "control.rotor_inertia": robot.array_or("drives.rotor_inertia", _row(joints, "drive.rotor_inertia")),
        "control.transmission_stiffness": _row(joints, "transmission.stiffness"),
        "control.viscous": robot.array_or("friction.parameters.fv", 0.0),
        "control.coulomb": robot.array_or("friction.parameters.fc", 0.0),
    }
