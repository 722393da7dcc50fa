"""The software version a simulated controller announces."""

from __future__ import annotations

from typing import NamedTuple

from robot_dynamics_ros.errors import RobotDynamicsError


class Version(NamedTuple):
    """PolyScope version; compares with plain tuples."""

    major: int = 5
    minor: int = 26
    bugfix: int = 0
    build: int = 0

    @classmethod
    def parse(cls, text: str) -> Version:
        """Version from '5.26' or '5.26.0.1'; anything else is an error. Raises RobotDynamicsError."""
        parts = text.split(".")
        if not 2 <= len(parts) <= 4 or not all(part.isdigit() for part in parts):
            raise RobotDynamicsError(f"PolyScope version {text!r} is not major.minor[.bugfix[.build]]")
        return cls(*(int(part) for part in parts))

    def __str__(self) -> str:
        return ".".join(str(part) for part in self)
