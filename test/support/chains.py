"""Seeded random chains, and Pinocchio as an oracle of their dynamics."""

from dataclasses import dataclass

import numpy as np

from bench.speed.setup import PINOCCHIO_ORDER
from robot_dynamics_ros import _core
from robot_dynamics_ros.models import RobotModel


@dataclass
class RandomChain:
    placements: np.ndarray  # (n, 4, 4)
    inertia: np.ndarray  # (n, 10) about the link origin
    tool: np.ndarray
    gravity: np.ndarray

    @property
    def n(self):
        return len(self.inertia)

    @property
    def core(self):
        return _core.Chain(self.placements, self.inertia, self.tool, self.gravity)

    def model(self):
        return RobotModel(self.core)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def random_rotation(rng):
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def random_inertia(rng):
    """Of a body with positive density: triangle inequalities hold."""
    second = np.diag(rng.uniform(0.01, 0.3, 3))
    R = random_rotation(rng)
    return R @ (np.trace(second) * np.eye(3) - second) @ R.T


def random_chain(n, seed, right_angles=False):
    """Arbitrary placements, or those of modified DH with right-angled twists."""
    rng = np.random.default_rng(seed)
    placements = np.tile(np.eye(4), (n, 1, 1))
    for P in placements:
        if right_angles:
            alpha = rng.choice([0, np.pi / 2, -np.pi / 2])
            a, d = rng.normal(size=2)
            c, s = np.cos(alpha), np.sin(alpha)
            P[:3, :3] = [[1, 0, 0], [0, c, -s], [0, s, c]]
            P[:3, 3] = [a, -s * d, c * d]
        else:
            P[:3, :3], P[:3, 3] = random_rotation(rng), rng.normal(size=3)
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = random_rotation(rng), rng.normal(size=3)
    inertias, rows = [random_inertia(rng) for _ in range(n)], []
    masses, coms = rng.uniform(0.5, 5, n), 0.2 * rng.normal(size=(n, 3))
    for m, c, inertia in zip(masses, coms, inertias, strict=True):
        about_origin = inertia - m * skew(c) @ skew(c)  # I - m [c]x^2
        rows.append([*about_origin[np.triu_indices(3)], *(m * c), m])
    return RandomChain(placements, np.array(rows), tool, 9.81 * rng.normal(size=3))


def random_motion(n, count, seed):
    return 2.0 * np.random.default_rng(seed).normal(size=(3, count, n))


def pinocchio_columns(Y):
    """A Pinocchio regressor (n, 10 n) in our order of columns."""
    Y = np.atleast_2d(Y)
    ours = np.empty_like(Y)
    ours.reshape(len(Y), -1, 10)[:, :, PINOCCHIO_ORDER] = Y.reshape(len(Y), -1, 10)
    return ours


def configuration(model, q):
    """Pinocchio's configuration vector: continuous joints hold cos and sin."""
    out = np.zeros(model.nq)
    for joint, angle in zip(model.joints[1:], q, strict=True):
        out[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
    return out
