"""Parent side of UR motion: a supervised child process runs the ur_rtde control client, which may crash or hang."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros.drivers.child_process import end, hang_up, spawn
from robot_dynamics_ros.drivers.client import Client
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.trajectories.playback import refuse_start

MODULE = "robot_dynamics_ros.drivers.ur.control_child"
SILENCE_TIMEOUT = 2.0  # s without new data until the child is ended; at 2.5 s the client crashes in its reconnect loop


class UrControl(Client):
    """The child is started with the first request; every method returns at once.

    stopped: says why the robot stands still now, "" where nothing stops it.
    """

    def __init__(self, host: str, silence: float = SILENCE_TIMEOUT, stopped: Callable[[], str] = lambda: "") -> None:
        super().__init__(host)
        self._silence, self._stopped = silence, stopped
        self._begin_asked: tuple[np.ndarray, int] | None = None  # first row (6,) [rad] of a stream, system time [ns]

    # -- requests -----------------------------------------------------------------------------------------------------
    def play(
        self, path: np.ndarray, stream: np.ndarray, start: np.ndarray, rate: float, speed: float, acceleration: float
    ) -> None:
        """Waypoints path (m, 6), then a stream (N, 6) at `rate` [Hz], from start (6,) [rad] on.

        Raises CapabilityError.
        """
        if not len(path) + len(stream):
            raise CapabilityError("no motion: no waypoints and no positions")
        if len(stream):
            refuse_start(stream[0], path[-1] if len(path) else start)
        request = {"do": "play", "rate": rate, "speed": speed, "acceleration": acceleration, "split": len(path)}
        self.begin(request, np.vstack([path, stream]))

    def begin(self, request: dict[str, Any], array: np.ndarray | None = None) -> None:
        """As Client.begin, array (N, 6) [rad]; what an earlier stream asked is no longer of interest."""
        with self._lock:
            if not self.motion.active:
                self._begin_asked = None
            super().begin(request, array)

    def stop(self) -> None:
        """As Client.stop; a stream that has not begun does not."""
        with self._lock:
            self._begin_asked = None
            super().stop()

    # -- life of the child --------------------------------------------------------------------------------------------
    def supervise(self, silence: float) -> None:
        """Called with every read: `silence` [s] since the controller's clock advanced. After 2 s the child is ended.

        So it is when it does not answer a stop: the controller's watchdog then stops the robot.
        """
        if silence > self._silence and self._process is not None:
            self._kill("the controller is silent")
        self._judge_stop()

    def on_sample(self, q: np.ndarray, receive_ns: int) -> None:
        """Called with every sample: a stream that the child is ready for begins only where the robot is, q (6,) [rad].

        receive_ns: when q arrived, system time; an earlier one says nothing about where the robot is when it begins.
        """
        if self._begin_asked is None:
            return
        first, asked_ns = self._begin_asked
        if receive_ns < min(asked_ns, time.time_ns()):  # the clock may be set back
            return
        self._begin_asked = None
        with suppress(ConnectionFailed):
            try:
                refuse_start(first, q)
                self._send({"do": "go"})
            except CapabilityError as error:
                self._send({"do": "refuse", "why": str(error)})

    def close(self) -> None:
        """Stop motion and end the child; may be repeated."""
        with self._lock:
            process, pipe = self._process, self._pipe
            self._use(None, None)
        if pipe is not None:
            hang_up(pipe)  # the child stops the robot when its pipe ends
        if process is not None:
            end(process)

    def _kill(self, reason: str) -> None:
        """The next request starts another child."""
        with self._lock:
            super()._kill(reason)
            self._use(None, None)

    def _send(self, request: dict[str, Any], array: np.ndarray | None = None) -> None:
        with self._lock:
            if self.pid is None:
                process, pipe = spawn(MODULE, [self.host])
                self._use(process, pipe)
                threading.Thread(target=self._follow, args=(process, pipe), daemon=True).start()
            super()._send(request, array)

    def _follow(self, process: subprocess.Popen[bytes], pipe: Connection) -> None:
        why = self._listen(process, pipe)
        with self._lock:
            if self._process is process:
                self._use(None, None)
            if self._process is not None or not self.motion.active:
                return
            cause = self._stopped()
            failed = MotionState("failed", f"{why}: {cause}" if cause else why)
            self.motion = failed if process.returncode else MotionState("stopped", "disconnected")

    def _hear(self, event: str, report: dict[str, Any]) -> None:
        if event == "begins":
            self._begin_asked = np.array(report["first"]), time.time_ns()
        else:
            super()._hear(event, report)
