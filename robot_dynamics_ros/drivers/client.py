"""A vendor client in a process of its own, seen from its driver: one motion at a time, stops that it must answer."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros.drivers.child_process import Outbox, end, hang_up, receive
from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.supervisor import ending

STOP_TIMEOUT = 2.5  # s from a request to stop until the process must have answered; from 3 rad/s it takes 1.5
ANSWER_TIMEOUT = 20.0  # s until the process, which may have to start first, must have answered a setting
STOPS = "and was ended; the robot's own watchdog stops it"


class Client:
    """Requests go to the process, reports come back in a thread of the subclass, which starts the process.

    host: of the robot. motion: state of the present or last one.
    """

    def __init__(self, host: str) -> None:
        self.host, self.motion = host, MotionState()
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._outbox: Outbox | None = None
        self._stop_asked: float | None = None  # steady time
        self.answer: str | None = None  # why the last setting was refused, "": it is done, None: not answered yet
        self._asked = 0  # number of the last motion or setting
        self._lock = threading.RLock()

    @property
    def pid(self) -> int | None:
        """Process id, None while there is no process."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    # -- requests -----------------------------------------------------------------------------------------------------
    def begin(self, request: dict[str, Any], array: np.ndarray | None = None) -> None:
        """Request a motion, array (N, n) [rad]. Raises CapabilityError while another one runs, ConnectionFailed."""
        with self._lock:
            if self.motion.active:
                raise CapabilityError("a motion is running: stop it first")
            self.motion, self._stop_asked = MotionState("starting"), None  # a stop belongs to the motion before
            self._asked += 1
            try:
                self._send(request | {"number": self._asked}, array)
            except ConnectionFailed as error:
                self.motion = MotionState("failed", str(error))
                raise

    def stop(self) -> None:
        """Stop a motion of ours; a process that has just ended needs no stop: the robot's watchdog stops it."""
        with self._lock:
            if self.motion.active:
                self._stop_asked = self._stop_asked or time.monotonic()
                with suppress(ConnectionFailed):
                    self._send({"do": "stop", "number": self._asked})

    def ask(self, request: dict[str, Any], wait: Callable[[Callable[[], bool], float], bool]) -> None:
        """Send a setting and wait for its answer; `wait` as Driver.wait_until.

        Raises CapabilityError with the reason of a refusal, ConnectionFailed.
        """
        with self._lock:
            self.answer, self._asked = None, self._asked + 1
            self._send(request | {"number": self._asked})
        if not wait(lambda: self.answer is not None, ANSWER_TIMEOUT):
            raise ConnectionFailed(f"{self.host}: the vendor client does not answer")
        if self.answer:
            raise CapabilityError(self.answer)

    def _send(self, request: dict[str, Any], array: np.ndarray | None = None) -> None:
        """Returns at once. Raises ConnectionFailed."""
        with self._lock:
            if self._outbox is None:
                raise ConnectionFailed(f"{self.host}: not connected")
            try:
                self._outbox.send(request, array)
            except BlockingIOError as error:
                self._kill(f"the vendor client hangs {STOPS}")
                raise ConnectionFailed(f"{self.host}: the vendor client hangs and was ended") from error
            except OSError as error:
                raise ConnectionFailed(f"{self.host}: the client's process ended") from error

    # -- life of the process ------------------------------------------------------------------------------------------
    def _use(self, process: subprocess.Popen[bytes] | None, pipe: Connection | None) -> None:
        """Requests go to this process from now on."""
        self._process, self._pipe, self._outbox = process, pipe, None if pipe is None else Outbox(pipe)

    def _judge_stop(self) -> None:
        """Called with every read: a process that does not answer a stop is ended."""
        asked = self._stop_asked
        if asked is None:
            return
        if not self.motion.active:
            self._stop_asked = None
        elif time.monotonic() - asked > STOP_TIMEOUT:
            self._kill(f"the vendor client did not answer a stop {STOPS}")

    def _kill(self, reason: str) -> None:
        with self._lock:
            if self.motion.active:
                self.motion = MotionState("failed", reason)
            self._stop_asked = None
            if self._process is not None:
                self._process.kill()  # the listening thread waits for its end

    def _listen(self, process: subprocess.Popen[bytes], pipe: Connection) -> str:
        """Take the reports until the pipe ends, and wait for the process; why it ended."""
        reason = ""
        try:
            while True:
                report, _ = receive(pipe)
                event = report.pop("event")
                if event == "fatal":
                    reason = report["reason"]
                else:
                    self._hear(event, report)
        except (EOFError, OSError, json.JSONDecodeError):
            hang_up(pipe)
        code = end(process)
        reason = reason or f"the client's process ended ({ending(code)})"
        with self._lock:
            if self.answer is None and self._process in (None, process):  # another one has a setting of its own
                self.answer = reason
        return reason

    def _hear(self, event: str, report: dict[str, Any]) -> None:
        """One report; a subclass takes further ones. Of a request that was given up or sent again, and of a stop that
        met the end of its motion, nothing is taken for the last one.
        """
        if report.pop("number") != self._asked:
            return
        if event == "motion":
            self.motion = MotionState(**report)
        elif event == "answer":
            self.answer = report["reason"]
