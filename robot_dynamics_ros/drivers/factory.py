"""Drivers by name and by manufacturer; a driver's module is imported when one is made."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import RobotFile


class Entry(NamedTuple):
    """A driver: its module and class below this package, and the node parameters that are options of its own."""

    module: str
    name: str
    options: tuple[str, ...]


DRIVERS = {
    "ur": Entry("ur.driver", "UrDriver", ("port", "effort_source", "torque")),
    "franka": Entry("franka.driver", "FrankaDriver", ("torque",)),
    "comau": Entry("comau.driver", "ComauDriver", ("port", "arm", "enable_commands", "torque")),
}
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
    """Make the driver `name` of DRIVERS with its options.

    Raises ConfigError for an unknown name, an empty host, options that contradict each other; CapabilityError.
    """
    if name not in DRIVERS:
        raise ConfigError("driver", "name", f"{name!r} is none of {', '.join(DRIVERS)}, none")
    if not host.strip():
        raise ConfigError("driver", "ip", "is empty: it must be the address of the controller")
    entry = DRIVERS[name]
    made = getattr(importlib.import_module(f"{__package__}.{entry.module}"), entry.name)
    try:
        driver: Driver = made(robot, host, **options)
    except ValueError as error:  # of the core
        raise ConfigError("driver", "", str(error)) from error
    if driver.proven:  # nobody judges its effort
        _refuse_effort(name, driver)
    return driver


def _refuse_effort(name: str, driver: Driver) -> None:
    """Raise ConfigError for a robot file that declares another effort than the driver measures."""
    robot, effort = driver.robot, driver.robot.drives.effort
    if not effort.includes_gravity:
        raise ConfigError(robot.file, "drives.effort.includes_gravity", f"must be true: driver {name} measures gravity")
    if driver.effort_unit == "Nm" and effort.sign != 1:  # currents of a Comau have the sign of its gears
        raise ConfigError(robot.file, "drives.effort.sign", f"must be 1: driver {name} gives torques on the joints")
