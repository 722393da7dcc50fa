"""The node behind hardware, estimator and composed node: a source of samples, stages, publishers, diagnostics."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.utilities import get_rmw_implementation_identifier
from std_msgs.msg import String
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from robot_dynamics_ros._core import Status, StreamState
from robot_dynamics_ros.config import load_robot
from robot_dynamics_ros.errors import CapabilityError, DataError, RobotDynamicsError
from robot_dynamics_ros.hardware.driver import make_driver
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_writer import urdf_text
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN, LatencyMeter, status, worst
from robot_dynamics_ros.nodes.effort_watch import EffortWatch
from robot_dynamics_ros.nodes.encoding import MESSAGE_TYPES, SampleWriter, topic_name
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.markers import contact_arrow
from robot_dynamics_ros.nodes.motion_interface import MotionInterface
from robot_dynamics_ros.nodes.sources import MAIN, StampJoin, topics_for
from robot_dynamics_ros.nodes.stages import Selection, select
from robot_dynamics_ros.nodes.torque_interface import TorqueInterface
from robot_dynamics_ros.pipeline import Pipeline
from robot_dynamics_ros.topics import DRIVER_TOPICS, TOPICS
from robot_dynamics_ros.types import Sample

RCLError = rclpy_implementation.RCLError
INPUT_QOS = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
OWN_OPTIONS = {"ur": ("port", "effort_source", "torque"), "comau": ("port", "backend", "arm", "enable_commands")}
DRIVER_OPTIONS = (
    "follow_host_clock",
    "realtime_priority",
    "degraded_gap",
    "safe_gap",
    "frozen_repeats",
)
LEVELS = {StreamState.ok: OK, StreamState.degraded: WARN, StreamState.safe: ERROR, StreamState.fault: ERROR}


class RobotNode(LifecycleBase):
    """Samples from a driver or from topics -> stages -> topics. Subclasses say which parameters they have."""

    # parameters are checked while they are declared, before the rest exists
    driver: Any = None
    robot: Any = None
    pipeline: Pipeline | None = None
    selection = Selection()
    last_position: np.ndarray | None = None

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self.selection = select(self.value("stages") if self.has_parameter("stages") else "none")
        for stage, table in self.selection.tables.items():
            self.declare(table, prefix=f"{stage}.")
        self.statuses: Counter[Status] = Counter()
        self._forget()

    def _forget(self) -> None:
        self._writers: dict[str, SampleWriter] = {}
        self._publishers: list[Any] = []
        self._inputs: list[Any] = []
        self._own_services: list[Any] = []
        self._motion: MotionInterface | None = None
        self._torque: TorqueInterface | None = None
        self._join: StampJoin | None = None
        self._effort: EffortWatch | None = None
        self._processing, self._age = LatencyMeter(), LatencyMeter()
        self._refused: Counter[str] = Counter()
        self._next_slow_ns = self._next_marker_ns = self._next_watch_ns = 0
        self._markers: Any = None
        self._lacks = ""

    # -- configure ----------------------------------------------------------------------------------------------------
    def build(self) -> None:
        """Robot file, driver, pipeline, publishers."""
        self._forget()
        self.robot = load_robot(self.value("robot"))
        if self._has_driver:
            names = DRIVER_OPTIONS + OWN_OPTIONS.get(self.value("driver"), ())
            options = {name: self.value(name) for name in names}
            if not options.get("port"):
                options.pop("port", None)  # the driver's own default
            self.driver = make_driver(self.value("driver"), self.robot, self.value("ip"), **options)
        if self.selection.stages:
            self._build_pipeline()
        self._build_writers()
        self._build_services()

    @property
    def _has_driver(self) -> bool:
        return self.has_parameter("driver") and self.value("driver") != "none"

    def _build_pipeline(self) -> None:
        parameters = {stage: given for stage in self.selection.stages if (given := self._given(stage))}
        try:
            self.pipeline = Pipeline(self.robot, parameters, None if self.selection.all else self.selection.stages)
        except CapabilityError as error:
            if not (self._has_driver and self.selection.all):
                raise
            self._lacks = f"no estimates: {error}"  # the robot can be moved and recorded, as its identification needs
            self.get_logger().warning(self._lacks)
            return
        self._model = RobotModel(self.robot.chain(), self.robot.joint_names) if "force" in self._running else None
        if not self._has_driver and "motion" in self.selection.stages:
            self._effort = EffortWatch(self.robot, self.value("effort_semantics") == "recognise")

    def _given(self, stage: str) -> dict[str, Any]:
        """Parameters of a stage that differ from their defaults."""
        defaults = {p.name: p.default for p in self.selection.tables[stage]}
        return {name: value for name, value in self.values(f"{stage}.").items() if value != defaults[name]}

    def _build_writers(self) -> None:
        names = [n for n, need in DRIVER_TOPICS.items() if self._has_driver and need in self.driver.capabilities]
        names = (self.selection.topics if self.pipeline else []) + names + ([MAIN] if self._has_driver else [])
        if self._has_driver and self.value("torque") != "none":
            names.append("feedforward_torque")
        for name in names:
            topic = TOPICS[name]
            kind = MESSAGE_TYPES[topic.type]
            outputs = [self._publisher(kind, n, 10) for n in SampleWriter.names(topic, self.robot.joint_names)]
            self._writers[name] = SampleWriter(topic, self.robot.joint_names, self.frame_id, outputs)
        self._slow = [n for n in self._writers if TOPICS[n].per_joint]
        self._fast = [n for n in self._writers if not TOPICS[n].per_joint]
        if self.pipeline is not None and self._model is not None:
            self._markers = self._publisher(MarkerArray, "contact_markers", 5)
        if self.value("publish_description"):
            self._description = self._publisher(String, "robot_description", LATCHED)

    def _publisher(self, kind: type, name: str, qos: Any) -> Any:
        publisher = self.create_lifecycle_publisher(kind, name, qos)
        self._publishers.append(publisher)
        return publisher

    def _build_services(self) -> None:
        if self._has_driver:
            self._motion = MotionInterface(self)
            if self.value("torque") != "none":
                self._torque = TorqueInterface(self)
            self._own_services.append(self.create_service(Trigger, "~/rearm", self._rearm))
            if "recover" in self.driver.capabilities:
                self._own_services.append(self.create_service(Trigger, "~/recover", self._recover))
        if self.pipeline is not None:
            self._own_services.append(self.create_service(Trigger, "~/reset", self._reset))
            if "force" in self._running:
                self._own_services.append(self.create_service(Trigger, "~/tare", self._tare))

    @property
    def frame_id(self) -> str:
        """Frame of wrenches and markers."""
        return self.value("tf_prefix") + (self.value("frame_id") or self.robot.kinematics.base_frame)

    # -- activate -----------------------------------------------------------------------------------------------------
    def start(self) -> None:
        """Connect the driver, or subscribe."""
        if self.driver is not None:
            self.driver.connect()
            info = self.driver.info
            self.get_logger().info(f"connected to {self.value('ip')}: version {info.version}, {info.rate:g} Hz")
        elif self.pipeline is not None:
            self._subscribe()
        for note in self.pipeline.notes if self.pipeline is not None else []:
            self.get_logger().info(note)

    def on_activate(self, state: Any) -> Any:
        """Publish the description once the publishers are active."""
        result = super().on_activate(state)
        if self.active_soon and self.value("publish_description"):
            self._describe()
        return result

    @property
    def active_soon(self) -> bool:
        """True when activation went well so far."""
        return not self.failure

    def _describe(self) -> None:
        try:
            self._description.publish(String(data=urdf_text(self.robot)))
        except (CapabilityError, ValueError) as error:
            self.get_logger().warning(f"no robot_description: {error}")

    def _subscribe(self) -> None:
        companions, held = self.selection.companions, self.selection.held
        self._join = StampJoin(self.robot.joint_names, self.robot.joint_aliases, companions, held, self._joined)
        for topic in topics_for({s for n in (*companions, *held) for s in TOPICS[n].fields.values()}):
            if topic.name == MAIN or topic.name in companions or topic.name in held:
                self._listen(topic)

    def _listen(self, topic: Any) -> None:
        kind = MESSAGE_TYPES[topic.type]
        joints: Sequence[Any] = range(len(self.robot.joint_names)) if topic.per_joint else [None]
        for joint in joints:
            name = topic.name if joint is None else f"{topic.name}/{topic_name(self.robot.joint_names[joint])}"
            call = self._callback(topic.name, joint)
            self._inputs.append(self.create_subscription(kind, name, call, INPUT_QOS))

    def _callback(self, name: str, joint: int | None) -> Any:
        return lambda message: self._message(name, message, joint)

    # -- deactivate, cleanup ------------------------------------------------------------------------------------------
    def stop(self) -> None:
        """Disconnect; may be repeated."""
        if self.driver is not None:
            self.driver.disconnect()
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        self._inputs, self._join = [], None

    def drop(self) -> None:
        """Remove publishers and services; the driver is forgotten."""
        for publisher in self._publishers:
            self.destroy_lifecycle_publisher(publisher)
        for service in self._own_services:
            self.destroy_service(service)
        if self._motion is not None:
            self._motion.destroy()
        if self._torque is not None:
            self._torque.destroy()
        self.driver = self.pipeline = None
        self._forget()

    # -- samples ------------------------------------------------------------------------------------------------------
    def work(self) -> bool:
        """Next sample of the driver."""
        if self.driver is None or not self.active:
            return False
        sample = self.driver.read(0.0005 if self.hurried else 0.01)
        if sample is not None:
            self._process(sample)
        return True

    @property
    def hurried(self) -> bool:
        """True while torques come over a topic: events are looked at between any two samples."""
        return self._torque is not None and self._torque.live

    def _message(self, name: str, message: Any, joint: int | None) -> None:
        now = time.time_ns()
        try:
            stamp = now if self.value("stamps") == "receive" else self._fresh(message)
            self._join.take(name, message, stamp, now, joint)
        except DataError as error:
            self._refused[str(error)] += 1
            self.get_logger().warning(str(error), throttle_duration_sec=5.0)
        except RCLError:
            if self.context.ok():  # otherwise the node is being ended in the middle of a message
                raise

    def _fresh(self, message: Any) -> int:
        """Source stamp; raises DataError when it is older than max_age by this node's clock."""
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        oldest = self._max_age
        if oldest > 0.0:
            age = 1e-9 * (self.get_clock().now().nanoseconds - stamp)
            if not age <= oldest:
                raise DataError(f"a message is older than max_age {oldest:g} s")
        return stamp

    @property
    def _max_age(self) -> float:
        return self.value("max_age")

    def _joined(self, sample: Sample) -> None:
        if self.active:
            self._process(sample)

    def _process(self, sample: Sample) -> None:
        """Stages, then topics; estimates first, joint_states last so that its companions are there before it."""
        if self._effort is not None and self._effort.see(sample):
            self._adopt_effort()
        if self.pipeline is not None:
            # in a node of its own a stage finds in the sample what the stages of other nodes have estimated
            step = self.pipeline.step if self.selection.all else self.pipeline.advance
            self.statuses[step(sample)] += 1
        if self._effort is not None and self._effort.withheld:
            return
        if self._torque is not None:
            self._torque.see(sample)
        for name in self._fast:
            self._writers[name].publish(sample)
        now = time.time_ns()
        self._processing.add(1e-9 * (now - sample.receive_ns))
        self._age.add(1e-9 * (now - sample.stamp_ns))
        if self.last_position is None:
            self.last_position = np.empty(sample.n_joints)
        self.last_position[:] = sample.q
        self._occasionally(sample)

    def _adopt_effort(self) -> None:
        """The motion stage with the meaning of effort that was recognised; everything else stays."""
        self.get_logger().info(self._effort.text)
        self.pipeline.stage("motion").configure(self.robot, self._stage_values("motion"))
        self.pipeline.reset()

    def _stage_values(self, stage: str) -> dict[str, Any]:
        recognised = self._effort.stage_parameters if self._effort is not None and stage == "motion" else {}
        return self.values(f"{stage}.") | recognised

    def _occasionally(self, sample: Sample) -> None:
        t = sample.stamp_ns
        if self._slow and not 0 <= self._next_slow_ns - t < 2_000_000_000:
            self._next_slow_ns = t + int(1e9 / self.value("temperature_rate"))
            for name in self._slow:
                self._writers[name].publish(sample)
        if self._markers is not None and not 0 <= self._next_marker_ns - t < 2_000_000_000:
            self._mark(sample)
        if self._motion is not None and not 0 <= self._next_watch_ns - t < 2_000_000_000:
            self._next_watch_ns = t + 50_000_000
            self._motion.watch()

    def _mark(self, sample: Sample) -> None:
        rate = self.value("marker_rate")
        self._next_marker_ns = sample.stamp_ns + int(1e9 / max(rate, 0.5))
        if rate > 0.0 and self._markers.get_subscription_count():
            position = self._model.fk(sample.q)[-1][:3, 3]
            arrow = contact_arrow(sample, position, self.frame_id, self.value("marker_scale"))
            if arrow is not None:
                self._markers.publish(arrow)

    # -- services and parameters --------------------------------------------------------------------------------------
    def _rearm(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        condition = self.driver.condition
        if condition >= StreamState.safe:
            response.success, response.message = False, f"the stream is {condition.name} now"
            return response
        self.driver.rearm()
        if self._torque is not None:
            self._torque.rearm()
        response.success, response.message = True, "latched faults forgotten"
        return response

    def _recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.success, response.message = True, self.driver.recover()
        except RobotDynamicsError as error:
            response.success, response.message = False, str(error)
        return response

    def _reset(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.pipeline.reset()
        response.success, response.message = True, "observers start again"
        return response

    def _tare(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self.pipeline.stage("force").tare()
        return response

    def accept(self, proposed: dict[str, Any]) -> None:
        """Values are tried on stages of their own before the running ones see them."""
        for stage in self._running & {name.partition(".")[0] for name in proposed}:
            values = self.values(f"{stage}.") | {
                k.partition(".")[2]: v for k, v in proposed.items() if k.startswith(stage)
            }
            Pipeline(self.robot, {stage: values}, [stage])

    @property
    def _running(self) -> set[str]:
        """Stages that are configured; a robot may not support all that were asked for."""
        return {stage.name for stage in self.pipeline.stages} if self.pipeline is not None else set()

    def apply(self, changed: dict[str, Any]) -> None:
        """Configure the touched stages with all their values."""
        for stage in self._running & {name.partition(".")[0] for name in changed}:
            try:
                self.pipeline.stage(stage).configure(self.robot, self._stage_values(stage))
            except RobotDynamicsError as error:
                self.get_logger().error(str(error))

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self) -> list[Any]:
        """Stream, estimates and middleware."""
        if not self.active:
            return [status(self.get_name(), STALE, self.failure or "not active", {})]
        entries = [self._diagnose_middleware()]
        if self.driver is not None:
            entries.append(self._diagnose_driver())
        if self._torque is not None:
            entries += self._torque.diagnose()
        if self.pipeline is not None:
            entries.append(self._diagnose_estimates())
        elif self._lacks:
            entries.append(status(f"{self.get_name()}: estimates", WARN, self._lacks, {"note 1": self._lacks}))
        return entries

    def _latencies(self) -> dict[str, str]:
        values = {"rate [Hz]": f"{self._processing.rate():.1f}"}
        return values | self._processing.summary("receive to published") | self._age.summary("stamp to published")

    def _diagnose_driver(self) -> Any:
        driver, counts, robot = self.driver, self.driver.statistics(), self.driver.status
        condition, latched = driver.condition, driver.latched
        found = [(LEVELS[condition], driver.last_error or f"stream {condition.name}")]
        if not robot.safety_normal:
            found.append((ERROR, f"safety mode {robot.safety_text}"))
        if counts.overruns:
            found.append((ERROR, f"{counts.overruns} samples lost: this machine is too slow"))
        level, text = worst(*found)
        values = {
            "condition": condition.name,
            "latched": latched.name,
            "robot mode": robot.mode_text,
            "safety mode": robot.safety_text,
            "program running": robot.program_running,
            "payload [kg]": robot.payload,
            "version": driver.info.version,
            "real-time thread": driver.info.realtime,
            "motion": driver.motion.state,
        }
        values |= {k: getattr(counts, k) for k in counts.__dataclass_fields__ if k != "rate"}
        values |= {"samples received [Hz]": f"{counts.rate:.1f}"} | getattr(driver, "details", dict)()
        return status(f"{self.get_name()}: stream", level, text, values | self._latencies(), self.value("ip"))

    def _diagnose_estimates(self) -> Any:
        counts, self.statuses = self.statuses, Counter()
        level, text = self._judge(counts)
        values = {f"status {s.name}": n for s, n in counts.items()} | {
            f"refused: {k}": n for k, n in self._refused.items()
        }
        if self._join is not None:
            values |= dict(self._join.counts)
        if self._effort is not None:
            values["effort"] = self._effort.text
        values |= {f"note {i + 1}": note for i, note in enumerate(self.pipeline.notes)}
        return status(f"{self.get_name()}: estimates", level, text, values | ({} if self.driver else self._latencies()))

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
        if "force" in self._running and (text := self.pipeline.stage("force").payload_message()):
            found.append((WARN, text))
        return worst(*found)

    def _diagnose_middleware(self) -> Any:
        values = {
            "rmw": get_rmw_implementation_identifier(),
            "domain": os.environ.get("ROS_DOMAIN_ID", "0"),
            "discovery": os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET"),
            "profile": next((v for k, v in os.environ.items() if k.endswith("_DEFAULT_PROFILES_FILE")), "none"),
        }
        return status(f"{self.get_name()}: middleware", OK, "ok", values)
