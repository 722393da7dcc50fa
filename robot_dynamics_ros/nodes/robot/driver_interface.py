"""The driver inside a node: made from parameters; its settings, motion, torque and recovery; its stream's health."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.factory import DRIVERS, make_driver
from robot_dynamics_ros.drivers.interface import Driver, MotionDriver, RobotStatus, TorqueDriver
from robot_dynamics_ros.drivers.stream import Clock, Rate, Statistics
from robot_dynamics_ros.errors import CapabilityError, RobotDynamicsError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN, worst
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart
from robot_dynamics_ros.nodes.robot.motion_interface import MotionInterface
from robot_dynamics_ros.nodes.robot.readiness import SILENCE
from robot_dynamics_ros.nodes.robot.robot_settings import RobotSettings, SetPayload
from robot_dynamics_ros.nodes.robot.stops import Stops
from robot_dynamics_ros.nodes.robot.torque_interface import TorqueInterface
from robot_dynamics_ros.nodes.tables import STREAM_OPTIONS
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import DRIVER_TOPICS, MAIN

LEVELS = {StreamState.ok: OK, StreamState.degraded: WARN, StreamState.safe: ERROR, StreamState.fault: ERROR}
LATE, CAUGHT_UP = 0.2, 0.02  # s from arrival: samples later than LATE are not published until one is within CAUGHT_UP


def driver_for(node: LifecycleBase, robot: RobotFile) -> Driver | None:
    """The driver that a node's parameters name, None for `none`. Raises what make_driver raises."""
    kind = node.value("driver")
    if kind == "none":
        return None
    options = {name: node.value(name) for name in STREAM_OPTIONS + DRIVERS[kind].options}
    if not options.get("port"):
        options.pop("port", None)  # the driver's own default
    return make_driver(kind, robot, node.value("ip"), **options)


class Lateness:
    """States which samples a machine that is too slow leaves unpublished, and counts them.

    Publishing is most of a sample's processor time. Without this rule a node that falls behind is late by as much as
    the driver's queue holds (4 s), and every estimate on its topics with it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._late, self.unpublished = False, 0

    def of(self, sample: Sample) -> bool:
        """True from a sample that waited for longer than LATE to the first that waited for less than CAUGHT_UP."""
        waited = 1e-9 * (self._clock.system_ns() - sample.receive_ns)
        self._late = waited > (CAUGHT_UP if self._late else LATE)
        self.unpublished += self._late
        return self._late


class DriverInterface(NodePart):
    """Made before the driver connects; on_sample() is called with every sample. Raises CapabilityError (torque).

    stops: makes the path of stops of a node; None: the node's own thread.
    """

    def __init__(
        self, node: LifecycleBase, driver: Driver, stops: Callable[[LifecycleBase], Stops] | None = None
    ) -> None:
        super().__init__(node)
        self._driver = driver
        driver.meanwhile = self._go_on
        self._stops = Stops(node, driver.wait_until) if stops is None else stops(node)
        # first, because it refuses what the driver cannot do before anything has to be removed again
        try:
            self._torque = self._make_torque() if node.value("torque") else None
        except RobotDynamicsError:
            self._stops.destroy()
            raise
        end_torque = self._torque.end if self._torque is not None else None
        self._motion = None
        if isinstance(driver, MotionDriver):
            self._motion = MotionInterface(node, driver, self._stops, end_torque)
        self.settings, self.lateness = RobotSettings(node, driver), Lateness(driver.clock)
        self._payload = SetPayload(node, driver, self.settings)
        self._since = driver.clock.steady()  # of the last look at a stream, or the start
        self._cpu, self._logged = Rate(time.process_time()), set[str]()  # causes of this failure
        self._looked, self._left_out, self.connected_again = Statistics(), 0, False  # as last reported
        self.trigger("~/rearm", self._rearm)
        if "recover" in driver.capabilities:
            self.trigger("~/recover", driver.recover)

    def _make_torque(self) -> TorqueInterface:
        if not isinstance(self._driver, TorqueDriver):
            name = self._driver.robot.name
            raise CapabilityError(f"{name}: this driver takes no torques; set the parameter torque to false")
        return TorqueInterface(self._node, self._driver, self._stops)

    def destroy(self) -> None:
        """Remove topics and services."""
        super().destroy()
        for part in (self._stops, self._motion, self._torque, self._payload):
            if part is not None:
                part.destroy()

    @property
    def topics(self) -> list[str]:
        """Topics of what is measured and commanded; joint_states last, so that its companions are there before it."""
        names = [name for name, need in DRIVER_TOPICS.items() if need in self._driver.capabilities]
        return [*names, *(["feedforward_torque"] if self._torque is not None else []), MAIN]

    @property
    def torque_live(self) -> bool:
        """True while torque may leave."""
        return self._torque is not None and self._torque.live

    @property
    def flooded(self) -> bool:
        """True while refused trajectories are dropped unread."""
        return self._motion is not None and self._motion.flooded

    def _go_on(self) -> None:
        """While a service waits for the robot: samples are read, estimated from and published as ever."""
        if not self._node.work():
            self._driver.read(0.01)

    def exchange(self, timeout: float) -> Sample | None:
        """Read the next sample, None after `timeout` [s]; then take the records of a torque loop."""
        sample = self._driver.read(timeout)
        if self._torque is not None:
            self._torque.take_records()
        if sample is None and self._motion is not None:
            self._motion.on_silence()
        return sample

    def disconnect(self) -> None:
        """Disconnect the driver; a motion has ended then. May be called again."""
        self._driver.disconnect()
        if self._motion is not None:
            self._motion.on_disconnect()

    def on_sample(self, sample: Sample) -> None:
        """Every sample, before it is published: write into it what was commanded; name a payload that was set."""
        self._payload.on_sample(sample.stamp_ns)
        if self._torque is not None:
            self._torque.on_sample(sample)
        if self._motion is not None:
            self._motion.on_sample(sample)

    def _rearm(self) -> str:
        if not self._node.active:
            raise CapabilityError("the node is not active: activate it first, which connects the robot")
        if self._driver.condition >= StreamState.safe:
            raise CapabilityError(f"the fault is still there: {worst(*self._faults())[1]}")
        if self._torque is not None:
            self._torque.rearm()
        self._driver.rearm()
        return "latched faults cleared"

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def _status(self) -> RobotStatus:
        """Modes of the controller; of one that is not connected none is known, and nothing is wrong with them."""
        gone = self._driver.condition == StreamState.fault
        return RobotStatus(safety_normal=True) if gone else self._driver.status

    def _faults(self) -> list[tuple[bytes, str]]:
        """Level and text of the stream, and of a safety mode that is not normal."""
        driver, robot = self._driver, self._status()
        level, text, error = LEVELS[driver.condition], f"stream {driver.condition.name}", driver.last_error
        if driver.condition < StreamState.fault:
            self._since = driver.clock.steady()
        if level != OK and error:
            text = error
        elif driver.condition == StreamState.fault:
            level, text = self._nothing()
        elif level != OK and robot.safety_normal:
            text += f": {self._cause()}"
        found = [(level, text)]
        return found if robot.safety_normal else [*found, (ERROR, f"safety mode {robot.safety_text}")]

    def _nothing(self) -> tuple[bytes, str]:
        """Level and text while there is no sample: none can be used, or none comes."""
        counts, before = self._driver.statistics(), self._looked
        refused = {"malformed": "malformed", "not finite": "non_finite", "of a repeated time": "duplicates"}
        new = {what: getattr(counts, name) - getattr(before, name) for what, name in refused.items()}
        if found := ", ".join(f"{n} {what}" for what, n in new.items() if n > 0):
            return ERROR, f"no sample can be used ({found}): compare what the robot sends with what the driver reads"
        if self._driver.clock.steady() - self._since > SILENCE:
            return ERROR, f"no sample for {SILENCE:g} s: does the robot send, and to this address?"
        return WARN, "no sample has arrived yet"

    def _cause(self) -> str:
        """Why the stream is not ok, from what was counted since the last look, and what to do."""
        counts, before = self._driver.statistics(), self._looked
        if counts.non_finite > before.non_finite:
            return "the controller sends numbers that are not finite, restart it"
        if counts.frozen > before.frozen:
            return "the controller repeats its measurements while it moves, restart it"
        return "samples come late, or none: check cable, network and the load of this machine"

    def diagnose(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values of the stream and the robot behind it."""
        driver = self._driver
        counts, robot, condition = driver.statistics(), self._status(), driver.condition
        found = self._faults()
        before, self._looked, unpublished = self._looked, counts, self.lateness.unpublished
        self.connected_again = counts.reconnects > before.reconnects
        if (lost := counts.overruns - before.overruns) > 0:
            found.append((ERROR, f"{lost} samples lost within a second: this machine is too slow"))
        if left_out := unpublished - self._left_out:
            text = f"{left_out} samples not published within a second, to catch up: this machine is too slow"
            found.append((WARN, text))
        self._left_out = unpublished
        if condition < StreamState.fault and (forgotten := self.settings.forgotten()):
            found.append((WARN, forgotten))
        if condition < StreamState.fault and (doubt := driver.doubt):
            found.append((ERROR, doubt))
        values = {
            "condition": condition.name,
            "latched": driver.latched.name,
            "robot mode": robot.mode_text,
            "safety mode": robot.safety_text,
            "program running": robot.program_running,
            "payload [kg]": robot.payload,
            "version": driver.info.version,
            "real-time thread": driver.info.realtime_text or driver.info.realtime,
        }
        if isinstance(driver, MotionDriver):
            values["motion"] = driver.motion.state
        values |= {name: count for name, count in asdict(counts).items() if name != "rate"}
        cpu = 100 * self._cpu.of(time.process_time())
        values |= {"not published": unpublished, "this process [% of a core]": f"{cpu:.0f}"}
        values |= {"samples received [Hz]": f"{counts.rate:.1f}"} | driver.details()
        level, text = worst(*found)
        self._log(level == ERROR, text)
        return level, text, values

    def _log(self, fails: bool, text: str) -> None:
        """Each cause of a failure of the stream once, whatever its numbers are, and the end of the failure."""
        logger = self._node.get_logger()
        if fails and (cause := re.sub(r"\d+", "", text)) not in self._logged:
            logger.error(text)
            self._logged.add(cause)
        elif not fails and self._logged:
            logger.info("the robot's stream is as it should be again")
            self._logged.clear()

    def diagnose_torque(self) -> list[Any]:
        """Entries of the guard and of adaptation."""
        return self._torque.diagnose() if self._torque is not None else []
