"""The process of a vendor client: its start, its end, and messages of one JSON object and one array; no pickle."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.supervisor import child_environment, ending


def spawn(
    module: str, arguments: Sequence[str], descriptors: Sequence[int] = ()
) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start `python -m module <pipe> arguments...`; returns the process and this end of the pipe."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno()), *arguments],
        pass_fds=[theirs.fileno(), *descriptors],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C in the terminal reaches us alone, and we stop the robot in order
        env=child_environment(),
    )
    theirs.close()
    return process, Connection(ours.detach())


def connected(pipe: Connection, process: subprocess.Popen[Any], host: str, timeout: float) -> str:
    """Version that a new process reports within `timeout` [s]. Raises ConnectionFailed with the reason."""
    reason = f"no answer within {timeout:g} s"
    try:
        if pipe.poll(timeout):
            report, _ = receive(pipe)
            if report["event"] == "connected":
                return str(report["version"])
            reason = str(report.get("reason"))
    except (EOFError, OSError):
        reason = f"the driver process ended ({ending(end(process))})"
    raise ConnectionFailed(f"{host}: {reason}")


def hang_up(pipe: Connection) -> None:
    """Shut the pipe down for both sides, also while a thread of this process is reading from it."""
    try:
        with socket.socket(fileno=os.dup(pipe.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def end(process: subprocess.Popen[Any], timeout: float = 5.0) -> int:
    """Wait for a process that was asked to end, kill it after `timeout` [s]. Returns its exit status."""
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def encoded(message: dict[str, Any], array: np.ndarray | None = None) -> list[bytes]:
    """The parts of a message on the wire: one JSON object, then the rows of `array` (N, n) if there are any."""
    rows, columns = (0, 0) if array is None else array.shape
    parts = [json.dumps({**message, "rows": rows, "columns": columns}).encode()]
    return [*parts, np.ascontiguousarray(array, dtype=np.float64).tobytes()] if rows else parts


def send(pipe: Connection, message: dict[str, Any], array: np.ndarray | None = None) -> None:
    """Send a message, then the rows of `array` (N, n) if there are any; waits until the pipe has taken them."""
    _write(pipe, encoded(message, array))


class Outbox:
    """Messages to a child in order; the sender never waits for the child, whatever the child does.

    A small message goes into the pipe at once where it fits. Anything else waits for a thread that writes it.
    """

    WAITING = 64  # messages; more of them and the child does not read
    SMALL = 4096  # bytes that fit wherever the system reports room in a pipe

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._lock = pipe, threading.Lock()
        self._waiting: deque[list[bytes]] = deque()  # the first is being written

    def send(self, message: dict[str, Any], array: np.ndarray | None = None) -> None:
        """A message with `array` (N, n), if any. Raises OSError when the child is gone or does not read."""
        parts = encoded(message, array)
        with self._lock:
            if not self._waiting and sum(map(len, parts)) <= self.SMALL and self._takes():
                return _write(self._pipe, parts)
            if len(self._waiting) >= self.WAITING:
                raise BlockingIOError("the process does not read its messages")
            self._waiting.append(parts)
            if len(self._waiting) == 1:
                pipe = Connection(os.dup(self._pipe.fileno()))  # stays the same file while the thread writes
                threading.Thread(target=self._empty, args=(pipe,), daemon=True).start()

    def _takes(self) -> bool:
        poll = select.poll()
        poll.register(self._pipe.fileno(), select.POLLOUT)
        return bool(poll.poll(0))

    def _empty(self, pipe: Connection) -> None:
        """Write what waits until nothing does, and close `pipe`; with the other end it ends."""
        with pipe:
            while True:
                try:
                    _write(pipe, self._waiting[0])
                except (OSError, ValueError):
                    return  # the first stays: the next sender sees a child that does not read
                with self._lock:
                    self._waiting.popleft()
                    if not self._waiting:
                        return


def _write(pipe: Connection, parts: list[bytes]) -> None:
    for part in parts:
        pipe.send_bytes(part)


class Served:
    """The client's process seen from inside: what it tells the driver."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self.number = pipe, 0  # of the request that is carried out

    def report(self, state: str, reason: str = "", progress: float = 0.0) -> None:
        """The state of the motion."""
        motion = {"event": "motion", "state": state, "reason": reason, "progress": progress}
        send(self._pipe, motion | {"number": self.number})

    def answer(self, reason: str = "") -> None:
        """Answer a setting: why not, empty when it is done."""
        send(self._pipe, {"event": "answer", "reason": reason, "number": self.number})


def receive(pipe: Connection) -> tuple[dict[str, Any], np.ndarray]:
    """The next message and its array (0 or more rows). Raises EOFError when the other end is closed."""
    message = json.loads(pipe.recv_bytes())
    rows, columns = message.pop("rows", 0), message.pop("columns", 0)
    data = pipe.recv_bytes() if rows else b""
    return message, np.frombuffer(data, dtype=np.float64).reshape(rows, columns)
