"""Direction of gravity beside all bodies and friction of a fit: masses of a robot file leave it up to a degree off."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.beside import solved_beside
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.mounting import STANDARD, SURE
from robot_dynamics_ros.identification.arm.solvers.fitting import ROUGH_ROWS, Prior
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import thinned


def direction_beside(fit: IdentifiedModel, motion: Motion, prior: Prior) -> tuple[np.ndarray, float]:
    """Direction (3,) of gravity, and the cosine between directions that may be one: SURE deviations of this solution.

    One Gauss-Newton step of min |effort - A(g) x| over parameters x and the direction of g: effort = A(g) x + L u,
    where L is what x weighs in 1 m/s2 along the two axes across g, and u [m/s2] its turn (Bjorck, Numerical Methods for
    Least Squares Problems, 1996, 9.2).
    """
    motion, gravity = thinned(motion, ROUGH_ROWS), fit.rigid.gravity
    across, still = np.linalg.svd(gravity[None])[2][1:], np.zeros_like(motion.q)
    lean = np.array([fit.rigid.torque(fit.phi, motion.q, still, still, axis) for axis in across]).T
    turn, std = solved_beside(fit, motion, lean, prior)
    turned = gravity + turn @ across
    same = np.cos(min(SURE * float(np.linalg.norm(std)) / STANDARD, np.pi))
    return turned / np.linalg.norm(turned), float(same)
