"""Torque to a UR, by one of two transports.

script: the program torque.script runs on the controller and is fed through registers in the cycle of each state, by the
receiving thread (C++). It holds a torque for at most HOLD cycles without a new heartbeat, then ramps it out, ramps it
in again when heartbeats come back, and ends in stopj: when this process dies, the robot comes to rest by itself.
client: the vendor's client takes the torques.
"""

from __future__ import annotations

import socket
from collections import deque
from pathlib import Path
from string import Template

from robot_dynamics_ros._core import GuardReason, TorqueLoop, TorqueRecord
from robot_dynamics_ros.drivers.ur.control import UrControl
from robot_dynamics_ros.errors import ConnectionFailed

SCRIPT_PORT = 30003
TORQUE_REGISTER, BEAT_REGISTER, RUN_REGISTER = 24, 24, 25  # as in cpp_core rtde_session.hpp
HOLD = 3  # cycles without a heartbeat in which the last torque stays
HEARTBEAT_TIMEOUT = 25  # cycles without a heartbeat until the program ends: 50 ms
START_TIMEOUT = 1000  # cycles the program waits to be started
DECELERATION = 4.0  # rad/s2 of the stopj at the end

PROGRAM = Template(Path(__file__).with_name("torque.script").read_text(encoding="utf-8")).substitute(
    BEAT_REGISTER=BEAT_REGISTER,
    RUN_REGISTER=RUN_REGISTER,
    HOLD=HOLD,
    RAMP=HEARTBEAT_TIMEOUT - HOLD,
    HEARTBEAT_TIMEOUT=HEARTBEAT_TIMEOUT,
    START_TIMEOUT=START_TIMEOUT,
    DECELERATION=DECELERATION,
    **{f"TORQUE_{joint}": TORQUE_REGISTER + joint for joint in range(6)},
)


def upload(host: str, port: int = SCRIPT_PORT, timeout: float = 2.0) -> None:
    """Send the program; it replaces the one that runs. Raises ConnectionFailed."""
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(PROGRAM.encode())
            connection.shutdown(socket.SHUT_WR)
    except OSError as error:
        raise ConnectionFailed(f"{host}:{port}: the torque program cannot be sent: {error}") from error


class TorqueSender:
    """Records of a torque loop and, with a client, its torques to the client's process."""

    def __init__(self, loop: TorqueLoop, client: UrControl | None, records: deque[TorqueRecord]) -> None:
        self._loop, self._client, self._records = loop, client, records
        self._running, self._last = False, (0, False, b"")

    def send(self) -> None:
        """New records of the loop into `records`; each new torque, and the end of torque, to the client."""
        while (record := self._loop.pop()) is not None:
            self._records.append(record)
            ended = self._running and not record.run
            self._running = record.run
            if self._client is not None and (record.run or ended):
                self._forward(record, self._client)

    def _forward(self, record: TorqueRecord, client: UrControl) -> None:
        """A cycle without a new state is left out: the client holds its torque. A failure latches the loop off."""
        new = (record.stamp_ns, record.run, record.torque.tobytes())
        if new == self._last:
            return
        self._last = new
        if record.run and client.motion.state != "moving":
            self._loop.trip(GuardReason.robot_stopped)
        try:
            client.send_torque(record.torque, record.run)
        except ConnectionFailed:
            self._loop.trip(GuardReason.robot_stopped)
