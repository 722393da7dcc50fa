"""Client of the control and ground truth channels of a simulated controller, for tests and the demo."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

from robot_dynamics_ros.errors import ConnectionFailed, RobotDynamicsError


class _Lines:
    """A blocking connection that sends and receives JSON lines."""

    def __init__(self, host: str, port: int, timeout: float) -> None:
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as error:
            raise ConnectionFailed(f"no simulated controller at {host}:{port}: {error}") from error
        self._stream = self._socket.makefile("rb")

    def send(self, message: dict[str, Any]) -> None:
        self._socket.sendall(json.dumps(message).encode() + b"\n")

    def receive(self) -> dict[str, Any] | None:
        line = self._stream.readline()
        return json.loads(line) if line.endswith(b"\n") else None  # a process that was killed leaves half a line

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


TIMEOUT = 60.0  # s of a reply


class SimulationClient:
    """Injects faults and wrenches, asks for state, and reads ground truth."""

    def __init__(self, host: str, control_port: int, truth_port: int) -> None:
        self._control = _Lines(host, control_port, TIMEOUT)
        self._truth = (host, truth_port, TIMEOUT)

    def command(self, name: str, /, **fields: Any) -> dict[str, Any]:
        """Send a command of the control channel and return its reply; what it refuses is an error.

        Raises RobotDynamicsError for what it refuses, ConnectionFailed when it has gone.
        """
        try:
            self._control.send({"command": name, **fields})
            reply = self._control.receive()
        except OSError as error:
            raise ConnectionFailed(f"the simulated controller has gone: {error}") from error
        if reply is None:
            raise ConnectionFailed("the simulated controller has closed the control channel")
        if not reply.pop("ok"):
            raise RobotDynamicsError(f"simulated controller: {name}: {reply['error']}")
        return reply

    def kill(self) -> None:
        """Make the process exit at once; there is no reply."""
        self._control.send({"command": "kill"})
        self._control.receive()

    @property
    def state(self) -> dict[str, Any]:
        """Controller time, modes, program, positions, messages."""
        return self.command("state")

    def wait(self, seconds: float) -> float:
        """Block until so much controller time has passed; returns the controller time."""
        return float(self.command("wait", seconds=seconds)["timestamp"])

    def truth(self) -> Iterator[dict[str, Any]]:
        """Ground truth records from now on, until the controller closes; stamped with controller time."""
        stream = _Lines(*self._truth)
        try:
            while (record := stream.receive()) is not None:
                yield record
        finally:
            stream.close()

    def close(self) -> None:
        """Close the connection."""
        self._control.close()

    def __enter__(self) -> SimulationClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
