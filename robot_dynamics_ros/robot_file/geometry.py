"""Placements and inertias: from the numbers of a robot file to homogeneous matrices and ten-parameter links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def rotation(rpy: Sequence[float]) -> np.ndarray:
    """R (3, 3) = Rz(yaw) Ry(pitch) Rx(roll), the convention of URDF."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_of(R: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (3,) of a rotation matrix; yaw = 0 where pitch = +-pi/2."""
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-12:
        return np.array([np.arctan2(np.sign(-R[2, 0]) * R[0, 1], R[1, 1]), pitch, 0.0])
    roll = np.arctan2(R[2, 1], R[2, 2])  # of rounding near there: yaw is that of the frame which roll leaves
    c, s = np.cos(roll), np.sin(roll)
    return np.array([roll, pitch, np.arctan2(s * R[0, 2] - c * R[0, 1], c * R[1, 1] - s * R[1, 2])])


def placement(xyz: Sequence[float], rpy: Sequence[float]) -> np.ndarray:
    """T (4, 4) of a frame given by translation [m] and roll, pitch, yaw [rad]."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation(rpy), xyz
    return T


def modified_dh(a: float, alpha: float, d: float, theta: float) -> np.ndarray:
    """T (4, 4) = Rx(alpha_(i-1)) Tx(a_(i-1)) Rz(theta_i) Tz(d_i), Craig's modified Denavit-Hartenberg form."""
    ca, sa, ct, st = np.cos(alpha), np.sin(alpha), np.cos(theta), np.sin(theta)
    return np.array(
        [[ct, -st, 0.0, a], [st * ca, ct * ca, -sa, -sa * d], [st * sa, ct * sa, ca, ca * d], [0.0, 0.0, 0.0, 1.0]]
    )


def joint_placement(joint: Any, is_dh: bool) -> np.ndarray:
    """T (4, 4) from link i-1 to joint i at q_i = 0."""
    if is_dh:
        return modified_dh(joint.a, joint.alpha, joint.d, joint.theta)
    return placement(joint.xyz, joint.rpy)


def coupling_matrix(turns: Iterable[tuple[int, int, float]], n: int) -> np.ndarray:
    """J (n, n), symmetric, of (j, k, J_jk): J_jk = s I [kg m2] of a rotor that turns with joints j and k."""
    J = np.zeros((n, n))
    for j, k, inertia in turns:
        J[[j, k], [k, j]] += inertia
    return J


def inertia_about_origin(mass: float, com: ArrayLike, inertia: ArrayLike) -> np.ndarray:
    """Ten parameters (10,) XX XY XZ YY YZ ZZ mX mY mZ m about the frame origin (parallel axis theorem)."""
    x, y, z = np.asarray(com, dtype=float)
    shift = np.array([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y])
    return np.concatenate([np.asarray(inertia) + mass * shift, mass * np.asarray(com, dtype=float), [mass]])
