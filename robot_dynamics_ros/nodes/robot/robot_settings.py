"""What the robot itself is told: the load on its flange and when it takes a contact for a collision, by parameters.

A change reaches the robot before the parameter changes; what the robot refuses, the parameter refuses with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.robot.robot_node import RobotNode

LOAD = ("load_mass", "load_com_x", "load_com_y", "load_com_z")
COLLISION = ("collision_torque", "collision_force", "collision_moment")


class RobotSettings:
    """apply() at every start, accept() with every change."""

    def __init__(self, node: RobotNode) -> None:
        self._node = node

    def apply(self) -> None:
        """Tell the connected robot what the parameters say. Raises CapabilityError, ConnectionFailed."""
        values = {name: self._node.value(name) for name in LOAD + COLLISION}
        if values["load_mass"] >= 0.0:
            self._load(values)
        if any(values[name] > 0.0 for name in COLLISION):
            self._collision(values)

    def accept(self, proposed: Mapping[str, Any]) -> None:
        """Tell the robot changed values, all or nothing as far as it can be known. Raises as apply()."""
        values = {name: self._node.value(name) for name in LOAD + COLLISION} | dict(proposed)
        if not self._node.active:
            return  # told at the start
        if set(proposed) & set(LOAD) and values["load_mass"] >= 0.0:
            self._load(values)
        if set(proposed) & set(COLLISION):
            self._collision(values)

    def _load(self, values: Mapping[str, Any]) -> None:
        self._need("payload", "load_mass")
        self._node.driver.set_payload(values["load_mass"], np.array([values[name] for name in LOAD[1:]]))

    def _collision(self, values: Mapping[str, Any]) -> None:
        self._need("collision", "collision_torque")
        torque, force, moment = (values[name] for name in COLLISION)
        if not (torque > 0.0 and force > 0.0 and moment > 0.0):
            raise CapabilityError("collision_torque, collision_force and collision_moment are set together, above 0")
        limit = self._node.robot.array("limits.torque")
        self._node.driver.set_collision_thresholds(torque * limit, np.repeat([force, moment], 3))

    def _need(self, capability: str, parameter: str) -> None:
        if capability not in self._node.driver.capabilities:
            name = self._node.robot.name
            raise CapabilityError(f"{parameter}: the driver of {name} cannot set this; set it on the robot itself")
