"""Friction of a robot file as a function of velocity alone, for formats that hold no law of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import presliding_core
from robot_dynamics_ros.robot_file import RobotFile

POSES = 200  # random poses in which the load of the gears is averaged
SLOWEST, FASTEST, POINTS = 0.005, 3.0, 60  # rad/s; FASTEST where the robot file has no velocity limit
KNOTS = (0.03, 0.1, 0.3, 1.0)  # rad/s, bends of the piecewise law
NEGLIGIBLE = 1e-9  # Nm, Nm s/rad
CATALOGUE = 0.015  # 1/K by which viscous friction of greased gears falls


def share_text(what: str, share: float, std: float) -> str:
    """By how much something differs."""
    return f"{what} is {100 * abs(share):.0f} +- {100 * std:.0f} % {'lower' if share < 0 else 'higher'}"


def viscosity_text(share: float, std: float) -> str:
    """By how much viscous friction differs, and the temperature that it means."""
    warmer = -np.log(max(1 + share, 0.01)) / CATALOGUE
    return f"{share_text('viscous friction', share, std)} ({warmer:+.0f} K at the usual {100 * CATALOGUE:.1f} %/K)"


@dataclass(frozen=True)
class SlidingFriction:
    """Friction of n joints at velocities (K, n) [rad/s] > 0: half of f(v) - f(-v), `torque` (K, n), and the rest,
    `offset` (n,), half of f + f averaged over v [Nm].
    """

    velocity: np.ndarray
    torque: np.ndarray
    offset: np.ndarray

    def coulomb_viscous(self) -> np.ndarray:
        """(n, 2): the Coulomb level [Nm] and viscosity [Nm s/rad], both >= 0, closest to the law."""
        n = self.torque.shape[1]
        return np.array([_line(self.velocity[:, i], self.torque[:, i]) for i in range(n)])

    def pieces(self, joint: int) -> Pieces:
        """The closest law of a joint with a bend at each of KNOTS; its level at v -> 0 and its last slope are >= 0."""
        # imported here: it would take half of the start-up of commands that do not fit
        from scipy.optimize import lsq_linear

        v, f = self.velocity[:, joint], self.torque[:, joint]
        knots = [k for k in KNOTS if v[0] < k < v[-1]]
        columns = np.column_stack([np.ones_like(v), v, *(np.minimum(v, k) for k in knots)])
        scale = np.linalg.norm(columns, axis=0)
        lower = np.array([0.0, 0.0] + [-np.inf] * len(knots))
        dry, viscous, *bends = lsq_linear(columns / scale, f, (lower, np.inf), tol=1e-14).x / scale
        return Pieces(float(dry), float(viscous), list(zip(knots, map(float, bends), strict=True)))


@dataclass(frozen=True)
class Pieces:
    """f(v) = dry sgn v + viscous v + sum_k c_k clip(v, -v_k, v_k) [Nm]; `bends`: (v_k [rad/s], c_k [Nm s/rad])."""

    dry: float
    viscous: float
    bends: list[tuple[float, float]]

    def torque(self, v: np.ndarray) -> np.ndarray:
        """Friction [Nm] at velocities [rad/s]."""
        bent = sum((c * np.clip(v, -at, at) for at, c in self.bends), np.zeros_like(v))
        return self.dry * np.sign(v) + self.viscous * v + bent


def typical_load(robot: RobotFile) -> np.ndarray:
    """Mean of |gravity torque| (n,) [Nm] over random poses within the robot's pose_range: the load of the gears."""
    q = robot.random_poses(POSES)
    body = _core.RigidBody(robot.chain())
    return np.abs(body.rnea(q, np.zeros_like(q), np.zeros_like(q))).mean(axis=0)


def sliding_friction(robot: RobotFile, loaded: bool = True) -> SlidingFriction:
    """The law of a robot file while sliding, at its reference temperature.

    loaded: under typical_load, else without load.

    Raises CapabilityError without friction and for unknown links, ConfigError for values out of range.
    """
    friction, n = FrictionModel.from_robot(robot), robot.n_joints
    fastest = np.maximum(robot.array_or("limits.velocity", FASTEST), 40 * SLOWEST)
    v = np.geomspace(_slowest(robot), fastest, POINTS)
    load = np.tile(typical_load(robot) if loaded else np.zeros(n), (POINTS, 1))
    forward, back = (_steady(robot, friction, sign * v, load) for sign in (1.0, -1.0))
    for motor in () if robot.hysteresis is None else robot.hysteresis.motors:
        law = {name: [value] for name, value in motor.values.items()}
        for j in map(robot.joint_names.index, (motor.joint, motor.turns_with)):  # while the other one stands
            forward[:, [j]] += _slid(law, FrictionModel.none(1), v[:, [j]], load[:, [j]])
            back[:, [j]] += _slid(law, FrictionModel.none(1), -v[:, [j]], load[:, [j]])
    return SlidingFriction(v, 0.5 * (forward - back), (0.5 * (forward + back)).mean(axis=0).reshape(n))


def _slowest(robot: RobotFile) -> np.ndarray:
    """Velocity (n,) [rad/s] from which the law is one of sliding: beyond the step at standstill."""
    step = np.zeros(robot.n_joints)
    for name in ("eps", "v_th"):
        if robot.friction is not None and name in robot.friction.parameters:
            step = np.maximum(step, robot.array(f"friction.parameters.{name}"))
    return np.clip(3.0 * step, SLOWEST, 20 * SLOWEST)


def _steady(robot: RobotFile, friction: FrictionModel, v: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Friction (K, n) once everything slides."""
    if robot.presliding is None:
        return friction.torque(v, load)
    return _slid(robot.presliding.parameters, friction, v, load)


def _slid(block: Mapping[str, Any], friction: FrictionModel, v: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Friction (K, n) of a presliding law after a long way; the positions below are the rotors'."""
    model, out = presliding_core({**block, "rotor_time": 0.0}, friction), np.empty_like(v)
    for row, tau, torque in zip(v, load, out, strict=True):
        model.reset()
        for k, theta in enumerate((np.zeros_like(row), 100.0 * np.sign(row))):
            model.step(k * 1_000_000, theta, np.ascontiguousarray(row), tau, None, torque)
    return out


def _line(v: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Least squares of c + d v with c, d >= 0."""
    (c, d), *_ = np.linalg.lstsq(np.column_stack([np.ones_like(v), v]), f, rcond=None)
    if d < 0:
        c, d = f.mean(), 0.0
    elif c < 0:
        c, d = 0.0, max(float(v @ f / (v @ v)), 0.0)
    return np.array([max(float(c), 0.0), float(d)])
