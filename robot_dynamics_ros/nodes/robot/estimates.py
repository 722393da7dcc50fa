"""Stages inside a node: the pipeline, its parameters while it runs, tare and reset, and their diagnostics."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped

from robot_dynamics_ros._core import PayloadAnswer, Status, Wear
from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.effort.evidence import REST_SAMPLES
from robot_dynamics_ros.effort.live_gate import LiveGate
from robot_dynamics_ros.errors import CapabilityError, DataError, RobotDynamicsError
from robot_dynamics_ros.estimators.force_arguments import refuse_units
from robot_dynamics_ros.estimators.pipeline import Pipeline, before_the_sensor
from robot_dynamics_ros.estimators.stage import reconfigure
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN, worst
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import REPEAT, NodePart, reason
from robot_dynamics_ros.nodes.robot.effort_watch import EffortWatch
from robot_dynamics_ros.nodes.robot.stages import OF_NODE, Selection
from robot_dynamics_ros.nodes.topics.encoding import carried
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import PAYLOAD

LOST = 0.02  # share of missing samples above which the user is told
UNJUDGED = (
    f"nothing is published until effort is judged: by a rest of {REST_SAMPLES} samples, or by a motion in which it "
    "agrees with the robot file"
)
WORN = {Wear.warn: WARN, Wear.error: ERROR}
BRAKED = "no drive carries the arm: brakes are closed, or power is off"


class Estimates(NodePart):
    """The selected stages of a node. Raises CapabilityError where the robot file lacks what they need.

    driver: ours, or None where the samples come from the topics of another one: then, and where our driver is not
    proven, samples are judged, and the meaning of effort is recognised or confirmed.
    """

    def __init__(self, node: LifecycleBase, robot: RobotFile, selection: Selection, driver: Driver | None) -> None:
        super().__init__(node)
        self._robot, self._selection, self._driver = robot, selection, driver
        self._effort: EffortWatch | None = None
        self._gate: LiveGate | None = None
        parameters = {stage: given for stage in selection.stages if (given := self._given(stage))}
        self.pipeline = Pipeline(robot, parameters, None if selection.all else selection.stages)
        self.running = {stage.name for stage in self.pipeline.stages}
        # in a node of its own a stage finds in the sample what the stages of other nodes have estimated
        self._step = self.pipeline.step if selection.all else self.pipeline.advance
        if (driver is None or not driver.proven) and "motion" in self.running:
            adopts = driver is not None or node.value("effort_semantics") == "recognise"
            unit = driver.effort_unit if driver is not None else ""
            self._effort, self._gate = EffortWatch(robot, adopts, unit), LiveGate(robot)
        self._logged, self._statuses = "", Counter[Status]()
        # numbers and joints change from one second to the next: the same reason is not logged again
        self._changing = re.compile("|".join([*map(re.escape, robot.joint_names), r"\d+(\.\d+)?(e[+-]\d+)?"]))
        self._doubted = False  # what effort means, on the console
        self._held, self._missed = False, 0  # a payload, as last logged; missing samples, as last reported
        self._paused = False  # estimates were withheld since the last report
        self._braked, self._stood = False, 0  # at the last sample; samples behind closed brakes since the last report
        self._tared, self._silent = "", True  # no sample came within the last second
        self._payload = np.full(4, np.nan)
        if {"motion", "force"} & self.running:
            self.subscribe(InertiaStamped, PAYLOAD, self._carry, 10)
        self.trigger("~/reset", self._reset)
        if "force" in self.running:
            self.trigger("~/tare", self._tare)
            answer = self.pipeline.stage("force").answer_payload
            self.trigger("~/accept_payload", partial(answer, PayloadAnswer.keep))
            self.trigger("~/refuse_payload", partial(answer, PayloadAnswer.refuse))
            self.trigger("~/reset_payload", partial(answer, PayloadAnswer.judge))

    def add_to(self, sample: Sample) -> bool:
        """Write the estimates into a sample; False: they are withheld, it has none. So it is until samples and effort
        have been judged.
        """
        effort, gate = self._effort, self._gate
        sample.payload[:] = self._payload
        if gate is not None:
            gate.on_sample(sample)
        if self._passed and effort is not None and self._drives_hold() and effort.on_sample(sample):
            self._adopt(effort)
        if gate is None or not gate.why:
            self._count(sample)
        why = self._withheld()
        if why and why != self._logged and self._changing.sub("", why) != self._changing.sub("", self._logged):
            self._node.get_logger().error(why)
        elif self._logged and not why:
            self._node.get_logger().info("estimates are published again")
        self._logged, self._paused = why, self._paused or bool(why)
        if why or not self.judged:
            sample.clear_estimates()
            return False
        return True

    def _count(self, sample: Sample) -> None:
        """Advance the stages; a reset behind closed brakes is no gap of the stream."""
        status = self._step(sample)
        self._statuses[status] += 1
        unavailable = status == Status.unavailable and "force" in self.running
        self._paused |= self._braked
        self._braked = unavailable and bool(np.isfinite(sample.drive_torque).all())
        self._stood += self._braked

    @property
    def _passed(self) -> bool:
        return self._gate is None or self._gate.passed

    @property
    def judged(self) -> bool:
        """Whether samples and the meaning of their effort are judged; a proven driver needs neither."""
        return self._gate is None or (self._passed and self._effort is not None and self._effort.judged)

    def _carry(self, message: InertiaStamped) -> None:
        """What the arm carries from the next sample on, beside the payload of the robot file."""
        try:
            load = carried(message)
            refuse_units(load, self._robot)
            self._payload = load
        except DataError as error:
            self._node.get_logger().warning(reason(error))

    def _withheld(self) -> str:
        """Why nothing is published; "" where it is."""
        if self._gate is not None and self._gate.why:
            return f"{self._gate.why}: estimates are withheld"
        return self._effort.text if self._effort is not None and self._effort.withheld else ""

    def _drives_hold(self) -> bool:
        """Whether the drives carry the arm: behind closed brakes an effort of zero is no evidence about gravity."""
        driver = self._driver
        return driver is None or (driver.status.safety_normal and driver.status.drives_hold)

    def _adopt(self, effort: EffortWatch) -> None:
        """Configure the motion stage with the recognised meaning of effort; everything else stays."""
        self._node.get_logger().info(effort.text)
        self.pipeline.stage("motion").configure(self._robot, self._given("motion"))
        self.pipeline.reset()

    def pause(self) -> None:
        """The node is deactivated: what does not come until it is active again is no gap of the stream."""
        self._paused = True

    # -- parameters ---------------------------------------------------------------------------------------------------
    def _given(self, stage: str) -> dict[str, Any]:
        """Parameters of a stage that differ from their defaults."""
        recognised = self._effort.meaning.stage_parameters if self._effort is not None and stage == "motion" else {}
        own = {name: self._node.value(name) for name in OF_NODE} if stage == "force" else {}
        defaults = {p.name: p.default for p in self._selection.tables[stage]} | dict.fromkeys(OF_NODE, "")
        values = self._node.values(f"{stage}.") | own | recognised
        return {name: value for name, value in values.items() if value != defaults.get(name)}

    def accept(self, proposed: dict[str, Any]) -> None:
        """Try values on separate stages before the running ones take them over. Raises RobotDynamicsError."""
        for stage in self._touched(proposed):
            prefix = f"{stage}."
            new = {name.removeprefix(prefix): v for name, v in proposed.items() if name.startswith(prefix)}
            Pipeline(self._robot, {stage: self._given(stage) | new}, [stage])

    def apply(self, changed: dict[str, Any]) -> None:
        """Configure the touched stages as at the start; what they have learned stays."""
        given = before_the_sensor(self._robot, {name: self._given(name) for name in self.running})
        behind = {"force"} & self.running if "friction.model" in changed else set()  # what it takes off
        for name in self._touched(changed) | behind:
            try:
                reconfigure(self.pipeline.stage(name), self._robot, given[name])
            except RobotDynamicsError as error:
                self._node.get_logger().error(str(error))

    def _touched(self, names: dict[str, Any]) -> set[str]:
        return self.running & {name.partition(".")[0] for name in names}

    # -- services -----------------------------------------------------------------------------------------------------
    def _reset(self) -> str:
        self.pipeline.reset()
        return "observers start again"

    def _tare(self) -> str:
        silent = self._silent and not self._statuses
        if silent or not self._node.active or not self.judged or self._withheld():
            raise CapabilityError("not tared: there are no estimates now; the diagnostics say why")
        if self._braked:  # what was estimated before says nothing about now
            raise CapabilityError(f"not tared: {BRAKED}")
        success, text = self.pipeline.stage("force").tare()
        if not success:
            raise CapabilityError(text)
        self._tared = text
        return text

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self, interrupted: bool = False) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values since the previous call; interrupted: something else has said since then why samples
        are missing (messages were refused, stamps went back, the driver has connected again).
        """
        counts, self._statuses = self._statuses, Counter()
        self._silent = not counts
        values: dict[str, Any] = {f"status {s.name}": n for s, n in counts.items()}
        if self._effort is not None:
            values["effort"] = self._effort.text
        if np.isfinite(self._payload).all():
            values[PAYLOAD] = f"{self._payload[0]:.3g} kg"
        if self._tared:
            values["tare"] = self._tared
        values |= {f"{kind} {joint}": text for kind, joint, _, text in self._health()}
        values |= {f"note {i + 1}": note for i, note in enumerate(self.pipeline.notes)}
        missing = self._missing()
        if missing is not None:
            values["samples missing"] = missing
        self._paused |= interrupted
        return *self._judge(counts, missing or 0), values

    def _missing(self) -> int | None:
        """Samples that never came since the last call, those of gaps excluded; None where no stage counts them."""
        if "motion" not in self.running:
            return None
        before, self._missed = self._missed, self.pipeline.stage("motion").core.missed
        return max(self._missed - before, 0)

    def _health(self) -> Iterator[tuple[str, str, bytes, str]]:
        """What has changed of the robot: kind, joint, level and text."""
        if "force" in self.running:
            for joint, (off, text) in self.pipeline.stage("force").friction_health().items():
                yield "friction_health", joint, WARN if off else OK, text
        if "stiffness" in self.running:
            for joint, (wear, text) in self.pipeline.stage("stiffness").wear_health().items():
                yield "wear_health", joint, WORN.get(wear, OK), text

    def _judge(self, counts: Counter[Status], missing: int) -> tuple[bytes, str]:
        if why := self._withheld():
            return ERROR, why
        if not counts:
            self._paused = True
            return STALE, "no samples"
        effort, found = self._effort, [(OK, "")]
        if effort is not None:
            found.append((effort.level, effort.text))
            self._log_effort(effort)
        if self._passed and not self.judged:
            found.append((WARN, UNJUDGED))
            self._node.get_logger().info(UNJUDGED, once=True)
        if self._gate is not None and (text := self._gate.doubt):
            found.append((WARN, text))
            self._node.get_logger().warning(text, once=True)
        stood, self._stood = self._stood, 0
        if stood:
            found.append((WARN, f"{BRAKED}; no force is published until it is carried again"))
        housing = self.running == {"temperature"}  # which not every robot measures
        if counts[Status.unavailable] > stood and (not housing or self._robot.sensing.temperature):
            signal = "temperature" if housing else "effort"
            found.append((STALE, f"a required signal is absent: is {signal} published?"))
        if counts[Status.fault]:
            found.append((ERROR, "a stage reports a fault"))
        paused, self._paused = self._paused, False  # it is known why: no gap of the stream
        if not paused and (counts[Status.reset] or missing > LOST * counts.total()):
            found.append((WARN, self._gaps(missing, counts[Status.reset])))
        if text := self.pipeline.sparse:
            found.append((WARN, text))
            self._node.get_logger().warning(text, once=True)
        if counts[Status.degraded]:
            why = "near a singularity, friction unknown, a joint isolated or samples late"
            found.append((WARN, f"{counts[Status.degraded]} estimates are degraded: {why}"))
        if counts[Status.dropped]:
            found.append(
                (WARN, f"{counts[Status.dropped]} samples dropped: a stamp repeats, or a number is not finite")
            )
        if "force" in self.running and (text := self.pipeline.stage("force").payload_message()):
            found.append((WARN, text))
            self._log_payload(text)
        found += [(level, f"{joint}: {text}") for _, joint, level, text in self._health() if level != OK]
        return worst(*found)

    def _gaps(self, missing: int, gaps: int) -> str:
        lost = " and ".join([f"{missing} samples missing"] * bool(missing) + [f"{gaps} longer gaps"] * bool(gaps))
        text = f"{lost} within a second: the network or this machine is too slow"
        self._node.get_logger().warning(text, throttle_duration_sec=REPEAT)
        return text

    def _log_effort(self, effort: EffortWatch) -> None:
        """A doubt after a rest, and its end, once each."""
        if effort.decided and effort.level == WARN:
            self._node.get_logger().warning(effort.text, once=True)
            self._doubted = True
        elif self._doubted and effort.level == OK:
            self._node.get_logger().info(effort.text, once=True)
            self._doubted = False

    def _log_payload(self, text: str) -> None:
        held = self.pipeline.stage("force").core.payload_held
        if held and not self._held:
            self._node.get_logger().warning(text)
        self._held = held
