"""Positions to the LPC: one per state while a motion runs, gated by modality, drives and POWERLINK."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.drivers.arguments import Rows
from robot_dynamics_ros.drivers.comau import wire
from robot_dynamics_ros.drivers.comau.states import STEP_SPEED
from robot_dynamics_ros.drivers.comau.wire import DEGREE
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.trajectories.playback import Playback

FOLLOW = 2.0  # deg between a position sent and the LPC's target ...
REJECTED = 50  # ... for so many commands, until a motion counts as rejected
ARRIVED = 0.1  # deg, the same at the end of a motion
REPORT = 100  # cycles between two looks at progress
SILENCE = 0.2  # s without a state until a motion is over, and none may begin


class ComauMotion:
    """One motion at a time, one command per state.

    send: sends a command; rate [Hz] of the states; enabled: positions may be sent.
    """

    def __init__(self, n_joints: int, rate: float, send: Callable[[wire.Command], None], enabled: bool) -> None:
        self._n, self._rate, self._send = n_joints, rate, send
        self.enabled = enabled
        self._lock = threading.RLock()
        self.motion = MotionState()
        self._playback: Playback | None = None
        self._sent: np.ndarray | None = None
        self._ignored, self._time_us = 0, 0  # LPC time of the last state, 0 before the first of a motion

    def begin(self, last: wire.State, path: Rows, stream: Rows, speed: float, acceleration: float) -> None:
        """Waypoints path (m, n), then a stream (N, n), from the target of the last state. Raises CapabilityError."""
        if not (0.0 < speed <= STEP_SPEED and 0.0 < acceleration <= 10.0):
            raise CapabilityError(f"speed {speed} or acceleration {acceleration} is outside 0..2.6 rad/s, 0..10 rad/s2")
        with self._lock:
            start = DEGREE * np.array(last.target[: self._n])
            if not np.isfinite(start).all():
                raise CapabilityError("no motion: the LPC does not report its target, from which it would begin")
            playback = Playback(start, path, stream, self._rate, speed, acceleration)
            self._playback, self.motion = playback, MotionState("moving")
            self._sent, self._ignored, self._time_us = None, 0, 0

    def end(self, reason: str) -> None:
        """End a running motion with this reason, because the connection is closed."""
        with self._lock:
            if self.motion.active:
                self._over("stopped", reason)

    def _over(self, state: str, reason: str, progress: float = 0.0) -> None:
        self._playback, self.motion = None, MotionState(state, reason, progress)

    def stop(self) -> None:
        """Slow down along the path; does nothing when nothing moves."""
        with self._lock:
            if self._playback is not None:
                self._playback.stop()

    def supervise(self, silence: float) -> None:
        """Called with every read, `silence` [s] after the last state: a motion that gets none is over."""
        with self._lock:
            if silence > SILENCE and self.motion.active:
                self._over("failed", f"the LPC has sent no state for {silence:.1f} s")

    def ready_text(self, state: wire.State) -> str:
        """Why the LPC does not take commands, empty when it does."""
        if not state.powerlink:
            return "POWERLINK is down"
        if state.status != wire.DRIVES_ON:
            return f"drives are {wire.DRIVE_STATUS.get(state.status, 'in an unknown state')}"
        if state.modality != wire.POS_ABSOLUTE:
            return f"modality is {wire.MODALITIES.get(state.modality, state.modality)}"
        return ""

    def on_state(self, state: wire.State) -> None:
        """In the receiving thread: one command per state while a motion runs."""
        with self._lock:
            if self._playback is None:
                return
            before, self._time_us = self._time_us or state.time_us, state.time_us
            reason = self.ready_text(state)
            if not 0 <= state.time_us - before <= 1e6 * SILENCE:  # the robot stands: it does not move on by itself
                reason = "states of the LPC were lost, or this machine was too slow"
            if reason:
                return self._over("failed", reason)
            playback = self._playback
            following = playback.next()
            away = self._away(state, ARRIVED if following is None else FOLLOW)
            if away and self._ignored > REJECTED:
                return self._over("failed", "the LPC does not follow: it rejects the positions")
            sent = self._sent if following is None else following / DEGREE
            if sent is None or (following is None and not away):
                done = ("stopped", "stop was requested") if playback.stopped else ("done", "")
                return self._over(*done, playback.progress)
            if state.sequence % REPORT == 0:
                self.motion = MotionState("moving", progress=playback.progress)
            self._sent = sent
            degrees = tuple(sent.tolist()) + (0.0,) * (wire.AXES - self._n)
            mask = (1 << self._n) - 1
            self._send(wire.Command(0, state.sequence, state.time_us, wire.POS_ABSOLUTE, mask, degrees))

    def _away(self, state: wire.State, tolerance: float) -> bool:
        """True when the LPC's target is further than `tolerance` [deg] from what was sent, or is not reported; counts
        these in a row.
        """
        sent = self._sent
        away = sent is not None and not np.abs(sent - np.array(state.target[: self._n])).max() <= tolerance
        self._ignored = self._ignored + 1 if away else 0
        return away
