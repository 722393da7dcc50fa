"""UR robots over RTDE: states from the C++ reader, motion through the ur_rtde client in a child process."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robot_dynamics_ros._core import RTDE_LAYOUT, RTDE_WIDTH, RtdeConnectionError, RtdeReader, SampleFlag, TorqueLoop
from robot_dynamics_ros.drivers.arguments import Rows, load_of
from robot_dynamics_ros.drivers.guard import same_mass
from robot_dynamics_ros.drivers.interface import DriverInfo, RobotStatus, TorqueDriver
from robot_dynamics_ros.drivers.stream import Rate, Statistics
from robot_dynamics_ros.drivers.ur.control import SILENCE_TIMEOUT, UrControl
from robot_dynamics_ros.drivers.ur.status import status_of
from robot_dynamics_ros.drivers.ur.torque import upload
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.signals.speeds import MOVING

TORQUE_MODE_VERSION = (5, 26)  # of direct_torque
SIGNALS = {  # signal -> RTDE output
    "q": "actual_q",
    "qd": "actual_qd",
    "current": "actual_current",
    "temperature": "joint_temperatures",
    "q_d": "target_q",
    "qd_d": "target_qd",
    "qdd_d": "target_qdd",
    "tau_d": "target_moment",
}
FROZEN = int(SampleFlag.frozen)
EFFORT_SOURCES = ("current", "controller")
HEAVIEST = 100.0  # kg of a load that is passed on
STATE_TIMEOUT = 1.0  # s from connecting to the first state
PROGRAM_TIMEOUT = 3.0  # s from the upload of a program to the first cycle it runs
LIKE = 1.5  # times the gravity torque of the robot file, or less than its inverse: identified masses differ by less
TELLING = 10.0  # Nm of gravity, root of the sum of squares, below which nothing is compared
BASE = "base"  # base frame of a robot file in which the controller counts, too
# m between its flange and that of the robot file: a calibrated arm is off by centimetres [ur_calibration], a UR5 from a
# UR5e by 6 to 9.5, a UR10 from a UR10e by 3 to 8
OFF = 0.05


class UrDriver(TorqueDriver):
    """Driver of UR robots.

    effort: K_tau i [Nm] with K_tau of the robot file, or i where that says A (effort_source "current"), or the
    controller's own actual_current_as_torque [Nm] ("controller", PolyScope 5.23 or later).
    Stamps are controller time mapped to the host's system clock by the least delayed package; `follow_host_clock`
    False keeps the differences of stamps exactly controller time (simulated time running faster or slower).
    Raises CapabilityError for another number of joints or source of effort.
    """

    capabilities = frozenset({"current", "temperature", "desired_state"})
    effort_unit = "Nm"
    _stream: RtdeReader

    def __init__(
        self,
        robot: RobotFile,
        host: str,
        port: int = 30004,
        effort_source: str = "current",
        follow_host_clock: bool = True,
        torque: bool = False,
        client_silence: float = SILENCE_TIMEOUT,
        **reader_options: Any,
    ) -> None:
        if robot.n_joints != 6:
            raise CapabilityError(f"{robot.name}: a UR controller has 6 joints, the robot file {robot.n_joints}")
        if effort_source not in EFFORT_SOURCES:
            raise CapabilityError(f"effort_source {effort_source!r} is none of {', '.join(EFFORT_SOURCES)}")
        self.robot, self.host, self._effort_source = robot, host, effort_source
        self.proven = effort_source == "current"  # the controller's torque has gravity or not, by its version
        self.with_torque = torque
        options = {"rate": robot.rate, "minimum_major": 5 if robot.rate > 125.0 else 3} | reader_options
        options["torque_inputs"] = torque
        self._stream = RtdeReader(host=host, port=port, follow_host_clock=follow_host_clock, **options)
        self._mover = UrControl(host, silence=client_silence, stopped=self._stopped)
        self.sample = Sample(robot.joint_names)
        self._values, self._meta = np.full(RTDE_WIDTH, np.nan), np.zeros(4, dtype=np.int64)
        self._map()
        self._rate = Rate()

    def _map(self) -> None:
        """Places of the RTDE values in the sample's buffer, so that one assignment fills it."""
        place = Sample(self.robot.joint_names)
        place.buffer[:] = np.arange(len(place.buffer))
        outputs = dict(SIGNALS)
        controller = self._effort_source == "controller"
        outputs["effort"] = "actual_current_as_torque" if controller else "actual_current"
        to, source, scale = [], [], []
        for signal, output in outputs.items():
            start, width = RTDE_LAYOUT[output]
            to.append(getattr(place, signal).astype(int))
            source.append(np.arange(start, start + width))
            constant = signal == "effort" and not controller and self.robot.drives.effort.unit == "Nm"
            scale.append(self.robot.array("drives.torque_constant") if constant else np.ones(width))
        self._to, self._from, self._scale = (np.concatenate(x) for x in (to, source, scale))

    def connect(self) -> None:
        """Connect and start receiving. Raises ConnectionFailed, CapabilityError."""
        self._values.fill(np.nan)  # modes of before say nothing about now
        try:
            self._stream.start()
        except RtdeConnectionError as error:
            raise ConnectionFailed(str(error)) from error
        if self._effort_source == "controller" and "actual_current_as_torque" not in self._stream.available:
            self._stream.stop()
            raise CapabilityError(
                f"PolyScope {self.info.version} does not report torques: effort_source must be current"
            )

    def disconnect(self) -> None:
        """End the control process, which stops its motion, and the receiving thread; may be called again."""
        self._mover.close()
        self._stream.stop()

    def read(self, timeout: float) -> Sample | None:
        """Next sample in order, or None. While motion is commanded, frozen samples are withheld: they are stale."""
        self._mover.supervise(self._stream.silence)
        end = time.monotonic() + timeout
        while self._stream.wait(max(end - time.monotonic(), 0.0)):
            self._stream.pop(self._values, self._meta)
            if not self._meta[2] & FROZEN:
                return self._filled()
            if time.monotonic() > end:
                break
        return None

    def _filled(self) -> Sample:
        sample = self.sample
        sample.buffer.fill(np.nan)
        sample.buffer[self._to] = self._values[self._from] * self._scale
        sample.stamp_ns, sample.receive_ns, *_ = self._meta.tolist()
        self._mover.on_sample(sample.q, sample.receive_ns)
        return sample

    def _stopped(self) -> str:
        """The safety mode that stops the robot, "" in a normal one."""
        status = self.status
        return "" if status.safety_normal else f"safety mode is {status.safety_text}"

    def value(self, output: str) -> np.ndarray:
        """Last values of an RTDE output (width,), NaN where the controller has none."""
        start, width = RTDE_LAYOUT[output]
        return self._values[start : start + width]

    @property
    def info(self) -> DriverInfo:
        """Controller version and abilities; torque needs PolyScope 5.26."""
        version = self._stream.version
        torque = {"torque"} if version[:2] >= TORQUE_MODE_VERSION else set()
        text = ".".join(map(str, version[:3]))
        stream = self._stream
        capabilities = self.capabilities | torque
        return DriverInfo("ur", text, stream.rate, stream.realtime, capabilities, stream.realtime_text)

    @property
    def status(self) -> RobotStatus:
        """Modes as of the last sample read."""
        return status_of(self.value)

    @property
    def doubt(self) -> str:
        """As Driver.doubt: the controller has its flange elsewhere, or another gravity torque, than the robot file."""
        return self._elsewhere() or self._heavier()

    def _elsewhere(self) -> str:
        """Why the flange of the controller, by its TCP and the offset of that, is not that of the robot file."""
        pose, offset = self.value("actual_TCP_pose"), self.value("tcp_offset")
        if self.robot.kinematics.base_frame != BASE or not np.isfinite([pose, offset, self.sample.q]).all():
            return ""
        turn = Rotation.from_rotvec(pose[3:]) * Rotation.from_rotvec(offset[3:]).inv()
        distance = float(np.linalg.norm(pose[:3] - turn.apply(offset[:3]) - self._arm.fk(self.sample.q)[-2, :3, 3]))
        if distance < OFF:
            return ""
        return (
            f"the controller has the flange {100 * distance:.0f} cm from where the robot file {self.robot.name} has "
            "it: it is the file of another robot"
        )

    def _heavier(self) -> str:
        """Why the controller's own model torque of a resting arm (target_moment), which has no friction, is not the
        gravity of the robot file with the same payload.
        """
        status, still = self.status, (np.abs(self.value("target_qd")) < MOVING).all()
        ours = self.with_torque and status.program_running  # whose torques are in it
        known = self.robot.links is not None
        if not known or ours or not (still and status.drives_hold and same_mass(self.robot, status)):
            return ""
        gravity = self._arm.gravity(self.sample.q)
        square = float(gravity @ gravity)
        share = float(self.sample.tau_d @ gravity) / square if square > TELLING**2 else 1.0
        if not (share < 1 / LIKE or share > LIKE):
            return ""
        return (
            f"the torque by which the controller holds the resting arm is {share:.2g} times that of the robot file "
            f"{self.robot.name}: it is the file of another robot, or of another mounting (kinematics.gravity)"
        )

    @cached_property
    def _arm(self) -> RobotModel:
        """The robot file's, without masses where these are unknown."""
        robot = self.robot
        return RobotModel(robot.kinematic_chain() if robot.links is None else robot.chain(), robot.joint_names)

    @property
    def last_error(self) -> str:
        """Why the connection was lost, empty while it is there."""
        return self._stream.last_error

    def statistics(self) -> Statistics:
        """Counts since connecting; rate over the time since the last call (at least half a second)."""
        counts = self._stream.statistics()
        return Statistics(rate=self._rate.of(counts["samples"]), **counts)

    def begin(self, path: Rows, stream: Rows, rate: float | None, speed: float, acceleration: float) -> None:
        """See MotionDriver: path (m, 6), stream (N, 6)."""
        self.refuse_motion()
        self._mover.play(path, stream, self.sample.q, rate or self._stream.rate, speed, acceleration)

    # -- torque -------------------------------------------------------------------------------------------------------
    def attach(self, loop: TorqueLoop) -> None:
        """As TorqueDriver.attach."""
        super().attach(loop)
        self._stream.set_torque_loop(loop, self.robot.array("drives.torque_constant"))

    def start_torque(self) -> None:
        """Bring the controller into a program that takes torques: zero until the loop is enabled.

        Raises CapabilityError, ConnectionFailed with the reason.
        """
        self.refuse_torque_start()
        self._mover.close()  # its program would be replaced under it
        upload(self.host)
        first = time.monotonic() + 0.05  # an earlier program may be ending
        self.wait_until(lambda: time.monotonic() >= first and self.status.program_running, PROGRAM_TIMEOUT)
        if not self.status.program_running:
            raise ConnectionFailed(f"{self.host}: the torque program does not start; is the robot in remote control?")

    @property
    def answered(self) -> np.ndarray:
        """Latencies (N, 2) [s] of the last states, N <= 8192: arrival on this machine, and reading, to torque sent."""
        return self._stream.answered

    def set_payload(self, mass: float, com: ArrayLike, inertia: ArrayLike = (0.0,) * 6) -> None:
        """Load on the flange: mass [kg], com (3,) [m] in the flange frame, inertia (6,) about it XX XY XZ YY YZ ZZ.

        inertia in kg m2, flange axes. Returns when it is set. Raises CapabilityError, ConnectionFailed.
        """
        load = load_of(mass, com, inertia, HEAVIEST)
        self._refuse_setting("change of the payload")
        self._mover.ask({"do": "payload"} | load, self.wait_until)

    def zero_ft(self) -> None:
        """Zero the controller's own force-torque sensor; returns when it is done. Raises as set_payload()."""
        self._refuse_setting("zeroing of the sensor")
        self._mover.ask({"do": "zero_ft"}, self.wait_until)

    def _refuse_setting(self, what: str) -> None:
        """The program that carries a setting out does not start on a robot that is stopped or has no power: the
        vendor's client says so after 5 s, and not why.
        """

        def known() -> bool:
            return bool(np.isfinite(self.value("safety_mode")).all())

        if self._stream.connected:
            self.wait_until(known, STATE_TIMEOUT)
        if known():
            self.refuse_motion(what)
        else:
            self.refuse_busy(what)
