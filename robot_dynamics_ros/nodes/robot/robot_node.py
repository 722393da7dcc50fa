"""The node behind hardware, estimator and composed node: samples in, estimates added, samples out.

A part for each, made from the parameters when the node is configured: DriverInterface or TopicInputs, Estimates,
SampleOutputs. What follows is their lifecycle and the way of a sample through them.
"""

from __future__ import annotations

import os
from typing import Any

from rclpy.utilities import get_rmw_implementation_identifier

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.diagnostics import OK, STALE, WARN, status
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.robot.driver_interface import DriverInterface, driver_for
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import Selection, select
from robot_dynamics_ros.nodes.topics.inputs import TopicInputs
from robot_dynamics_ros.nodes.topics.outputs import SampleOutputs
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample


class RobotNode(LifecycleBase):
    """Samples from a driver or from topics -> stages -> topics. Subclasses say which parameters they have."""

    # parameters are checked while they are declared, before the rest exists
    driver: Any = None
    robot: Any = None
    selection = Selection()
    _driver_face: DriverInterface | None = None
    _inputs: TopicInputs | None = None
    _estimates: Estimates | None = None
    _outputs: SampleOutputs | None = None
    _lacks = ""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.selection = select(self.value("stages") if self.has_parameter("stages") else "none")
        for stage, table in self.selection.tables.items():
            self.declare(table, prefix=f"{stage}.")

    @property
    def frame_id(self) -> str:
        """Frame of wrenches and markers."""
        return self.value("tf_prefix") + (self.value("frame_id") or self.robot.kinematics.base_frame)

    # -- lifecycle ----------------------------------------------------------------------------------------------------
    def build(self) -> None:
        """Robot file, driver, pipeline, publishers."""
        self.robot = load_robot(self.value("robot"))
        self.driver = driver_for(self)
        if self.selection.stages:
            self._estimates = self._make_estimates()
        if self.driver is not None:
            self._driver_face = DriverInterface(self)
        topics = self.selection.topics if self._estimates else []
        arrow = self._estimates is not None and "force" in self._estimates.running
        self._outputs = SampleOutputs(self, topics + (self._driver_face.topics if self._driver_face else []), arrow)

    def _make_estimates(self) -> Estimates | None:
        """None: the robot can be moved and recorded, as its identification needs, but the robot file lacks numbers."""
        try:
            return Estimates(self, self.selection)
        except CapabilityError as error:
            if self.driver is None or not self.selection.all:
                raise
            self._lacks = f"no estimates: {error}"
            self.get_logger().warning(self._lacks)
            return None

    def start(self) -> None:
        """Connect the driver, or subscribe."""
        if self.driver is not None:
            self.driver.connect()
            self._driver_face.settings.apply()
            info = self.driver.info
            self.get_logger().info(f"connected to {self.value('ip')}: version {info.version}, {info.rate:g} Hz")
        elif self._estimates is not None:
            self._inputs = TopicInputs(self, self.selection, self._joined)
        for note in self._estimates.pipeline.notes if self._estimates is not None else []:
            self.get_logger().info(note)

    def on_activate(self, state: Any) -> Any:
        """Publish the description once the publishers are active."""
        result = super().on_activate(state)
        if not self.failure:
            self._outputs.describe()
        return result

    def stop(self) -> None:
        """Disconnect; may be repeated."""
        if self.driver is not None:
            self.driver.disconnect()
        if self._inputs is not None:
            self._inputs.destroy()
        self._inputs = None

    def drop(self) -> None:
        """Remove publishers and services; the driver is forgotten."""
        for part in (self._outputs, self._estimates, self._driver_face):
            if part is not None:
                part.destroy()
        self._outputs = self._estimates = self._driver_face = self.driver = None
        self._lacks = ""

    # -- samples ------------------------------------------------------------------------------------------------------
    def work(self) -> bool:
        """Next sample of the driver."""
        if self.driver is None or not self.active:
            return False
        sample = self.driver.read(0.0005 if self.hurried else 0.01)
        if self._driver_face is not None:
            self._driver_face.send_torque()
        if sample is not None:
            self._process(sample)
        return True

    @property
    def hurried(self) -> bool:
        """True while torques come over a topic: events are looked at between any two samples."""
        return self._driver_face is not None and self._driver_face.hurried

    def _joined(self, sample: Sample) -> None:
        if self.active:
            self._process(sample)

    def _process(self, sample: Sample) -> None:
        """Estimates, then what was commanded, then topics."""
        if self._estimates is not None and not self._estimates.add_to(sample):
            return
        if self._driver_face is not None:
            self._driver_face.see(sample)
        self._outputs.publish(sample)

    # -- parameters ---------------------------------------------------------------------------------------------------
    def accept(self, proposed: dict[str, Any]) -> None:
        """Raise RobotDynamicsError where a stage or the robot refuses its values."""
        if self._estimates is not None:
            self._estimates.accept(proposed)
        if self._driver_face is not None:
            self._driver_face.settings.accept(proposed)

    def apply(self, changed: dict[str, Any]) -> None:
        """Stages take over their values."""
        if self._estimates is not None:
            self._estimates.apply(changed)

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self) -> list[Any]:
        """Middleware, stream, torque and estimates."""
        name = self.get_name()
        if not self.active:
            return [status(name, STALE, self.failure or "not active", {})]
        entries = [status(f"{name}: middleware", OK, "ok", _middleware())]
        if self._driver_face is not None:
            level, text, values = self._driver_face.diagnose()
            entries.append(status(f"{name}: stream", level, text, values | self._outputs.latencies(), self.value("ip")))
            entries += self._driver_face.diagnose_torque()
        if self._estimates is not None:
            level, text, values = self._estimates.diagnose()
            if self._inputs is not None:
                values |= self._inputs.counts() | self._outputs.latencies()
            entries.append(status(f"{name}: estimates", level, text, values))
        elif self._lacks:
            entries.append(status(f"{name}: estimates", WARN, self._lacks, {"note 1": self._lacks}))
        return entries


def _middleware() -> dict[str, str]:
    return {
        "rmw": get_rmw_implementation_identifier(),
        "domain": os.environ.get("ROS_DOMAIN_ID", "0"),
        "discovery": os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
        "profile": next((v for k, v in os.environ.items() if k.endswith("_DEFAULT_PROFILES_FILE")), "none"),
    }
