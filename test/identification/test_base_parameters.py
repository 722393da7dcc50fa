"""Base parameters: the numeric base against the closed form of a revolute chain [Madsen2020 ch5 eq. 9].

The closed form is the independent derivation: turning link i about its own z axis does not change a body with XX = YY,
a first moment along z, and a mass. So phi_i = (XX_i - YY_i, XY, XZ, 0, YZ, ZZ, mX, mY, 0, 0) + rest,
rest = (YY_i, 0, 0, YY_i, 0, 0, 0, 0, mZ_i, m_i), and the rest belongs to link i-1 as well: P_(i-1) += T P(rest) T' with
pseudo-inertias P and the placement T of joint i. For modified Denavit-Hartenberg placements this is eq. 9.
"""

import numpy as np
import pytest
from synthetic import UR5E

from robot_dynamics_ros.identification.arm.rigid import RigidModel, base_names
from robot_dynamics_ros.models.inertia import moved
from robot_dynamics_ros.robot_file import load_robot

KEPT = (0, 1, 2, 4, 5, 6, 7)  # XX XY XZ YZ ZZ mX mY of every link but the first
FIRST_UPRIGHT, FIRST_TILTED = (5,), (5, 6, 7)  # ZZ; ZZ mX mY when gravity is not along the first axis [ch5 eq. 8]
ALONG = 1e-9  # sine of the angle between gravity and the first axis below which they are parallel
UP, TILTED = np.array([0.0, 0.0, -9.81]), np.array([0.0, 4.0, -8.9])


def closed_form(robot, gravity):
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


def _to_inner(T):
    """(10, 10): what YY_i, mZ_i and m_i of a link add to the ten parameters of the link before it."""
    A = np.zeros((10, 10))
    for k, pattern in ((3, (0, 3)), (8, (8,)), (9, (9,))):
        rest = np.zeros(10)
        rest[list(pattern)] = 1.0
        A[:, k] = moved(rest, T)
    return A


def _first(robot, T, gravity):
    g = np.asarray(gravity, dtype=float)
    sine = np.linalg.norm(np.cross(T[:3, 2], g)) / max(float(np.linalg.norm(g)), 1e-12)
    return FIRST_UPRIGHT if sine < ALONG else FIRST_TILTED


@pytest.mark.parametrize(
    ("name", "gravity", "count"),
    [("ur5e", UP, 36), ("ur5e", TILTED, 38), ("ur10", UP, 36), ("panda", UP, 43), ("panda", TILTED, 45)],
)
def test_numeric_and_closed_form_are_the_same_base(name, gravity, count):
    robot = load_robot(name)
    base = RigidModel(robot, gravity).base
    kept, P = closed_form(robot, gravity)
    assert base.size == len(kept) == count
    assert np.linalg.matrix_rank(np.vstack([base.matrix(), P]), tol=1e-8) == count
    assert list(base.independent) == list(kept)
    assert np.allclose(base.matrix(), P, atol=1e-8)


def test_base_parameters_give_the_same_torque_as_standard_ones():
    rigid = RigidModel(UR5E)
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.normal(size=(3, 50, 6))
    phi = UR5E.inertial_parameters
    beta = rigid.base.from_standard(phi)
    W = rigid.base_regressor(q, qd, qdd)
    assert np.allclose((W @ beta).T, rigid.torque(phi, q, qd, qdd), atol=1e-9)
    assert np.allclose(rigid.torque(rigid.base.to_standard(beta), q, qd, qdd), rigid.torque(phi, q, qd, qdd), atol=1e-9)


def test_names_say_what_is_grouped():
    names = base_names(RigidModel(UR5E).base)
    assert names[names.index(next(n for n in names if n.startswith("XX6")))] == "XX6 - YY6"
    assert next(n for n in names if n.startswith("mX2")).startswith("mX2 - 0.425 m3")
