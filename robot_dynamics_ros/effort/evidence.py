"""Evidence about what an effort means, per joint: one accumulator, fed by motion (recordings) and by rest (live too).

Motion, samples in which joint j slides: effort = k g + l (tau_rigid - g) + c tanh(v / STEP) + d v + b a + e, by least
squares; deviations are widened for the correlation in time of the residual. Rest: effort = k g, blurred by what stuck
friction may hold. Nothing is decided here (decision.py). Gains of currents, effort per Nm, are those of the slopes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.signals.runs import runs
from robot_dynamics_ros.signals.speeds import MOVING, STEP

if TYPE_CHECKING:
    from robot_dynamics_ros.effort.meaning import Meaning
    from robot_dynamics_ros.robot_file import RobotFile

REST_SAMPLES = 100  # resting samples in a row that are averaged into one pose
NEW_POSE = 0.1  # rad, from which on a pose is another one
MAX_POSES = 20
MIN_MOVING = 100  # sliding samples that a joint needs to be judged from motion
BLOCK = 300  # samples over which a residual is summed to see how long it stays alike, as of a contact
VISIBLE = 0.05  # variation of gravity over that of the rest of the rigid-body torque below which it does not show
RIDGE = 1e-8  # relative; a direction that the motion does not show gets a deviation 10^4 times the others'
COLUMNS = 6  # of the regression above
RANGE = (1 / 400, 0.4)  # A/Nm: K_tau between 2.5 and 400 Nm/A, the range of geared arms
GRAVITY_ERROR = 0.1  # deviation of a gain for the masses of the initial model, as a share of it
INERTIAL_ERROR = 0.3  # the same for its inertias
FRICTION_ERROR = 0.1  # the same of friction laws, as a share of friction
SHAPES = 10.0  # of a motion, with which errors of the model go
SAME_SIZE = 0.25  # deviation of a gain between joints of one size, as a share of it
STRONG = 0.15  # deviation of a joint's own gain, as a share, below which nothing is pooled
BETWEEN_JOINTS = 0.5  # the same between joints of different size
AGREE = 3.0  # deviations within which joints of one size have one gain


@dataclass(frozen=True)
class Slopes:
    """Slopes (n, 6) on all columns of the regression above, and their information, the inverse of their covariance
    (n, 6, 6), with 0 where nothing shows. usual (n,) [Nm]: what friction of each joint may hold at rest.
    """

    values: np.ndarray
    information: np.ndarray
    usual: np.ndarray


@dataclass(frozen=True)
class Evidence:
    """What the data say per joint, all (n,), in units of the effort; NaN with an infinite deviation where nothing.

    gravity, inertial: effort per Nm of gravity torque and of the rest of the rigid-body torque. friction: mean sliding
    friction along the motion, sum f v / sum |v|; below 0 it would create energy. inertia: effort per rad/s2. stuck:
    deviation of `gravity` at rest as a share of the effort per Nm (0: from motion). size: RMS effort. torque: RMS
    rigid-body torque [Nm]. moving: samples in which the joint slid. slopes: on all columns.
    """

    gravity: np.ndarray
    gravity_std: np.ndarray
    inertial: np.ndarray
    inertial_std: np.ndarray
    friction: np.ndarray
    friction_std: np.ndarray
    inertia: np.ndarray
    inertia_std: np.ndarray
    stuck: np.ndarray
    size: np.ndarray
    torque: np.ndarray
    moving: np.ndarray
    slopes: Slopes


class EffortEvidence:
    """Sums over samples, from which evidence() follows at any time; memory does not grow with the samples.

    stuck_friction (n,) [Nm]: standard deviation of what friction may hold while a joint rests.
    """

    def __init__(self, stuck_friction: np.ndarray) -> None:
        self._stuck = np.asarray(stuck_friction, dtype=float)
        n, k = len(self._stuck), COLUMNS + 1
        self._normal, self._lagged, self._summed = np.zeros((3, n, k, k))
        self._moving, self._speed = np.zeros(n, dtype=int), np.zeros(n)
        self._squares, self._torques, self._count = np.zeros(n), np.zeros(n), 0
        self._poses: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def add_motion(
        self, gravity: np.ndarray, inertial: np.ndarray, qd: np.ndarray, qdd: np.ndarray, effort: np.ndarray
    ) -> None:
        """Samples in order, all (N, n): gravity torque, rest of the rigid-body torque [Nm], rad/s, rad/s2, effort."""
        self._size(gravity + inertial, effort)
        for j in range(len(self._stuck)):
            v = qd[:, j]
            slides = np.abs(v) > MOVING
            columns = (gravity[:, j], inertial[:, j], np.tanh(v / STEP), v, qdd[:, j], np.ones_like(v), effort[:, j])
            Z = np.column_stack(columns) * slides[:, None]
            self._normal[j] += Z.T @ Z
            self._lagged[j] += Z[1:].T @ Z[:-1]
            sums = np.add.reduceat(Z, np.arange(0, len(Z), BLOCK))
            self._summed[j] += sums.T @ sums
            self._moving[j] += int(slides.sum())
            self._speed[j] += float(np.abs(v[slides]).sum())

    def add_rest(self, q: np.ndarray, gravity: np.ndarray, effort: np.ndarray) -> None:
        """Means of a rest: positions [rad], gravity torque [Nm], effort, all (n,); a pose seen before is replaced."""
        self._size(gravity[None], effort[None])
        others = [pose for pose in self._poses if np.abs(pose[0] - q).max() >= NEW_POSE]
        self._poses = [*others[1 - MAX_POSES :], (q, gravity, effort)]

    def evidence(self) -> Evidence:
        """What all samples say so far."""
        n = len(self._stuck)
        values, std = np.full((4, n), np.nan), np.full((4, n), np.inf)
        slopes = Slopes(np.zeros((n, COLUMNS)), np.zeros((n, COLUMNS, COLUMNS)), self._stuck)
        for j in np.flatnonzero(self._moving >= MIN_MOVING).tolist():
            values[:, j], std[:, j], slopes.values[j], slopes.information[j] = self._regression(j)
        torque = np.sqrt(self._torques / max(self._count, 1))
        size = np.sqrt(self._squares / max(self._count, 1))
        rest, share = self._at_rest()
        # the better of motion and rest, in the unit that effort and torque have in the mean
        known = share < 1.0
        better = known & (np.where(known, share, 0.0) * size / np.maximum(torque, 1e-9) < std[0])
        k, k_std = np.where(better, rest, values[0]), np.where(better, 0.0, std[0])
        stuck = np.where(better, share, 0.0)
        (_, m, f, b), (_, m_std, f_std, b_std) = values, std
        return Evidence(k, k_std, m, m_std, f, f_std, b, b_std, stuck, size, torque, self._moving.copy(), slopes)

    def _size(self, torque: np.ndarray, effort: np.ndarray) -> None:
        self._squares += (effort**2).sum(axis=0)
        self._torques += (torque**2).sum(axis=0)
        self._count += len(effort)

    def _at_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Slope through zero over the poses and its deviation as a share of the effort per Nm; NaN, inf without."""
        n = len(self._stuck)
        if not self._poses:
            return np.full(n, np.nan), np.full(n, np.inf)
        g = np.array([pose[1] for pose in self._poses])
        effort = np.array([pose[2] for pose in self._poses])
        power = np.maximum((g**2).sum(axis=0), 1e-12)
        return (g * effort).sum(axis=0) / power, self._stuck / np.sqrt(power)

    def _regression(self, j: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """gravity, inertial, friction, inertia of joint j and their deviations (4,); its row of Slopes."""
        count, normal = self._moving[j], self._normal[j]
        spread = np.sqrt(np.maximum(np.diag(normal) - normal[:, 5] ** 2 / count, 0.0) / count)
        rms = np.sqrt(np.diag(normal) / count)
        shown = rms[:COLUMNS] > 1e-9
        shown[0] = rms[0] > 1e-3 and spread[0] > VISIBLE * spread[1]
        shown[1] = spread[1] > 0.02 * (spread[0] + rms[0] + 0.1)
        x, covariance, information = self._solve(j, shown)
        v_tanh, v_v = normal[2, 3], normal[3, 3]
        friction = np.array([0, 0, v_tanh, v_v, 0, 0]) / max(self._speed[j], 1e-12)
        inertia = np.array([0, normal[1, 4] / max(normal[4, 4], 1e-12) if shown[1] else 0.0, 0, 0, 1, 0])
        T = np.array([np.eye(COLUMNS)[0], np.eye(COLUMNS)[1], friction, inertia])
        value, std = T @ x, np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", T, covariance, T), 0.0))
        lost = np.array([not shown[0], not shown[1], not shown[2:4].any(), not shown[4]])
        return np.where(lost, np.nan, value), np.where(lost, np.inf, std), x, information

    def _solve(self, j: int, shown: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Least squares over the columns that show (6,), its covariance (6, 6) with the residual's correlation, and its
        information with the errors of the model, which columns that are alike hide from the residual.
        """
        use = np.flatnonzero(shown)
        A, b = self._normal[j][np.ix_(use, use)], self._normal[j][use, COLUMNS]
        scale = np.sqrt(np.diag(A))
        inverse = np.linalg.inv(A / np.outer(scale, scale) + RIDGE * np.eye(len(use))) / np.outer(scale, scale)
        x = np.zeros(COLUMNS)
        x[use] = inverse @ b
        r = np.append(-x, 1.0)
        power = max(float(r @ self._normal[j] @ r), 1e-300)
        rho = float(np.clip(r @ self._lagged[j] @ r / power, 0.0, 0.999))
        covariance = np.zeros((COLUMNS, COLUMNS))
        alike = max((1 + rho) / (1 - rho), float(r @ self._summed[j] @ r) / power)  # rows per independent row
        noise = power / max(self._moving[j] - len(use), 1) * alike
        covariance[np.ix_(use, use)] = noise * inverse
        information = np.zeros((COLUMNS, COLUMNS))
        information[np.ix_(use, use)] = A / (noise + self._hidden(j, x))
        return x, covariance, information

    def _hidden(self, j: int, x: np.ndarray) -> float:
        """Variance of a row for the errors of the model, alike in the rows of one shape of the motion."""
        N = self._normal[j]
        friction = x[2:4] @ N[2:4, 2:4] @ x[2:4]
        gravity = x[0] ** 2 * (N[0, 0] - N[0, 5] ** 2 / self._moving[j])
        inertial = x[1] ** 2 * N[1, 1]
        errors = np.array([FRICTION_ERROR, GRAVITY_ERROR, INERTIAL_ERROR]) ** 2
        return float(errors @ [friction, gravity, inertial]) / SHAPES


def resting_stretches(qd: np.ndarray) -> list[slice]:
    """Stretches of at least REST_SAMPLES rows in which every joint of qd (N, n) [rad/s] rests."""
    return [slice(a, b) for a, b in runs((np.abs(qd) < MOVING).all(axis=1)) if b - a >= REST_SAMPLES]


def gains(e: Evidence, meaning: Meaning | None, robot: RobotFile, of_masses: bool) -> tuple[np.ndarray, np.ndarray]:
    """Effort per Nm (n,), positive, and its deviation: 1, 1 / K_tau of the robot file, or that of the masses.

    Of the masses: a joint's strong slope on gravity and inertial torque decides alone; what a weak one leaves open
    comes from joints of the same torque limit where these agree, else from all joints with the deviation that gains
    have between joints. NaN, inf where nothing shows.
    """
    n = len(e.gravity)
    if meaning is None or meaning.unit == "Nm":
        return np.ones(n), np.zeros(n)
    if of_masses:
        return pooled(*own_gains(e, meaning.includes_gravity), robot.array_or("limits.torque", 1.0))
    constants = robot.array("drives.torque_constant")
    return 1.0 / constants, robot.array_or("drives.torque_constant_std", 0.0) / constants**2


def pooled(own: np.ndarray, std: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gains (n,) of single joints with their deviations, the weak ones completed by the strong ones as described above.

    NaN, inf: the joint's own data show nothing. limit (n,) [Nm]: equal where drives have one size.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        strong = np.isfinite(own) & (std / own < STRONG)
    if not strong.any():
        return own, std
    gain, error = own.copy(), std.copy()
    for j in np.flatnonzero(~strong).tolist():
        mean, spread = _prior(j, own, std, strong, limit)
        weight, prior = (1 / std[j] ** 2 if np.isfinite(own[j]) else 0.0), 1 / spread**2
        gain[j] = (weight * np.nan_to_num(own[j]) + prior * mean) / (weight + prior)
        error[j] = 1 / np.sqrt(weight + prior)
    return gain, error


def own_gains(e: Evidence, gravity: bool) -> tuple[np.ndarray, np.ndarray]:
    """Gain of each joint by itself and its deviation (n,); NaN, inf where nothing shows."""
    weight, total = np.zeros(len(e.gravity)), np.zeros(len(e.gravity))
    pairs = [(e.inertial, e.inertial_std, INERTIAL_ERROR)]
    if gravity:
        pairs.append((e.gravity, e.gravity_std, np.hypot(GRAVITY_ERROR, e.stuck)))
    for slope, noise, error in pairs:
        size = np.abs(np.nan_to_num(slope))
        std = np.hypot(noise, error * size)
        use = np.isfinite(slope) & (std > 0)
        weight += np.where(use, 1 / np.where(use, std, 1.0) ** 2, 0.0)
        total += np.where(use, size / np.where(use, std, 1.0) ** 2, 0.0)
    seen = weight > 0
    safe = np.where(seen, weight, 1.0)
    return np.where(seen, total / safe, np.nan), np.where(seen, 1 / np.sqrt(safe), np.inf)


def _prior(j: int, own: np.ndarray, std: np.ndarray, strong: np.ndarray, limit: np.ndarray) -> tuple[float, float]:
    """Mean and deviation of the gain that joints with strong slopes give joint j."""
    same = strong & (limit == limit[j])
    sized = bool(same.any()) and _agree(own[same], std[same])
    rows, between = (same, SAME_SIZE) if sized else (strong, BETWEEN_JOINTS)
    mean = float(np.exp(np.log(own[rows]).mean()))
    return mean, mean * float(np.hypot(between, (std[rows] / own[rows]).mean() / np.sqrt(rows.sum())))


def _agree(value: np.ndarray, std: np.ndarray) -> bool:
    mean = (value / std**2).sum() / (1 / std**2).sum()
    return bool((np.abs(value - mean) <= AGREE * std).all())
