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
EXPLAINED = 0.5  # of the effort, and of what the named order leaves with any mount: what two exchanged joints may leave
SAMPLES = 200  # compared
V0 = 0.03  # rad/s, width of the friction step


def exchanged(robot: RobotFile, time: np.ndarray, q: np.ndarray, qd: np.ndarray | None, effort: np.ndarray) -> str:
    """A sentence naming two joints which, exchanged, make gravity explain the effort; "" where there are none.

    Compared is what g(q) leaves of the effort, less offset, friction step, viscous term and inertia of each column, and
    in the named order less gravity of any direction and size (another mount, payload, or sign).
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

    def free(rest: np.ndarray) -> np.ndarray:
        return np.concatenate([rest[:, j] - span @ (span.T @ rest[:, j]) for j, span in enumerate(spans)])

    def left(*pair: int) -> float:
        order = np.arange(n)
        order[list(pair)] = pair[::-1]
        return float(np.linalg.norm(free(torque - model.gravity(q[:, order])[:, order])))

    seen = free(torque)
    if left() < EXPLAINED * np.linalg.norm(seen) or n < 2:
        return ""
    mounts = np.column_stack([free(model.with_gravity(axis).gravity(q)) for axis in np.eye(3)])
    mounted = seen - mounts @ np.linalg.lstsq(mounts, seen, rcond=None)[0]
    best = min(combinations(range(n), 2), key=lambda pair: left(*pair))
    if left(*best) > EXPLAINED * np.linalg.norm(mounted):
        return ""
    names = " and ".join(robot.joint_names[j] for j in best)
    return f"gravity explains the effort only with {names} exchanged: names in another order than the numbers"
