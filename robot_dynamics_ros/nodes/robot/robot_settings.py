"""Load on the flange and collision thresholds, from a node's parameters to the robot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase

LOAD_INERTIA = tuple(f"load_inertia_{axes}" for axes in ("xx", "xy", "xz", "yy", "yz", "zz"))
LOAD = ("load_mass", "load_com_x", "load_com_y", "load_com_z", *LOAD_INERTIA)
ROUNDING = 1e-6  # of the largest principal moment: a rod has one of 0
SAME_LOAD = 0.005  # kg between what was set and what the robot reports
COLLISION = ("collision_torque", "collision_force", "collision_moment")


class RobotSettings:
    """Load on the flange and collision thresholds, from parameters to the robot: apply() at every start, accept() with
    every change. A change reaches the robot before the parameter changes; what the robot refuses, the parameter refuses
    with the robot's reason.
    """

    def __init__(self, node: LifecycleBase, driver: Driver) -> None:
        self._node, self._driver = node, driver

    def apply(self) -> None:
        """Send the values of the parameters to the connected robot. Raises CapabilityError, ConnectionFailed."""
        values = {name: self._node.value(name) for name in LOAD + COLLISION}
        if _names_load(values):
            self._set_load(values)
        if _names_thresholds(values):
            self._set_collision(values)

    def accept(self, proposed: Mapping[str, Any]) -> None:
        """Send changed values to the robot; before activation apply() does. Raises as apply()."""
        values = {name: self._node.value(name) for name in LOAD + COLLISION} | dict(proposed)
        load = bool(set(proposed) & set(LOAD)) and _names_load(values)
        if not self._node.active:
            return
        if load:
            self._set_load(values)
        if set(proposed) & set(COLLISION) and _names_thresholds(values):
            self._set_collision(values)

    def forgotten(self) -> str:
        """What the robot has no more of what a parameter says, after its restart or a change at the robot."""
        mass, found = self._node.value("load_mass"), self._driver.status.payload
        if mass == -1.0 or not abs(found - mass) > SAME_LOAD:
            return ""
        return f"the robot has a payload of {found:g} kg, load_mass is {mass:g}: set load_mass again, or -1"

    def _set_load(self, values: Mapping[str, Any]) -> None:
        mass, *rest = (values[name] for name in LOAD)
        xx, xy, xz, yy, yz, zz = rest[3:]
        smallest, _, largest = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if smallest < -ROUNDING * abs(largest):
            why = f"have a principal moment of {smallest:.3g} kg m2, which must be >= 0"
            raise CapabilityError(f"load_inertia_xx .. load_inertia_zz {why}")
        self._driver.set_payload(mass, np.array(rest[:3]), np.array(rest[3:]))

    def _set_collision(self, values: Mapping[str, Any]) -> None:
        torque, force, moment = (values[name] for name in COLLISION)
        if not (torque > 0.0 and force > 0.0 and moment > 0.0):
            raise CapabilityError("collision_torque, collision_force and collision_moment are set together, above 0")
        limit = self._driver.robot.array("limits.torque")
        self._driver.set_collision_thresholds(torque * limit, np.repeat([force, moment], 3))


def _names_load(values: Mapping[str, Any]) -> bool:
    """Whether the parameters name a load. Raises CapabilityError for a mass below 0 that is not -1."""
    mass = values["load_mass"]
    if mass < 0.0 and mass != -1.0:
        raise CapabilityError(f"load_mass {mass:g} kg is neither a mass nor -1, which leaves the robot's setting")
    return bool(mass >= 0.0)


def _names_thresholds(values: Mapping[str, Any]) -> bool:
    return any(values[name] > 0.0 for name in COLLISION)
