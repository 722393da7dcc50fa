"""What an identification is compared with: the robot file as it was, and constant Coulomb friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.arm.found import Identification
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.solvers.feasibility import catalogue
from robot_dynamics_ros.identification.arm.solvers.fitting import Fitter
from robot_dynamics_ros.identification.dataset.motion import Motion, stack
from robot_dynamics_ros.models.friction import FrictionModel

STEP = 1e-4  # rad/s; tanh(v / STEP) is the sign of any velocity that matters


def baselines(found: Identification) -> dict[str, Callable[[Motion], np.ndarray]]:
    """Predictions by name: "constant_coulomb" always, "catalogue" where the robot file has masses."""
    result = {"constant_coulomb": constant_coulomb(found)}
    if catalogue(found.robot) is not None:
        result["catalogue"] = catalogue_model(found)
    return result


def constant_coulomb(found: Identification) -> Callable[[Motion], np.ndarray]:
    """Rigid body, rotor inertia, viscous and constant Coulomb friction, offset: the usual identification."""
    motor = found.robot.drives.torque_side == "motor"
    law = JointFriction(STEP, ("fv1", "fo", "ia", "fc") if motor else ("fv1", "fo", "fc"))
    n = found.robot.n_joints
    structure = replace(found.structure, laws=(law,) * n, filters=(None,) * n)
    motion = stack([found.motion(r) for r in found.training])
    return Fitter(found.model.rigid, structure, motion).run("wls").predict


def catalogue_model(found: Identification) -> Callable[[Motion], np.ndarray]:
    """The robot file's own masses, rotor inertias and friction, as they were before identification."""
    robot, rigid = found.robot, found.model.rigid
    phi = catalogue(robot)
    rotor = np.zeros(robot.n_joints)
    if robot.drives.effort.includes_rotor_inertia and robot.has("drives.rotor_inertia"):
        rotor = robot.array("drives.rotor_inertia")

    def predict(motion: Motion) -> np.ndarray:
        load = rigid.torque(phi, motion.q, motion.qd, motion.qdd)
        total = load + rotor * motion.qdd
        if robot.friction is not None and robot.drives.torque_side == "motor":
            total = total + FrictionModel.from_robot(robot).torque(motion.qd, load)
        return total

    return predict
