"""Names of this machine that one process holds at a time: of a node, of torque for a robot, of a ROS domain."""

from __future__ import annotations

import socket

from robot_dynamics_ros.errors import ConnectionFailed


def claim(name: str, why: str) -> socket.socket:
    """A name of this machine, held until the socket is closed or the process ends in whatever way.

    Raises ConnectionFailed, with `why`, where another process holds it (Linux; elsewhere it is not looked at).
    """
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(f"\0robot_dynamics_ros/{name}")
    except OSError:
        held.close()
        raise ConnectionFailed(why) from None
    return held
