"""Fourier motions of free numbers: position, speed and acceleration limits hold whatever the numbers are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from robot_dynamics_ros.identification.excitation.limits import USE, Limits
from robot_dynamics_ros.identification.excitation.soft import column_max, column_max_size, power_max
from robot_dynamics_ros.trajectories.motions import JointMotion

POWER = 16.0  # of the norms that stand for a maximum of a few numbers
NEAR, FAR = 0.05, 0.95  # share of a joint's free room below and above which its motion is not placed

Motion = tuple[np.ndarray, np.ndarray, np.ndarray]


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


@dataclass
class FourierShape:
    """A motion and what its slopes need; (N, n) and (n,) arrays."""

    unit: JointMotion  # q, qd, qdd before they are scaled
    motion: JointMotion
    scale: np.ndarray  # of the unit motion, size times fit
    size: np.ndarray  # below 1, grows with the length of the coefficients
    fit: np.ndarray  # largest scale that keeps the limits
    bounds: tuple[np.ndarray, ...]  # highest, lowest, fastest, most accelerated of the unit motion
    slopes: tuple[np.ndarray, ...]  # of the bounds by the unit motion
    parts: tuple[np.ndarray, ...]  # slopes of 1 / fit by the three shares of a limit
    place: np.ndarray  # of the motion in the free room, 0.05 .. 0.95


class FourierMotion:
    """q = centre + s B z per joint; x (n, m + 1): m coefficients z [Liu2020 24; Luo2024 19] and a place per joint.

    s keeps range, speed and acceleration inside USE of the limits by smooth upper bounds of their largest values, so
    that the motion has slopes everywhere; the place moves it inside the room that its range leaves.
    """

    def __init__(self, limits: Limits, basis: FourierBasis) -> None:
        self.limits, self.basis = limits, basis
        self.n, self.size = len(limits.lower), len(limits.lower) * (basis.size + 1)
        self.mean = basis.q.mean(axis=0)
        self.room = limits.upper - limits.lower

    def shape(self, x: np.ndarray) -> FourierShape:
        """The motion of x at the times of the basis."""
        x = x.reshape(self.n, -1)
        z, lim = x[:, :-1].T, self.limits
        unit = (self.basis.q - self.mean) @ z, self.basis.qd @ z, self.basis.qdd @ z
        (high, above), (low, below) = column_max(unit[0]), column_max(-unit[0])
        (fast, by_speed), (hard, by_acceleration) = column_max_size(unit[1]), column_max_size(unit[2])
        shares = np.stack([(high + low) / self.room, fast / lim.velocity, hard / lim.acceleration]) / USE
        need, parts = power_max(shares, POWER)
        length = np.linalg.norm(z, axis=0) + 1e-12
        size = length / (1 + length**POWER) ** (1 / POWER)
        place = NEAR + (FAR - NEAR) * 0.5 * (1 + np.tanh(x[:, -1]))
        scale = size / need
        centre = lim.lower + scale * low + (self.room - scale * (high + low)) * place
        motion = centre + scale * unit[0], scale * unit[1], scale * unit[2]
        return FourierShape(
            unit,
            motion,
            scale,
            size,
            1 / need,
            (high, low, fast, hard),
            (above, below, by_speed, by_acceleration),
            tuple(parts),
            place,
        )

    def at(self, x: np.ndarray, basis: FourierBasis) -> JointMotion:
        """The same motion at other times."""
        s = self.shape(x)
        z = x.reshape(self.n, -1)[:, :-1].T
        centre = s.motion[0][0] - s.scale * s.unit[0][0]
        return centre + s.scale * ((basis.q - self.mean) @ z), s.scale * (basis.qd @ z), s.scale * (basis.qdd @ z)

    def slopes(self, x: np.ndarray, s: FourierShape, q_: np.ndarray, qd_: np.ndarray, qdd_: np.ndarray) -> np.ndarray:
        """Slopes (n (m + 1),) by x of a function with slopes q_, qd_, qdd_ (N, n) by the motion."""
        z, lim = x.reshape(self.n, -1)[:, :-1].T, self.limits
        (high, low, _, _), free = s.bounds, s.scale * (1 - s.place)
        centre_ = q_.sum(axis=0)
        scale_ = sum((a * b).sum(axis=0) for a, b in zip((q_, qd_, qdd_), s.unit, strict=True))
        scale_ = scale_ + centre_ * (low - (high + low) * s.place)
        need_ = -scale_ * s.size * s.fit**2
        range_, fast_, hard_ = (need_ * part / USE for part in s.parts)
        high_ = range_ / self.room - centre_ * s.scale * s.place
        low_ = range_ / self.room + centre_ * free
        above, below, by_speed, by_acceleration = s.slopes
        unit_ = (
            s.scale * q_ + high_ * above - low_ * below,
            s.scale * qd_ + fast_ / lim.velocity * by_speed,
            s.scale * qdd_ + hard_ / lim.acceleration * by_acceleration,
        )
        z_ = (self.basis.q - self.mean).T @ unit_[0] + self.basis.qd.T @ unit_[1] + self.basis.qdd.T @ unit_[2]
        length = np.linalg.norm(z, axis=0) + 1e-12
        size_ = scale_ * s.fit
        z_ = z_ + size_ * (1 + length**POWER) ** (-1 / POWER - 1) / length * z
        share = (s.place - NEAR) / (FAR - NEAR)
        place_ = centre_ * (self.room - s.scale * (high + low)) * (FAR - NEAR) * 2 * share * (1 - share)
        return np.vstack([z_, place_]).T.ravel()
