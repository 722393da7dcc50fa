"""A polishing-like task: circles of the tool in a plane with rests, and the joint motion whose tool follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import JointMotion, minimum_jerk, times

STOP = 0.6  # s in which the circle comes to rest, and begins again


@dataclass(frozen=True)
class Polishing:
    """Desired motion (q, qd, qdd), the wall to set, and the normal force [N] (N,) that the desired path asks for."""

    motion: JointMotion
    wall: dict[str, Any]
    force: np.ndarray

    def start(self, robot: SimulatedRobot) -> None:
        """Put the robot at the first point and the wall under it."""
        robot.reset(self.motion[0][0])
        robot.set_wall(**self.wall)


CLEARANCE, STIFFNESS, FRICTION = 0.01, 2e4, 0.15  # m, N/m, of the surface


def polishing(
    robot: RobotFile,
    q: Any,
    phases: Sequence[tuple[float, float]] = ((4.0, 12.0),),
    duration: float = 16.0,
    force: float = 30.0,
    rate: float = 500.0,
    radius: float = 0.04,
    turn: float = 4.0,
    rests: Sequence[tuple[float, float]] = (),
) -> Polishing:
    """The tool, at joint position q (n,), circles about base z [m, s/turn]; in each phase (start, end) it presses.

    In each of `rests` (start, end) [s] it stands on its circle. A position-controlled tool sinks by force/STIFFNESS
    below the surface, which lies CLEARANCE under it.
    """
    t = times(duration, rate)
    pressed = _pressed(t, phases)
    offsets = np.zeros((len(t), 3))
    angle = 2 * np.pi / turn * np.cumsum(1.0 - _pressed(t, rests, STOP)) / rate
    grow = minimum_jerk(np.clip(t / 2.0, 0, 1))
    offsets[:, 0], offsets[:, 1] = radius * grow * np.sin(angle), radius * grow * (1 - np.cos(angle))
    depth = force / STIFFNESS
    offsets[:, 2] = -(CLEARANCE + depth) * pressed
    tcp = _core.RigidBody(robot.chain()).fk(np.asarray(q, dtype=float))[-1]
    surface = tcp[:3, 3] - [0, 0, CLEARANCE]
    wall = {"point": surface, "normal": (0.0, 0.0, 1.0), "stiffness": STIFFNESS, "friction": FRICTION}
    asked = STIFFNESS * np.clip(-offsets[:, 2] - CLEARANCE, 0, None)
    return Polishing(cartesian(robot, q, offsets, rate), wall, asked)


def _pressed(t: np.ndarray, phases: Sequence[tuple[float, float]], ramp: float = 1.0) -> np.ndarray:
    level = np.zeros_like(t)
    for begin, end in phases:
        level = np.maximum(level, minimum_jerk(np.clip(np.minimum(t - begin, end - t) / ramp, 0, 1)))
    return level


def cartesian(robot: RobotFile, q: Any, offsets: np.ndarray, rate: float = 500.0) -> JointMotion:
    """Joint motion whose TCP follows p(q) + offsets (N, 3) [m] with constant orientation.

    Damped Gauss-Newton on all samples at once: q += J' (J J' + 1e-8 I)^-1 e. Raises ValueError where it cannot follow.
    """
    body = _core.RigidBody(robot.chain())
    q = np.asarray(q, dtype=float)
    start = body.fk(q)[-1]
    knots = np.linspace(0, len(offsets) - 1, max(2, len(offsets) // 25)).astype(int)
    sparse, here = [], q
    for k in knots:
        here = _solve(body, start, offsets[k : k + 1], here[None], 8)[0]
        sparse.append(here)
    guess = np.column_stack([np.interp(np.arange(len(offsets)), knots, column) for column in np.array(sparse).T])
    path = _solve(body, start, offsets, guess, 5)
    worst = np.abs(_error(body, start, offsets, path)).max()
    if not worst < 1e-6:
        raise ValueError(f"the path leaves the robot's reach or crosses a singularity (error {worst:.2g} m or rad)")
    qd = np.gradient(path, 1 / rate, axis=0)
    return path, qd, np.gradient(qd, 1 / rate, axis=0)


def _error(body: Any, start: np.ndarray, offsets: np.ndarray, q: np.ndarray) -> np.ndarray:
    T = body.fk(q)[:, -1]
    E = start[:3, :3] @ np.swapaxes(T[:, :3, :3], 1, 2)
    turn = 0.5 * np.column_stack([E[:, 2, 1] - E[:, 1, 2], E[:, 0, 2] - E[:, 2, 0], E[:, 1, 0] - E[:, 0, 1]])
    return np.hstack([start[:3, 3] + offsets - T[:, :3, 3], turn])


def _solve(body: Any, start: np.ndarray, offsets: np.ndarray, q: np.ndarray, iterations: int) -> np.ndarray:
    for _ in range(iterations):
        e = _error(body, start, offsets, q)
        J = body.jacobian(q)
        Jt = np.swapaxes(J, 1, 2)
        q = q + (Jt @ np.linalg.solve(J @ Jt + 1e-8 * np.eye(6), e[:, :, None]))[:, :, 0]
    return q
