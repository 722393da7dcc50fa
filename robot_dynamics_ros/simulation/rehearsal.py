"""A motion on the simulated arm before it runs on the real one: the recording that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.bags import concatenate
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.robot import Record, SimulatedRobot
from robot_dynamics_ros.trajectories.files import Points
from robot_dynamics_ros.trajectories.motions import JointMotion

CHUNK = 10.0  # s of simulated time between two looks at the keyboard


@dataclass(frozen=True)
class Push:
    """A force (3,) [N] of the environment on the TCP, base axes, from `start` for `duration` [s]."""

    force: tuple[float, float, float]
    start: float
    duration: float

    def wrench(self, t: np.ndarray) -> np.ndarray:
        """Wrench (N, 6) at times t (N,)."""
        on = (t >= self.start) & (t < self.start + self.duration)
        return on[:, None] * np.array([*self.force, 0.0, 0.0, 0.0])


def through(points: Points, rate: float) -> JointMotion:
    """Positions, velocities, accelerations (N, n) of points at `rate` [Hz], from the sample after the first point on.

    Raises DataError as Points.spline.
    """
    spline, count = points.spline(rate)
    t = np.minimum(np.arange(1, count + 1) / rate, spline.x[-1])
    return spline(t), spline(t, 1), spline(t, 2)


def rehearse(robot: SimulatedRobot, motion: JointMotion, push: Push | None = None, keep: int = 1) -> Log:
    """The log of every `keep`-th cycle of a motion at the robot's rate, faster than real time.

    The robot stands at its first point before. Ctrl-C ends it: the log holds what was run until then.
    """
    robot.reset(motion[0][0])
    step, total, parts = max(round(CHUNK * robot.rate) // keep, 1) * keep, len(motion[0]), []
    try:
        for begin in range(0, total - keep + 1, step):
            rows = slice(begin, min(begin + step, total))
            wrench = None if push is None else push.wrench((np.arange(total)[rows] + 1) / robot.rate)
            q, qd, qdd = (x[rows] for x in motion)
            parts.append(robot.run(q, qd, qdd, wrench, keep=keep)[0])
    except KeyboardInterrupt:
        if not parts:
            raise
    return concatenate(parts)


def cycles(robot: SimulatedRobot, motion: JointMotion, push: Push | None = None) -> Iterator[Record]:
    """The same motion over and over, one control cycle at a time, forward and backward so that it never jumps."""
    robot.reset(motion[0][0])
    t = np.arange(1, len(motion[0]) + 1) / robot.rate
    wrench = np.zeros((len(t), 6)) if push is None else push.wrench(t)
    q, qd, qdd = (np.ascontiguousarray(x) for x in motion)
    while True:
        for order, sign in ((np.arange(len(q)), 1.0), (np.arange(len(q))[::-1], -1.0)):
            for k in order:
                robot.set_wrench(wrench[k])
                yield robot.step_position(q[k], sign * qd[k], qdd[k])
