"""Rigid-body rows of the identification model and their base parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from robot_dynamics_ros import _core
from robot_dynamics_ros.models import RobotModel

LETTERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "mX", "mY", "mZ", "m")
# Of a column-normalised regressor: dependent columns lie at 1e-13, at 1e-4 where angles of the kinematics were rounded
# by as much, and columns that a robot's base parameters need above 0.02 (an offset of 2 cm) to 0.5.
RANK_TOLERANCE = 3e-3


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters of a chain: W = W[:, independent] (I, K), so beta = phi[independent] + K phi[dependent]
    [Liu2020 9-18].
    """

    independent: np.ndarray
    dependent: np.ndarray
    K: np.ndarray

    @property
    def size(self) -> int:
        """Number of base parameters."""
        return len(self.independent)

    def from_standard(self, phi: np.ndarray) -> np.ndarray:
        """Base parameters beta (b,) of standard parameters phi (10 n,)."""
        return phi[self.independent] + self.K @ phi[self.dependent]

    def matrix(self) -> np.ndarray:
        """P (b, 10 n) with beta = P phi."""
        P = np.zeros((self.size, self.size + len(self.dependent)))
        P[np.arange(self.size), self.independent] = 1.0
        P[:, self.dependent] = self.K
        return P

    def to_standard(self, beta: np.ndarray) -> np.ndarray:
        """Standard parameters (10 n,) with the dependent ones zero: same torques, not physical."""
        phi = np.zeros(self.size + len(self.dependent))
        phi[self.independent] = beta
        return phi


class RigidModel:
    """Regressor of a robot's chain in the gravity (3,) [m/s2] that its effort contains, and its base columns."""

    def __init__(self, robot: Any, gravity: np.ndarray | None = None) -> None:
        self.robot, self.n = robot, robot.n_joints
        self.gravity = np.array(robot.gravity if gravity is None else gravity, dtype=float)
        self.model = RobotModel(robot.kinematic_chain(), robot.joint_names).with_gravity(self.gravity)
        self.base = self._base()

    def base_regressor(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Base columns W (n, N, b) of a motion q, qd, qdd (N, n) [rad, rad/s, rad/s2]: the rows of joint j are W[j]."""
        return self.regressor(q, qd, qdd, self.base.independent)

    def regressor(
        self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, columns: np.ndarray | None = None
    ) -> np.ndarray:
        """Columns W (n, N, k) of the standard parameters with numbers `columns` (k,), None: all, of a motion (N, n)."""
        q, qd, qdd = (np.ascontiguousarray(x, dtype=float) for x in (q, qd, qdd))
        W = self.model.stacked_regressor(q, qd, qdd, columns=None if columns is None else columns.tolist())
        return W.T.reshape(W.shape[1], self.n, len(q)).transpose(1, 2, 0)

    def torque(
        self, phi: np.ndarray, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, gravity: np.ndarray | None = None
    ) -> np.ndarray:
        """Inverse dynamics (N, n) [Nm] with standard parameters phi (10 n,), possible bodies or not; in another gravity
        (3,) [m/s2] where it is given.
        """
        arrays = [np.ascontiguousarray(x, dtype=float) for x in (q, qd, qdd)]
        c = self.model.chain
        acts = np.array(c.gravity if gravity is None else gravity)
        chain = _core.Chain(c.placements, np.reshape(phi, (self.n, 10)), c.tool, acts)
        return _core.RigidBody(chain).rnea(*arrays)

    def _base(self) -> BaseParameters:
        rng, samples = np.random.default_rng(0), 300
        q = rng.uniform(-np.pi, np.pi, (samples, self.n))
        qd, qdd = rng.uniform(-2, 2, (samples, self.n)), rng.uniform(-5, 5, (samples, self.n))
        return base_parameters(self.regressor(q, qd, qdd).reshape(samples * self.n, -1))


def base_parameters(W: np.ndarray) -> BaseParameters:
    """Numeric base of a regressor on random samples W (m, 10 n), by orthogonalisation of unit columns [Liu2020 9-18].

    Columns are tried in the order in which the closed form keeps them: YY, mZ and m of every link last [Madsen2020
    ch5 9].
    """
    norm = np.linalg.norm(W, axis=0)
    present = norm > RANK_TOLERANCE * norm.max()
    scaled = W / np.where(present, norm, 1.0)
    keep = _independent(scaled, present)
    rest = np.setdiff1d(np.arange(W.shape[1]), keep)
    K = linalg.lstsq(W[:, keep], W[:, rest])[0]
    K[np.abs(K) < 1e-9 * max(1.0, np.abs(K).max())] = 0.0
    return BaseParameters(keep, rest, K)


def _independent(W: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Indices of a maximal independent set of columns (Gram-Schmidt, twice, in a fixed order of preference)."""
    links = W.shape[1] // 10
    first = [10 * i + k for i in reversed(range(links)) for k in (0, 1, 2, 4, 5, 6, 7)]
    last = [10 * i + k for i in reversed(range(links)) for k in (3, 8, 9)]
    order = [k for k in first + last if present[k]]
    R: Any = np.linalg.qr(W[:, order], mode="r")
    chosen: list[int] = []
    basis = np.zeros((R.shape[0], 0))
    for k, column in enumerate(order):
        left = R[:, k] - basis @ (basis.T @ R[:, k])
        left -= basis @ (basis.T @ left)
        size = np.linalg.norm(left)
        if size > RANK_TOLERANCE:
            chosen.append(column)
            basis = np.column_stack([basis, left / size])
    return np.array(sorted(chosen))


def standard_names(n: int) -> list[str]:
    """Names of the 10 n standard parameters: XX1 .. m1, XX2 .."""
    return [f"{letter}{i + 1}" for i in range(n) for letter in LETTERS]


def base_names(base: BaseParameters) -> list[str]:
    """One name per base parameter, e.g. "XX3 - YY3", "mX2 - 0.425 m3"; coefficients below 1e-6 are left out."""
    n = (base.size + len(base.dependent)) // 10
    standard = standard_names(n)
    return [
        standard[k] + "".join(_term(c, standard[d]) for c, d in zip(base.K[row], base.dependent, strict=True))
        for row, k in enumerate(base.independent)
    ]


def _term(c: float, name: str) -> str:
    if abs(c) < 1e-6:
        return ""
    size = abs(float(np.round(c, 6)))
    return f" {'+' if c > 0 else '-'} {'' if size == 1 else f'{size:.4g} '}{name}"
