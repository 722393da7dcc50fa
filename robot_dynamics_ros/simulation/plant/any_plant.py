"""A plant for any robot file: joints of the size their torques need, between the sizes of the shipped joint types.

What a URDF does not say (friction, springs, rotors, sensors, gains) is taken from config/plants/ur_joints.yaml: every
number follows a power law in the joint's torque between the two nearest sizes, log y = log y1 + (log y2 - log y1)
(log T - log T1)/(log T2 - log T1), and beyond the last sizes. A plausible machine, not a measured one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.problems import validated
from robot_dynamics_ros.simulation.plant.plant_file import PlantFile, find_plant, load_plant_file

KEY = "assumed_sizes"
LIBRARY = "ur5e"  # its plant file includes the joint types of all sizes
POSES = 200  # random states in which the torque of a joint is looked for
ACCELERATION = 5.0  # rad/s2 where the robot file has no limit
VELOCITY = 1.5  # rad/s, likewise
MIN_STRENGTH, MAX_STRENGTH = 1.3, 5.0  # a drive is at least and at most so many times as strong as its joint needs
DEVIATION = {"individual": 1, "mass": 0.02, "com": 0.002, "inertia": 0.05, "torque_constant": 0.015, "joint": 0.1}


def plant_of(robot: RobotFile) -> PlantFile:
    """The shipped plant of a robot's name; for any other robot with known masses one of assumed joints.

    Raises ConfigError for a robot that has neither.
    """
    try:
        find_plant(robot.name)
    except ConfigError:
        return assumed_plant(robot)
    return load_plant_file(robot.name)


def assumed_plant(robot: RobotFile) -> PlantFile:
    """Plant file of a robot without one. Raises ConfigError without masses."""
    if robot.links is None:
        raise ConfigError(robot.name, "links", "unknown: a robot without masses cannot be simulated")
    library = load_plant_file(LIBRARY).types
    sizes = sorted((t.model_dump() for t in library.values()), key=lambda t: t["drive"]["torque_limit"])
    torques = strength(robot)
    types = {f"joint{j + 1}": _between(sizes, float(T)) for j, T in enumerate(torques)}
    raw = {
        "schema": 1,
        "robot": robot.name,
        "sources": {
            KEY: "assumed: strain-wave joints of the size the torques of the masses need; not a measured robot"
        },
        "types": types,
        "joints": tuple(types),
        "deviation": DEVIATION,
    }
    return validated(PlantFile, raw, f"{robot.name} (assumed plant)")


def strength(robot: RobotFile) -> np.ndarray:
    """Peak torque (n,) [Nm] of each drive: the limit of the robot file where that is a likely one, or what moves need.

    Limits of URDF files are often placeholders; a drive hundreds of times too strong would bring its rotor along.
    """
    n, draw = robot.n_joints, np.random.default_rng(0)
    q = draw.uniform(*robot.pose_range, (POSES, n))
    qd = draw.uniform(-1, 1, (POSES, n)) * np.minimum(_known(robot, "limits.velocity", VELOCITY), VELOCITY)
    qdd = draw.uniform(-1, 1, (POSES, n)) * np.minimum(_known(robot, "limits.acceleration", ACCELERATION), ACCELERATION)
    model = RobotModel(robot.chain())
    need = np.abs(model.rnea(q, qd, qdd)).max(axis=0)
    need = np.maximum(need, 0.02 * need.max())
    return np.clip(_known(robot, "limits.torque", MIN_STRENGTH * need), MIN_STRENGTH * need, MAX_STRENGTH * need)


def _known(robot: RobotFile, field: str, otherwise: Any) -> np.ndarray:
    """A field per joint (n,), another value where it is unknown, infinite or zero."""
    values = robot.array_or(field, np.nan)
    return np.where(np.isfinite(values) & (values != 0), values, otherwise)


def _between(sizes: list[dict[str, Any]], torque: float) -> dict[str, Any]:
    """Joint type of a peak torque [Nm]."""
    known = np.log([t["drive"]["torque_limit"] for t in sizes])
    k = int(np.clip(np.searchsorted(known, np.log(torque)) - 1, 0, len(sizes) - 2))
    share = float((np.log(torque) - known[k]) / (known[k + 1] - known[k]))
    return {
        block: {
            name: KEY if name == "source" else _power(value, sizes[k + 1][block][name], share)
            for name, value in fields.items()
        }
        for block, fields in sizes[k].items()
    }


def _power(a: Any, b: Any, share: float) -> Any:
    if isinstance(a, (list, tuple)):
        return tuple(_power(x, y, share) for x, y in zip(a, b, strict=True))
    return float(a * (b / a) ** share) if a > 0 and b > 0 else float(a + (b - a) * min(max(share, 0.0), 1.0))
