"""A motion on the simulated arm before it runs on the real one: the recording that it gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.robot import Record, SimulatedRobot
from robot_dynamics_ros.trajectories.motions import Motion

MAX_CYCLES = 2_000_000


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


def through(times: np.ndarray, q: np.ndarray, rate: float) -> Motion:
    """Positions, velocities, accelerations (N, n) at `rate` [Hz] through points q (m, n) at times (m,): cubic, at rest
    at both ends.

    Raises DataError for times that do not increase, or a motion that is too long.
    """
    if not len(times) > 1 or not np.all(np.diff(times) > 0) or not np.isfinite(q).all():
        raise DataError("motion: needs two points or more, finite, with times that increase")
    count = int((times[-1] - times[0]) * rate)
    if not 1 <= count <= MAX_CYCLES:
        raise DataError(f"motion: {count} cycles at {rate:g} Hz are outside 1..{MAX_CYCLES}")
    spline = CubicSpline(times - times[0], q, bc_type="clamped")
    t = np.arange(1, count + 1) / rate
    return spline(t), spline(t, 1), spline(t, 2)


def rehearse(robot: SimulatedRobot, motion: Motion, push: Push | None = None) -> Log:
    """The log of a motion, faster than real time; the robot stands at its first point before."""
    robot.reset(motion[0][0])
    t = np.arange(1, len(motion[0]) + 1) / robot.rate
    return robot.run(*motion, wrench=None if push is None else push.wrench(t))[0]


def cycles(robot: SimulatedRobot, motion: Motion, push: Push | None = None) -> Iterator[Record]:
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
