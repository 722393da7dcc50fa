"""The demo's first half: a short recording of the simulated robot becomes the robot file that the graph believes."""

from __future__ import annotations

import os

# The matrices of an identification are small: one BLAS thread is faster than two. Read when numpy loads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.config import RobotFile, load_robot
from robot_dynamics_ros.identification.identify import identify
from robot_dynamics_ros.identification.outputs import write_outputs
from robot_dynamics_ros.simulation import motions
from robot_dynamics_ros.simulation.robot import SimulatedRobot

REACH = 0.9  # rad around the pose, each joint
WAYPOINTS = 16
SEEDS = {"identification": 11, "validation": 12}


def excitation(pose: np.ndarray, seed: int) -> motions.Motion:
    """Rest to rest between random points around a pose, every joint reversing."""
    random = np.random.default_rng(seed)
    points = [pose + random.uniform(-REACH, REACH, len(pose)) for _ in range(WAYPOINTS)]
    return motions.path([pose, *points, pose], velocity=1.0, acceleration=3.0)


def record(robot: RobotFile, pose: np.ndarray, seed: int, path: Path) -> None:
    """A bag of the simulated robot following an excitation."""
    motion = excitation(pose, seed)
    simulated = SimulatedRobot(robot, seed=seed)
    simulated.reset(motion[0][0])
    write_bag(simulated.run(*motion)[0], path)


def identified_model(name: str, pose: np.ndarray, out: Path, progress: Any) -> Path:
    """Robot file identified from two simulated recordings in `out`, validated on the second."""
    robot = load_robot(name)
    bags = {role: out / f"{role}_bag" for role in SEEDS}
    for role, bag in bags.items():
        progress(f"recording for {role}")
        record(robot, pose, SEEDS[role], bag)
    found = identify(robot, [bags["identification"]], [bags["validation"]], progress=progress)
    return Path(write_outputs(found, out / "identified", list(bags.values()))["robot_file"])
