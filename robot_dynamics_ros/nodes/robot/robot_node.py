"""The node behind hardware, estimator and composed node: samples in, estimates added, samples out.

A part for each, made from the parameters when the node is configured: DriverInterface or TopicInputs, Estimates,
SampleOutputs. This file holds their lifecycle and the path of a sample through them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rclpy.utilities import get_rmw_implementation_identifier

from robot_dynamics_ros._core import shorten_slice
from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.robot_report import refuse_implausible
from robot_dynamics_ros.nodes.claims import address
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN, status, worst
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.metrics import Metrics
from robot_dynamics_ros.nodes.robot.driver_interface import DriverInterface, driver_for
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.readiness import Readiness, estimated
from robot_dynamics_ros.nodes.robot.stages import Selection, select
from robot_dynamics_ros.nodes.robot.stops import Stops, StopThread
from robot_dynamics_ros.nodes.run import run
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.nodes.topics.inputs import TopicInputs
from robot_dynamics_ros.nodes.topics.outputs import SampleOutputs
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.learning.batch import Collector

KEPT = ("learn_state", "adaptation_file")  # parameters of what a node keeps of its robot
FLOOD = 64  # messages dropped at once, each 0.1 ms or less


class RobotNode(LifecycleBase):
    """Samples from a driver or from topics -> stages -> topics.

    kind: hardware_node, estimator_node or composed_node; its table states which parameters the node has. stops: as
    DriverInterface; main() gives StopThread.
    """

    # parameters are checked while they are declared, before the rest exists
    _driver: Driver | None = None
    _selection = Selection()
    _driver_interface: DriverInterface | None = None
    _inputs: TopicInputs | None = None
    _estimates: Estimates | None = None
    _outputs: SampleOutputs | None = None
    _readiness: Readiness | None = None
    _collector: Collector | None = None
    _metrics: Metrics | None = None
    _newest: Sample | None = None  # since the last diagnostics
    _why_no_estimates = ""

    def __init__(self, kind: str, stops: Callable[[LifecycleBase], Stops] | None = None, **options: Any) -> None:
        super().__init__(kind, NODES[kind], **options)
        self._stops = stops
        self._selection = select(self.value("stages") if self.has_parameter("stages") else "none")
        for stage, table in self._selection.tables.items():
            self.declare(table, prefix=f"{stage}.")

    # -- lifecycle ----------------------------------------------------------------------------------------------------
    def build(self) -> None:
        """Robot file, driver, pipeline, publishers."""
        robot = load_robot(self.value("robot"))
        refuse_implausible(robot)
        self._driver = driver_for(self, robot) if self.has_parameter("driver") else None
        if self._selection.stages:
            self._estimates = self._make_estimates(robot)
        if self._driver is not None:
            self._driver_interface = DriverInterface(self, self._driver, self._stops)
        topics = list(self._selection.topics) if self._estimates else []
        topics += self._driver_interface.topics if self._driver_interface else []
        arrow = self._estimates is not None and "force" in self._estimates.running
        if self.has_parameter("learn_state") and self.value("learn_state"):
            from robot_dynamics_ros.learning.batch import Collector  # identification: most of a node's start

            state = _kept(self.value("learn_state"))
            self._collector = Collector(robot, state, self.value("learn_minutes"), robot.rate)
        if port := self.value("metrics_port"):
            self._metrics = Metrics(port)
        self._robot, self._outputs = robot, SampleOutputs(self, robot, topics, self.value("frame_id"), arrow)

    def _make_estimates(self, robot: RobotFile) -> Estimates | None:
        """None where the robot file lacks numbers: such a robot can still be moved and recorded for identification."""
        try:
            return Estimates(self, robot, self._selection, self._driver)
        except CapabilityError as error:
            if self._driver is None or not self._selection.all:
                raise
            self._why_no_estimates = f"no estimates: {error}"
            self.get_logger().warning(self._why_no_estimates)
            return None

    def start(self) -> None:
        """Connect the driver, or subscribe; this thread and those of the driver get short time slices: processes that
        compute do not keep a sample waiting.
        """
        shorten_slice()
        if self._driver is not None and self._driver_interface is not None:
            self._driver.rearm()  # a deactivation is no fault of the stream
            self._driver.connect()
            self._driver_interface.settings.apply()
            info = self._driver.info
            what = f"; {estimated(self._estimates.pipeline)}" if self._estimates is not None else ""
            self.get_logger().info(f"connected to {self.value('ip')}: version {info.version}, {info.rate:g} Hz{what}")
        elif self._estimates is not None:
            selection = self._selection
            self._inputs = TopicInputs(self, self._robot, selection.companions, selection.held, self._on_joined)
            self._readiness = Readiness(self, self._inputs, self._estimates.pipeline)
        if self._estimates is not None:  # the line of what is estimated names what is not
            pipeline = self._estimates.pipeline
            for note in (text for text in pipeline.notes if text not in pipeline.lacks):
                self.get_logger().info(note)

    def on_activate(self, state: Any) -> Any:
        """Publish the description once the publishers are active."""
        result = super().on_activate(state)
        if not self.failure and self._outputs is not None:
            self._outputs.describe()
        return result

    def claims(self) -> dict[str, str]:
        """With torque also the robot: two nodes of any name or domain would replace each other's program. So are files
        that a node keeps: what is learned of two robots would be mixed.
        """
        found = super().claims()
        if self.has_parameter("torque") and self.value("torque"):
            robot = self.value("ip")
            why = f"another node on this machine commands torques to {robot}: end it first"
            found[f"torque of {address(robot)}"] = why
        for parameter in KEPT:
            if self.has_parameter(parameter) and (name := self.value(parameter)):
                path = Path(_kept(name)).resolve()
                why = f"another node on this machine has {parameter} {name}: give it to one node of one robot"
                found[f"file {path}"] = why
        return found

    def stop(self) -> None:
        """Disconnect; may be called again."""
        if self._driver_interface is not None:
            self._driver_interface.disconnect()
        if self._inputs is not None:
            self._inputs.destroy()
        if self._estimates is not None:
            self._estimates.pause()
        self._inputs = self._readiness = None

    def drop(self) -> None:
        """Remove publishers and services, and the driver."""
        for part in (self._outputs, self._estimates, self._driver_interface):
            if part is not None:
                part.destroy()
        for helper in (self._collector, self._metrics):
            if helper is not None:
                helper.close()
        self._outputs = self._estimates = self._driver_interface = self._driver = self._collector = self._metrics = None
        self._why_no_estimates = ""

    # -- samples ------------------------------------------------------------------------------------------------------
    def work(self) -> bool:
        """Process the driver's next sample."""
        if self._driver_interface is None or not self.active:
            return False
        sample = self._driver_interface.exchange(0.0005 if self.low_latency else 0.01)
        if sample is not None:
            self._process(sample)
        return True

    @property
    def low_latency(self) -> bool:
        """True while torques come over a topic: events are processed between any two samples."""
        return self._driver_interface is not None and self._driver_interface.torque_live

    @property
    def events_at_once(self) -> int:
        """More in a flood of refused messages, which are dropped unread: other events wait behind them."""
        return FLOOD if self._driver_interface is not None and self._driver_interface.flooded else 1

    def _on_joined(self, sample: Sample) -> None:
        if self.active:
            published = self._process(sample)
            if self._readiness is not None:
                self._readiness.on_sample(sample, published and (self._estimates is None or self._estimates.judged))

    def _process(self, sample: Sample) -> bool:
        """Estimates, then what was commanded, then topics; False: estimates are withheld. What our driver has measured
        is published all the same: identification needs it.
        """
        published = self._estimates is None or self._estimates.add_to(sample)
        if published:
            if self._collector is not None:
                self._collector.on_sample(sample)
            self._newest = sample
        late = False
        if self._driver_interface is not None:  # torque and motion go on
            self._driver_interface.on_sample(sample)
            late = self._driver_interface.lateness.of(sample)
        if (published or self._driver_interface is not None) and self._outputs is not None and not late:
            self._outputs.publish(sample)
        return published

    # -- parameters ---------------------------------------------------------------------------------------------------
    def accept(self, proposed: dict[str, Any]) -> None:
        """Raise RobotDynamicsError where a stage or the robot refuses its values."""
        if self._estimates is not None:
            self._estimates.accept(proposed)
        if self._driver_interface is not None:
            self._driver_interface.settings.accept(proposed)

    def apply(self, changed: dict[str, Any]) -> None:
        """Configure the stages with their new values."""
        if self._estimates is not None:
            self._estimates.apply(changed)

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self) -> list[Any]:
        """Middleware, stream, torque and estimates; the metrics show the same, and nothing of before a deactivation."""
        active = self.active
        # an entry of the active node, too: it does not stay beside the others when the node is active again
        name = f"{self.path}: middleware"
        entries = self._entries() if active else [status(name, STALE, self.failure or "not active", _middleware())]
        if self._metrics is not None:
            self._metrics.show(self._newest if active else None, entries)
        self._newest = None
        return entries

    def _entries(self) -> list[Any]:
        name = self.path
        others = self.namesakes()
        found = (ERROR, f"{others} other node of this name publishes on the same topics") if others else (OK, "ok")
        shared = self._outputs.shared() if self._outputs is not None else []
        if shared and not others:
            advice = "give each robot a namespace or a prefix"
            found = (ERROR, f"another node publishes on {', '.join(shared)} too: {advice}")
        entries = [status(f"{name}: middleware", *found, _middleware())]
        latencies = self._outputs.latencies() if self._outputs is not None else {}
        if self._driver_interface is not None:
            level, text, values = self._driver_interface.diagnose()
            entries.append(status(f"{name}: stream", level, text, values | latencies, self.value("ip")))
            entries += self._driver_interface.diagnose_torque()
        if self._estimates is not None:
            refused, why = self._inputs.refused() if self._inputs is not None else (0, "")
            disorder = self._inputs.disorder() if self._inputs is not None else (OK, "")
            again = self._driver_interface is not None and self._driver_interface.connected_again
            level, text, values = self._estimates.diagnose(refused > 0 or again or disorder[0] == ERROR)
            if self._inputs is not None:
                values |= self._inputs.counts() | latencies
                level, text = worst((level, text), disorder, (WARN if why else OK, why))
            if self._readiness is not None and (silent := self._readiness.check()):
                level, text = ERROR, silent
            entries.append(status(f"{name}: estimates", level, text, values))
        elif self._why_no_estimates:
            text = self._why_no_estimates
            entries.append(status(f"{name}: estimates", WARN, text, {"note 1": text}))
        return entries


def _kept(name: str) -> str:
    """Place of what a node keeps; nothing expands ~ in a parameter file."""
    return os.path.expanduser(name)


def _middleware() -> dict[str, str]:
    return {
        "rmw": get_rmw_implementation_identifier(),
        "domain": os.environ.get("ROS_DOMAIN_ID", "0"),
        "discovery": os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
        "profile": next((v for k, v in os.environ.items() if k.endswith("_DEFAULT_PROFILES_FILE")), "none"),
    }


def main(kind: str) -> None:
    """Run one node; the process exits with its status."""
    sys.exit(run(lambda: RobotNode(kind, StopThread)))
