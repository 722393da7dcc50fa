"""Adaptive friction feedforward in closed loop [Madsen2020, ch6 6.6]: six waypoints, friction wrong at the start.

Friction is identified on a pass of its own: that is the nominal model. Then the Coulomb scale starts
wrong, at the source's 0.47, both scales stay fixed for two cycles of the trajectory, then adapt. Compared are the two
cycles before, and the two that end LEARNING seconds after. As in the source's Table 2 a figure is the mean over the
joints of each joint's own improvement.
"""

from __future__ import annotations

import numpy as np

from bench.papers.labs import lab
from bench.papers.labs.in_process import RATE, InProcessLoop, Run, closed
from bench.papers.labs.loop_friction import identified
from bench.papers.table import Row, at_least, beside
from robot_dynamics_ros._core import TorqueMode
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.store import config_directories
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.trajectories.files import load_waypoints
from robot_dynamics_ros.trajectories.smooth import Trajectory

SOURCE = "Madsen2020 ch6"
PAYLOAD = 5.0  # kg, the robot's limit; the source carried 7.5 kg
VELOCITY, ACCELERATION = np.pi, 2.0 * np.pi / 3.0  # rad/s, rad/s2 [ch6 6.6.1]
COULOMB = 0.47  # scale at the start [ch6 6.6.2]; the viscous scale, which the source does not have, starts at 1
LEARNING = 50.0  # s
CYCLES = 2
BEGIN = 2.0  # s until the start is forgotten
CONTROL = {"bandwidth": 12.0, "adaptation_time": 2.0}


def six_waypoints(robot: RobotFile, velocity: float = VELOCITY, acceleration: float = ACCELERATION) -> Trajectory:
    """The six waypoints of Table 1 as a closed path that rests at each of them."""
    folder = next(d for d in config_directories() if (d / "trajectories").is_dir())
    points = load_waypoints(folder / "trajectories" / "madsen_ch6_waypoints.yaml", robot.joint_names)
    pairs = zip(points, np.roll(points, -1, axis=0), strict=True)
    return closed(*motions.join(*(motions.quintic(a, b, RATE, velocity, acceleration) for a, b in pairs)))


def identify_here(robot: RobotFile, path: Trajectory, payload: float = 0.0) -> Run:
    """A run of 1.2 passes with the friction of the robot file, for identification."""
    loop = InProcessLoop(robot, CONTROL | {"law": "fixed", "bandwidth": 20.0}, payload)
    return loop.follow(path, 1.2 * path.duration)


def run(quick: bool = False) -> list[Row]:
    """MSE of feedforward torque and of position, with adaptation against without, and how fast."""
    robot = lab.with_payload(lab.ur5e(), PAYLOAD)
    path = six_waypoints(robot)
    nominal = identified(robot, identify_here(robot, path, PAYLOAD))
    before, after = _adapted(nominal, path, LEARNING)
    period = CYCLES * (len(path.q) - 1)
    first, last = slice(len(before) - period, len(before)), slice(len(after) - period, len(after))
    old, new = before.torque_error(nominal)[first], after.torque_error(nominal)[last]
    e_old, e_new = before.position_error[first], after.position_error[last]
    start = f"a1 = {COULOMB} at the start, {PAYLOAD:g} kg"
    joints = "each joint: " + " ".join(f"{x:.0f}" for x in _lower(old, new))
    places = "each joint: " + " ".join(f"{x:.0f}" for x in _lower(e_old, e_new))
    return [
        at_least(
            SOURCE, "torque MSE lower with adaptation, mean of the joints", 84.2, _lower(old, new).mean(), "%", joints
        ),
        at_least(
            SOURCE,
            "position MSE lower with adaptation, mean of the joints",
            20.0,
            _lower(e_old, e_new).mean(),
            "%",
            places,
        ),
        beside(SOURCE, "torque MSE without adaptation", 0.5276, _mse(old), "(Nm)2", start),
        beside(SOURCE, "torque MSE with adaptation", 0.0705, _mse(new), "(Nm)2", "another machine"),
        beside(SOURCE, "time until every a1 is within 5 %", 50.0, _settling(after.coulomb), "s", "of its last value"),
        beside(SOURCE, "learned a1, mean of the joints", 1.0, after.coulomb[-1].mean(), "", "1 is what was identified"),
    ]


def _adapted(robot: RobotFile, path: Trajectory, learning: float) -> tuple[Run, Run]:
    """Adaptation off for CYCLES passes, then on."""
    n = robot.n_joints
    loop = InProcessLoop(robot, CONTROL, PAYLOAD)
    loop.move_to(path.q[0])
    loop.loop.freeze(True)
    loop.loop.restore(np.full(n, COULOMB), np.ones(n))
    loop.enable(TorqueMode.track, path)
    before = loop.run(CYCLES * path.duration + BEGIN)
    loop.loop.freeze(False)
    return before, loop.run(learning)


def _mse(error: np.ndarray) -> float:
    return float(np.mean(error**2))


def _lower(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """By how many per cent each joint's mean square fell (n,)."""
    return 100.0 * (1.0 - np.mean(new**2, axis=0) / np.mean(old**2, axis=0))


def _settling(coulomb: np.ndarray) -> float:
    """Seconds after which every scale stays within 5 % of its last value."""
    outside = np.flatnonzero((np.abs(coulomb / coulomb[-1] - 1.0) > 0.05).any(axis=1))
    return float(outside[-1] + 1) / RATE if len(outside) else 0.0
