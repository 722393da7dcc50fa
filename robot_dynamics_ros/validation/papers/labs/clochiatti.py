"""Tests A and B [Clochiatti2024, 2.2]: trapezoidal moves through six random points, 3 rad/s and 6 rad/s2."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.validation.papers.labs import lab

VELOCITY, ACCELERATION, PAUSE = 3.0, 6.0, 0.5  # rad/s, rad/s2, s between moves
SPREAD = np.array([1.5, 0.5, 0.7, 1.5, 1.5, 1.5])  # rad around the middle
MIDDLE = np.array([0.0, -1.3, 1.3, -1.5, -1.57, 0.0])


def trapezoid_test(robot: RobotFile, seed: int) -> Log:
    """Log of test A (seed 0) or B (1) at joints of 40 deg C, as the simulated controller reports it."""
    draw = np.random.default_rng(seed)
    points = MIDDLE + draw.uniform(-1, 1, (7, 6)) * SPREAD
    pairs = zip(points[:-1], points[1:], strict=True)
    moves = [motions.trapezoid(p, q, 500.0, VELOCITY, ACCELERATION) for p, q in pairs]
    motion = motions.join(*(part for move in moves for part in (move, motions.hold(move[0][-1], PAUSE))))
    machine = lab.warm_robot(robot, seed, 40.0)
    machine.reset(motion[0][0])
    return machine.run(*motion)[0]
