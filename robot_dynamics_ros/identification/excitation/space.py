"""Limits of torque and space along a motion: each a number that is at most zero where the limit holds, and its slopes.

The number bounds the largest excess over all samples from above (soft_max). Slopes are found only when asked for: most
limits hold most of the time. Those of points p_i of the links by the joints, dp_i/dq_j = z_j x (p_i - o_j) for j <= i
[Madsen2020 2.1], are summed from tip to base, so that the slopes of any function of the points cost one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.excitation.criteria import soft_max
from robot_dynamics_ros.identification.excitation.limits import USE, Box, Limits
from robot_dynamics_ros.models import RobotModel

RELATIVE = 100.0  # sharpness of relative excess, of torque and speed
LENGTH = 300.0  # of excess in metres
PER_METRE = 5.0  # excess of a limit in space: 1 cm weighs as 5 % of a torque
CONFIGURATIONS = 500  # sampled for the largest distance of two parts of an arm
CLEARANCE = 0.1  # m, where none is given
REACH = 1.2  # largest distance of a pair over the clearance that can be asked of it
SHORT = 0.5  # of the arm's longest link: links below it hold their ends closer together than a clearance
FAR = 1e3  # m, in place of the open side of a box
TURNS = 1e3  # rad, in place of no limit
SPEED_STEP = 1e-6  # rad/s, of the slope of friction
OPEN = Box((-np.inf,) * 3, (np.inf,) * 3)

Slopes = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass
class Excess:
    """Of one limit: smooth bound of the largest excess, its slopes by the motion, all excesses (.., N, ..)."""

    bound: float
    slopes: Callable[[], Slopes]
    parts: np.ndarray
    axis: int = 0  # of the samples in parts

    @property
    def largest(self) -> float:
        """Largest excess."""
        return float(self.parts.max())

    def by_sample(self) -> np.ndarray:
        """Largest excess (N,) of every sample."""
        return np.moveaxis(self.parts, self.axis, 0).reshape(self.parts.shape[self.axis], -1).max(axis=1)


def _to_tip(a: np.ndarray) -> np.ndarray:
    """Sums (N, n, 3) over a joint and all after it."""
    return np.cumsum(a[:, ::-1], axis=1)[:, ::-1]


@dataclass
class Pose:
    """Origins of base, joints and TCP (N, n + 2, 3) [m], axes (N, n, 3) and TCP velocities per joint (N, n, 3)."""

    points: np.ndarray
    axes: np.ndarray
    columns: np.ndarray

    @classmethod
    def of(cls, model: RobotModel, q: np.ndarray) -> Pose:
        """Where the arm is along q (N, n)."""
        J, frames = model.jacobian(q).transpose(0, 2, 1), model.fk(q)
        points = np.concatenate([np.zeros((len(q), 1, 3)), frames[:, :, :3, 3]], axis=1)
        return cls(points, J[:, :, 3:], J[:, :, :3])

    def slopes(self, weights: np.ndarray) -> Slopes:
        """Slopes of sum(weights * points), weights as the points."""
        own, p, w = self.points[:, 1:-1], self.points[:, 1:], weights[:, 1:]
        force, moment = _to_tip(w)[:, :-1], _to_tip(np.cross(p, w))[:, :-1]
        q_ = (self.axes * (moment - np.cross(own, force))).sum(axis=-1)
        return q_, np.zeros_like(q_), np.zeros_like(q_)


@dataclass(frozen=True)
class Load:
    """Torque of a motion [Nm]: rigid bodies, rotors (n,) [kg m2] and, where it is known, friction (N, n) of qd."""

    model: RobotModel
    rotor: np.ndarray
    friction: Callable[[np.ndarray], np.ndarray]

    def torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """(N, n) [Nm]."""
        return self.model.rnea(q, qd, qdd) + self.rotor * qdd + self.friction(qd)

    def slopes(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, weights: np.ndarray) -> Slopes:
        """Slopes of sum(weights * torque)."""
        q_, qd_, qdd_ = self.model.torque_gradient(q, qd, qdd, weights)
        change = (self.friction(qd + SPEED_STEP) - self.friction(qd - SPEED_STEP)) / (2 * SPEED_STEP)
        return q_, qd_ + weights * change, qdd_ + weights * self.rotor


def torque(load: Load, limits: Limits, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Excess:
    """Largest |tau_j| / (USE limit_j) - 1 of a motion q [rad], qd [rad/s], qdd [rad/s2], each (N, n)."""
    allowed = USE * limits.torque
    relative = load.torque(q, qd, qdd) / allowed
    excess = np.stack([relative, -relative]) - 1
    value, share = soft_max(excess, RELATIVE)

    def slopes() -> Slopes:
        return load.slopes(q, qd, qdd, (share[0] - share[1]) / allowed)

    return Excess(value, slopes, excess, axis=1)


def joint_limits(limits: Limits, motion: Sequence[np.ndarray]) -> dict[str, Excess]:
    """Largest |x - middle| / (USE half range) - 1 of every joint; motion: position, velocity, acceleration (N, n)."""
    found = {}
    ends = {"position": (limits.lower, limits.upper)}
    ends |= {name: (-getattr(limits, name), getattr(limits, name)) for name in ("velocity", "acceleration")}
    for k, (name, (low, high)) in enumerate(ends.items()):
        allowed = USE * (high - low) / 2
        relative = (motion[k] - (high + low) / 2) / allowed
        for j, column in enumerate(relative.T):
            excess = np.stack([column, -column]) - 1
            value, share = soft_max(excess, RELATIVE)

            def slopes(k: int = k, j: int = j, share: np.ndarray = (share[0] - share[1]) / allowed[j]) -> Slopes:
                found = np.zeros((3, *motion[0].shape))
                found[k, :, j] = share
                return found[0], found[1], found[2]

            found[f"{name} {j}"] = Excess(value, slopes, excess, axis=1)
    return found


def tcp_speed(pose: Pose, limits: Limits, qd: np.ndarray) -> Excess:
    """Largest |v| / (USE limit) - 1 of the TCP, v = sum_j J_j qd_j with qd (N, n) [rad/s].

    dv/dq_k = z_k x sum_(j >= k) qd_j J_j + (sum_(j < k) qd_j z_j) x J_k
    """
    parts, allowed = pose.columns * qd[:, :, None], USE * limits.tcp_speed
    v = parts.sum(axis=1)
    speed = np.sqrt((v * v).sum(axis=1)) + 1e-12
    excess = speed / allowed - 1
    value, share = soft_max(excess, RELATIVE)

    def slopes() -> Slopes:
        w = (share / allowed / speed)[:, None] * v
        turning = pose.axes * qd[:, :, None]
        before = np.cumsum(turning, axis=1) - turning
        change = np.cross(pose.axes, _to_tip(parts)) + np.cross(before, pose.columns)
        q_, qd_ = ((c * w[:, None]).sum(axis=-1) for c in (change, pose.columns))
        return q_, qd_, np.zeros_like(q_)

    return Excess(value, slopes, excess)


def room(pose: Pose, limits: Limits) -> Excess:
    """How far joints (from the second on) and TCP leave the allowed box or go below the floor."""
    box = limits.inside or OPEN
    low, high, p = np.array(box.low), np.array(box.high), pose.points[:, 2:]
    low[2] = max(low[2], limits.floor)
    excess = PER_METRE * np.stack([low - p, p - high])
    value, share = soft_max(excess, LENGTH / PER_METRE)

    def slopes() -> Slopes:
        weights = np.zeros_like(pose.points)
        weights[:, 2:] = PER_METRE * (share[1] - share[0])
        return pose.slopes(weights)

    return Excess(value, slopes, excess, axis=1)


def obstacles(pose: Pose, limits: Limits) -> Excess:
    """How deep links (from the second joint on) are in one of the boxes to stay out of."""
    a, b = pose.points[:, 1:-1], pose.points[:, 2:]
    depth, along, sides = zip(*(_deepest(a, b, box) for box in limits.outside), strict=True)
    excess = PER_METRE * np.stack(depth)  # (boxes, N, n)
    value, share = soft_max(excess, LENGTH / PER_METRE)

    def slopes() -> Slopes:
        weights = np.zeros_like(pose.points)
        for pull, s, by_side in zip(PER_METRE * share, along, sides, strict=True):
            offset = pull[..., None] * (by_side[..., :3] - by_side[..., 3:])
            weights[:, 1:-1] += (1 - s)[..., None] * offset
            weights[:, 2:] += s[..., None] * offset
        return pose.slopes(weights)

    return Excess(value, slopes, excess, axis=1)


def _deepest(a: np.ndarray, b: np.ndarray, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth (N, n) [m] in the box of the deepest point of links a b (N, n, 3), where on them, and slopes by its sides.

    The depth min_j (f_j + s d_j) is concave in s: its maximum is at an end, or where two of the six sides are as near
    and their shares of the slope p d_i + (1 - p) d_j = 0 cancel.
    """
    low, high = np.maximum(box.low, -FAR), np.minimum(box.high, FAR)
    f, d = np.concatenate([a - low, high - a], axis=-1), np.concatenate([b - a, a - b], axis=-1)
    i, j = np.triu_indices(6, 1)
    slope = d[..., j] - d[..., i]
    slope = np.where(slope == 0, np.inf, slope)
    inner = np.clip((f[..., i] - f[..., j]) / slope, 0, 1)
    s = np.concatenate([np.broadcast_to([0.0, 1.0], (*inner.shape[:-1], 2)), inner], axis=-1)
    depth = f[..., :1] + s * d[..., :1]
    for side in range(1, 6):  # far faster than a minimum along an axis of six
        np.minimum(depth, f[..., side, None] + s * d[..., side, None], out=depth)
    best = depth.argmax(axis=-1)[..., None]
    where, pair = np.take_along_axis(s, best, axis=-1), np.maximum(best - 2, 0)
    p = np.take_along_axis(d[..., j] / slope, pair, axis=-1)
    crossed = p * np.eye(6)[i][pair[..., 0]] + (1 - p) * np.eye(6)[j][pair[..., 0]]
    sides = np.where(best < 2, np.eye(6)[(f + where * d).argmin(axis=-1)], crossed)
    return depth.max(axis=-1), where[..., 0], sides


@dataclass(frozen=True)
class Gaps:
    """Distances to keep: points `point` (m,) from the links that start at `link` (m,), each `wanted` (m,) [m]."""

    link: np.ndarray
    point: np.ndarray
    wanted: np.ndarray

    @classmethod
    def of(cls, model: RobotModel, limits: Limits) -> Gaps:
        """Joints and TCP against the links before their own, at `clearance`.

        Not asked of pairs whose distance no motion changes. The two ends of one short link, as in a wrist, cannot be
        REACH times the clearance apart: they keep half of what they can. Raises DataError when other pairs cannot.
        """
        link, point, high, near = _pairs(model, limits)
        tight = high < REACH * limits.clearance
        if (tight & ~near).any():
            k = int(np.where(near, np.inf, high).argmin())
            names = ("the base", *model.joint_names, "the TCP")
            pair = f"{names[point[k]]} is at most {high[k]:.3f} m from the link {names[link[k]]} - {names[link[k] + 1]}"
            allowed = _largest(high, near)
            raise DataError(
                f"clearance = {limits.clearance:g} m cannot be kept: {pair}; ask for {allowed:.3f} m or less"
            )
        return cls(link, point, np.where(tight, 0.5 * high, limits.clearance))


def usual_clearance(model: RobotModel, limits: Limits) -> float:
    """Clearance [m] of an arm for which none is given: CLEARANCE, or the largest that can be asked of it (Gaps.of)."""
    _, _, high, near = _pairs(model, limits)
    return min(CLEARANCE, _largest(high, near))


def _largest(high: np.ndarray, near: np.ndarray) -> float:
    return float(np.floor(1e3 * np.where(near, np.inf, high).min(initial=np.inf) / REACH) / 1e3)


def _pairs(model: RobotModel, limits: Limits) -> tuple[np.ndarray, ...]:
    """Links, points, largest distance [m] of each pair whose distance changes, and whether one short link joins it."""
    last = model.n_joints + 2
    link, point = np.array([(i, k) for i in range(last - 2) for k in range(i + 2, last)]).T
    low, high = (np.clip(end, -TURNS, TURNS) for end in (limits.lower, limits.upper))  # a joint may turn without end
    q = np.random.default_rng(0).uniform(low, high, (CONFIGURATIONS, model.n_joints))
    points = Pose.of(model, q).points
    gap = _gaps(points, link, point)[0]
    length = np.linalg.norm(np.diff(points[0], axis=0), axis=-1)
    between = [length[i + 1 : k] for i, k in zip(link, point, strict=True)]
    near = np.array([(part > 1e-6).sum() <= 1 and part.max() < SHORT * length.max() for part in between])
    some = np.ptp(gap, axis=0) > 1e-6
    return link[some], point[some], gap.max(axis=0)[some], near[some]


def _gaps(points: np.ndarray, link: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances (N, m), offsets (N, m, 3) from the link, and its place on the link (N, m), 0..1."""
    a, d = points[:, link], points[:, link + 1] - points[:, link]
    reach = points[:, point] - a
    s = np.clip((reach * d).sum(-1) / np.maximum((d * d).sum(-1), 1e-9), 0, 1)
    offset = reach - s[..., None] * d
    return np.sqrt((offset * offset).sum(-1)) + 1e-12, offset, s


def collision(pose: Pose, gaps: Gaps) -> Excess:
    """How far joints and TCP come closer to links than they may."""
    gap, offset, s = _gaps(pose.points, gaps.link, gaps.point)
    excess = PER_METRE * (gaps.wanted - gap)
    value, share = soft_max(excess, LENGTH / PER_METRE)

    def slopes() -> Slopes:
        push = (-PER_METRE * share / gap)[..., None] * offset
        weights = np.zeros_like(pose.points)
        for m, (link, point) in enumerate(zip(gaps.link, gaps.point, strict=True)):
            weights[:, point] += push[:, m]
            weights[:, link] -= (1 - s[:, m, None]) * push[:, m]
            weights[:, link + 1] -= s[:, m, None] * push[:, m]
        return pose.slopes(weights)

    return Excess(value, slopes, excess)
