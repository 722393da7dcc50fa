"""Franka arms through libfranka: an unmodified client in a process of its own, states through shared memory."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros._core import GuardReason, TorqueLoop
from robot_dynamics_ros.drivers.arguments import Rows, finite_numbers, load_of
from robot_dynamics_ros.drivers.franka.process import FrankaProcess
from robot_dynamics_ros.drivers.franka.rows import JOINTS, PLACES, STOPPED_MODES, WIDTH
from robot_dynamics_ros.drivers.interface import DriverInfo, RobotStatus, TorqueDriver
from robot_dynamics_ros.drivers.stream import Statistics, Stream
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample

MOVING = 1e-3  # rad/s of the desired velocity above which motion is commanded
MODES = {0: "other", 1: "idle", 2: "move", 3: "guiding", 4: "reflex", 5: "user stopped", 6: "automatic error recovery"}
START_TIMEOUT = 10.0  # s until torque control must have started
SIGNALS = {  # signal -> field of the robot state
    "q": "q",
    "qd": "dq",
    "effort": "tau_J",
    "theta": "theta",
    "omega": "dtheta",
    "q_d": "q_d",
    "qd_d": "dq_d",
    "qdd_d": "ddq_d",
}
# The vendor's estimates are tau_J minus the model torque [libfranka RobotState, tau_ext_hat_filtered]: what the robot
# exerts on the environment. Ours is environment on robot; the sign flips here and nowhere else.
VENDOR_SIGN = -1.0
VENDOR = {"vendor_external_joint_torque": "tau_ext_hat_filtered", "vendor_external_wrench": "O_F_ext_hat_K"}

BESIDE = (*list(SIGNALS)[3:], *VENDOR)  # the first three are measured: without them there is no sample


class FrankaDriver(TorqueDriver):
    """Driver of Franka arms, 1 kHz.

    effort [Nm] = tau_J of the joint torque sensors, link side, gravity included; torque commands exclude gravity and
    friction, which the robot adds. theta, omega: motor side, reflected. Stamps are robot time on the host clock.
    stream_options: of Stream. Raises CapabilityError for another number of joints.
    """

    capabilities = frozenset({"rotor", "desired_state", "vendor_force", "recover", "torque"})
    proven = True
    effort_unit = "Nm"

    def __init__(
        self, robot: RobotFile, host: str, realtime_priority: int = 0, torque: bool = False, **stream_options: Any
    ) -> None:
        if robot.n_joints != JOINTS:
            raise CapabilityError(f"{robot.name}: a Franka arm has {JOINTS} joints, the robot file {robot.n_joints}")
        self.robot, self.host = robot, host
        rate = robot.sensing.sample_rate or 1000.0
        self._stream = Stream(rate, lambda: self._mover.received_ns(), **stream_options)
        self.with_torque = torque
        self._mover = FrankaProcess(robot, host, self._stream, realtime_priority)
        self.sample = Sample(robot.joint_names)
        self._row = np.full(WIDTH, np.nan)
        self._watched = np.zeros(3 * JOINTS)

    # -- connection ---------------------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Connect and start receiving. Raises ConnectionFailed with the reason."""
        self._mover.connect()

    def disconnect(self) -> None:
        """Stop a motion of this driver, end the process; may be called again."""
        self._mover.disconnect()

    # -- samples ------------------------------------------------------------------------------------------------------
    def read(self, timeout: float) -> Sample | None:
        """Next sample in order, or None. While motion is commanded, frozen samples are withheld: they are stale."""
        until = time.monotonic() + timeout
        while (times := self._mover.take(self._row, until)) is not None:
            sample = self._judged(times)
            if sample is not None:
                return sample
        return None

    def _judged(self, times: tuple[int, int, int]) -> Sample | None:
        row, watched = self._row, self._watched
        for i, name in enumerate(("q", "dq", "tau_J")):
            watched[i * JOINTS : (i + 1) * JOINTS] = row[PLACES[name]]
        moving = bool(np.abs(row[PLACES["dq_d"]]).max() > MOVING)
        mode = int(self.value("robot_mode")[0]) if np.isfinite(self.value("robot_mode")[0]) else 0
        safety = 3 if mode in STOPPED_MODES else 1
        stamp = self._stream.take(times[0], watched, moving, safety, times[1], times[2])
        if stamp is None or self._stream.frozen:
            return None
        sample = self.sample
        sample.buffer.fill(np.nan)
        for signal, name in SIGNALS.items():
            getattr(sample, signal)[:] = row[PLACES[name]]
        for signal, name in VENDOR.items():
            getattr(sample, signal)[:] = VENDOR_SIGN * row[PLACES[name]]
        self._stream.clean(*(getattr(sample, signal) for signal in BESIDE))
        sample.stamp_ns, sample.receive_ns = stamp, times[1]
        return sample

    def value(self, name: str) -> np.ndarray:
        """A field of the last robot state (width,), NaN before the first."""
        return self._row[PLACES[name]]

    # -- condition ----------------------------------------------------------------------------------------------------
    @property
    def info(self) -> DriverInfo:
        """Version of the client library, rate and abilities."""
        return DriverInfo("franka", self._mover.version, self._stream.rate, self._mover.realtime, self.capabilities)

    @property
    def status(self) -> RobotStatus:
        """Modes as of the last sample read."""
        mode = self.value("robot_mode")[0]
        number = int(mode) if np.isfinite(mode) else -1
        text = MODES.get(number, f"unknown ({number})")
        normal = number in MODES and number not in STOPPED_MODES
        return RobotStatus(
            program_running=self.motion.active,
            payload=float(self.value("m_load")[0]),
            safety_text="normal" if normal else text,
            mode_text=text,
            safety_normal=normal,
        )

    @property
    def last_error(self) -> str:
        """Why the connection was lost, empty while it is up."""
        return self._mover.error

    def statistics(self) -> Statistics:
        """Counts since connecting."""
        return self._stream.statistics(**self._mover.counts())

    def details(self) -> dict[str, str]:
        """Diagnostic values that only this robot reports."""
        return {
            "control_command_success_rate": f"{self.value('control_command_success_rate')[0]:.3f}",
            "driver process [% of a core]": f"{100 * self.value('cpu_share')[0]:.0f}",
        }

    # -- motion -------------------------------------------------------------------------------------
    def begin(self, path: Rows, stream: Rows, rate: float | None, speed: float, acceleration: float) -> None:
        """See MotionDriver: path (m, 7), stream (N, 7) at the robot's rate."""
        self.refuse_rate(rate)
        if not (0.0 < speed <= 2.0 and 0.0 < acceleration <= 10.0):
            raise CapabilityError(f"speed {speed} rad/s or acceleration {acceleration} rad/s2 is outside 0..2, 0..10")
        request = {"do": "play", "split": len(path), "speed": speed, "acceleration": acceleration}
        self.refuse_motion()
        self._mover.begin(request, np.vstack([path, stream]))

    # -- torque -------------------------------------------------------------------------------------------------------
    def attach(self, loop: TorqueLoop) -> None:
        """As TorqueDriver.attach."""
        super().attach(loop)
        self._mover.attach(loop)

    def start_torque(self) -> None:
        """Torque control by the attached loop, zero until it is enabled: the robot adds gravity and friction.

        Returns once it runs; ends by stop() or without fresh torques. Raises CapabilityError, ConnectionFailed with
        the reason.
        """
        self.refuse_torque_start()
        self._mover.begin({"do": "torque"})
        self.wait_until(lambda: self.motion.state != "starting", START_TIMEOUT)
        if self.motion.state != "moving":
            self.stop()  # what has not begun in time does not begin later
            raise ConnectionFailed(f"no torque: {self.motion.reason or self.motion.state}")

    def take_records(self) -> bool:
        """See TorqueDriver; a loop that is enabled while the client is not in torque control is latched off."""
        run = super().take_records()
        if run and self.loop is not None and not self.motion.active:
            self.loop.trip(GuardReason.robot_stopped)
        return run

    # -- settings -----------------------------------------------------------------------------------------------------
    def recover(self) -> str:
        """Automatic error recovery after a reflex. Raises CapabilityError with the robot's reason."""
        self.refuse_busy("recovery")
        self._mover.ask({"do": "recover"}, self.wait_until)
        return "recovered"

    def set_payload(self, mass: float, com: ArrayLike, inertia: ArrayLike = (0.0,) * 6) -> None:
        """Load on the flange: mass [kg], com (3,) [m], inertia (6,) about it XX XY XZ YY YZ ZZ [kg m2].

        Kept over new connections.

        Raises CapabilityError for a mass beyond the payload of the robot file, and with the robot's reason.
        """
        most = float(self.robot.array("limits.payload")) if self.robot.has("limits.payload") else 20.0
        self._set({"do": "load"} | load_of(mass, com, inertia, most))

    def set_collision_thresholds(self, torque: ArrayLike, force: ArrayLike) -> None:
        """Collision thresholds (7,) [Nm] and (6,) [N, Nm] > 0; contact is reported at half of them. Kept as above.

        Raises CapabilityError for what is not above 0, and with the robot's reason.
        """
        joints, wrench = finite_numbers(torque, JOINTS, "torque", 500.0), finite_numbers(force, 6, "force", 1000.0)
        if not min(joints + wrench) > 0.0:
            raise CapabilityError("collision thresholds must be above 0")
        self._set({"do": "collision", "torque": joints, "force": wrench})

    def _set(self, request: dict[str, Any]) -> None:
        """A setting, which is sent again with every new connection."""
        self.refuse_busy("change of a setting")
        self._mover.ask(request, self.wait_until)
        self._mover.kept[request["do"]] = request
