"""What a robot driver offers to nodes, pipeline and tools; drivers know no ROS and import vendor code lazily."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.motion import Motion
from robot_dynamics_ros.signals import Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


@dataclass(frozen=True)
class RobotStatus:
    """What the controller says about itself; numbers are the vendor's, texts are for people."""

    robot_mode: int = -1
    safety_mode: int = -1
    program_running: bool = False
    speed_scaling: float = float("nan")
    payload: float = float("nan")  # kg
    payload_com: tuple[float, ...] = ()  # m, flange frame
    safety_text: str = "unknown"
    mode_text: str = "unknown"
    safety_normal: bool = False


@dataclass(frozen=True)
class Statistics:
    """Counts since connecting, by controller time where time is concerned."""

    rate: float = 0.0  # samples per second over the last interval this was asked for
    samples: int = 0
    missed: int = 0
    duplicates: int = 0
    frozen: int = 0  # measured values repeated exactly under a new stamp
    backwards: int = 0  # controller clock went back
    non_finite: int = 0
    stalls: int = 0
    overruns: int = 0  # samples lost because nobody read them in time
    reconnects: int = 0
    malformed: int = 0
    pending: int = 0
    unsent: int = 0  # torque packages the socket did not take


@dataclass(frozen=True)
class DriverInfo:
    """Who is at the other end."""

    name: str
    version: str = ""
    rate: float = 0.0
    realtime: bool = False
    capabilities: frozenset[str] = field(default_factory=frozenset)
    realtime_text: str = ""  # what the system granted, or why not


@runtime_checkable
class Driver(Protocol):
    """A source of samples and, where the robot allows it, a sink of motion.

    capabilities: any of current, temperature, desired_state, rotor, vendor_force, move, servo, payload,
    collision, zero_ft, recover, torque.
    """

    robot: RobotFile
    capabilities: frozenset[str]

    def connect(self) -> None:
        """Connect and start receiving; raises ConnectionFailed with one line."""

    def disconnect(self) -> None:
        """Stop motion of ours, stop receiving; may be repeated."""

    def read(self, timeout: float) -> Sample | None:
        """The next sample in order, None when none came within `timeout` [s]; other Python threads run meanwhile.

        The sample is valid until the next read: copy() what has to stay.
        """

    @property
    def condition(self) -> StreamState:
        """Trust in the stream right now."""

    @property
    def latched(self) -> StreamState:
        """Worst condition since rearm()."""

    def rearm(self) -> None:
        """Forget latched faults."""

    @property
    def info(self) -> DriverInfo:
        """Controller version, rate and abilities."""

    @property
    def status(self) -> RobotStatus:
        """Modes of the controller as of the last sample."""

    @property
    def last_error(self) -> str:
        """Why the connection was lost, empty while it is there."""

    def statistics(self) -> Statistics:
        """Counts since connecting."""


class MotionDriver(Driver, Protocol):
    """A driver that can also move the robot. Calls return at once; `motion` tells what became of them."""

    def move_path(self, waypoints: np.ndarray, speed: float = 0.5, acceleration: float = 1.0) -> None:
        """Point to point through waypoints (m, n) [rad]; leading axis speed [rad/s], acceleration [rad/s2]."""

    def servo(self, positions: np.ndarray, rate: float = 500.0) -> None:
        """Stream positions (N, n) [rad] at `rate` [Hz], starting where the robot is."""

    def stop(self) -> None:
        """Decelerate to standstill."""

    @property
    def motion(self) -> Motion:
        """State of the present or last motion."""
