"""Fourier motions of free numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from robot_dynamics_ros.identification.excitation.limits import USE, Limits
from robot_dynamics_ros.trajectories.motions import JointMotion


@dataclass(frozen=True)
class FourierBasis:
    """q = centre + B_q z per joint: `harmonics` of `base` [rad/s], at rest and without acceleration at both ends.

    q(t) = c + sum_k a_k/(w k) sin(w k t) - b_k/(w k) cos(w k t) [Liu2020 24]; sum a_k = 0 and sum k b_k = 0 give
    qd(0) = qdd(0) = 0 and, over whole periods, at the end [Liu2020 27-29]. z has 2 harmonics - 2 entries per joint.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    @classmethod
    def build(cls, harmonics: int, base: float, t: np.ndarray) -> FourierBasis:
        """Basis at times t (N,) [s]."""
        k = np.arange(1, harmonics + 1)
        w = base * k
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        still = np.zeros((2, 2 * harmonics))
        still[0, :harmonics], still[1, harmonics:] = 1.0, k
        Z = null_space(still)
        q = np.hstack([s / w, -c / w]) @ Z
        first = np.concatenate([np.zeros(harmonics), -1 / w]) @ Z
        return cls(t, q - first, np.hstack([c, s]) @ Z, np.hstack([-s * w, c * w]) @ Z)

    @property
    def size(self) -> int:
        """Free numbers per joint."""
        return self.q.shape[1]


class FourierMotion:
    """q = centre + B z per joint; x (n, m + 1): m coefficients z per velocity limit [Liu2020 24; Luo2024 19], and the
    mean position, -1 .. 1 from the lower to the upper limit.
    """

    def __init__(self, limits: Limits, basis: FourierBasis) -> None:
        self.limits, self.basis = limits, basis
        self.n, self.size = len(limits.lower), len(limits.lower) * (basis.size + 1)
        self.mean = basis.q.mean(axis=0)
        self.middle, self.half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2

    def at(self, x: np.ndarray, basis: FourierBasis | None = None) -> JointMotion:
        """q, qd, qdd (N, n) at the times of this basis or another one."""
        b, x = basis or self.basis, x.reshape(self.n, -1)
        z = x[:, :-1].T * self.limits.velocity
        return self.middle + self.half * x[:, -1] + (b.q - self.mean) @ z, b.qd @ z, b.qdd @ z

    def slopes(self, q_: np.ndarray, qd_: np.ndarray, qdd_: np.ndarray) -> np.ndarray:
        """Slopes (n (m + 1),) by x of a function with slopes q_, qd_, qdd_ (N, n) by the motion."""
        z_ = (self.basis.q - self.mean).T @ q_ + self.basis.qd.T @ qd_ + self.basis.qdd.T @ qdd_
        return np.vstack([self.limits.velocity * z_, self.half * q_.sum(axis=0)]).T.ravel()

    def inside(self, x: np.ndarray, share: float = USE) -> np.ndarray:
        """x with the amplitude of each joint drawn in, and its place moved, until it keeps `share` of its limits."""
        x, lim = x.copy().reshape(self.n, -1), self.limits
        q, qd, qdd = self.at(x)
        used = np.max(
            [np.ptp(q, axis=0) / 2 / self.half, abs(qd / lim.velocity).max(0), abs(qdd / lim.acceleration).max(0)], 0
        )
        x[:, :-1] *= np.minimum(1.0, share / used)[:, None]
        place = (self.at(x)[0] - self.middle) / self.half
        x[:, -1] += np.maximum(-share - place.min(0), 0.0) - np.maximum(place.max(0) - share, 0.0)
        return x.ravel()

    def random(self, rng: np.random.Generator, share: float) -> np.ndarray:
        """Free numbers (n (m + 1),) of a random motion that takes `share` of what the joints' limits allow."""
        x = 1e3 * rng.normal(size=(self.n, self.basis.size + 1))
        x = self.inside(x, share).reshape(self.n, -1)
        x[:, -1] += (1 - share) * rng.uniform(-1, 1, self.n)
        return x.ravel()
