"""Excitation motions: finite Fourier series with zero boundary conditions, and trapezoidal point-to-point moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space


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


def trapezoids(points: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray, rate: float, pause: float = 0.25):
    """Time, q, qd, qdd of straight joint moves through points (m, n), all joints in step, at rest in between.

    velocity and acceleration (n,) limits; the slowest joint of a move sets its time [Clochiatti2024 2.2].
    """
    parts = []
    for a, b in zip(points[:-1], points[1:], strict=True):
        d = b - a
        reach = np.maximum(np.abs(d), 1e-9)
        v, acc = float((velocity / reach).min()), float((acceleration / reach).min())
        parts.append((a, d, *_unit_trapezoid(v, acc, rate)))
        parts.append((b, np.zeros_like(d), *(np.zeros(max(int(pause * rate), 1)) for _ in range(3))))
    q, qd, qdd = (np.concatenate([_scaled(p, k) for p in parts]) for k in range(3))
    return np.arange(len(q)) / rate, q, qd, qdd


def _scaled(part, k: int) -> np.ndarray:
    a, d, *profile = part
    return (a if k == 0 else 0.0) + profile[k][:, None] * d


def _unit_trapezoid(v: float, a: float, rate: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Path parameter 0..1, its speed and acceleration, with speed v and acceleration a."""
    v = min(v, np.sqrt(a))
    ramp, total = v / a, 1 / v + v / a
    t = np.arange(0, total, 1 / rate)
    up, down = t < ramp, t > total - ramp
    acc = np.where(up, a, np.where(down, -a, 0.0))
    speed = np.where(up, a * t, np.where(down, a * (total - t), v))
    s = np.where(up, 0.5 * a * t**2, np.where(down, 1 - 0.5 * a * (total - t) ** 2, v * (t - 0.5 * ramp)))
    return s, speed, acc
