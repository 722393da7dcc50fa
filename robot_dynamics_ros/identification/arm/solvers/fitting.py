"""The linear problem of an identification and its solvers, on rows that exist only block by block."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.consistency import LEAST_ROTOR, initial_parameters
from robot_dynamics_ros.identification.arm.solvers.fused_rows import FusedRows
from robot_dynamics_ros.identification.arm.solvers.least_squares import ROUNDS, solve
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import thinned
from robot_dynamics_ros.robot_file import RobotFile

Prior = tuple[np.ndarray, np.ndarray]
ROUGH, ROUGH_ROWS = 2, 32_000  # rounds of robust weights, and samples, of a solution that only serves the next one
# Of the deviation of the effort, or of the mean of a motor's effort beyond the initial model: poses that differ little
# show gravity and an offset by their sum only. A joint torque sensor may be off by all of that mean; its friction is so
# small that an offset which is held to less turns the direction of gravity instead.
OFFSET = 0.05


def prior_of(robot: RobotFile, rigid: RigidModel, structure: Structure, strength: float, motion: Motion) -> Prior:
    """Masses and rotor inertias of the initial model, and no offset of the effort, as weak rows (P, z): they decide
    only what the data leave open. An unknown rotor inertia is 0, give or take one that takes all of the effort.
    """
    b = rigid.base.size
    phi = initial_parameters(robot)
    rows, z = np.zeros((b + 2 * rigid.n, structure.size(b))), np.zeros(b + 2 * rigid.n)
    if phi is not None:
        beta = rigid.base.from_standard(phi)
        scale = np.maximum(np.abs(beta), 1e-2)
        rows[np.arange(b), np.arange(b)] = strength / scale
        z[:b] = strength * beta / scale
    rotor, most = robot.array_or("drives.rotor_inertia", np.nan), motion.effort.std(0) / (motion.qdd.std(0) + 1e-6)
    known = np.isfinite(rotor)
    value, size = np.where(known, rotor, 0.0), np.fmax(np.where(known, np.abs(rotor), most), LEAST_ROTOR)
    for j, place in structure.places("ia", b).items():
        rows[b + j, place] = strength / size[j]
        z[b + j] = strength * value[j] / size[j]
    beyond = (1.0 if robot.drives.torque_side == "link" else OFFSET) * np.abs(_beyond(rigid, phi, motion))
    offset = np.fmax(np.fmax(OFFSET * motion.effort.std(0), beyond), 1e-6)
    for j, place in structure.places("fo", b).items():
        rows[b + rigid.n + j, place] = strength / offset[j]
    return rows, z


def _beyond(rigid: RigidModel, phi: np.ndarray | None, motion: Motion) -> np.ndarray:
    """Mean effort (n,) beyond the initial model, without one 0: a sensor at a wrist that carries little is off by more
    than its effort varies, and a prior of that size would hold the offset, whose residuals then count as noise of this
    joint.
    """
    if phi is None:
        return np.zeros(rigid.n)
    part = thinned(motion, ROUGH_ROWS)
    return np.asarray((part.effort - rigid.torque(phi, part.q, part.qd, part.qdd)).mean(axis=0))


def known_rotors(robot: RobotFile, rigid: RigidModel, structure: Structure, included: bool = True) -> dict[int, float]:
    """Rotor inertias of the robot file as known parameters [Madsen2020 ch5 14].

    included: the effort holds the rotors' torque; else B = 0. Friction stays in the same regression [15-16].
    Raises CapabilityError where the file does not know them.
    """
    places = structure.places("ia", rigid.base.size)
    if not included:
        return dict.fromkeys(places.values(), 0.0)
    rotor = robot.array_or("drives.rotor_inertia", np.nan)
    missing = [robot.joint_names[j] for j in places if not np.isfinite(rotor[j])]
    if missing:
        raise CapabilityError(
            f"{robot.name}: drives.rotor_inertia of {', '.join(missing)} is not known: identify it, "
            "or write it into the robot file"
        )
    return {k: float(rotor[j]) for j, k in places.items()}


def fitted(
    rigid: RigidModel,
    structure: Structure,
    motion: Motion,
    prior: Prior | None = None,
    known: Mapping[int, float] | None = None,
    load: np.ndarray | None = None,
    rough: bool = False,
) -> IdentifiedModel:
    """The model of a structure on a motion; load (10 n,): the links whose torque loads friction; rough: from ROUGH_ROWS
    alone, in ROUGH rounds.
    """
    part = thinned(motion, ROUGH_ROWS) if rough else motion
    if prior is not None:  # as strong beside some of the samples as beside all
        share = np.sqrt(len(part) / len(motion))
        prior = share * prior[0], share * prior[1]
    weights = None if part.weight is None else list(part.weight.T)
    rows, limited = FusedRows(rigid, structure, part, load), structure.non_negative(rigid.base.size)
    size, rounds = structure.size(rigid.base.size), ROUGH if rough else ROUNDS
    solution = solve(rows, size, prior, rounds, weights, limited, known)
    return IdentifiedModel.from_solution(rigid, structure, solution)
