"""Comau arms with C5G Open: states of the LPC over UDP, and positions to it where that is enabled."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from robot_dynamics_ros.drivers.arguments import Rows
from robot_dynamics_ros.drivers.comau import wire
from robot_dynamics_ros.drivers.comau.link import PORT, Received, UdpLink
from robot_dynamics_ros.drivers.comau.motion import SILENCE, ComauMotion
from robot_dynamics_ros.drivers.comau.states import STEP_SPEED, ComauStates
from robot_dynamics_ros.drivers.interface import DriverInfo, MotionDriver, RobotStatus
from robot_dynamics_ros.drivers.stream import Statistics, Stream
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample

REST = 1.0  # s until a motion that is stopped is at rest: Playback takes 0.4
MOVING = 1e-3  # rad/s of the target above which motion is commanded


class ComauDriver(MotionDriver):
    """Driver of Comau arms behind the LPC bridge.

    speed_limit [rad/s]: of the LPC, for arms whose file has none. Contents of a sample: ComauStates. enable_commands:
    positions may be sent, while the LPC is in absolute position. stream_options: of Stream. Raises
    CapabilityError for an impossible number of axes, and for torque.
    """

    capabilities = frozenset({"current", "desired_state"})
    proven = True
    speed_limit = STEP_SPEED

    def __init__(
        self,
        robot: RobotFile,
        host: str,
        port: int | None = None,
        arm: int = 1,
        enable_commands: bool = False,
        realtime_priority: int = 0,
        torque: bool = False,
        **stream_options: Any,
    ) -> None:
        if not 1 <= robot.n_joints <= wire.AXES:
            raise CapabilityError(f"{robot.name}: an arm of the C5G has 1..{wire.AXES} axes, not {robot.n_joints}")
        if torque:
            raise CapabilityError(f"{robot.name}: additive current of C5G Open is experimental and not commanded")
        self.robot, self.host = robot, host
        self._n = robot.n_joints
        self._link = UdpLink(host, port or PORT, robot.n_joints, arm)
        self._stream = Stream(robot.rate, lambda: self._link.received_ns, **stream_options)
        self._states = ComauStates(robot, robot.rate)
        self._mover = ComauMotion(self._n, robot.rate, self._link.send, enable_commands)
        self._started = False

    # -- connection ---------------------------------------------------------------------------------------------------
    def connect(self) -> None:
        """Connect and start receiving. Raises ConnectionFailed with the reason."""
        if not self._started:
            self._stream.restart()
            self._states.restart()
            self._link.on_state = self._mover.on_state if self._mover.enabled else None
            self._link.start()
            self._started = True

    def disconnect(self) -> None:
        """Slow down a motion of this driver along its path, stop receiving; may be called again."""
        if self._started:
            self.stop()
            self.wait_until(lambda: not self.motion.active, REST)
            self._started = False
            self._mover.end("disconnected: the LPC holds the position")
            self._link.stop()
            self._stream.set_connected(False)

    # -- samples ------------------------------------------------------------------------------------------------------
    def read(self, timeout: float) -> Sample | None:
        """Next sample in order, or None. While motion is commanded, frozen samples are withheld: they are stale."""
        self._mover.supervise(self._silence)
        received = self._link.get(timeout)
        while received is not None:
            sample = self._judged(received)
            if sample is not None:
                return sample
            received = self._link.get(0.0)
        return None

    def _judged(self, received: Received) -> Sample | None:
        state, sample = received.state, self._states.sample
        target = self._states.take(state)
        if target is None:
            return None
        watched = np.concatenate([sample.q, np.nan_to_num(sample.current)])
        moving = bool(np.isfinite(target).all() and np.abs(target).max() > MOVING)
        safety = 1 if self._mover.ready_text(state) == "" or state.modality == wire.LISTEN else 3
        times = received.receive_ns, received.steady_ns
        stamp = self._stream.take(1000 * state.time_us, watched, moving, safety, *times)
        if stamp is None or self._stream.frozen:
            return None
        sample.qd_d[:] = target
        self._stream.clean(sample.current, sample.effort, sample.q_d, sample.qd_d, sample.tau_d)
        sample.stamp_ns, sample.receive_ns = stamp, received.receive_ns
        return sample

    @property
    def _silence(self) -> float:
        """Seconds since the newest state arrived."""
        return 1e-9 * (time.monotonic_ns() - self._link.received_ns)

    @property
    def sample(self) -> Sample:
        """The last good sample."""
        return self._states.sample

    # -- condition ----------------------------------------------------------------------------------------------------
    @property
    def info(self) -> DriverInfo:
        """Wire format, rate and abilities."""
        version, rate = f"C5G Open, UDP version {wire.VERSION}", self._stream.rate
        return DriverInfo("comau", version, rate, False, self.capabilities)

    @property
    def status(self) -> RobotStatus:
        """Modality and drives as of the last sample read."""
        state = self._states.last
        if state is None:
            return RobotStatus()
        reason = self._mover.ready_text(state)
        normal = not reason or state.modality == wire.LISTEN
        return RobotStatus(
            program_running=self.motion.active,
            safety_text="normal" if normal else reason,
            mode_text=wire.MODALITIES.get(state.modality, "unknown"),
            safety_normal=normal,
        )

    @property
    def last_error(self) -> str:
        """Why no state arrives, or what is wrong with packets since the last good one; empty while they are good."""
        return self._link.lost or self._link.last_error

    def statistics(self) -> Statistics:
        """Counts since connecting; malformed holds damaged, late and implausible packets."""
        link, states = self._link, self._states
        return self._stream.statistics(
            malformed=link.malformed + states.out_of_order + states.jumps,
            overruns=link.overruns,
            pending=link.pending,
            reconnects=link.reconnects,
        )

    def details(self) -> dict[str, str]:
        """Diagnostic values that only this robot reports."""
        state = self._states.last
        drives = "not reported" if state is None else wire.DRIVE_STATUS.get(state.status, "?")
        return {
            "drives": drives,
            "packets out of order": str(self._states.out_of_order),
            "positions that jumped": str(self._states.jumps),
            "packets damaged": str(self._link.malformed),
        }

    # -- motion -------------------------------------------------------------------------------------------------------
    def begin(self, path: Rows, stream: Rows, rate: float | None, speed: float, acceleration: float) -> None:
        """See MotionDriver: path (m, n), stream (N, n) at the robot's rate."""
        self.refuse_rate(rate)
        self._mover.begin(self._refuse(), path, stream, speed, acceleration)

    def refuse_listening(self) -> None:
        """Raise CapabilityError where positions may not be sent."""
        if not self._mover.enabled:
            advice = "(Comau: set enable_commands)"
            raise CapabilityError(f"{self.robot.name}: this driver only listens, and moves nothing {advice}")

    def _refuse(self) -> wire.State:
        """The last state. Raises CapabilityError with the reason why nothing may be commanded now."""
        last = self._states.last
        self.refuse_listening()
        self.refuse_busy("motion")
        if not self._started or last is None:
            raise CapabilityError(f"no motion: no state from {self.host} yet")
        reason = self._mover.ready_text(last)
        if reason:
            raise CapabilityError(f"no motion: {reason}")
        if not self._silence <= SILENCE:
            raise CapabilityError(f"no motion: no state for {self._silence:.1f} s")
        return last
