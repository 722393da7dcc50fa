"""The demo's first half: the robot file of the nodes, identified from a short recording of the simulated robot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.demo_robots import DemoRobot
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

WAYPOINTS = 16
MARGIN = 0.05  # rad to the position limits
RATE = 500.0  # Hz of the excitation
SEEDS = {"identification": 11, "validation": 12}


def excitation(robot: RobotFile, demo: DemoRobot, seed: int) -> motions.Motion:
    """Rest to rest between random points around a pose, inside the limits, every joint reversing."""
    random, pose = np.random.default_rng(seed), np.array(demo.pose)
    lower, upper = robot.array("limits.position_lower") + MARGIN, robot.array("limits.position_upper") - MARGIN
    around = [pose + random.uniform(-demo.reach, demo.reach, len(pose)) for _ in range(WAYPOINTS)]
    points = [np.clip(q, lower, upper) for q in around]
    return motions.path([pose, *points, pose], velocity=demo.velocity, acceleration=demo.acceleration)


def record(robot: RobotFile, demo: DemoRobot, seed: int, path: Path) -> None:
    """A bag of the simulated robot following an excitation."""
    motion = excitation(robot, demo, seed)
    simulated = SimulatedRobot(robot, seed=seed, rate=RATE)
    simulated.reset(motion[0][0])
    write_bag(simulated.run(*motion)[0], path, overwrite=True)


def identified_model(name: str, demo: DemoRobot, out: Path, progress: Any) -> Path:
    """Robot file identified from two simulated recordings in `out`, validated on the second."""
    robot = load_robot(name)
    bags = {role: out / f"{role}_bag" for role in SEEDS}
    for role, bag in bags.items():
        progress(f"recording for {role}")
        record(robot, demo, SEEDS[role], bag)
    found = identify(robot, [bags["identification"]], [bags["validation"]], progress=progress)
    return Path(write_outputs(found, out / "identified", list(bags.values()))["robot_file"])
