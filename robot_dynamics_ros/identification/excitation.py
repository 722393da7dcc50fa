"""Design of excitation motions: how well a motion lets the base parameters be told apart, and the search for a good
one.

Criteria of the regressor W on the motion, from its triangle R (never W) [Liu2020 26; Luo2024 19-20]:
  condition  cond(W) = s_max / s_min
  logdet     -log det(W'W) = -2 sum log |R_kk|
  hadamard   -sum log |w_k|^2, w_k the columns of W: an upper bound of the determinant, smooth and without decomposition
  hybrid     hadamard for the start, then condition while logdet does not get worse
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.blas import one_thread
from robot_dynamics_ros.identification.rigid import RigidModel
from robot_dynamics_ros.identification.trajectories import FourierBasis, trapezoids
from robot_dynamics_ros.models import RobotModel

SAMPLES = 200  # of a motion during the search; the excited frequencies are below one hertz
USE = 0.9  # share of every limit that a motion may use
TRIES = 60  # random motions that each search starts from the best of
PENALTY = 3.0  # of a limit exceeded by its whole size, against a factor e in the condition number
CRITERIA = ("hybrid", "condition", "logdet", "hadamard")
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Limits:
    """Per joint (n,): position [rad], speed [rad/s], acceleration [rad/s2], torque [Nm] (inf: none); TCP speed
    [m/s], floor [m].
    """

    lower: np.ndarray
    upper: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    torque: np.ndarray
    tcp_speed: float = np.inf
    floor: float = -np.inf
    clearance: float = 0.0

    @classmethod
    def of(cls, robot: Any, acceleration: float = 4.0, floor: float = -np.inf, clearance: float = 0.0) -> Limits:
        """Limits of a robot file; turns without end count as +-pi, unknown accelerations as `acceleration` [rad/s2]."""
        n = robot.n_joints

        def known(field: str, otherwise: float) -> np.ndarray:
            return robot.array(field) if robot.has(field) else np.full(n, otherwise)

        lower = np.maximum(known("limits.position_lower", -np.pi), -np.pi)
        upper = np.minimum(known("limits.position_upper", np.pi), np.pi)
        speed = robot.limits.tcp_speed if robot.limits.tcp_speed is not None else np.inf
        return cls(
            lower,
            upper,
            known("limits.velocity", 1.5),
            np.minimum(known("limits.acceleration", acceleration), acceleration),
            known("limits.torque", np.inf),
            float(speed),
            floor,
            clearance,
        )


@dataclass(frozen=True)
class Excitation:
    """A designed motion (time (N,), q, qd, qdd (N, n)), its criteria, and how many motions were tried."""

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    condition: float
    logdet: float
    evaluations: int


class Criteria:
    """Criteria of motions of one robot, and by how much they break its limits."""

    def __init__(self, robot: Any, limits: Limits) -> None:
        self.rigid, self.limits = RigidModel(robot), limits
        self.columns = self.rigid.base.independent.tolist()
        self.chain = self.rigid.model.chain
        self.body = _loaded(robot)
        self.count = 0

    def triangle(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """R (b, b) of the base regressor on a motion, per square root of a sample."""
        self.count += 1
        qr = _core.FusedQR(self.chain, self.columns)
        qr.update(np.ascontiguousarray(q), np.ascontiguousarray(qd), np.ascontiguousarray(qdd))
        return qr.fold()[:-1, :-1] / np.sqrt(len(q))

    def condition(self, R: np.ndarray) -> float:
        """cond(W)."""
        s = np.linalg.svd(R, compute_uv=False)
        return float(s[0] / max(s[-1], 1e-12 * s[0]))

    @staticmethod
    def logdet(R: np.ndarray) -> float:
        """-log det(W'W)."""
        return float(-2 * np.log(np.maximum(np.abs(np.diag(R)), 1e-12)).sum())

    @staticmethod
    def hadamard(R: np.ndarray) -> float:
        """-sum log |w_k|^2."""
        return float(-np.log(np.maximum((R**2).sum(0), 1e-24)).sum())

    def violation(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
        """Relative excess over torque, TCP speed, floor and self-collision limits; 0 when all hold."""
        lim, total = self.limits, 0.0
        if self.body is not None and np.isfinite(lim.torque).any():
            tau = np.abs(self.body.rnea(q, qd, qdd)).max(0)
            total += float(np.maximum(tau / (USE * lim.torque) - 1, 0).sum())
        if np.isfinite(lim.tcp_speed):
            total += max(self.tcp_speed(q, qd) / (USE * lim.tcp_speed) - 1, 0.0)
        if np.isfinite(lim.floor) or lim.clearance > 0:
            total += self._space(q)
        return float(total)

    def tcp_speed(self, q: np.ndarray, qd: np.ndarray) -> float:
        """Largest speed of the TCP [m/s]."""
        J = self.rigid.model.jacobian(np.ascontiguousarray(q))
        return float(np.linalg.norm(np.einsum("kij,kj->ki", J[:, :3], qd), axis=1).max())

    def _space(self, q: np.ndarray) -> float:
        points = self.rigid.model.fk(q)[:, :, :3, 3]
        low = max(self.limits.floor - float(points[:, 1:, 2].min()), 0.0) if np.isfinite(self.limits.floor) else 0.0
        return 5 * low + (5 * self._collision(points) if self.limits.clearance > 0 else 0.0)

    def _collision(self, points: np.ndarray) -> float:
        """How far joints come closer than `clearance` to links two or more before them; links that are shorter
        keep half.
        """
        worst, base = 0.0, np.zeros((len(points), 1, 3))
        chain = np.concatenate([base, points], axis=1)
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(chain[0], axis=0), axis=1))])
        for i in range(chain.shape[1] - 3):
            a, d = chain[:, i], chain[:, i + 1] - chain[:, i]
            size = np.maximum((d**2).sum(1), 1e-9)
            for k in range(i + 3, chain.shape[1]):
                p = chain[:, k] - a
                s = np.clip((p * d).sum(1) / size, 0, 1)
                gap = np.linalg.norm(p - s[:, None] * d, axis=1).min()
                wanted = min(self.limits.clearance, 0.5 * (length[k] - length[i + 1]))
                worst = max(worst, wanted - float(gap))
        return worst


def _loaded(robot: Any) -> RobotModel | None:
    try:
        return RobotModel(robot.chain(), robot.joint_names)
    except CapabilityError:
        return None


class FourierSearch:
    """Search over Fourier motions: coefficients and centre per joint, scaled into position, speed and
    acceleration limits.
    """

    def __init__(self, criteria: Criteria, harmonics: int, base: float, duration: float) -> None:
        self.criteria, self.n = criteria, criteria.rigid.n
        self.harmonics, self.base, self.duration = harmonics, base, duration
        self.basis = FourierBasis.build(harmonics, base, np.linspace(0, duration, SAMPLES, endpoint=False))

    def motion(self, x: np.ndarray, basis: FourierBasis | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, qd, qdd (N, n) of free numbers x; limits hold whatever x is."""
        basis, lim = basis or self.basis, self.criteria.limits
        x = x.reshape(self.n, -1)
        z, share = x[:, :-1].T, 0.5 * (1 + np.tanh(x[:, -1]))
        q, qd, qdd = self.basis.q @ z, self.basis.qd @ z, self.basis.qdd @ z
        low, high = q.min(0), q.max(0)
        room = lim.upper - lim.lower
        scale = np.minimum.reduce(
            [
                USE * room / np.maximum(high - low, 1e-9),
                USE * lim.velocity / np.maximum(np.abs(qd).max(0), 1e-9),
                USE * lim.acceleration / np.maximum(np.abs(qdd).max(0), 1e-9),
            ]
        )
        scale = scale * np.minimum(np.linalg.norm(x[:, :-1], axis=1), 1.0)
        slack = room - scale * (high - low)
        centre = lim.lower - scale * low + slack * (0.05 + 0.9 * share)
        return centre + scale * (basis.q @ z), scale * (basis.qd @ z), scale * (basis.qdd @ z)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Random free numbers; every second time with amplitudes below what the limits of position and speed allow."""
        x = rng.normal(size=(self.n, self.basis.size + 1))
        if rng.uniform() < 0.5:
            x[:, :-1] *= rng.uniform(0.2, 1.0, (self.n, 1)) / np.linalg.norm(x[:, :-1], axis=1, keepdims=True)
        return x.ravel()

    def cost(self, x: np.ndarray, name: str, bound: float = np.inf) -> float:
        """A criterion plus penalties; `bound` is the logdet that must not be exceeded."""
        motion = self.motion(x)
        R = self.criteria.triangle(*motion)
        value = {
            "condition": lambda: np.log(self.criteria.condition(R)),
            "logdet": lambda: self.criteria.logdet(R) / len(R),
            "hadamard": lambda: self.criteria.hadamard(R) / len(R),
        }[name]()
        if np.isfinite(bound):
            value += max(self.criteria.logdet(R) - bound, 0.0) / len(R)
        return float(value + PENALTY * self.criteria.violation(*motion))

    def improve(self, x: np.ndarray, name: str, iterations: int, bound: float = np.inf) -> np.ndarray:
        """Quasi-Newton steps on a criterion."""
        options = {"maxiter": iterations, "maxfun": 10**9}
        return minimize(self.cost, x, (name, bound), method="L-BFGS-B", options=options).x


@one_thread()
def design_fourier(
    robot: Any,
    limits: Limits | None = None,
    harmonics: int = 5,
    base: float = 0.1 * np.pi,
    duration: float = 20.0,
    rate: float = 125.0,
    criterion: str = "hybrid",
    starts: int = 3,
    effort: int = 40,
    seed: int = 0,
    progress: Progress = lambda done, total, text: None,
) -> Excitation:
    """Best of `starts` Fourier motions [Liu2020: 5 harmonics, 0.1 pi rad/s, 20 s]; `effort` scales the iterations.

    Raises DataError for a choice that cannot be, or when no motion found keeps the limits.
    """
    if criterion not in CRITERIA:
        raise DataError(f"criterion = {criterion!r} is none of {', '.join(CRITERIA)}")
    if not 2 <= harmonics <= 20 or not 0 < base < 50 or not 1 <= duration <= 3600 or not 1 <= starts <= 1000:
        raise DataError("harmonics must be 2..20, base 0..50 rad/s, duration 1..3600 s, starts 1..1000")
    criteria = Criteria(robot, limits or Limits.of(robot))
    search = FourierSearch(criteria, harmonics, base, duration)
    rng = np.random.default_rng(seed)
    best: tuple[float, np.ndarray] | None = None
    for k in range(starts):
        x = min((search.start(rng) for _ in range(TRIES)), key=lambda y: search.cost(y, "hadamard"))
        x = _optimised(search, x, criterion, effort)
        score = search.cost(x, "logdet" if criterion == "logdet" else "condition")
        if best is None or score < best[0]:
            best = (score, x)
        progress(k + 1, starts, f"cond {criteria.condition(criteria.triangle(*search.motion(best[1]))):.0f}")
    if best is None or criteria.violation(*search.motion(best[1])) > 0.02:
        raise DataError("no motion found keeps the limits: allow more starts, a lower floor or more clearance")
    fine = FourierBasis.build(harmonics, base, np.arange(0, duration, 1 / rate))
    return _result(criteria, fine.t, search.motion(best[1], fine))


def _optimised(search: FourierSearch, x: np.ndarray, criterion: str, effort: int) -> np.ndarray:
    if criterion != "hybrid":
        return search.improve(x, criterion, effort)
    x = search.improve(x, "hadamard", max(effort // 8, 2))
    bound = search.criteria.logdet(search.criteria.triangle(*search.motion(x)))
    return search.improve(x, "condition", effort // 2, bound)


@one_thread()
def design_points(
    robot: Any,
    limits: Limits | None = None,
    points: int = 6,
    rate: float = 125.0,
    tries: int = 400,
    seed: int = 0,
    progress: Progress = lambda done, total, text: None,
) -> Excitation:
    """Best of random point-to-point trapezoidal moves, as tests A and B of [Clochiatti2024 2.2].

    Raises DataError when none of the tries keeps the limits.
    """
    criteria = Criteria(robot, limits or Limits.of(robot))
    lim, rng = criteria.limits, np.random.default_rng(seed)
    best: tuple[float, tuple[np.ndarray, ...]] | None = None
    for k in range(tries):
        via = _random_points(rng, lim, points)
        t, *motion = _within_tcp_speed(criteria, via, rate)
        coarse = [np.ascontiguousarray(x[:: max(1, len(t) // SAMPLES)]) for x in motion]
        if criteria.violation(*coarse) == 0:
            score = criteria.condition(criteria.triangle(*coarse))
            if best is None or score < best[0]:
                best = (score, (t, *motion))
        progress(k + 1, tries, f"cond {best[0]:.0f}" if best else "")
    if best is None:
        raise DataError(f"none of {tries} random motions keeps the limits: allow more tries, or looser limits")
    return _result(criteria, best[1][0], best[1][1:])


def _random_points(rng: np.random.Generator, lim: Limits, points: int) -> np.ndarray:
    """Points (m + 1, n) of a closed tour in a random part of the joint space."""
    room = USE * (lim.upper - lim.lower)
    size = rng.uniform(0.1, 0.8) * room
    low = 0.5 * (lim.lower + lim.upper - room) + rng.uniform(size=len(room)) * (room - size)
    via = low + rng.uniform(size=(points, len(room))) * size
    return np.vstack([via, via[:1]])


def _within_tcp_speed(criteria: Criteria, via: np.ndarray, rate: float) -> tuple[np.ndarray, ...]:
    """Moves at full speed, slowed as a whole until the TCP keeps its limit."""
    lim, slower = criteria.limits, 1.0
    for _ in range(4):
        t, q, qd, qdd = trapezoids(via, USE * lim.velocity / slower, USE * lim.acceleration / slower**2, rate)
        ratio = criteria.tcp_speed(q, qd) / (USE * lim.tcp_speed)
        if ratio <= 1:
            break
        slower *= 1.02 * ratio
    return t, q, qd, qdd


def _result(criteria: Criteria, t: np.ndarray, motion: Any) -> Excitation:
    q, qd, qdd = motion
    R = criteria.triangle(q, qd, qdd)
    return Excitation(t, q, qd, qdd, criteria.condition(R), criteria.logdet(R), criteria.count)
