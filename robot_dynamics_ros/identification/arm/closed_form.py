"""Base parameters of a revolute chain in closed form [Madsen2020 ch5 eq. 9], for any constant placements.

Turning link i about its own z axis does not change a body with XX = YY, a first moment along z, and a mass. So
phi_i = (XX_i - YY_i, XY, XZ, 0, YZ, ZZ, mX, mY, 0, 0) + rest, rest = (YY_i, 0, 0, YY_i, 0, 0, 0, 0, mZ_i, m_i),
and the rest belongs to link i-1 as well: P_(i-1) += T P(rest) T' with pseudo-inertias P and the placement T of joint i.
For modified Denavit-Hartenberg placements this is eq. 9, line by line.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.models.inertia import moved

KEPT = (0, 1, 2, 4, 5, 6, 7)  # XX XY XZ YZ ZZ mX mY of every link but the first
FIRST_UPRIGHT, FIRST_TILTED = (5,), (5, 6, 7)  # ZZ; ZZ mX mY when gravity is not along the first axis [ch5 eq. 8]
ALONG = 1e-9  # sine of the angle between gravity and the first axis below which they are parallel


def closed_form(robot: Any, gravity: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Indices (b,) of the kept standard parameters and P (b, 10 n) with beta = P phi.

    b = 7 n - 6 with gravity along the first axis, else 7 n - 4. Chains whose first axes are parallel have fewer: use
    the numeric base there.
    """
    placements = robot._placements()
    n = len(placements)
    P = np.eye(10 * n)
    for i in range(n - 1, 0, -1):
        own, inner = slice(10 * i, 10 * i + 10), slice(10 * i - 10, 10 * i)
        P[inner] += _to_inner(placements[i]) @ P[own]
        P[10 * i] -= P[10 * i + 3]
    kept = [*_first(robot, placements[0], gravity), *(10 * i + k for i in range(1, n) for k in KEPT)]
    return np.array(kept), P[kept]


def _to_inner(T: np.ndarray) -> np.ndarray:
    """(10, 10): what YY_i, mZ_i and m_i of a link add to the ten parameters of the link before it."""
    A = np.zeros((10, 10))
    for k, pattern in ((3, (0, 3)), (8, (8,)), (9, (9,))):
        rest = np.zeros(10)
        rest[list(pattern)] = 1.0
        A[:, k] = moved(rest, T)
    return A


def _first(robot: Any, T: np.ndarray, gravity: np.ndarray | None) -> tuple[int, ...]:
    g = np.asarray(robot.gravity if gravity is None else gravity, dtype=float)
    sine = np.linalg.norm(np.cross(T[:3, 2], g)) / max(float(np.linalg.norm(g)), 1e-12)
    return FIRST_UPRIGHT if sine < ALONG else FIRST_TILTED
