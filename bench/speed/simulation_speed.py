"""How fast the simulated robot runs: seconds of robot time per second of one core, for the benchmark table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

START = (0.0, -1.2, 1.5, -1.9, -1.57, 0.4, 0.3)  # rad, an arm away from its limits


def real_time_factor(
    robot: str = "ur5e", seconds: float = 4.0, rounds: int = 5, overrides: Mapping[str, Any] | None = None
) -> float:
    """Robot time over processor time of the best of `rounds` runs of `seconds` of robot time each."""
    machine, motion = machine_in_motion(robot, seconds, overrides)
    best = float("inf")
    for _ in range(rounds):
        machine.reset(motion[0][0])
        begin = time.process_time()
        machine.run(*motion)
        best = min(best, time.process_time() - begin)
    return seconds / best


def machine_in_motion(
    robot: str, seconds: float, overrides: Mapping[str, Any] | None = None
) -> tuple[SimulatedRobot, motions.JointMotion]:
    """A simulated robot and q, qd, qdd (N, n) of a motion of that length."""
    machine = SimulatedRobot(robot, overrides=overrides)
    motion = motions.fourier(
        np.clip(START[: machine.n_joints], *_bounds(machine)),
        seconds,
        machine.rate,
        base=6.283 / seconds,
        amplitude=0.3,
    )
    return machine, motion


def _bounds(machine: SimulatedRobot) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = (machine.robot.array(f"limits.position_{side}") for side in ("lower", "upper"))
    return lower + 0.4, upper - 0.4


def table() -> dict[str, float]:
    """Real-time factors of the full and the fast integration."""
    return {
        "ur5e 8 kHz": real_time_factor(),
        "ur5e fast": real_time_factor(overrides=FAST),
        "fr3 8 kHz": real_time_factor("fr3"),
    }
