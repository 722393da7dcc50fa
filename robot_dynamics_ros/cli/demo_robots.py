"""The demo of each robot: pose, excitation, motion, contact scenario, and its robot file, identified."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile, load_robot, save_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.plant.assumed import assumed_file
from robot_dynamics_ros.simulation.plant.interface import ELASTIC
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.simulation.server.arm import Arm
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.tool_path import cartesian, circling
from robot_dynamics_ros.trajectories import motions

RESTS, PERIOD = ((2.5, 4.5), (20.3, 24.0)), 24.0  # s, the tool stands; the scenario pushes it within the second


class DemoRobot(NamedTuple):
    """A pose with the tool down [rad]; excitation around it [rad, rad/s, rad/s2]; scenario; extra node parameters.

    radius, turn: of the circle it follows [m, s].
    """

    pose: tuple[float, ...]
    reach: float = 0.9
    velocity: float = 1.0
    acceleration: float = 3.0
    scenario: str = "polishing"
    parameters: dict[str, Any] = {}
    radius: float = 0.04
    turn: float = 4.0


_UR = DemoRobot(tuple(np.deg2rad([-90.0, -80.0, 110.0, -120.0, -90.0, 0.0]).tolist()))
_FRANKA = DemoRobot((0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4), reach=0.6)
_COMAU = DemoRobot(
    (0.0, 0.309, -2.275, 0.0, 0.557, 0.0), 0.45, 0.9, 2.2, "grinding", {"enable_commands": True}, 0.12, 2.0
)
ROBOTS = {"Universal Robots": _UR, "Franka Robotics": _FRANKA, "Comau": _COMAU}


def demo_robot(name: str) -> DemoRobot:
    """Entry of a robot by its manufacturer. Raises ConfigError where there is none."""
    robot = load_robot(name)
    if robot.manufacturer not in ROBOTS:
        raise ConfigError(robot.name, "manufacturer", f"no demo for {robot.manufacturer!r}")
    return ROBOTS[robot.manufacturer]


def working_pose(robot: RobotFile) -> np.ndarray:
    """Joint positions (n,) [rad] where a simulated robot starts: its demo's pose, else the middle of its limits."""
    demo = ROBOTS.get(robot.manufacturer)
    if demo is not None and len(demo.pose) == robot.n_joints:
        return np.array(demo.pose)
    middle = 0.5 * (robot.array("limits.position_lower") + robot.array("limits.position_upper"))
    return np.where(np.isfinite(middle), middle, 0.0)


def base_file(name: str, out: Path) -> str:
    """The shipped robot file, or, without masses, one with the simulated plant's assumed numbers in `out`."""
    if load_robot(name).links is not None:
        return name
    path = out / f"{load_robot(name).name}_assumed.yaml"
    save_robot(assumed_file(name), path, command="robot-dynamics demo", changed=["links", "drives", "limits"])
    return str(path)


def parameter_file(name: str, out: Path) -> str:
    """ROS parameter file for the composed node; time is the controller's, which stands still on a busy machine."""
    parameters, path = {"follow_host_clock": False} | demo_robot(name).parameters, out / "nodes.yaml"
    write_atomically(path, yaml.safe_dump({"composed_node": {"ros__parameters": parameters}}))
    return str(path)


def circles(robot: RobotFile, demo: DemoRobot, duration: float, rate: float) -> motions.JointMotion:
    """The motion of the demo: circles with rests, samples at `rate` [Hz]."""
    stands = [(begin + k * PERIOD, end + k * PERIOD) for k in range(int(duration / PERIOD) + 1) for begin, end in RESTS]
    path = circling(motions.times(duration, rate), rate, demo.radius, demo.turn, stands)
    return cartesian(robot, demo.pose, path, rate)


def touched(robot: RobotFile, demo: DemoRobot, duration: float, plant: str = ELASTIC) -> tuple[Log, np.ndarray]:
    """What a robot measures in the motion and contacts of the demo, without a controller's sockets, and the true wrench
    (N, 6). Contact presses on the tool where the motion has it.
    """
    arm, scenario = Arm(robot, demo.pose, plant=plant), Scenario(demo.scenario)
    rate = arm.simulated.rate
    motion = circles(robot, demo, duration, rate)
    wrench = np.zeros((len(motion[0]), 6))
    for k in range(len(wrench)):
        arm.record.q, arm.record.qd = motion[0][k], motion[1][k]
        scenario.apply(arm, k / rate)
        wrench[k] = arm.wrench
    arm.simulated.reset(motion[0][0])
    log, truth = arm.simulated.run(*motion, wrench=wrench)
    return log, truth["external_wrench"]


WAYPOINTS = 16
MARGIN = 0.05  # rad to the position limits
RATE = 500.0  # Hz of the excitation
SEEDS = {"identification": 11, "validation": 12}


def excitation(robot: RobotFile, demo: DemoRobot, seed: int) -> motions.JointMotion:
    """Rest to rest between random points around a pose, inside the limits, every joint reversing."""
    random, pose = np.random.default_rng(seed), np.array(demo.pose)
    lower, upper = robot.array("limits.position_lower") + MARGIN, robot.array("limits.position_upper") - MARGIN
    around = [pose + random.uniform(-demo.reach, demo.reach, len(pose)) for _ in range(WAYPOINTS)]
    points = [np.clip(q, lower, upper) for q in around]
    return motions.path([pose, *points, pose], velocity=demo.velocity, acceleration=demo.acceleration)


def record(robot: RobotFile, demo: DemoRobot, seed: int, path: Path, plant: str) -> None:
    """A bag of the simulated robot following an excitation."""
    simulated = SimulatedRobot(robot, seed=seed, rate=RATE, plant=plant)
    write_bag(rehearse(simulated, excitation(robot, demo, seed)), path, overwrite=True)


def identified_model(name: str, demo: DemoRobot, out: Path, progress: Any, plant: str = ELASTIC) -> Path:
    """Robot file identified from two simulated recordings in `out`, validated on the second."""
    robot = load_robot(name)
    bags = {role: out / f"{role}_bag" for role in SEEDS}
    for role, bag in bags.items():
        progress(f"recording for {role}")
        record(robot, demo, SEEDS[role], bag, plant)
    found = identify(robot, [bags["identification"]], [bags["validation"]], progress=progress)
    return Path(write_outputs(found, out / "identified", list(bags.values()))["robot_file"])
