"""Comau arms with C5G Open: states of the LPC over UDP or MQTT, positions back; only listens unless told otherwise."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

import numpy as np

from robot_dynamics_ros._core import SavitzkyGolay
from robot_dynamics_ros.config import RobotFile
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.hardware import c5gopen_wire as wire
from robot_dynamics_ros.hardware.c5gopen_link import LINKS, PORTS, Received
from robot_dynamics_ros.hardware.driver import DriverInfo, RobotStatus, Statistics
from robot_dynamics_ros.hardware.playback import Playback
from robot_dynamics_ros.hardware.stream import Stream, StreamDriver, StreamOptions
from robot_dynamics_ros.hardware.ur_control import Motion
from robot_dynamics_ros.types import Sample

DEGREE = math.pi / 180.0
RPM = 2.0 * math.pi / 60.0
STEP_SPEED = 150.0 * DEGREE  # rad/s: the LPC rejects faster steps
JUMP_SPEED = 2.0 * STEP_SPEED  # rad/s: a measured step faster than this is no motion of the robot
JUMPS = 20  # such steps in a row that are taken for a new truth (the LPC was restarted)
WINDOW = 5  # samples of the velocity where the LPC gives none: two samples late
MOVING = 1e-3  # rad/s
SILENCE = 0.2  # s without a state until no motion may begin
FOLLOW = 2.0  # deg between a position sent and the LPC's target ...
DEAF = 50  # ... for so many answers, until a motion counts as rejected
REPORT = 100  # cycles between two looks at progress


class Coupling:
    """Motor to joint: q = C (motor angle / gear ratio), tau = C^-T (K_tau i); C = 1 where axes are not coupled.

    Signs are those of the ratios [Simoni2017 Table I] and of C. `known` is False where the robot file says the motors
    are coupled but not how: then nothing is converted.
    """

    def __init__(self, robot: RobotFile) -> None:
        drives = robot.drives
        self.known = not (drives.coupled_motors and drives.coupling is None) and robot.has("drives.gear_ratio")
        n = robot.n_joints
        matrix = np.eye(n) if drives.coupling is None else np.array(drives.coupling, dtype=float)
        ratio = robot.array("drives.gear_ratio") if robot.has("drives.gear_ratio") else np.ones(n)
        self._motion = matrix / ratio[None, :]
        self._torque = np.linalg.inv(matrix).T

    def angle(self, motor: np.ndarray) -> np.ndarray:
        """Joint angles or velocities (n,) of motor ones."""
        return self._motion @ motor

    def torque(self, reflected: np.ndarray) -> np.ndarray:
        """Joint torques (n,) of motor torques reflected through the ratios."""
        return self._torque @ reflected


class ComauDriver(StreamDriver):
    """Driver of Comau arms behind the LPC bridge.

    speed_limit [rad/s]: of the LPC, for arms whose file has none.
    effort: motor current as it is where the robot file says A, else C^-T (K_tau i) [Nm]. qd: of the motors where the
    LPC gives their speed and the coupling is known, else the derivative of q over 5 samples, 2 samples late.
    enable_commands: positions may be sent at all; modality: the one they are meant for, which the LPC must be in.
    Raises CapabilityError for a backend, modality or number of axes that does not exist.
    """

    speed_limit = STEP_SPEED

    def __init__(
        self,
        robot: RobotFile,
        host: str,
        port: int | None = None,
        backend: str = "udp",
        arm: int = 1,
        enable_commands: bool = False,
        unconfirmed: bool = False,
        modality: int = wire.POS_ABSOLUTE,
        follow_host_clock: bool = True,
        realtime_priority: int = 0,
        degraded_gap: float = 0.020,
        safe_gap: float = 0.040,
        frozen_repeats: int = 10,
        torque: str = "none",
    ) -> None:
        if backend not in LINKS:
            raise CapabilityError(f"backend {backend!r} is none of {', '.join(LINKS)}")
        if not 1 <= robot.n_joints <= wire.AXES:
            raise CapabilityError(f"{robot.name}: an arm of the C5G has 1..{wire.AXES} axes, not {robot.n_joints}")
        if modality != wire.POS_ABSOLUTE:
            raise CapabilityError(f"modality {modality}: only {wire.POS_ABSOLUTE} (absolute position) is commanded")
        if torque != "none":
            raise CapabilityError(f"{robot.name}: additive current of C5G Open is experimental and not commanded")
        self.robot, self.host = robot, host
        self._n, self._enable, self._unconfirmed, self._modality = (
            robot.n_joints,
            enable_commands,
            unconfirmed,
            modality,
        )
        self._backend = backend
        self._link = LINKS[backend](host, port or PORTS[backend], robot.n_joints, arm)
        rate = robot.sensing.sample_rate or 500.0
        self._stream = Stream(StreamOptions(rate, follow_host_clock, degraded_gap, safe_gap, frozen_repeats))
        self._coupling = Coupling(robot)
        self._torque_constant = robot.array("drives.torque_constant") if robot.drives.effort.unit == "Nm" else None
        self.capabilities = frozenset({"current", "desired_state"} | ({"move", "servo"} if enable_commands else set()))
        self.sample = Sample(robot.joint_names)
        self._slope, self._target_slope = SavitzkyGolay(self._n, WINDOW, 2), SavitzkyGolay(self._n, WINDOW, 2)
        self._last: wire.State | None = None
        self._steps = 0
        self.out_of_order = self.jumps = 0
        self._older = 0
        self._lock = threading.RLock()
        self._motion, self._playback = Motion(), None
        self._sent: np.ndarray | None = None
        self._ignored = 0
        self._started = False

    # -- connection ---------------------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Connect and start receiving. Raises ConnectionFailed with the reason."""
        if not self._started:
            self._stream.restart()
            self._last = None
            self._link.on_state = self._answer if self._enable else None
            self._link.start()
            self._started = True

    def disconnect(self) -> None:
        """Stop motion of ours, stop receiving; may be repeated."""
        if self._started:
            self._started = False
            with self._lock:
                if self._motion.active:
                    self._motion, self._playback = Motion("stopped", "disconnected: the LPC holds the position"), None
            self._link.stop()
            self._stream.set_connected(False)

    # -- samples ------------------------------------------------------------------------------------------------------
    def read(self, timeout: float) -> Sample | None:
        """Next sample in order, or None. While motion is commanded, frozen samples are withheld: they are stale."""
        received = self._link.queue.get(timeout)
        while received is not None:
            sample = self._judged(received)
            if sample is not None:
                return sample
            received = self._link.queue.get(0.0)
        return None

    def _judged(self, received: Received) -> Sample | None:
        state = received.state
        if not self._in_order(state) or not self._plausible(state):
            return None
        elapsed = 0.0 if self._last is None else 1e-6 * (state.time_us - self._last.time_us)
        self._last = state
        self._fill(state, elapsed)
        sample = self.sample
        watched = np.concatenate([sample.q, np.nan_to_num(sample.current)])
        target = self._target_velocity(sample.q_d, elapsed)
        moving = bool(np.isfinite(target).all() and np.abs(target).max() > MOVING)
        safety = 1 if self._ready_text(state) == "" or state.modality == wire.LISTEN else 3
        times = received.receive_ns, received.steady_ns
        stamp = self._stream.take(1000 * state.time_us, watched, moving, safety, *times)
        if stamp is None or self._stream.frozen:
            return None
        sample.qd_d[:] = target
        sample.stamp_ns, sample.receive_ns = stamp, received.receive_ns
        return sample

    def _in_order(self, state: wire.State) -> bool:
        """Late and repeated packets are dropped, unless the LPC started again from another count."""
        if self._last is None:
            return True
        ahead = (state.sequence - self._last.sequence + 2**31) % 2**32 - 2**31
        if ahead > 0 and state.time_us > self._last.time_us:
            self._older = 0
            return True
        self._older += 1
        self.out_of_order += 1
        return self._older >= JUMPS

    def _plausible(self, state: wire.State) -> bool:
        """No axis may have moved faster than it can."""
        values = state.link[: self._n] if math.isfinite(state.link[0]) else state.rounds[: self._n]
        if not all(map(math.isfinite, values)):
            return True  # judged as not finite further on
        if self._last is None or self._older:
            return True
        seconds = max(1e-6 * (state.time_us - self._last.time_us), 1e-4)
        step = np.abs(self._positions(state) - self._positions(self._last)).max()
        if step <= JUMP_SPEED * seconds + 1e-3:
            self._steps = 0
            return True
        self._steps += 1
        self.jumps += 1
        return self._steps >= JUMPS

    def _positions(self, state: wire.State) -> np.ndarray:
        """Joint positions (n,) [rad]: the controller's, else of the motors."""
        if math.isfinite(state.link[0]) or not self._coupling.known:
            return DEGREE * np.array(state.link[: self._n])
        return self._coupling.angle(2.0 * math.pi * np.array(state.rounds[: self._n]))

    def _fill(self, state: wire.State, elapsed: float) -> None:
        n, sample = self._n, self.sample
        sample.buffer.fill(np.nan)
        sample.q[:] = self._positions(state)
        sample.q_d[:] = DEGREE * np.array(state.target[:n])
        sample.current[:] = state.current[:n]
        sample.qd[:] = self._velocity(state, sample.q, elapsed)
        if self._torque_constant is None:
            sample.effort[:] = sample.current
        elif self._coupling.known:
            sample.effort[:] = self._coupling.torque(self._torque_constant * sample.current)
            sample.tau_d[:] = self._coupling.torque(self._torque_constant * np.array(state.current_model[:n]))
        if self.robot.drives.effort.sign < 0:
            sample.effort *= -1.0

    def _velocity(self, state: wire.State, q: np.ndarray, elapsed: float) -> np.ndarray:
        slope = _slope(self._slope, q, elapsed, self._stream.options.rate)
        if math.isfinite(state.rpm[0]) and self._coupling.known:
            return self._coupling.angle(RPM * np.array(state.rpm[: self._n]))
        return slope

    def _target_velocity(self, q_d: np.ndarray, elapsed: float) -> np.ndarray:
        if not np.isfinite(q_d).all():
            return np.full(self._n, np.nan)
        return _slope(self._target_slope, q_d.copy(), elapsed, self._stream.options.rate)

    # -- condition ----------------------------------------------------------------------------------------------------
    @property
    def info(self) -> DriverInfo:
        """Wire format, rate and abilities."""
        version = f"C5G Open, {self._backend}" + (f" version {wire.VERSION}" if self._backend == "udp" else "")
        return DriverInfo("comau", version, self._stream.options.rate, False, self.capabilities)

    @property
    def status(self) -> RobotStatus:
        """Modality and drives as of the last sample read."""
        state = self._last
        if state is None:
            return RobotStatus()
        reason = self._ready_text(state)
        listening = state.modality == wire.LISTEN
        return RobotStatus(
            robot_mode=-1 if state.modality is None else state.modality,
            safety_mode=1 if not reason or listening else -1 if state.status is None else 3,
            program_running=self._motion.active,
            speed_scaling=1.0,
            safety_text="normal" if not reason or listening else reason,
            mode_text="not reported" if state.modality is None else wire.MODALITIES.get(state.modality, "unknown"),
            safety_normal=not reason or listening,
        )

    def _ready_text(self, state: wire.State) -> str:
        """Why the LPC would not take commands, empty when it would."""
        if state.modality is None or state.status is None:
            return "" if self._unconfirmed or not self._enable else "the MQTT program reports no modality"
        if not state.powerlink:
            return "POWERLINK is down"
        if state.status != wire.DRIVES_ON:
            return f"drives are {wire.DRIVE_STATUS.get(state.status, 'in an unknown state')}"
        if state.modality != self._modality:
            return f"modality is {wire.MODALITIES.get(state.modality, state.modality)}"
        return ""

    @property
    def last_error(self) -> str:
        """What the link last complained about."""
        return str(self._link.last_error)

    def statistics(self) -> Statistics:
        """Counts since connecting; malformed holds damaged, late and implausible packets."""
        malformed = self._link.malformed + self.out_of_order + self.jumps + getattr(self._link, "incomplete", 0)
        return self._stream.statistics(
            malformed=malformed, overruns=self._link.queue.overruns, pending=self._link.queue.pending
        )

    def details(self) -> dict[str, str]:
        """What only this robot reports, for diagnostics."""
        state = self._last
        drives = "not reported" if state is None or state.status is None else wire.DRIVE_STATUS.get(state.status, "?")
        return {
            "drives": drives,
            "packets out of order": str(self.out_of_order),
            "positions that jumped": str(self.jumps),
            "packets damaged": str(self._link.malformed),
        }

    # -- motion -------------------------------------------------------------------------------------------------------
    def move_path(self, waypoints: np.ndarray, speed: float = 0.5, acceleration: float = 1.0) -> None:
        """Point to point in joint space; returns at once, see `motion`. Raises CapabilityError with the reason."""
        self._begin(waypoints, np.empty((0, self._n)), speed, acceleration)

    def servo(self, positions: np.ndarray, rate: float | None = None) -> None:
        """Stream positions (N, n) at the LPC's rate, starting where the robot is; returns at once, see `motion`."""
        self._rate(rate)
        self._begin(np.empty((0, self._n)), positions, 0.5, 1.0)

    def play(self, approach: np.ndarray, positions: np.ndarray, rate: float | None = None, speed: float = 0.5) -> None:
        """Move to `approach` (m, n), then stream: one motion. Raises CapabilityError."""
        self._rate(rate)
        self._begin(approach, positions, speed, 1.0)

    def _rate(self, rate: float | None) -> None:
        if rate is not None and not abs(rate - self._stream.options.rate) < 1e-3:
            raise CapabilityError(f"positions are streamed at {self._stream.options.rate:g} Hz, not {rate:g}")

    def _begin(self, waypoints: Any, stream: Any, speed: float, acceleration: float) -> None:
        path, positions = _rows(waypoints, self._n, "waypoints"), _rows(stream, self._n, "positions")
        if not (0.0 < speed <= STEP_SPEED and 0.0 < acceleration <= 10.0):
            raise CapabilityError(f"speed {speed} or acceleration {acceleration} is outside 0..2.6 rad/s, 0..10 rad/s2")
        with self._lock:
            self._refuse()
            start = DEGREE * np.array(self._last.target[: self._n])  # type: ignore[union-attr]
            playback = Playback(start, path, positions, self._stream.options.rate, speed, acceleration)
            self._playback, self._motion = playback, Motion("moving")
            self._sent, self._ignored = None, 0

    def _refuse(self) -> None:
        """Raises CapabilityError with the reason why nothing may be commanded now."""
        if not self._enable:
            raise CapabilityError("no motion: the driver only listens; commands need enable_commands")
        if self._motion.active:
            raise CapabilityError("a motion is running: stop it first")
        if not self._started or self._last is None:
            raise CapabilityError(f"no motion: no state from {self.host} yet")
        reason = self._ready_text(self._last)
        if reason:
            raise CapabilityError(f"no motion: {reason}")
        silence = 1e-9 * (time.monotonic_ns() - self._link.heard_ns)
        if not silence <= SILENCE:
            raise CapabilityError(f"no motion: no state for {silence:.1f} s")

    def _answer(self, state: wire.State) -> None:
        """In the receiving thread: one command per state while a motion runs."""
        with self._lock:
            if self._playback is None:
                return
            reason = self._ready_text(state)
            if reason:
                self._playback, self._motion = None, Motion("failed", reason)
                return
            playback = self._playback
            if self._deaf(state):
                self._playback, self._motion = (
                    None,
                    Motion("failed", "the LPC does not follow: it rejects the positions"),
                )
                return
            following = playback.next()
            if following is None:
                done = ("stopped", "stop was asked for") if playback.stopped else ("done", "")
                self._playback, self._motion = None, Motion(*done, progress=playback.progress)
                return
            if state.sequence % REPORT == 0:
                self._motion = Motion("moving", progress=playback.progress)
            self._sent = following / DEGREE
            degrees = tuple(self._sent.tolist()) + (0.0,) * (wire.AXES - self._n)
            mask = (1 << self._n) - 1
            self._link.send(wire.Command(0, state.sequence, state.time_us, self._modality, mask, degrees))

    def _deaf(self, state: wire.State) -> bool:
        """True when the LPC's target has been elsewhere than what was sent for DEAF answers in a row."""
        away = self._sent is not None and np.abs(self._sent - np.array(state.target[: self._n])).max() > FOLLOW
        self._ignored = self._ignored + 1 if away else 0
        return self._ignored > DEAF

    def stop(self) -> None:
        """Slow down along the path; nothing to do when this driver moves nothing."""
        with self._lock:
            if self._playback is not None:
                self._playback.stop()

    @property
    def motion(self) -> Motion:
        """State of the present or last motion."""
        return self._motion

    def zero_ft(self) -> None:
        """There is no sensor to zero. Raises CapabilityError."""
        raise CapabilityError(f"{self.robot.name} has no force sensor to zero: use the estimator's tare")

    def start_torque(self) -> None:
        """C5G Open takes additive currents only in modalities that are not public. Raises CapabilityError."""
        raise CapabilityError(f"{self.robot.name}: additive current of C5G Open is experimental and not commanded")


def _slope(filter_: SavitzkyGolay, x: np.ndarray, elapsed: float, rate: float) -> np.ndarray:
    """Derivative of the middle of the last samples; starts again after a gap."""
    if not 0.0 < elapsed < 3.0 / rate:
        filter_.reset()
    if not np.isfinite(x).all() or not filter_.push(x):
        return np.full(len(x), np.nan)
    return filter_.first(1.0 / rate)


def _rows(values: Any, n: int, name: str) -> np.ndarray:
    """(N, n) float64, finite. Raises CapabilityError naming the argument."""
    array = np.ascontiguousarray(np.atleast_2d(values), dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n:
        raise CapabilityError(f"{name} has shape {array.shape}, expected (N, {n})")
    if not np.isfinite(array).all():
        raise CapabilityError(f"{name} contains NaN or infinity")
    return array
