"""A polishing-like task: circles of the tool in a plane, and in phases a wall under it that it presses on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.simulation.tool_path import cartesian, circling, within
from robot_dynamics_ros.trajectories.motions import JointMotion, times

CLEARANCE, STIFFNESS, FRICTION = 0.01, 2e4, 0.15  # m, N/m, of the surface


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


def polishing(
    robot: RobotFile,
    q: Any,
    phases: Sequence[tuple[float, float]] = ((4.0, 12.0),),
    duration: float = 16.0,
    force: float = 30.0,
    rate: float = 500.0,
    radius: float = 0.04,
    turn: float = 4.0,
) -> Polishing:
    """The tool, at joint position q (n,), circles about base z [m, s/turn]; in each phase (start, end) it presses.

    A position-controlled tool sinks by force/STIFFNESS below the surface, which lies CLEARANCE under it.
    """
    t = times(duration, rate)
    offsets = circling(t, rate, radius, turn)
    offsets[:, 2] = -(CLEARANCE + force / STIFFNESS) * within(t, phases, 1.0)
    tcp = _core.RigidBody(robot.chain()).fk(np.asarray(q, dtype=float))[-1]
    surface = tcp[:3, 3] - [0, 0, CLEARANCE]
    wall = {"point": surface, "normal": (0.0, 0.0, 1.0), "stiffness": STIFFNESS, "friction": FRICTION}
    asked = STIFFNESS * np.clip(-offsets[:, 2] - CLEARANCE, 0, None)
    return Polishing(cartesian(robot, q, offsets, rate), wall, asked)
