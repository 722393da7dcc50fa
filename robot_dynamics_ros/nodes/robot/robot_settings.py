"""Load on the flange and collision thresholds, from a node's parameters to the robot; its payload, to a topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped

from robot_dynamics_ros.drivers.guard import same_mass
from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart
from robot_dynamics_ros.nodes.topics.encoding import to_time
from robot_dynamics_ros.topics import PAYLOAD

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
        self._send(values, _names_load(values), _names_thresholds(values))

    def accept(self, proposed: Mapping[str, Any]) -> None:
        """Send changed values to the robot; before activation apply() does. Raises as apply()."""
        values = {name: self._node.value(name) for name in LOAD + COLLISION} | dict(proposed)
        load = bool(set(proposed) & set(LOAD)) and _names_load(values)
        if self._node.active:
            self._send(values, load, bool(set(proposed) & set(COLLISION)) and _names_thresholds(values))

    def forgotten(self) -> str:
        """What the robot has no more of what a parameter says, after its restart or a change at the robot."""
        mass, found = self._node.value("load_mass"), self._driver.status.payload
        if mass == -1.0 or not abs(found - mass) > SAME_LOAD:
            return ""
        return f"the robot has a payload of {found:g} kg, load_mass is {mass:g}: set load_mass again, or -1"

    def _send(self, values: Mapping[str, Any], load: bool, thresholds: bool) -> None:
        """Neither is sent where the other makes no sense: the parameters change together or not at all."""
        if load:
            _refuse_load(values)
        if thresholds:
            _refuse_thresholds(values)
        if load:
            numbers = [values[name] for name in LOAD]
            self._driver.set_payload(numbers[0], np.array(numbers[1:4]), np.array(numbers[4:]))
        if thresholds:
            torque, force, moment = (values[name] for name in COLLISION)
            limit = self._driver.robot.array("limits.torque")
            self._driver.set_collision_thresholds(torque * limit, np.repeat([force, moment], 3))


def _refuse_load(values: Mapping[str, Any]) -> None:
    xx, xy, xz, yy, yz, zz = (values[name] for name in LOAD_INERTIA)
    smallest, _, largest = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if smallest < -ROUNDING * abs(largest):
        why = f"have a principal moment of {smallest:.3g} kg m2, which must be >= 0"
        raise CapabilityError(f"load_inertia_xx .. load_inertia_zz {why}")


def _refuse_thresholds(values: Mapping[str, Any]) -> None:
    if not all(values[name] > 0.0 for name in COLLISION):
        raise CapabilityError("collision_torque, collision_force and collision_moment are set together, above 0")


def _names_load(values: Mapping[str, Any]) -> bool:
    """Whether the parameters name a load. Raises CapabilityError for a mass below 0 that is not -1."""
    mass = values["load_mass"]
    if mass < 0.0 and mass != -1.0:
        raise CapabilityError(f"load_mass {mass:g} kg is neither a mass nor -1, which leaves the robot's setting")
    return bool(mass >= 0.0)


def _names_thresholds(values: Mapping[str, Any]) -> bool:
    return any(values[name] > 0.0 for name in COLLISION)


class SetPayload(NodePart):
    """Names on the topic `payload` what the controller's setting has beyond the tool, the payload of the robot file.

    The tool is the setting of that mass; before it is seen, and for a file without a payload (which may count the tool
    as part of the last link), nothing is named. m c = m_set c_set - m_tool c_tool; a setting below the tool names 0 kg.
    Where `load_mass` is set, another setting names nothing.
    """

    def __init__(self, node: LifecycleBase, driver: Driver, settings: RobotSettings) -> None:
        super().__init__(node)
        self._driver, self._settings = driver, settings
        self._last: tuple[float, ...] = ()
        self._taken: tuple[float, ...] = ()
        self._tool: np.ndarray | None = None  # kg, kg m
        self._publisher = self._publish_active(InertiaStamped, PAYLOAD, 10)

    def on_sample(self, stamp_ns: int) -> None:
        """Name a new setting once two samples agree: set_target_payload of a UR changes it gradually."""
        robot = self._driver.robot
        if robot.payload.mass == 0.0:
            return
        status = self._driver.status
        setting = (status.payload, *status.payload_com)
        steady, self._last = setting == self._last, setting
        if not steady or setting == self._taken or len(setting) != 4 or not np.isfinite(setting).all():
            return
        if self._settings.forgotten():
            return
        self._taken = setting
        load = status.payload * np.array([1.0, *status.payload_com])
        tool = load if same_mass(robot, status) else self._tool
        if tool is not None and self._tool is not None:
            self._publisher.publish(_beyond(load - tool, stamp_ns))
        self._tool = tool


def _beyond(load: np.ndarray, stamp_ns: int) -> InertiaStamped:
    message = InertiaStamped()
    message.header.stamp = to_time(stamp_ns)
    if load[0] > 0.0:
        found, (x, y, z) = message.inertia, (load[1:] / load[0]).tolist()
        found.m, found.com.x, found.com.y, found.com.z = float(load[0]), x, y, z
    return message
