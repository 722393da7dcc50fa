"""Parent side of UR motion: a supervised child process runs the ur_rtde control client, which may crash or hang."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.drivers.child_process import Outbox, end, ending, hang_up, receive, spawn
from robot_dynamics_ros.drivers.interface import MotionState, position_rows
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.trajectories.playback import refuse_start

MODULE = "robot_dynamics_ros.drivers.ur.control_child"
STOP_TIMEOUT = 2.5  # s from a request to stop until the child must have answered; from 3 rad/s it takes 1.5
SILENCE_TIMEOUT = 2.0  # s without new data until the child is ended; at 2.5 s the client crashes in its reconnect loop


class UrControl:
    """Requests go to the child, answers come back in a thread of this object; every method returns at once."""

    def __init__(self, host: str, silence: float = SILENCE_TIMEOUT) -> None:
        self.host, self._silence = host, silence
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._outbox: Outbox | None = None
        self._stop_asked: float | None = None  # steady time
        self._begin_asked: tuple[np.ndarray, int] | None = None  # first row (6,) [rad] of a stream, system time [ns]
        self._lock = threading.RLock()
        self._motion = MotionState()
        self.answer: str | None = None  # to the last setting: why not, empty when it was done, None: not answered yet

    # -- requests -----------------------------------------------------------------------------------------------------
    def play(
        self,
        waypoints: ArrayLike,
        positions: ArrayLike,
        start: np.ndarray,
        rate: float,
        speed: float,
        acceleration: float,
    ) -> None:
        """Waypoints (m, 6), then a stream (N, 6) at `rate` [Hz], from start (6,) [rad] on. Raises CapabilityError."""
        path, stream = position_rows(waypoints, 6, "waypoints"), position_rows(positions, 6, "positions")
        if not len(path) + len(stream):
            raise CapabilityError("no motion: no waypoints and no positions")
        if len(stream):
            refuse_start(stream[0], path[-1] if len(path) else start)
        request = {"do": "play", "rate": rate, "speed": speed, "acceleration": acceleration, "split": len(path)}
        self._begin(request, np.vstack([path, stream]))

    def set_payload(self, mass: float, com: ArrayLike, inertia: ArrayLike = (0.0,) * 6) -> None:
        """Mass [kg], centre of mass (3,) [m] and inertia about it (6,) XX XY XZ YY YZ ZZ [kg m2] of the load.

        Raises CapabilityError for a mass outside 0..100 kg and numbers that are none.
        """
        if not 0.0 <= mass <= 100.0:
            raise CapabilityError(f"payload mass {mass} kg is outside 0..100")
        load = {"com": _finite("com", com, 3), "inertia": _finite("inertia", inertia, 6)}
        self._set({"do": "payload", "mass": float(mass)} | load)

    def zero_ft(self) -> None:
        """Zero the controller's force-torque sensor."""
        self._set({"do": "zero_ft"})

    def _set(self, message: dict[str, Any]) -> None:
        with self._lock:
            self.answer = None
            self._request(message)

    def stop(self) -> None:
        """Stop what we started; a child that has just ended needs no stop: the watchdog stops the robot."""
        with self._lock:
            if self._pipe is not None:
                self._stop_asked, self._begin_asked = self._stop_asked or time.monotonic(), None
                with suppress(ConnectionFailed):
                    self._request({"do": "stop"})

    @property
    def motion(self) -> MotionState:
        """State of the present or last motion."""
        return self._motion

    @property
    def pid(self) -> int | None:
        """Process id of the child, None when there is none."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    # -- life of the child --------------------------------------------------------------------------------------------
    def supervise(self, silence: float) -> None:
        """Called with every read: `silence` [s] since the controller's clock advanced. After 2 s the child is ended.

        So it is when it does not answer a stop: the controller's watchdog then stops the robot.
        """
        if silence > self._silence and self._process is not None:
            self._end("the controller is silent")
        if self._stop_asked is not None:
            if not self._motion.active:
                self._stop_asked = None
            elif time.monotonic() - self._stop_asked > STOP_TIMEOUT:
                self._end("the vendor client did not answer a stop and was ended; the watchdog stops the robot")

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
                self._request({"do": "go"})
            except CapabilityError as error:
                self._request({"do": "refuse", "why": str(error)})

    def close(self) -> None:
        """Stop motion and end the child; may be repeated."""
        with self._lock:
            process, pipe = self._process, self._pipe
            self._process = self._pipe = self._outbox = None
        if pipe is not None:
            hang_up(pipe)  # the child stops the robot when its pipe ends
        if process is not None:
            end(process)

    def _end(self, reason: str) -> None:
        with self._lock:
            process, self._process, self._pipe, self._outbox = self._process, None, None, None
            if self._motion.active:
                self._motion = MotionState("failed", reason)
            self._stop_asked = None
        if process is not None:
            process.kill()  # the listening thread waits for its end

    def _begin(self, message: dict[str, Any], array: np.ndarray) -> None:
        with self._lock:
            if self._motion.active:
                raise CapabilityError("a motion is running: stop it first")
            self._motion, self._stop_asked = MotionState("starting"), None  # a stop belongs to the motion before
            self._begin_asked = None
            try:
                self._request(message, array)
            except ConnectionFailed as error:
                self._motion = MotionState("failed", str(error))
                raise

    def _request(self, message: dict[str, Any], array: np.ndarray | None = None) -> None:
        with self._lock:
            if self.pid is None:
                self._start()
            try:
                if self._outbox is None:
                    raise OSError("no pipe")
                self._outbox.send(message, array)
            except BlockingIOError as error:
                self._end("the vendor client hangs and was ended; the watchdog stops the robot")
                raise ConnectionFailed(f"{self.host}: the vendor client hangs and was ended") from error
            except OSError as error:
                raise ConnectionFailed(f"{self.host}: the control process ended") from error

    def _start(self) -> None:
        self._process, self._pipe = spawn(MODULE, [self.host])
        self._outbox = Outbox(self._pipe)
        threading.Thread(target=self._listen, args=(self._process, self._pipe), daemon=True).start()

    def _listen(self, process: subprocess.Popen[bytes], pipe: Connection) -> None:
        """Takes the child's reports until its pipe ends."""
        reason = ""
        try:
            while True:
                report, _ = receive(pipe)
                if report["state"] == "fatal":
                    reason = report["reason"]
                elif report["state"] == "answer":
                    self.answer = report["reason"]
                elif report["state"] == "begins":
                    self._begin_asked = np.array(report["first"]), time.time_ns()
                else:
                    self._motion = replace(self._motion, **report)
        except (EOFError, OSError, json.JSONDecodeError):
            hang_up(pipe)  # closed by its last user: a writer must not meet the number of another file
        process.wait()
        with self._lock:
            if self._process is process:
                self._process = self._pipe = self._outbox = None
            why = reason or f"the control process ended ({ending(process.returncode)})"
            self.answer = why if self.answer is None else self.answer
            if self._process is None and self._motion.active:
                self._motion = MotionState("failed", why)


def _finite(name: str, values: ArrayLike, count: int) -> list[float]:
    array = np.asarray(values, dtype=float).ravel()
    if array.shape != (count,) or not np.isfinite(array).all():
        raise CapabilityError(f"payload {name} = {array.tolist()} is not {count} finite numbers")
    return array.tolist()
