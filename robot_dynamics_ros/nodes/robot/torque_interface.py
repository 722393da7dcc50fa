"""Torque of a node: topic joint_torque_command, services that enable and disable it, a dead-man switch, diagnostics.

Every torque passes the guard in the driver's thread; this side only requests. Enabling is refused with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, StreamState, TorqueMode, TorqueRecord
from robot_dynamics_ros.control.torque import coulomb_level, torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits, refuse_semantics, refuse_torque
from robot_dynamics_ros.drivers.interface import TorqueDriver
from robot_dynamics_ros.errors import CapabilityError, RobotDynamicsError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.claims import of_this_machine
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN, LatencyMeter, status, worst
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart, reason
from robot_dynamics_ros.nodes.robot.adaptation import AdaptedFriction
from robot_dynamics_ros.nodes.robot.command_source import other_commanders, refuse_other_commanders
from robot_dynamics_ros.nodes.robot.stops import Stops
from robot_dynamics_ros.nodes.topics.encoding import possible_ns
from robot_dynamics_ros.nodes.topics.qos import NEWEST
from robot_dynamics_ros.signals import Sample, joint_columns
from robot_dynamics_ros.signals.speeds import MOVING
from robot_dynamics_ros.trajectories.files import load_waypoints
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits
from robot_dynamics_ros.trajectories.smooth import through

CHECK_PERIOD = 0.05  # s between two counts of the publishers
END_TIMEOUT = 1.0  # s of the robot's time until torque must be off; the ramp to zero takes 0.1
REFUSALS = {
    EnableResult.pending: "the loop does not answer: no states",
    EnableResult.latched: "latched off: re-arm first",
    EnableResult.no_state: "there is no fresh state",
    EnableResult.start_mismatch: "the robot is not where the trajectory begins: move it there first",
    EnableResult.not_smooth: "flexible joints need a trajectory with jerk and snap",
    EnableResult.ramping: "the previous torque is still being ramped out: wait 0.1 s",
    EnableResult.stopped: "the robot is stopped (safety mode, or not running)",
    EnableResult.no_program: "the program that takes torques does not run on the robot",
    EnableResult.withdrawn: "disabled, tripped or stopped before it could be enabled",
    EnableResult.not_held: "the enable switch is not held",
}
LOAD = 3.0  # times the torque limit: a command beyond it is no torque in Nm
LATCHED = (GuardState.safe, GuardState.fault)
LEVELS = {GuardState.degraded: WARN, **dict.fromkeys(LATCHED, ERROR)}


def _refuse_time_scale(scale: float, host: str) -> None:
    """Another pace than the host's belongs to a simulated robot, on this machine. Raises CapabilityError."""
    if scale != 1.0 and not of_this_machine(host):
        raise CapabilityError(f"control.time_scale {scale:g} is for a simulated robot on this machine, not for {host}")


class TorqueInterface(NodePart):
    """Made before the driver connects; on_sample() is called with every sample.

    Raises CapabilityError where the robot file lacks what the guard or the control law needs, and for a time scale
    without a simulated robot. stops: the path on which torque is disabled and the enable switch is heard.
    """

    def __init__(self, node: LifecycleBase, driver: TorqueDriver, stops: Stops) -> None:
        super().__init__(node)
        self._driver, self.robot, self._stops = driver, driver.robot, stops
        values = node.values("control.")
        _refuse_time_scale(values["time_scale"], node.value("ip"))
        limits = guard_limits(self.robot, values["torque_share"], enable_timeout=values["enable_timeout"])
        self.loop = torque_loop(self.robot, limits, values)
        driver.attach(self.loop)
        self._adapted = AdaptedFriction(node, self.robot, self.loop, values["law"])
        self.locked = _core.lock_memory()[1] if node.value("realtime_priority") > 0 else "not requested"
        self._model = RobotModel(self.robot.chain(), self.robot.joint_names)
        self._age, self._arrival = LatencyMeter(), LatencyMeter()
        self._refused, self._told = 0, False  # told: that the guard has latched
        self._carries = False  # a payload is named
        self._last: TorqueRecord | None = None  # record of the last cycle
        self._sample: Sample | None = None
        self._timeout = END_TIMEOUT / min(1.0, values["time_scale"])
        self._checked = driver.clock.steady()
        self._columns: dict[tuple[str, ...], list[int]] = {}
        self._most = LOAD * self.robot.array("limits.torque")
        name = f"{node.value('prefix')}/joint_torque_command"
        self._commands = self.subscribe(JointState, name, self._command, NEWEST)
        self._switch = stops.subscribe(Bool, "~/enable_switch", self._on_switch, NEWEST)
        self.trigger("~/enable_torque", lambda: self._enable(TorqueMode.external))
        self.trigger("~/enable_guiding", lambda: self._enable(TorqueMode.guide))
        self.trigger("~/enable_tracking", lambda: self._enable(TorqueMode.track))
        stops.trigger("~/disable_torque", self._disable)

    def destroy(self) -> None:
        """Save the adaptation; remove topics and services."""
        self._adapted.save(self._last)
        super().destroy()

    # -- every sample -------------------------------------------------------------------------------------------------
    def take_records(self) -> None:
        """After every read: collect the loop's records."""
        self._driver.take_records()

    def on_sample(self, sample: Sample) -> None:
        """Write the feedforward of the last cycle into the sample, pass contact to the loop, check the publishers."""
        self._sample = sample
        records = self._driver.records
        while records:
            self._last = records.popleft()
            if self._last.age >= 0 and self._last.run:
                self._age.add(self._last.age)
        if self._last is not None and self._last.run:
            sample.feedforward_torque = self._last.friction
        if self._touched(sample.contact):
            self.loop.contact()
        if self._carries != bool(np.nan_to_num(sample.payload[0])):  # named on the topic; the loop's model lacks it
            self._carries = not self._carries
            self.loop.freeze(self._carries)
        now = self._driver.clock.steady()
        if now - self._checked > CHECK_PERIOD:
            self._checked = now
            self._check()

    def _touched(self, contact: np.ndarray) -> bool:
        """Whether there is contact; where nobody estimates it, there is while the arm is guided."""
        if contact[0] == contact[0]:
            return bool(contact.any())
        return self._last is not None and self._last.run and self._last.mode == TorqueMode.guide

    @property
    def live(self) -> bool:
        """True while torque may leave."""
        return self.loop.state in (GuardState.ok, GuardState.degraded)

    def _check(self) -> None:
        if self.live and (self._publishers() > 1 or self._node.namesakes() or other_commanders(self._node)):
            self.loop.trip(GuardReason.publisher)
        self._adapted.save_regularly(self._last)

    def _publishers(self) -> int:
        return self._node.count_publishers(self._commands.topic_name)

    # -- commands -----------------------------------------------------------------------------------------------------
    def _command(self, message: JointState) -> None:
        """Torques [Nm] by joint name, stamped as the state they answer; words in frame_id say what they are."""
        words = message.header.frame_id.split()
        try:
            stamp = possible_ns(message.header.stamp)
            torque = self._by_name(message)
        except RobotDynamicsError as error:
            self._refused += 1
            self._node.get_logger().warning(f"torque refused: {reason(error)}", throttle_duration_sec=2.0)
            return
        gravity = self._declared(
            "gravity", "no_gravity", words, not self.robot.drives.torque_command.gravity_compensated
        )
        link = self._declared("link", "motor", words, self.robot.drives.torque_side == "link")
        self._arrival.add(1e-9 * (time.time_ns() - stamp))
        self.loop.command(stamp, torque, gravity, link)

    @staticmethod
    def _declared(yes: str, no: str, words: list[str], default: bool) -> bool:
        return True if yes in words else False if no in words else default

    def _by_name(self, message: JointState) -> np.ndarray:
        names = tuple(message.name)
        if len(message.effort) != len(names):
            raise CapabilityError(f"{len(message.effort)} torques for {len(names)} joints")
        if names not in self._columns:
            self._columns = {names: joint_columns(names, self.robot.joint_names, self.robot.joint_aliases)}
        torque = np.array(message.effort, dtype=np.float64)[self._columns[names]]
        for j in np.flatnonzero(np.isfinite(torque) & (np.abs(torque) > self._most)):
            joint = self.robot.joint_names[j]
            bound = f"{self._most[j]:g} Nm, {LOAD:g} times its limit"
            raise CapabilityError(f"{torque[j]:.4g} Nm for {joint} is beyond {bound}: wrong unit?")
        return torque

    def _on_switch(self, message: Bool) -> None:
        """The enable switch: held while true arrives, released by false or by silence."""
        if message.data:
            self.loop.refresh()
        else:
            self.loop.trip(GuardReason.enable_lost)

    # -- services -----------------------------------------------------------------------------------------------------
    def _enable(self, mode: TorqueMode) -> str:
        self._refuse()
        motion = self._trajectory() if mode == TorqueMode.track else None
        driver, ends = self._driver, self.loop.ends
        driver.start_torque()
        try:
            self._begin(mode, motion, ends)
        except RobotDynamicsError:
            self.loop.disable()  # a request that was not served must not be served later
            driver.stop()  # a Franka arm that takes torques is free to move, also by none
            raise
        return f"torque enabled: {mode.name}"

    def _begin(self, mode: TorqueMode, motion: Any, ends: int) -> None:
        """Enable the loop of a controller that takes torques; not where it was disabled, or its switch let go since."""
        refuse_torque(self.robot, self._driver.info, self._driver.status)  # starting took time: it may be stopped
        self.loop.enable(mode, motion, ends)
        self._wait(lambda: self.loop.enabled != EnableResult.pending)
        if (result := self.loop.enabled) != EnableResult.done:
            raise CapabilityError(f"no torque: {REFUSALS[result]}")
        if not self.live:
            raise CapabilityError(f"no torque: it was enabled and ended at once: {self.loop.reason.name}")

    def _wait(self, condition: Callable[[], bool]) -> bool:
        """Go on until the condition holds; False after `_timeout`."""
        return self._driver.wait_until(condition, self._timeout)

    def _refuse(self) -> None:
        driver, sample = self._driver, self._sample
        if not self._node.active or sample is None:
            raise CapabilityError("no torque: the node is not active, or no state has arrived")
        refuse_torque(self.robot, driver.info, driver.status)
        if driver.condition >= StreamState.safe:
            raise CapabilityError(f"no torque: {driver.last_error or 'the stream of states is not alive'}")
        if self.live:
            raise CapabilityError("no torque: it is enabled already; disable it first")
        if self.loop.running:
            raise CapabilityError(f"no torque: {REFUSALS[EnableResult.ramping]}")
        if self.loop.state != GuardState.idle:
            why = f"{self.loop.state.name}, {self.loop.reason.name}"
            raise CapabilityError(f"no torque: the guard is latched ({why}); call ~/rearm first")
        if not self.loop.held:
            raise CapabilityError(
                f"no torque: the enable switch is not held; publish true on {self._switch.topic_name}"
            )
        refuse_other_commanders(self._node)
        if self._publishers() > 1:
            raise CapabilityError(f"no torque: {self._publishers()} publishers on {self._commands.topic_name}")
        if self._node.namesakes():
            raise CapabilityError(
                f"no torque: there is another node named {self._node.get_name()}; end it (one that was killed is "
                "forgotten after some seconds)"
            )
        if not np.abs(sample.qd).max() <= MOVING:
            raise CapabilityError("no torque: the robot moves; what its effort means is checked at rest")
        refuse_semantics(self.robot, sample.effort, self._model.gravity(sample.q), coulomb_level(self.robot))

    def _trajectory(self) -> Any:
        path = self._node.value("waypoints")
        if not path:
            raise CapabilityError("no torque: parameter waypoints names no file to follow")
        points = load_waypoints(path, self.robot.joint_names)
        refuse_outside_limits(self.robot, points, 0.0)  # positions, before a path of any length is computed
        speed = np.minimum(self._node.value("tracking_speed"), 0.8 * self.robot.array("limits.velocity"))
        motion = through(
            np.vstack([points, points[:1]]), velocity=speed, acceleration=0.5 * self.robot.array("limits.acceleration")
        )
        refuse_outside_limits(self.robot, motion.q)
        return _core.TorqueTrajectory(motion.q, motion.qd, motion.qdd, 500.0, True, motion.jerk, motion.snap)

    def end(self) -> bool:
        """Ramp torque out and wait for the end; False: there was none. Raises CapabilityError when it goes on.

        On the path of the stops.
        """
        was = self.live or self.loop.running
        self.loop.disable()
        if not self._stops.wait(lambda: not self.live and not self.loop.running, self._timeout):
            raise CapabilityError(f"torque goes on: guard {self.loop.state.name}; stop the robot itself")
        return was

    def _disable(self) -> str:
        return "torque is off" if self.end() else "torque was off"

    def rearm(self) -> None:
        """Set a latched guard back to idle; torque stays off until it is enabled again.

        Raises CapabilityError where the guard stays latched.
        """
        self._wait(lambda: self.live or not self.loop.running)  # out of the ramp
        self.loop.rearm()
        if not self._wait(lambda: self.loop.state not in LATCHED):
            raise CapabilityError(f"the guard stays {self.loop.state.name}: {self.loop.reason.name}")
        self._told = False  # it may latch again before the next diagnostics

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self) -> list[Any]:
        """Entries of the guard with counters and ages, and of the adapted friction of each joint."""
        loop, name = self.loop, self._node.path
        latched = loop.state in LATCHED
        if latched and not self._told:
            why = f"guard {loop.state.name}{self._why()}"
            self._node.get_logger().error(f"torque is ramped out, {why}; call ~/rearm before it is enabled again")
        self._told = latched
        found = [(LEVELS.get(loop.state, OK), f"guard {loop.state.name}" + self._why())]
        info = self._driver.info
        if not info.realtime:
            found.append((OK, f"not real-time ({info.realtime_text})" if info.realtime_text else "not real-time"))
        values: dict[str, Any] = {"state": loop.state.name, "reason": loop.reason.name, "cycles": loop.cycles}
        values |= {f"count {key}": loop.count(r) for key, r in GuardReason.__members__.items() if loop.count(r)}
        values |= self._age.summary("command age") | self._arrival.summary("state to topic command")
        values |= {"real-time thread": info.realtime_text or info.realtime, "memory": self.locked}
        values |= {"refused commands": self._refused}
        values |= {"records lost": loop.lost_records, "unsent": self._driver.statistics().unsent}
        return [status(f"{name}: torque guard", *worst(*found), values), *self._adapted.diagnose(self._last)]

    def _why(self) -> str:
        """The reason of a state that has one: that of before the last ~/rearm stays in the loop."""
        has_one = self.loop.state in LEVELS and self.loop.reason != GuardReason.none
        return f": {self.loop.reason.name}" if has_one else ""
