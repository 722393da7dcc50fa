"""Whether the efforts and positions of two joints stand under each other's names."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.robot_model import RobotModel

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

SECONDS = 5.0  # of a recording that shows it
EXPLAINED = 0.5  # of the effort, and of what is left by the names: what may be left with two joints exchanged
SAMPLES = 200  # compared
V0 = 0.03  # rad/s, width of the friction step


def exchanged(robot: RobotFile, time: np.ndarray, q: np.ndarray, qd: np.ndarray | None, effort: np.ndarray) -> str:
    """A sentence naming two joints which, exchanged, make gravity explain the effort; "" where there are none.

    Compared is what g(q) leaves of the effort, less offset, friction step, viscous term and inertia of each column.
    time (N,) [s]; q, qd, effort (N, n) [rad, rad/s, effort of the robot file].
    """
    meaning = declared(robot)
    try:
        constant = robot.array("drives.torque_constant") if meaning.unit == "A" else None
        model = RobotModel(robot.chain(), robot.joint_names)
    except CapabilityError:
        return ""
    if len(time) < 2 or time[-1] - time[0] < SECONDS or not meaning.includes_gravity:
        return ""
    speed = np.gradient(q, time, axis=0) if qd is None else qd
    some = np.arange(1, len(q) - 1, -(-len(q) // SAMPLES))
    a = (speed[some + 1] - speed[some - 1]) / (time[some + 1] - time[some - 1])[:, None]
    q, v = q[some], speed[some]
    torque, n = meaning.sign * effort[some] / meaning.gain(constant), robot.n_joints
    spans = [np.linalg.qr(np.c_[np.ones(len(q)), np.tanh(v[:, j] / V0), v[:, j], a[:, j]])[0] for j in range(n)]

    def rms(rest: np.ndarray) -> float:
        free = [rest[:, j] - span @ (span.T @ rest[:, j]) for j, span in enumerate(spans)]
        return float(np.sqrt(np.mean(np.square(free))))

    def left(*pair: int) -> float:
        order = np.arange(n)
        order[list(pair)] = pair[::-1]
        return rms(torque - model.gravity(np.ascontiguousarray(q[:, order]))[:, order])

    named, size = left(), rms(torque)
    if named < EXPLAINED * size or n < 2:
        return ""
    best = min(combinations(range(n), 2), key=lambda pair: left(*pair))
    if left(*best) > EXPLAINED * min(named, size):
        return ""
    names = " and ".join(robot.joint_names[j] for j in best)
    return f"gravity explains the effort only with {names} exchanged: names in another order than the numbers"
