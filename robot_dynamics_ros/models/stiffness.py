"""Transmissions of a robot file: tau_J = tau_E(phi) + D dphi/dt over the deflection phi = theta - q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


def elastic_coefficients(robot: RobotFile) -> np.ndarray:
    """a (n, P) [Nm/rad^(2p-1)] of tau_E(phi) = sum_p a_p phi^(2p-1) [Madsen2020, ch3 eq. 7-10].

    Raises CapabilityError where they are unknown.
    """
    a = robot.array("stiffness.parameters.a")
    return np.array(np.broadcast_to(a, (robot.n_joints, a.shape[-1])))


def transmission_damping(robot: RobotFile) -> np.ndarray:
    """D (n,) [Nm s/rad] between rotor and link; zero where the robot file has none."""
    given = robot.stiffness.parameters if robot.stiffness is not None else {}
    return robot.array("stiffness.parameters.damping") if "damping" in given else np.zeros(robot.n_joints)
