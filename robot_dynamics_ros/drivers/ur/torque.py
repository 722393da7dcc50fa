"""The program of torque mode on a UR: torque.script, fed through registers in the cycle of each state.

The receiving thread (C++) writes the registers. The program holds a torque for at most HOLD cycles without a new
heartbeat, then ramps it out, ramps it in again when heartbeats come back, and ends in stopj: when this process dies,
the robot comes to rest by itself.
"""

from __future__ import annotations

import socket
from pathlib import Path
from string import Template

from robot_dynamics_ros.errors import ConnectionFailed

SCRIPT_PORT, UPLOAD_TIMEOUT = 30003, 2.0  # s
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


def upload(host: str) -> None:
    """Send the program; it replaces the one that runs. Raises ConnectionFailed."""
    try:
        with socket.create_connection((host, SCRIPT_PORT), UPLOAD_TIMEOUT) as connection:
            connection.sendall(PROGRAM.encode())
            connection.shutdown(socket.SHUT_WR)
    except OSError as error:
        raise ConnectionFailed(f"{host}:{SCRIPT_PORT}: the torque program cannot be sent: {error}") from error
