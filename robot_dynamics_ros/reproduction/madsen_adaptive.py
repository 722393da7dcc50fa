"""Adaptive friction feedforward in closed loop [Madsen2020, ch6 section 6]: six waypoints, friction wrong at the start.

First one pass identifies friction; then its Coulomb level is taken WRONG times as large as identified, adaptation rests
for one pass, and is then let go. Compared are whole passes of the same trajectory: before, and the last one that ends
within 50 s of learning.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros._core import TorqueMode
from robot_dynamics_ros.config import RobotFile, load_robot
from robot_dynamics_ros.config.store import config_directories
from robot_dynamics_ros.controllers.trajectory import Trajectory, load_waypoints, through
from robot_dynamics_ros.reproduction.closed_loop import RATE, ClosedLoop, Run, identified
from robot_dynamics_ros.reproduction.table import Row, at_least, beside

SOURCE = "Madsen2020 ch6"
LEARNING = 50.0  # s
WRONG = 1.5
CONTROL = {"bandwidth": 12.0, "adaptation_time": 2.0}


def six_waypoints(robot: RobotFile, velocity: float = 1.5, acceleration: float = 4.0) -> Trajectory:
    """The six waypoints of Table 1 as a closed, smooth path."""
    folder = next(d for d in config_directories() if (d / "trajectories").is_dir())
    points = load_waypoints(folder / "trajectories" / "madsen_ch6_waypoints.yaml", robot.joint_names)
    return through(np.vstack([points, points[:1]]), velocity=velocity, acceleration=acceleration)


def identify_here(robot: RobotFile, path: Trajectory, passes: float, payload: float = 0.0) -> Run:
    """One run with the friction of the robot file, for identification."""
    with ClosedLoop(robot, CONTROL | {"law": "fixed", "bandwidth": 20.0}, payload=payload) as loop:
        loop.move_to(path.q[0])
        loop.enable(TorqueMode.track, path)
        run = loop.run(passes * path.duration)
        loop.disable()
        return run


def run(quick: bool = False) -> list[Row]:
    """MSE of feedforward torque and of position, with adaptation against without, and how fast."""
    robot = load_robot("ur5e")
    path = six_waypoints(robot, *((2.0, 8.0) if quick else (1.5, 4.0)))
    wrong = identified(robot, identify_here(robot, path, 1.2), WRONG)
    period = len(path.q) - 1
    with ClosedLoop(wrong, CONTROL) as loop:
        loop.move_to(path.q[0])
        loop.loop.freeze(True)
        loop.loop.restore(np.ones(robot.n_joints), np.zeros(robot.n_joints))  # what the way here has taught
        loop.enable(TorqueMode.track, path)
        before = loop.run(path.duration + 2.0)
        loop.loop.freeze(False)
        after = loop.run(LEARNING)
        loop.disable()
    first, last = slice(len(before) - period, len(before)), slice(len(after) - period, len(after))
    old, new = before.torque_error(wrong)[first], after.torque_error(wrong)[last]
    e_old, e_new = before.position_error[first], after.position_error[last]
    scale = after.coulomb[-1] * WRONG
    settled = _settling(after.coulomb)
    return [
        at_least(SOURCE, "torque MSE lower with adaptation, within 50 s", 84.2, _lower(old, new)),
        at_least(SOURCE, "position MSE lower with adaptation, within 50 s", 20.0, _lower(e_old, e_new)),
        beside(SOURCE, "torque MSE before", None, float(np.mean(old**2)), "(Nm)2", f"Coulomb level {WRONG} times"),
        beside(SOURCE, "torque MSE after", None, float(np.mean(new**2)), "(Nm)2", "mean over the joints"),
        beside(SOURCE, "time until every Coulomb scale is within 5 %", None, settled, "s", "of its last value"),
        beside(SOURCE, "learned Coulomb level / identified", 1.0, float(np.mean(scale)), "", "mean over the joints"),
    ]


def _lower(old: np.ndarray, new: np.ndarray) -> float:
    """By how many per cent the mean square fell."""
    return 100.0 * (1.0 - float(np.mean(new**2)) / float(np.mean(old**2)))


def _settling(coulomb: np.ndarray) -> float:
    """Seconds after which every scale stays within 5 % of its last value."""
    outside = np.flatnonzero((np.abs(coulomb / coulomb[-1] - 1.0) > 0.05).any(axis=1))
    return float(outside[-1] + 1) / RATE if len(outside) else 0.0
