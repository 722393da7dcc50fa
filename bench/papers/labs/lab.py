"""The laboratory of the reproductions: a simulated robot, motions, and what its sensors say; never what is true.

Identification here runs on recordings of the simulated robot only, through the stages and fits that run live.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.dataset.segments import JointRecord, joint_records
from robot_dynamics_ros.identification.excitation.plan import Plan, checked
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

START = np.array([0.0, -1.2, 1.5, -1.9, -1.57, 0.4])  # rad, elbow up in front of the robot
WARM = 35.0  # deg C, joint temperature of the velocity and load experiments [Madsen2020, ch4 Fig. 5-6]
ROTOR = {"outputs.rotor_encoder": True}


@cache
def ur5e() -> RobotFile:
    """The robot of the Madsen and Clochiatti papers, as its file describes it."""
    return load_robot("ur5e")


def with_payload(robot: RobotFile, mass: float, height: float = 0.05) -> RobotFile:
    """The robot with a payload [kg] at `height` [m] over the flange, known to it."""
    return robot.with_updates({"payload.mass": mass, "payload.com": [0.0, 0.0, height]})


def warm_robot(
    robot: RobotFile, seed: int, temperature: float = WARM, overrides: dict[str, Any] | None = None, **options: Any
) -> SimulatedRobot:
    """A simulated robot with all joints at one temperature [deg C], rotor encoders published."""
    machine = SimulatedRobot(robot, seed=seed, overrides=ROTOR | (overrides or {}), **options)
    machine.set_temperatures(temperature, temperature)
    return machine


def measured(plan: Plan, machine: SimulatedRobot, robot: RobotFile, joint: int, keep: int = 1) -> JointRecord:
    """Run a plan and look at one joint as identification does."""
    machine.rate = plan.rate
    return joint_records(rehearse(machine, plan.motion, keep=keep), robot)[joint]


def sweeps(robot: RobotFile, joint: int, start: np.ndarray, travel: float, speeds: Sequence[float]) -> Plan:
    """One joint over the same travel [rad] and back at each speed [rad/s]: load at every position and speed."""
    end = np.array(start)
    end[joint] += travel
    parts = [motions.trapezoid(*ends, velocity=v) for v in speeds for ends in ((start, end), (end, start))]
    return checked(robot, "sweeps", [joint], motions.join(*parts), 500.0)
