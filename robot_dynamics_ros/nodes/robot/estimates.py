"""Stages inside a node: the pipeline, its parameters while it runs, tare and reset, and what they say of themselves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from std_srvs.srv import Trigger

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN, worst
from robot_dynamics_ros.nodes.robot.effort_watch import EffortWatch

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
    from robot_dynamics_ros.nodes.robot.stages import Selection
    from robot_dynamics_ros.signals import Sample

UR_RUNNING = 7  # robot mode of a UR controller whose brakes are released


class Estimates:
    """The selected stages of a node. Raises CapabilityError where the robot file lacks what they need."""

    def __init__(self, node: RobotNode, selection: Selection) -> None:
        self._node, self._selection, robot = node, selection, node.robot
        parameters = {stage: given for stage in selection.stages if (given := self._given(stage))}
        self.pipeline = Pipeline(robot, parameters, None if selection.all else selection.stages)
        self.running = {stage.name for stage in self.pipeline.stages}
        # in a node of its own a stage finds in the sample what the stages of other nodes have estimated
        self._step = self.pipeline.step if selection.all else self.pipeline.advance
        self._effort: EffortWatch | None = None
        # what a controller's own torque means depends on its version
        reported = (
            node.driver is not None and node.value("driver") == "ur" and node.value("effort_source") == "controller"
        )
        if (node.driver is None or reported) and "motion" in self.running:
            self._effort = EffortWatch(robot, reported or node.value("effort_semantics") == "recognise")
        self._statuses: Counter[Status] = Counter()
        self._services = [node.create_service(Trigger, "~/reset", self._reset)]
        if "force" in self.running:
            self._services.append(node.create_service(Trigger, "~/tare", self._tare))

    def destroy(self) -> None:
        """Remove the services."""
        for service in self._services:
            self._node.destroy_service(service)

    def add_to(self, sample: Sample) -> bool:
        """Write the estimates into a sample; False: they are withheld, nothing of the sample may be published."""
        if self._effort is not None and self._drives_hold() and self._effort.see(sample):
            self._adopt_effort()
        self._statuses[self._step(sample)] += 1
        return self._effort is None or not self._effort.withheld

    def _drives_hold(self) -> bool:
        """Whether the drives carry the arm: behind closed brakes an effort of zero says nothing about gravity."""
        driver = self._node.driver
        return driver is None or (driver.status.safety_normal and driver.status.robot_mode == UR_RUNNING)

    def _adopt_effort(self) -> None:
        """The motion stage with the meaning of effort that was recognised; everything else stays."""
        self._node.get_logger().info(self._effort.text)
        self.pipeline.stage("motion").configure(self._node.robot, self._values("motion"))
        self.pipeline.reset()

    # -- parameters ---------------------------------------------------------------------------------------------------
    def _given(self, stage: str) -> dict[str, Any]:
        """Parameters of a stage that differ from their defaults."""
        defaults = {p.name: p.default for p in self._selection.tables[stage]}
        return {name: value for name, value in self._node.values(f"{stage}.").items() if value != defaults[name]}

    def _values(self, stage: str) -> dict[str, Any]:
        recognised = self._effort.meaning.stage_parameters if self._effort is not None and stage == "motion" else {}
        return self._node.values(f"{stage}.") | recognised

    def accept(self, proposed: dict[str, Any]) -> None:
        """Try values on stages of their own before the running ones see them. Raises RobotDynamicsError."""
        for stage in self._touched(proposed):
            prefix = f"{stage}."
            new = {name.removeprefix(prefix): v for name, v in proposed.items() if name.startswith(prefix)}
            Pipeline(self._node.robot, {stage: self._node.values(prefix) | new}, [stage])

    def apply(self, changed: dict[str, Any]) -> None:
        """Configure the touched stages with all their values."""
        for stage in self._touched(changed):
            try:
                self.pipeline.stage(stage).configure(self._node.robot, self._values(stage))
            except RobotDynamicsError as error:
                self._node.get_logger().error(str(error))

    def _touched(self, names: dict[str, Any]) -> set[str]:
        return self.running & {name.partition(".")[0] for name in names}

    # -- services -----------------------------------------------------------------------------------------------------
    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.pipeline.reset()
        response.success, response.message = True, "observers start again"
        return response

    def _tare(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self.pipeline.stage("force").tare()
        return response

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values since this was asked last."""
        counts, self._statuses = self._statuses, Counter()
        values: dict[str, Any] = {f"status {s.name}": n for s, n in counts.items()}
        if self._effort is not None:
            values["effort"] = self._effort.text
        values |= {f"note {i + 1}": note for i, note in enumerate(self.pipeline.notes)}
        return *self._judge(counts), values

    def _judge(self, counts: Counter[Status]) -> tuple[bytes, str]:
        if not counts:
            return STALE, "no samples"
        found = [(OK, ""), *([(self._effort.level, self._effort.text)] if self._effort else [])]
        if counts[Status.unavailable]:
            found.append((STALE, "a required signal is absent: is effort published?"))
        if counts[Status.fault]:
            found.append((ERROR, "a stage reports a fault"))
        if counts[Status.degraded] or counts[Status.dropped]:
            found.append((WARN, "some estimates are degraded or samples dropped"))
        if "force" in self.running and (text := self.pipeline.stage("force").payload_message()):
            found.append((WARN, text))
        return worst(*found)
