"""Criteria and limits of one robot's motions, with slopes by the free numbers of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.excitation import space
from robot_dynamics_ros.identification.excitation.criteria import CRITERIA
from robot_dynamics_ros.identification.excitation.limits import Limits
from robot_dynamics_ros.identification.excitation.motion import FourierMotion
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.trajectories.motions import JointMotion


class Criteria:
    """Criteria of motions of one robot, and by how much they break its limits.

    q [rad], qd [rad/s], qdd [rad/s2] of shape (N, n).
    """

    def __init__(self, robot: Any, limits: Limits) -> None:
        self.rigid, self.limits = RigidModel(robot), limits
        self.columns = self.rigid.base.independent.tolist()
        self.load = _load(robot)
        self.gaps = space.Gaps.of(self.rigid.model, limits)

    def condition(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
        """cond(W) of the base regressor on a motion; W itself is never formed."""
        qr = _core.FusedQR(self.rigid.model.chain, self.columns)
        qr.update(q, qd, qdd)
        return float(np.linalg.cond(qr.fold()[:-1, :-1]))

    def excess(self, motion: JointMotion) -> dict[str, space.Excess]:
        """Excess over each limit of torque and space, at most zero where it holds."""
        found: dict[str, space.Excess] = {}
        lim, (q, qd, qdd) = self.limits, (np.ascontiguousarray(x) for x in motion)
        if self.load is not None and np.isfinite(lim.torque).any():
            found["torque"] = space.torque(self.load, lim, q, qd, qdd)
        pose = space.Pose.of(self.rigid.model, q)
        if np.isfinite(lim.tcp_speed):
            found["tcp_speed"] = space.tcp_speed(pose, lim, qd)
        if lim.clearance > 0 and len(self.gaps.point):
            found["collision"] = space.collision(pose, self.gaps)
        if lim.inside is not None or np.isfinite(lim.floor):
            found["room"] = space.room(pose, lim)
        if lim.outside:
            found["obstacles"] = space.obstacles(pose, lim)
        return found

    def violation(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
        """Sum of what exceeds torque, TCP speed, space and self-collision limits; 0 when all hold."""
        return float(sum(max(limit.largest, 0.0) for limit in self.excess((q, qd, qdd)).values()))


def _load(robot: Any) -> space.Load | None:
    try:
        model = RobotModel(robot.chain(), robot.joint_names)
    except CapabilityError:
        return None
    rotor = robot.array_or("drives.rotor_inertia", 0.0)
    friction = None if robot.friction is None else FrictionModel.from_robot(robot)
    return space.Load(model, rotor, np.zeros_like if friction is None else friction.torque)


@dataclass
class Point:
    """What is known at one x: each is found when it is first asked for."""

    x: np.ndarray
    motion: JointMotion
    G: np.ndarray | None = None
    excess: dict[str, space.Excess] | None = None
    criteria: dict[str, tuple[float, np.ndarray]] = field(default_factory=dict)


class ExcitationProblem:
    """Criteria and limits as functions of the free numbers x (m,) of a Fourier motion: values with slopes (m,)."""

    def __init__(self, criteria: Criteria, motion: FourierMotion) -> None:
        self.criteria, self.motion = criteria, motion
        self.samples = len(motion.t)
        self._point: Point | None = None
        self._W: np.ndarray | None = None  # of the newest point

    def values(self, x: np.ndarray, *names: str) -> list[float]:
        """Criteria by name (criteria.py)."""
        p = self._at(x)
        return [self._criterion(p, name)[0] for name in names]

    def excess(self, x: np.ndarray) -> dict[str, float]:
        """Smooth upper bound of the excess over every limit."""
        return {name: limit.bound for name, limit in self._limits(self._at(x)).items()}

    def slopes(self, x: np.ndarray, criteria: Mapping[str, float], limits: Mapping[str, float]) -> np.ndarray:
        """Slopes by x of a sum of criteria and of excesses with the given factors, in one pass for all of them."""
        p = self._at(x)
        S = np.asarray(sum(factor * self._criterion(p, name)[1] for name, factor in criteria.items()))
        by_motion = [np.zeros_like(part) for part in p.motion]
        if self._W is not None and criteria:
            weights = np.asfortranarray(self._W @ ((2 / self.samples) * S))
            model, columns = self.criteria.rigid.model, self.criteria.columns
            by_motion = list(model.regressor_gradient(*p.motion, weights, columns))
        for name, factor in limits.items():
            if factor != 0:
                for total, part in zip(by_motion, self._limits(p)[name].slopes(), strict=True):
                    total += factor * part
        return self.motion.slopes(*by_motion)

    def _at(self, x: np.ndarray) -> Point:
        if self._point is None or not np.array_equal(self._point.x, x):
            self._point = Point(x.copy(), self.motion.at(x))
        return self._point

    def _limits(self, p: Point) -> dict[str, space.Excess]:
        if p.excess is None:
            p.excess = self.criteria.excess(p.motion) | space.joint_limits(self.criteria.limits, p.motion)
        return p.excess

    def _criterion(self, p: Point, name: str) -> tuple[float, np.ndarray]:
        if p.G is None:
            model, columns = self.criteria.rigid.model, self.criteria.columns
            kept = self._W is not None
            W = self._W = model.stacked_regressor(*p.motion, columns=columns, out=self._W, keep_zeros=kept)
            p.G = W.T @ W / self.samples
        if name not in p.criteria:
            p.criteria[name] = CRITERIA[name](p.G)
        return p.criteria[name]
