"""Fourier motions of free numbers, and their slow part: the path once more, with small reversals at several places.

Fast motion crosses the speeds of Stribeck friction in hundredths of a second, and its few reversals say little about
presliding friction, which decides the force on an arm that stands.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import null_space

from robot_dynamics_ros.identification.excitation.limits import USE, Limits
from robot_dynamics_ros.trajectories.motions import JointMotion, minimum_jerk, minimum_jerk_rates

PARTS = 5  # length of the whole motion over that of the fast part; a whole of 75 s instead of 100 was 0.2 N worse
PLACES = 8  # on the way from one still end of the path to the other; 5 and 12 are as good
REVERSALS = (0.0013, 0.009)  # of the way to a place, to both sides of it: 1 and 10 mrad of joints with 0.5 rad/s
SHARES = (0.72, 0.03, 0.045, 0.03, 0.05, 0.075, 0.05)  # of a place's time: the way, then reversals out, over, back


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


def slow_part(t: np.ndarray, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place s on the path [s] at times t (N,) [s], ds/dt and d2s/dt2: s = t in the fast part, up to `duration`; then
    the path from its start again to the last of PLACES, every stretch from rest to rest with least jerk.
    """
    way, time = duration / (PLACES + 1), (PARTS - 1) * duration / PLACES
    ends = way * (1 + np.concatenate([[0.0], *([d, -d, 0.0] for d in REVERSALS)]))
    places = np.concatenate([[0.0], *(k * way + ends for k in range(PLACES))])
    lengths = np.tile(SHARES, PLACES) * time
    starts = duration + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    k = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
    x, step = np.clip((t - starts[k]) / lengths[k], 0.0, 1.0), places[k + 1] - places[k]
    (speed, change), fast = minimum_jerk_rates(x), t <= duration
    s = np.where(fast, t, places[k] + step * minimum_jerk(x))
    return s, np.where(fast, 1.0, step * speed / lengths[k]), np.where(fast, 0.0, step * change / lengths[k] ** 2)
