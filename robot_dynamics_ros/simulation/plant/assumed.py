"""A robot file with the plant's assumed numbers where the robot's own are unknown, for protocols on the simulated arm.

They stand for numbers that the manufacturer of a Comau does not publish. The simulated individual differs
from these numbers as `deviation` of its plant file says. Every number taken says in its source that it is assumed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.plant.individual import nominal_links
from robot_dynamics_ros.simulation.plant.plant_file import load_plant_file

KEY = "assumed_plant"
SPEED = 2.6  # rad/s: 150 deg/s, largest step of the public LPC program
ACCELERATION = (2.5, 2.5, 2.5, 6.0, 6.0, 6.0)  # rad/s2
PER_JOINT = {  # field of the robot file -> block and field of the plant's joint types
    "drives.torque_constant": ("drive", "torque_constant"),
    "drives.rotor_inertia": ("drive", "rotor_inertia"),
    "limits.torque": ("drive", "torque_limit"),
}


def assumed_file(name: str) -> RobotFile:
    """The shipped file itself where nothing is missing, else with the plant's numbers for links, drives and limits."""
    robot = load_robot(name)
    if robot.links is not None:
        return robot
    plant = load_plant_file(robot.name)
    joints = [plant.types[kind] for kind in plant.joints]
    updates: dict[str, Any] = {"links": {"source": KEY, "parameters": nominal_links(robot, plant)}}
    for field, (block, value) in PER_JOINT.items():
        if not robot.has(field):
            updates[field] = np.array([float(getattr(getattr(joint, block), value)) for joint in joints])
    for field, number in (("limits.velocity", SPEED), ("limits.acceleration", ACCELERATION)):
        if not robot.has(field):
            updates[field] = np.broadcast_to(number, robot.n_joints).astype(float)
    for block in ("drives", "limits"):
        taken = {field.split(".")[1]: KEY for field in updates if field.startswith(block + ".")}
        source = getattr(robot, block).source
        updates[f"{block}.source"] = (dict(source) if isinstance(source, dict) else {"*": source}) | taken
    text = f"assumed numbers of the simulated {robot.name} (config/plants), not of any real arm"
    return robot.with_updates(updates, {KEY: text})
