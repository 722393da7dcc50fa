"""Names of this machine that one process holds at a time: of a node, of torque for a robot, of a ROS domain."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from hashlib import sha256
from ipaddress import ip_address

from robot_dynamics_ros.errors import ConnectionFailed


def claim(name: str, why: str) -> socket.socket:
    """A name of any length of this machine, held until the socket is closed or the process ends in whatever way.

    Raises ConnectionFailed, with `why`, where another process holds it (Linux; elsewhere it is not looked at).
    """
    held = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        held.bind(f"\0robot_dynamics_ros/{sha256(os.fsencode(name)).hexdigest()}")  # at most 107 characters
    except OSError:
        held.close()
        raise ConnectionFailed(why) from None
    return held


def of_this_machine(host: str) -> bool:
    """Whether a host is this machine by its loopback address."""
    with suppress(ValueError):
        return ip_address(address(host)).is_loopback
    return False


def address(host: str) -> str:
    """Internet address of a host, by which two spellings of it are one; the host itself where it has none."""
    with suppress(OSError, UnicodeError):
        return socket.gethostbyname(host)
    return host
