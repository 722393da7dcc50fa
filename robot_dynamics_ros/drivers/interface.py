"""The driver contract: every call that a node or a tool makes of a robot driver.

A driver imports no ROS and vendor code lazily. `Driver` delivers samples, `MotionDriver` also moves the robot,
`TorqueDriver` also passes on the torques of a torque loop. Callers test with isinstance which of them a driver is, and
with `capabilities` what the robot behind it supports.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros._core import StreamState, TorqueLoop, TorqueRecord
from robot_dynamics_ros.drivers.arguments import Rows, position_rows
from robot_dynamics_ros.drivers.stream import Clock, Statistics
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.waiting import wait_until


@dataclass(frozen=True)
class RobotStatus:
    """State of the controller; texts are for people."""

    program_running: bool = False
    payload: float = float("nan")  # kg
    payload_com: tuple[float, ...] = ()  # m, flange frame
    safety_text: str = "unknown"
    mode_text: str = "unknown"
    safety_normal: bool = False
    drives_hold: bool = True  # False behind closed brakes, where an effort of zero has no meaning


@dataclass(frozen=True)
class DriverInfo:
    """Name and version of the controller, sample rate [Hz], capabilities as of the connected controller."""

    name: str
    version: str = ""
    rate: float = 0.0
    realtime: bool = False
    capabilities: frozenset[str] = field(default_factory=frozenset)
    realtime_text: str = ""  # scheduling that the system granted, or why it did not


@dataclass(frozen=True)
class MotionState:
    """State of the last motion request: idle, starting, moving, done, stopped or failed, with the reason."""

    state: str = "idle"
    reason: str = ""
    progress: float = 0.0  # 0..1 of a stream

    @property
    def active(self) -> bool:
        """True while a motion of this driver is starting or running."""
        return self.state in ("starting", "moving")


class Driver(ABC):
    """A source of samples; a subclass sets `_stream`, which judges them, before connecting: a Stream or a RtdeReader.

    robot: the robot file. capabilities: any of current, temperature, desired_state, rotor, vendor_force (signals that
    the samples carry), recover, torque (TorqueDriver; where it depends on the controller's version it is only in
    `info.capabilities`).
    """

    robot: RobotFile
    _stream: Any
    capabilities: frozenset[str] = frozenset()
    clock: Clock = Clock()
    proven = False  # True: what its samples mean is certain; else they are judged as those of another node's driver
    effort_unit = ""  # Nm or A where that much is certain
    meanwhile: Callable[[], object] | None = None  # work of the caller while a call waits for the robot; None: read

    # -- connection ---------------------------------------------------------------------------------------------------
    @abstractmethod
    def connect(self) -> None:
        """Connect and start receiving; the driver itself connects again when the connection is lost.

        Raises ConnectionFailed with a reason of one line, CapabilityError.
        """

    @abstractmethod
    def disconnect(self) -> None:
        """Stop a motion of this driver, stop receiving; may be called again."""

    @property
    @abstractmethod
    def info(self) -> DriverInfo:
        """Name, version, rate and capabilities of the connected controller."""

    # -- samples ------------------------------------------------------------------------------------------------------
    @abstractmethod
    def read(self, timeout: float) -> Sample | None:
        """The next sample in order, None when none came within `timeout` [s]. Reading never sends anything.

        The sample is valid until the next read: copy() what has to stay. Other Python threads run during the wait.
        """

    @property
    def condition(self) -> StreamState:
        """State of the stream now."""
        return self._stream.condition

    @property
    def latched(self) -> StreamState:
        """Worst state of the stream since rearm()."""
        return self._stream.latched

    def rearm(self) -> None:
        """Clear latched faults."""
        self._stream.rearm()

    def statistics(self) -> Statistics:
        """Counts since connect()."""
        return self._stream.statistics()

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Go on with `meanwhile`, or with reading, until the condition holds; False when it does not in `seconds`."""
        return wait_until(condition, seconds, self.meanwhile or (lambda: self.read(0.01)), self.clock.steady)

    # -- controller ---------------------------------------------------------------------------------------------------
    @property
    def status(self) -> RobotStatus:
        """Modes of the controller as of the last sample; unknown where the protocol has none."""
        return RobotStatus()

    @property
    def doubt(self) -> str:
        """What of the controller contradicts the robot file, in one sentence; empty where nothing does."""
        return ""

    @property
    def last_error(self) -> str:
        """Why the connection was lost, empty while it is up."""
        return ""

    def details(self) -> dict[str, str]:
        """Diagnostic values that only this robot reports."""
        return {}

    # -- settings of the controller -----------------------------------------------------------------------------------
    def set_payload(self, mass: float, com: ArrayLike, inertia: ArrayLike = (0.0,) * 6) -> None:
        """Load on the flange: mass [kg], com (3,) [m] in the flange frame, inertia (6,) about it XX XY XZ YY YZ ZZ.

        inertia in kg m2, flange axes. Raises CapabilityError, ConnectionFailed.
        """
        raise CapabilityError(f"{self.robot.name}: this driver cannot set the payload; set it on the robot itself")

    def set_collision_thresholds(self, torque: ArrayLike, force: ArrayLike) -> None:
        """Thresholds at which the robot stops: torque (n,) [Nm], force (6,) [N, Nm].

        Raises CapabilityError, ConnectionFailed.
        """
        raise CapabilityError(
            f"{self.robot.name}: this driver cannot set collision thresholds; set them on the robot itself"
        )

    def recover(self) -> str:
        """Run the robot's own error recovery; returns its answer. Raises CapabilityError with the robot's reason."""
        raise CapabilityError(f"{self.robot.name}: this driver has no error recovery")

    def zero_ft(self) -> None:
        """Zero the controller's own force-torque sensor. Raises CapabilityError where there is none."""
        raise CapabilityError(f"{self.robot.name} has no force sensor to zero: use the estimator's tare")


class MotionDriver(Driver):
    """A driver that can also move the robot. Calls return at once; `motion` is the state of the last one.

    All of them raise CapabilityError with the reason (no capability, safety mode, a motion is running, torque is live,
    a wrong shape) and ConnectionFailed. When a stream begins, its first row is compared with where the robot is then
    (refuse_start()). speed_limit: of the controller [rad/s], for robot files without limits.velocity. A subclass sets
    `_mover`, what carries a motion out: its stop() and state `motion`.
    """

    _mover: Any
    speed_limit: float | None = None

    def refuse_listening(self) -> None:
        """Raise CapabilityError where this driver only listens, with what lets it move the robot."""

    def refuse_torque_live(self, what: str) -> None:
        """Raise CapabilityError while the robot is commanded torques: `what` would replace them under it."""

    def refuse_busy(self, what: str) -> None:
        """Raise CapabilityError while torque is live or a motion of this driver runs."""
        self.refuse_torque_live(what)
        if self.motion.active:
            raise CapabilityError(f"no {what}: a motion is running: stop it first")

    def refuse_motion(self, what: str = "motion") -> None:
        """Raise CapabilityError while no `what` may begin: busy, not connected, stopped, or drives that do not hold."""
        self.refuse_busy(what)
        status = self.status
        if not self._stream.connected:
            raise CapabilityError(f"no {what}: not connected to the robot")
        if not status.safety_normal:
            raise CapabilityError(f"no {what}: safety mode is {status.safety_text}")
        if not status.drives_hold:
            raise CapabilityError(f"no {what}: robot mode is {status.mode_text}")

    def refuse_rate(self, rate: float | None) -> None:
        """Raise CapabilityError for a rate [Hz] of positions that is not the robot's own; None is the robot's own."""
        if rate is not None and not abs(rate - self.info.rate) < 1e-3:
            raise CapabilityError(f"positions are streamed at {self.info.rate:g} Hz, not {rate:g}")

    def play(
        self,
        waypoints: ArrayLike | None = None,
        positions: ArrayLike | None = None,
        rate: float | None = None,
        speed: float = 0.5,
        acceleration: float = 1.0,
    ) -> None:
        """Move point to point through waypoints (m, n) [rad], leading axis speed [rad/s], acceleration [rad/s2]; then
        stream positions (N, n) [rad] at `rate` [Hz], None: the robot's own. None: none of them.
        """
        none = np.empty((0, self.robot.n_joints))
        path, stream = (
            none if given is None else position_rows(given, self.robot.n_joints, name)
            for given, name in ((waypoints, "waypoints"), (positions, "positions"))
        )
        self.begin(path, stream, rate, speed, acceleration)

    @abstractmethod
    def begin(self, path: Rows, stream: Rows, rate: float | None, speed: float, acceleration: float) -> None:
        """Begin play(): path (m, n), stream (N, n), finite."""

    def stop(self) -> None:
        """Decelerate to standstill; does nothing when this driver moves nothing. From any thread, without waiting."""
        self._mover.stop()

    @property
    def motion(self) -> MotionState:
        """State of the present or last motion."""
        motion: MotionState = self._mover.motion
        return motion


class TorqueDriver(MotionDriver):
    """A driver that can also command torques: a C++ TorqueLoop computes them from the states that the driver receives.

    Order of calls: attach(), connect(), start_torque(), loop.enable(), then read() and take_records() in turn; stop()
    or loop.disable() ends it.
    """

    loop: TorqueLoop | None = None  # the one attached; its torques leave from the receiving thread (C++)
    with_torque = True  # False: made without it

    @cached_property
    def records(self) -> deque[TorqueRecord]:
        """Of the loop's cycles, oldest first; the caller removes what it has used, beyond 4096 the oldest are lost."""
        return deque(maxlen=4096)

    def refuse_torque_live(self, what: str) -> None:
        """Raise CapabilityError while torque is live, the ramp to zero included."""
        if self.loop is not None and self.loop.running:
            raise CapabilityError(f"no {what}: torque is live: disable it first")

    def wait_until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """As Driver.wait_until; torques go on meanwhile."""

        def holds() -> bool:
            self.take_records()
            return condition()

        return super().wait_until(holds, seconds)

    def attach(self, loop: TorqueLoop) -> None:
        """The loop that is stepped with every state from connect() on. Raises CapabilityError (made without torque)."""
        if not self.with_torque:
            raise CapabilityError(f"{self.robot.name}: the driver was made without torque")
        self.loop = loop

    def refuse_torque_start(self) -> None:
        """Raise CapabilityError while torque may not begin: no loop is attached, a doubt, or as refuse_motion()."""
        if self.loop is None:
            raise CapabilityError(f"{self.robot.name}: no torque loop is attached")
        self.refuse_motion()
        if doubt := self.doubt:
            raise CapabilityError(f"no torque: {doubt}")

    @abstractmethod
    def start_torque(self) -> None:
        """Bring the controller into torque mode, with zero torque until the loop is enabled.

        Raises CapabilityError, ConnectionFailed with the reason.
        """

    def take_records(self) -> bool:
        """Move the loop's new records into `records`, after every read(); whether the newest one commands torque."""
        run = False
        while self.loop is not None and (record := self.loop.pop()) is not None:
            self.records.append(record)
            run = record.run
        return run
