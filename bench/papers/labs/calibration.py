"""Excitation and validation runs of whole arms on the simulated robot, shared by the identification protocols."""

from __future__ import annotations

from functools import cache

import numpy as np

from bench.papers.labs import lab
from robot_dynamics_ros.identification.dataset.recording import Recording, recording
from robot_dynamics_ros.identification.excitation import Excitation, Limits, design_fourier
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.trajectories import motions

RATE = 250.0  # Hz of the recordings
TEMPERATURE = 40.0  # deg C
VELOCITY, ACCELERATION, PAUSE = 3.0, 6.0, 0.5  # rad/s, rad/s2, s between moves
SPREAD = np.array([1.5, 0.5, 0.7, 1.5, 1.5, 1.5])  # rad around the middle
MIDDLE = np.array([0.0, -1.3, 1.3, -1.5, -1.57, 0.0])
Deviation = dict[str, float] | None  # overrides of the simulated individual


@cache
def excitation(starts: int = 3) -> Excitation:
    """An excitation motion of the UR5e: 5 harmonics of 0.1 pi rad/s, 20 s."""
    robot = lab.ur5e()
    return design_fourier(robot, Limits.of(robot), duration=20.0, rate=500.0, starts=starts, slow=False)


def excitation_run(robot: RobotFile, overrides: Deviation = None) -> Recording:
    """The excitation motion on the simulated robot, twice."""
    e = excitation()
    q, qd, qdd = (np.tile(x, (2, 1)) for x in (e.q, e.qd, e.qdd))
    return run(robot, (q, qd, qdd), 0, "excitation", overrides)


def other_run(robot: RobotFile, seed: int, overrides: Deviation = None) -> Recording:
    """A motion that is not the excitation: another Fourier series around another place."""
    centre = lab.START + np.random.default_rng(100 + seed).uniform(-0.5, 0.5, 6)
    motion = motions.fourier(centre, 20.0, 500.0, base=0.12 * np.pi, amplitude=0.9, velocity=1.5, seed=seed)
    return run(robot, motion, seed, f"trajectory {seed + 1}", overrides)


def run(robot: RobotFile, motion: motions.JointMotion, seed: int, name: str, overrides: Deviation = None) -> Recording:
    """A motion on the simulated robot as a recording."""
    machine = lab.warm_robot(robot, seed, TEMPERATURE, overrides)
    return recording(rehearse(machine, motion, keep=int(500 / RATE)), name)


def trapezoid_test(robot: RobotFile, seed: int) -> Log:
    """Log of test A (seed 0) or B (1) [Clochiatti2024, 2.2] at joints of 40 deg C: trapezoids through six points."""
    draw = np.random.default_rng(seed)
    points = MIDDLE + draw.uniform(-1, 1, (7, 6)) * SPREAD
    pairs = zip(points[:-1], points[1:], strict=True)
    moves = [motions.trapezoid(p, q, 500.0, VELOCITY, ACCELERATION) for p, q in pairs]
    motion = motions.join(*(part for move in moves for part in (move, motions.hold(move[0][-1], PAUSE))))
    return rehearse(lab.warm_robot(robot, seed, TEMPERATURE), motion)
