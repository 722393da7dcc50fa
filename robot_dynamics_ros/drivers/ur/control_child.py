"""Child process around the unmodified ur_rtde control client: executes requests, stops the robot when the pipe ends.

The controller's own watchdog is armed before anything moves, and kicked only while this loop runs: when it is killed,
the controller stops the robot by itself.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros.drivers.child_process import Served, receive, send
from robot_dynamics_ros.errors import CapabilityError, first_line
from robot_dynamics_ros.waiting import wait_until

HANG_TIMEOUT = 30.0  # s without a turn of this loop until the process ends itself, without the interpreter
START_TIMEOUT = 5.0  # s from the upload of the client's program until it must run, as the client itself waits
WATCHDOG_HZ = 5.0  # slowest rate of input updates the controller accepts before it stops the robot
POLL = 0.02  # s between looks at a motion that the controller runs
STOP_DECELERATION = 2.0  # rad/s2
LOOKAHEAD, GAIN = 0.03, 1000.0  # s, of a stream [URScript servoj]
ENDED = (
    "the controller's program ended during the {}: it was stopped at the robot, or by its watchdog because this "
    "machine was too slow"
)


class Stopped(Exception):
    """A stop was requested, or the parent ended, in the middle of a motion."""


class Child(Served):
    """One client, one request at a time; a stop is handled during motions."""

    def __init__(self, pipe: Connection, host: str) -> None:
        super().__init__(pipe)
        self._host = host
        self._client: Any = None  # the ur_rtde control interface, loaded with the first request

    def run(self) -> None:
        """Execute requests until the pipe ends."""
        while True:
            faulthandler.dump_traceback_later(HANG_TIMEOUT, exit=True)
            if self._pipe.poll(1.0 / WATCHDOG_HZ / 4):
                self._execute(*receive(self._pipe))
            elif self._client is not None:
                self._client.kickWatchdog()

    def _execute(self, request: dict[str, Any], array: np.ndarray) -> None:
        if request["do"] in ("go", "refuse"):  # an answer that crossed with a stop
            return
        handler, self.number = getattr(self, "do_" + request.pop("do")), request.pop("number", 0)
        self._connect()
        try:
            handler(array, **request)
        except Stopped as stop:
            self._halt()
            self.report("stopped", str(stop))
        except CapabilityError as refusal:
            self.report("failed", str(refusal))

    def _connect(self) -> None:
        """The client's program runs under the watchdog; one that has ended (stop, watchdog, pendant) is sent again."""
        if self._client is None:
            self._client = make_client(self._host)
        for _ in range(2):  # it may end between the look at it and the watchdog
            if not self._client.isProgramRunning():
                self._upload()
            if self._client.setWatchdog(WATCHDOG_HZ):
                return
        raise RuntimeError("the controller does not accept the watchdog")

    def _upload(self) -> None:
        """Send the program and wait until it runs: the client returns before."""
        self._client.reuploadScript()
        wait_until(self._client.isProgramRunning, START_TIMEOUT, lambda: time.sleep(POLL))

    # -- requests -----------------------------------------------------------------------------------------------------
    def do_play(self, rows: np.ndarray, rate: float, speed: float, acceleration: float, split: int) -> None:
        """Point to point through rows[:split], then rows[split:] at `rate` [Hz]; rows (N, 6) [rad]."""
        self.report("moving")
        for q in rows[:split].tolist():
            self._move(q, speed, acceleration)
        if split < len(rows):
            self._stream(rows[split:], rate)
        self.report("done", progress=1.0)

    def do_stop(self, _: np.ndarray) -> None:
        """Nothing of ours is moving: bring the robot to rest all the same."""
        self._halt()
        self.report("stopped", "stop was requested")

    def do_payload(self, _: np.ndarray, mass: float, com: list[float], inertia: list[float]) -> None:
        """Load on the flange; set_target_payload takes the inertia as Ixx Iyy Izz Ixy Ixz Iyz."""
        xx, xy, xz, yy, yz, zz = inertia
        done = self._client.setTargetPayload(mass, com, [xx, yy, zz, xy, xz, yz])
        self.answer("" if done else "the controller refuses the payload")

    def do_zero_ft(self, _: np.ndarray) -> None:
        """Zero the controller's force-torque sensor."""
        self.answer("" if self._client.zeroFtSensor() else "the controller refuses to zero the sensor")

    # -- motions ------------------------------------------------------------------------------------------------------
    def _move(self, q: list[float], speed: float, acceleration: float) -> None:
        """One asynchronous move; returns when the controller has finished it."""
        if not self._client.moveJ(q, speed, acceleration, True):
            raise self._refused("move")
        while self._client.getAsyncOperationProgress() >= 0:
            self._pause(POLL)
            self._client.kickWatchdog()
            if not self._client.isProgramRunning():
                raise RuntimeError(ENDED.format("move"))

    def _stream(self, stream: np.ndarray, rate: float) -> None:
        self._await_go(stream[0])
        period, rows, reported = 1.0 / rate, stream.tolist(), time.monotonic()
        due = reported
        for k, q in enumerate(rows):
            if not self._client.servoJ(q, 0.0, 0.0, period, LOOKAHEAD, GAIN):
                raise self._refused("stream")
            if self._pipe.poll():
                self._handle_request()
            if time.monotonic() - reported > 0.1:
                reported = time.monotonic()
                self._check(k / len(rows))
            now = time.monotonic()
            due = max(due + period, now)
            time.sleep(due - now)  # the client's own waitPeriod computes for most of a period
        self._client.servoStop(STOP_DECELERATION)

    def _await_go(self, first: np.ndarray) -> None:
        """Until the parent, which reads the states, has compared first (6,) [rad] with where the robot is now."""
        send(self._pipe, {"event": "begins", "first": first.tolist()})
        while self._pause(POLL) != "go":
            self._client.kickWatchdog()

    def _check(self, progress: float) -> None:
        """The client returns True even without a running program: query the program itself."""
        faulthandler.dump_traceback_later(HANG_TIMEOUT, exit=True)
        if not self._client.isProgramRunning():
            raise RuntimeError(ENDED.format("stream"))
        self.report("moving", progress=progress)

    def _refused(self, what: str) -> RuntimeError:
        """The client says the same of a command that the controller refuses and of a program that has ended."""
        running = self._client.isProgramRunning()
        return RuntimeError(f"the controller refuses the {what}" if running else ENDED.format(what))

    def _pause(self, seconds: float) -> str:
        faulthandler.dump_traceback_later(HANG_TIMEOUT, exit=True)
        return self._handle_request() if self._pipe.poll(seconds) else ""

    def _handle_request(self) -> str:
        """Handle a request during a motion; the name of one that is neither a stop nor a refusal."""
        request, _ = receive(self._pipe)
        if request["do"] == "stop":
            raise Stopped("stop was requested")
        if request["do"] == "refuse":
            raise CapabilityError(request["why"])
        return str(request["do"])

    def _halt(self) -> None:
        if self._client is not None and self._client.isProgramRunning():
            self._client.servoStop(STOP_DECELERATION)
            self._client.stopJ(STOP_DECELERATION)

    def leave(self) -> None:
        """Robot at rest, script and watchdog ended."""
        if self._client is not None:
            self._halt()
            self._client.stopScript()
            self._client.disconnect()


def make_client(host: str) -> Any:
    """The vendor's control client with its program running. Raises CapabilityError where it is not installed."""
    try:
        from rtde_control import RTDEControlInterface
    except ImportError as error:
        raise CapabilityError(f"motion needs the ur_rtde client (pip install ur-rtde): {error}") from None
    return RTDEControlInterface(host)


def main() -> None:
    """argv: file descriptor of the pipe, host."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = Child(Connection(int(sys.argv[1])), sys.argv[2])
    try:
        child.run()
    except (EOFError, ConnectionResetError, BrokenPipeError):
        child.leave()  # the parent ended or closed the pipe
    except Exception as error:  # reported in one line; a new child starts with the next request
        with suppress(OSError):  # the driver may have gone, too
            send(child._pipe, {"event": "fatal", "reason": first_line(error)})
        sys.exit(1)


if __name__ == "__main__":
    main()
