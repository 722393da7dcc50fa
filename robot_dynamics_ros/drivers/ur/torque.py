"""Torque to a UR: our own small program on the script port, fed through registers in the cycle of each state.

The program holds a torque for at most HOLD cycles without a new heartbeat, then ramps it out, and ends in stopj: killed
in any way, this side leaves a robot that comes to rest by itself.
"""

from __future__ import annotations

import socket

from robot_dynamics_ros.errors import ConnectionFailed

SCRIPT_PORT = 30003
TORQUE_REGISTER, BEAT_REGISTER, RUN_REGISTER = 24, 24, 25  # as in cpp_core rtde_session.hpp
HOLD = 3  # cycles without a heartbeat in which the last torque stays
LIMIT = 25  # cycles without a heartbeat until the program ends: 50 ms
PATIENCE = 1000  # cycles the program waits to be started
DECELERATION = 4.0  # rad/s2 of the stopj at the end

PROGRAM = f"""def robot_dynamics_torque():
  # Torques come from outside; without a heartbeat they are ramped out and the robot stops.
  beat = read_input_integer_register({BEAT_REGISTER})
  missed = 0
  waited = 0
  while read_input_integer_register({RUN_REGISTER}) != 1 and waited < {PATIENCE}:
    waited = waited + 1
    sync()
  end
  write_output_integer_register({BEAT_REGISTER}, 1)
  while read_input_integer_register({RUN_REGISTER}) == 1 and missed < {LIMIT}:
    now = read_input_integer_register({BEAT_REGISTER})
    if now == beat:
      missed = missed + 1
    else:
      missed = 0
      beat = now
    end
    share = 1.0
    if missed > {HOLD}:
      share = ({LIMIT} - missed) / {LIMIT - HOLD}.0
    end
    t0 = share * read_input_float_register({TORQUE_REGISTER})
    t1 = share * read_input_float_register({TORQUE_REGISTER + 1})
    t2 = share * read_input_float_register({TORQUE_REGISTER + 2})
    t3 = share * read_input_float_register({TORQUE_REGISTER + 3})
    t4 = share * read_input_float_register({TORQUE_REGISTER + 4})
    t5 = share * read_input_float_register({TORQUE_REGISTER + 5})
    direct_torque([t0, t1, t2, t3, t4, t5], viscous_scale=[0, 0, 0, 0, 0, 0], coulomb_scale=[0, 0, 0, 0, 0, 0])
  end
  stopj({DECELERATION})
  write_output_integer_register({BEAT_REGISTER}, 0)
end
"""


def upload(host: str, port: int = SCRIPT_PORT, timeout: float = 2.0) -> None:
    """Send the program; it replaces whatever program runs. Raises ConnectionFailed."""
    try:
        with socket.create_connection((host, port), timeout) as connection:
            connection.sendall(PROGRAM.encode())
            connection.shutdown(socket.SHUT_WR)
    except OSError as error:
        raise ConnectionFailed(f"{host}:{port}: the torque program cannot be sent: {error}") from error
