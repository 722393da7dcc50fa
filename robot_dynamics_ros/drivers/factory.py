"""Drivers by name and by manufacturer; a driver's module is imported when one is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.errors import ConfigError

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

Factory = Callable[..., Driver]


def _ur(robot: RobotFile, host: str, **options: Any) -> Driver:
    from robot_dynamics_ros.drivers.ur.driver import UrDriver

    return UrDriver(robot, host, **options)


def _franka(robot: RobotFile, host: str, **options: Any) -> Driver:
    from robot_dynamics_ros.drivers.franka.driver import FrankaDriver

    return FrankaDriver(robot, host, **options)


def _comau(robot: RobotFile, host: str, **options: Any) -> Driver:
    from robot_dynamics_ros.drivers.comau.driver import ComauDriver

    return ComauDriver(robot, host, **options)


DRIVERS: dict[str, Factory] = {"ur": _ur, "franka": _franka, "comau": _comau}
MANUFACTURERS = {"Universal Robots": "ur", "Franka Robotics": "franka", "Comau": "comau"}


def driver_of(robot: RobotFile) -> str:
    """Name of the driver for a robot's manufacturer. Raises ConfigError where there is none."""
    if robot.manufacturer not in MANUFACTURERS:
        known = ", ".join(MANUFACTURERS)
        raise ConfigError(
            robot.name, "manufacturer", f"no driver for {robot.manufacturer!r}; there are some for {known}"
        )
    return MANUFACTURERS[robot.manufacturer]


def make_driver(name: str, robot: RobotFile, host: str, **options: Any) -> Driver:
    """Make the driver `name` of DRIVERS with its options. Raises ConfigError for an unknown name."""
    if name not in DRIVERS:
        raise ConfigError("driver", "name", f"{name!r} is none of {', '.join(DRIVERS)}, none")
    return DRIVERS[name](robot, host, **options)
