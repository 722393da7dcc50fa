"""Franka arms through libfranka: an unmodified client in a process of its own, states through shared memory."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros.config import RobotFile
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.hardware.child import end, ending, hang_up, spawn
from robot_dynamics_ros.hardware.driver import DriverInfo, RobotStatus, Statistics
from robot_dynamics_ros.hardware.framing import receive, send
from robot_dynamics_ros.hardware.franka_rows import COMMAND, JOINTS, PLACES, SLOTS, WIDTH
from robot_dynamics_ros.hardware.sample_ring import SampleRing
from robot_dynamics_ros.hardware.stream import Stream, StreamDriver, StreamOptions
from robot_dynamics_ros.hardware.ur_control import Motion
from robot_dynamics_ros.types import Sample

CONNECT_TIMEOUT = 20.0  # s
ANSWER_TIMEOUT = 5.0  # s, libfranka's own limit is 1 s per command
BACKOFF = (0.5, 4.0)  # s between attempts to connect again, first and longest
MOVING = 1e-3  # rad/s of the desired velocity above which motion is commanded
MODES = {
    0: "other",
    1: "idle",
    2: "move",
    3: "guiding",
    4: "reflex",
    5: "user stopped",
    6: "automatic error recovery",
}
TORQUE_WAYS = ("none", "client")
STOPPED_MODES = (4, 5)  # torque and motion are refused by the robot
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


class FrankaDriver(StreamDriver):
    """Driver of Franka arms, 1 kHz.

    effort [Nm] = tau_J of the joint torque sensors, link side, gravity included; torque commands exclude gravity and
    friction, which the robot adds. theta, omega: motor side, reflected. Stamps are robot time on the host clock.
    Raises CapabilityError for another number of joints or an unknown way of torque.
    """

    capabilities = frozenset(
        {"rotor", "desired_state", "vendor_force", "move", "servo", "payload", "recover", "torque"}
    )

    def __init__(
        self,
        robot: RobotFile,
        host: str,
        follow_host_clock: bool = True,
        realtime_priority: int = 0,
        degraded_gap: float = 0.020,
        safe_gap: float = 0.040,
        frozen_repeats: int = 10,
        torque: str = "none",
    ) -> None:
        if robot.n_joints != JOINTS:
            raise CapabilityError(f"{robot.name}: a Franka arm has {JOINTS} joints, the robot file {robot.n_joints}")
        if torque not in TORQUE_WAYS:
            raise CapabilityError(f"torque {torque!r} is none of {', '.join(TORQUE_WAYS)} on {robot.name}")
        self.robot, self.host = robot, host
        rate = robot.sensing.sample_rate or 1000.0
        self._stream = Stream(StreamOptions(rate, follow_host_clock, degraded_gap, safe_gap, frozen_repeats))
        self._realtime = realtime_priority > 0
        self.sample = Sample(robot.joint_names)
        self._row = np.full(WIDTH, np.nan)
        self._watched = np.zeros(3 * JOINTS)
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._ring: SampleRing | None = None
        self._torques: socket.socket | None = None
        self._lock = threading.RLock()
        self._answer: dict[str, Any] | None = None
        self._news = threading.Condition()
        self._motion, self._version, self._error = Motion(), "", ""
        self._wanted = False
        self._lost_rows = 0
        self._supervisor: threading.Thread | None = None

    # -- connection ---------------------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Connect and start receiving. Raises ConnectionFailed with the reason."""
        if self._wanted:
            return
        self._open()
        self._wanted = True
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()

    def _open(self) -> None:
        ring = SampleRing(WIDTH, SLOTS)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        ours.setblocking(False)
        arguments = [self.host, self.robot.file, theirs.fileno(), ring.memory, ring.event, int(self._realtime)]
        descriptors = [theirs.fileno(), ring.memory, ring.event]
        process, pipe = spawn("robot_dynamics_ros.hardware.franka_child", [str(a) for a in arguments], descriptors)
        theirs.close()
        try:
            self._version = _connected(pipe, process, self.host)
        except ConnectionFailed:
            process.kill()
            process.wait()
            pipe.close()
            ring.close()
            ours.close()
            raise
        with self._lock:
            self._stream.restart()
            self._process, self._pipe, self._ring, self._torques, self._error = process, pipe, ring, ours, ""

    def disconnect(self) -> None:
        """Stop motion of ours, end the process; may be repeated."""
        self._wanted = False
        self._close()
        if self._supervisor is not None:
            self._supervisor.join(2 * BACKOFF[1])
            self._supervisor = None

    def _close(self) -> None:
        """The process stops the robot when its pipe ends, then leaves."""
        with self._lock:
            process, pipe = self._process, self._pipe
        if pipe is not None:
            hang_up(pipe)
        if process is not None:
            end(process)

    def _forget(self) -> None:
        with self._lock:
            ring, torques, pipe = self._ring, self._torques, self._pipe
            self._process = self._pipe = self._ring = self._torques = None
            if ring is not None:
                self._lost_rows += ring.dropped
                ring.close()
            for end_point in (torques, pipe):
                if end_point is not None:
                    end_point.close()
        self._stream.set_connected(False)

    def _supervise(self) -> None:
        """Listens to the process until it ends; connects again while wanted."""
        pause = BACKOFF[0]
        while True:
            if self._process is not None:
                self._listen(self._process, self._pipe)
                self._forget()
                pause = BACKOFF[0]
            if not self._wanted:
                return
            time.sleep(pause)
            pause = min(2 * pause, BACKOFF[1])
            try:
                if self._wanted:
                    self._open()
                    self._stream.reconnects += 1
            except ConnectionFailed as error:
                self._error = str(error)

    def _listen(self, process: subprocess.Popen[bytes], pipe: Any) -> None:
        reason = ""
        try:
            while True:
                report, _ = receive(pipe)
                event = report.pop("event")
                if event == "motion":
                    self._motion = Motion(**report)
                elif event == "fatal":
                    reason = report["reason"]
                elif event == "answer":
                    with self._news:
                        self._answer = report
                        self._news.notify_all()
        except (EOFError, OSError, json.JSONDecodeError):
            pass
        code = end(process)
        if self._wanted:
            self._error = f"{self.host}: {reason or f'the process ended ({ending(code)})'}"
        if self._motion.active:
            self._motion = Motion("failed", self._error or "disconnected")

    # -- samples ------------------------------------------------------------------------------------------------------
    def read(self, timeout: float) -> Sample | None:
        """Next sample in order, or None. While motion is commanded, frozen samples are withheld: they are stale."""
        until = time.monotonic() + timeout
        while True:
            with self._lock:
                ring = self._ring
                found = ring is not None and ring.wait(0.0)
                times = ring.pop(self._row) if ring is not None and found else None
            if times is None:
                left = until - time.monotonic()
                if left <= 0:
                    return None
                self._wait(ring, left)
                continue
            sample = self._judged(times)
            if sample is not None:
                return sample

    def _wait(self, ring: SampleRing | None, left: float) -> None:
        """Without the lock, in short turns: the connection may go meanwhile."""
        if ring is None or ring.event < 0:
            time.sleep(min(left, 0.01))
            return
        try:
            ring.wait(min(left, 0.05))
        except (OSError, ValueError):
            time.sleep(min(left, 0.01))

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
        sample.stamp_ns, sample.receive_ns = stamp, times[1]
        return sample

    def value(self, name: str) -> np.ndarray:
        """A field of the last robot state (width,), NaN before the first."""
        return self._row[PLACES[name]]

    # -- condition ----------------------------------------------------------------------------------------------------
    @property
    def info(self) -> DriverInfo:
        """Version of the client library, rate and abilities."""
        return DriverInfo("franka", self._version, self._stream.options.rate, self._realtime, self.capabilities)

    @property
    def status(self) -> RobotStatus:
        """Modes as of the last sample read."""
        mode = self.value("robot_mode")[0]
        number = int(mode) if np.isfinite(mode) else -1
        text = MODES.get(number, f"unknown ({number})")
        normal = number in MODES and number not in STOPPED_MODES
        return RobotStatus(
            robot_mode=number,
            safety_mode=1 if normal else 3 if number in STOPPED_MODES else -1,
            program_running=self._motion.active,
            speed_scaling=1.0,
            payload=float(self.value("m_load")[0]),
            safety_text="normal" if normal else text,
            mode_text=text,
            safety_normal=normal,
        )

    @property
    def last_error(self) -> str:
        """Why the connection was lost, empty while it is there."""
        return self._error

    def statistics(self) -> Statistics:
        """Counts since connecting."""
        with self._lock:
            ring = self._ring
            more = {"overruns": self._lost_rows + (ring.dropped if ring else 0), "pending": ring.pending if ring else 0}
        return self._stream.statistics(**more)

    def details(self) -> dict[str, str]:
        """What only this robot reports, for diagnostics."""
        return {
            "control_command_success_rate": f"{self.value('control_command_success_rate')[0]:.3f}",
            "driver process [% of a core]": f"{100 * self.value('cpu_share')[0]:.0f}",
        }

    # -- motion, torque, settings -------------------------------------------------------------------------------------
    def move_path(self, waypoints: np.ndarray, speed: float = 0.5, acceleration: float = 1.0) -> None:
        """Point to point in joint space; returns at once, see `motion`. Raises CapabilityError with the reason."""
        self._begin(waypoints, np.empty((0, JOINTS)), speed, acceleration)

    def servo(self, positions: np.ndarray, rate: float = 1000.0) -> None:
        """Stream positions (N, 7) at 1 kHz, starting where the robot is; returns at once, see `motion`."""
        self._rate(rate)
        self._begin(np.empty((0, JOINTS)), positions, 0.5, 1.0)

    def play(self, approach: np.ndarray, positions: np.ndarray, rate: float = 1000.0, speed: float = 0.5) -> None:
        """Move to `approach` (m, 7), then stream: one motion. Raises CapabilityError."""
        self._rate(rate)
        self._begin(approach, positions, speed, 1.0)

    def _rate(self, rate: float) -> None:
        if rate != self._stream.options.rate:
            raise CapabilityError(f"positions are streamed at {self._stream.options.rate:g} Hz, not {rate:g}")

    def _begin(self, waypoints: Any, stream: Any, speed: float, acceleration: float) -> None:
        path, positions = _rows(waypoints, "waypoints"), _rows(stream, "positions")
        if not (0.0 < speed <= 2.0 and 0.0 < acceleration <= 10.0):
            raise CapabilityError(f"speed {speed} rad/s or acceleration {acceleration} rad/s2 is outside 0..2, 0..10")
        request = {"do": "play", "split": len(path), "speed": speed, "acceleration": acceleration}
        self._start(request, np.vstack([path, positions]))

    def _start(self, request: dict[str, Any], array: np.ndarray | None = None) -> None:
        self._allow_motion()
        with self._lock:
            if self._motion.active:
                raise CapabilityError("a motion is running: stop it first")
            self._motion = Motion("starting")
            try:
                self._send(request, array)
            except ConnectionFailed as error:
                self._motion = Motion("failed", str(error))
                raise

    def _allow_motion(self) -> None:
        if not self._stream.connected:
            raise CapabilityError(f"no motion: not connected to {self.host}")
        if not self.status.safety_normal:
            raise CapabilityError(f"no motion: robot mode is {self.status.mode_text}")

    def start_torque(self) -> None:
        """Torque control: gravity and friction are added by the robot. Ends by stop() or without fresh commands."""
        self._start({"do": "torque"})

    def command_torque(self, stamp_ns: int, torque: np.ndarray) -> None:
        """Torque (7,) [Nm] without gravity, answering the state of `stamp_ns`; never waits."""
        with self._lock:
            if self._torques is None:
                return
            try:
                self._torques.send(struct.pack(COMMAND, stamp_ns, *np.asarray(torque, dtype=float)))
            except (BlockingIOError, OSError):
                return  # the process is late or gone: its guard ramps out

    def stop(self) -> None:
        """Come to rest; nothing to do when this driver moves nothing."""
        with self._lock:
            if self._pipe is not None and self._motion.active:
                self._send({"do": "stop"})

    @property
    def motion(self) -> Motion:
        """State of the present or last motion."""
        return self._motion

    def recover(self) -> str:
        """Automatic error recovery after a reflex. Raises CapabilityError with the robot's reason."""
        return self._ask({"do": "recover"})

    def set_payload(self, mass: float, com: Any, inertia: Any = (0.0,) * 9) -> None:
        """What hangs on the flange: mass [kg], com (3,) [m], inertia (9,) [kg m2].

        Raises CapabilityError for a mass outside 0..20 kg.
        """
        if not 0.0 <= mass <= 20.0:
            raise CapabilityError(f"payload mass {mass} kg is outside 0..20")
        self._ask(
            {"do": "load", "mass": float(mass), "com": list(map(float, com)), "inertia": list(map(float, inertia))}
        )

    def set_collision_thresholds(self, torque: Any, force: Any) -> None:
        """Collision thresholds (7,) [Nm] and (6,) [N, Nm]; contact is reported at half of them."""
        self._ask({"do": "collision", "torque": list(map(float, torque)), "force": list(map(float, force))})

    def zero_ft(self) -> None:
        """There is no sensor to zero. Raises CapabilityError."""
        raise CapabilityError(f"{self.robot.name} has no force sensor to zero: use the estimator's tare")

    def _ask(self, request: dict[str, Any]) -> str:
        """Request with an answer, outside of motion."""
        if self._motion.active:
            raise CapabilityError("a motion is running: stop it first")
        with self._news:
            self._answer = None
            before = self._motion
            self._send(request)
            until = time.monotonic() + ANSWER_TIMEOUT
            while self._answer is None and self._motion is before and time.monotonic() < until:
                self._news.wait(0.05)
            answer = self._answer
        if answer is None:
            raise CapabilityError(f"refused: {self._motion.reason}" if self._motion is not before else "no answer")
        return str(answer["reason"])

    def _send(self, request: dict[str, Any], array: np.ndarray | None = None) -> None:
        with self._lock:
            try:
                if self._pipe is None:
                    raise ConnectionFailed(f"{self.host}: not connected")
                send(self._pipe, request, array)
            except OSError as error:
                raise ConnectionFailed(f"{self.host}: the driver process is gone") from error


def _connected(pipe: Connection, process: subprocess.Popen[bytes], host: str) -> str:
    """Version the process reports. Raises ConnectionFailed with the reason."""
    reason = f"no answer within {CONNECT_TIMEOUT:g} s"
    try:
        if pipe.poll(CONNECT_TIMEOUT):
            report, _ = receive(pipe)
            if report["event"] == "connected":
                return str(report["version"])
            reason = str(report.get("reason"))
    except (EOFError, OSError):
        reason = f"the driver process ended ({ending(end(process))})"
    raise ConnectionFailed(f"{host}: {reason}")


def _rows(values: Any, name: str) -> np.ndarray:
    """(N, 7) float64, finite. Raises CapabilityError naming the argument."""
    array = np.ascontiguousarray(np.atleast_2d(values), dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != JOINTS:
        raise CapabilityError(f"{name} has shape {array.shape}, expected (N, {JOINTS})")
    if not np.isfinite(array).all():
        raise CapabilityError(f"{name} contains NaN or infinity")
    return array
