"""Fourier motions of free numbers."""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from robot_dynamics_ros.identification.excitation.limits import USE, Limits
from robot_dynamics_ros.trajectories.motions import JointMotion


class FourierMotion:
    """q = centre + B z per joint: `harmonics` of `base` [rad/s] at times t (N,) [s], still at both ends.

    q(t) = c + sum_k a_k/(w k) sin(w k t) - b_k/(w k) cos(w k t) [Liu2020 24; Luo2024 19]; sum a_k = 0 and sum k b_k = 0
    give qd(0) = qdd(0) = 0 and, over whole periods, at the end [Liu2020 27-29].
    x (n, m + 1): m = 2 harmonics - 2 coefficients z per velocity limit, and the mean position, -1 .. 1 from the lower
    to the upper limit.
    """

    def __init__(self, limits: Limits, harmonics: int, base: float, t: np.ndarray) -> None:
        self.limits, self.n, self.t = limits, len(limits.lower), t
        k = np.arange(1, harmonics + 1)
        still = np.zeros((2, 2 * harmonics))
        still[0, :harmonics], still[1, harmonics:] = 1.0, k
        self.w, self.free, self.mean = base * k, null_space(still), np.zeros(2 * harmonics - 2)
        self.mean = self.basis(t)[0].mean(axis=0)
        self.now = self.basis(t)
        self.middle, self.half = (limits.upper + limits.lower) / 2, (limits.upper - limits.lower) / 2

    def basis(self, t: np.ndarray) -> tuple[np.ndarray, ...]:
        """B (N, m) of position, velocity and acceleration at times t (N,) [s]."""
        w, (s, c) = self.w, (wave(np.outer(t, self.w)) for wave in (np.sin, np.cos))
        parts = ([s / w, -c / w], [c, s], [-s * w, c * w])
        q, qd, qdd = (np.hstack(part) @ self.free for part in parts)
        return q - self.mean, qd, qdd

    def at(self, x: np.ndarray, t: np.ndarray | None = None) -> JointMotion:
        """q, qd, qdd (N, n) at its times or others."""
        (q, qd, qdd), x = self.now if t is None else self.basis(t), x.reshape(self.n, -1)
        z = x[:, :-1].T * self.limits.velocity
        return self.middle + self.half * x[:, -1] + q @ z, qd @ z, qdd @ z

    def slopes(self, q_: np.ndarray, qd_: np.ndarray, qdd_: np.ndarray) -> np.ndarray:
        """Slopes (n (m + 1),) by x of a function with slopes q_, qd_, qdd_ (N, n) by the motion."""
        z_ = np.asarray(sum(B.T @ slope for B, slope in zip(self.now, (q_, qd_, qdd_), strict=True)))
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
        x = 1e3 * rng.normal(size=(self.n, len(self.mean) + 1))
        x = self.inside(x, share).reshape(self.n, -1)
        x[:, -1] += (1 - share) * rng.uniform(-1, 1, self.n)
        return x.ravel()
