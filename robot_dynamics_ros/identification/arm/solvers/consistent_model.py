"""The physically consistent neighbour of an identified model, and what the effort says about the rotors' inertia."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.solvers.feasibility import Consistent, catalogue_links, consistent
from robot_dynamics_ros.robot_file import RobotFile


def rotor_included(robot: RobotFile, model: IdentifiedModel) -> tuple[bool, str]:
    """Whether the effort contains the torque that accelerates the rotors: not when inertia comes out clearly
    negative.
    """
    declared = robot.drives.effort.includes_rotor_inertia
    b, s = model.rigid.base.size, model.solution
    places = model.structure.places("ia", b)
    negative = [j for j, k in places.items() if s.x[k] < -3 * s.std[k]]
    if declared and 2 * len(negative) > len(places):
        names = ", ".join(robot.joint_names[j] for j in negative)
        return (
            False,
            f"effort leaves out the rotors' inertia: the acceleration torque of {names} is below the rigid body's",
        )
    return declared, ""


def make_consistent(
    robot: RobotFile, model: IdentifiedModel, rotor_positive: bool
) -> tuple[IdentifiedModel, np.ndarray]:
    """The physically consistent neighbour of a model, and rotor inertias (n,) (NaN where torque is link side).

    rotor_positive: the effort holds the rotors' torque; else what is beside the links' inertia may have any sign.
    """
    structure, b = model.structure, model.rigid.base.size
    index = structure.index(b)
    places = structure.places("ia", b)
    joints = [j for j, k in places.items() if k not in model.held]
    rotor = np.array([places[j] for j in joints], dtype=int)
    phi0 = catalogue_links(robot)
    known = robot.array_or("drives.rotor_inertia", 0.1)
    P = model.rigid.base.matrix()
    result: Consistent = consistent(model.solution, P, rotor, phi0, known[joints], rotor_positive)
    inertia = np.full(robot.n_joints, np.nan)
    inertia[list(places)] = [model.held.get(k, 0.0) for k in places.values()]
    inertia[joints] = result.rotor
    x = result.x.copy()
    x[list(model.held)] = list(model.held.values())
    return model.with_inertia(result.phi, [x[i[b:]] for i in index]), inertia
